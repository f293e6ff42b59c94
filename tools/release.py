#!/usr/bin/env python3
"""Debian's packages and a whole release: `make deb`, `make release`.

    release.py deb [--out dist]          libleat0.1, libleat-dev, leat and python3-leat, which lintian has looked at
    release.py all [--out dist] [--allow-changes]
                                         changelog, source distribution, wheels, packages, and their checksums
    release.py compare FOLDER FOLDER     are two releases the same bytes?

A release is made of what is committed, in a folder of its own: the tree must have no changes. The same commit gives the same bytes,
wherever it is built with the same tools: times are those of the commit (SOURCE_DATE_EPOCH).
"""
import argparse
import email.utils
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]


def call(*command, cwd=ROOT, show=False, **more):
    """Runs a command and returns what it prints; ends the program with its last words where it fails."""
    done = subprocess.run([str(word) for word in command], cwd=cwd, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, **more)
    if done.returncode:
        sys.exit("release: %s failed:\n%s" % (" ".join(map(str, command)), "\n".join(done.stdout.splitlines()[-40:])))
    if show:
        print(done.stdout, end="")
    return done.stdout


def version():
    """MAJOR.MINOR.PATCH, from the one place where it stands."""
    text = (ROOT / "include/leat/base.h").read_text()
    return ".".join(re.search(r"#define LEAT_VERSION_%s\s+(\d+)" % part, text)[1] for part in ("MAJOR", "MINOR", "PATCH"))


def epoch():
    """Seconds since 1970 that every file is of."""
    return int(os.environ.get("SOURCE_DATE_EPOCH") or call("git", "log", "-1", "--format=%ct"))


def source(folder):
    """Copies what is committed or added to `folder`, as it lies in the tree."""
    shutil.rmtree(folder, ignore_errors=True)
    for name in filter(None, call("git", "ls-files", "-z").split("\0")):
        if (ROOT / name).exists():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, folder / name, follow_symlinks=False)


def deb(out):
    """Debian's packages in `out`; lintian's words end the program."""
    folder = ROOT / "build-deb" / ("leat-" + version())
    source(folder)
    seconds = epoch()
    (folder / "debian/changelog").write_text(
        "leat (%s) unstable; urgency=medium\n\n  * Release %s; CHANGELOG.md says what changed.\n\n -- %s  %s\n"
        % (version(), version(), re.search(r"Maintainer: (.*)", (folder / "debian/control").read_text())[1],
           email.utils.formatdate(seconds)))
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(seconds), "DEB_BUILD_OPTIONS": "nocheck noautodbgsym"}
    call("dpkg-buildpackage", "-b", "-us", "-uc", "-rfakeroot", cwd=folder, env=environment)
    packages = sorted(folder.parent.glob("*_%s_*.deb" % version()))
    words = call("lintian", "--allow-root", "--fail-on", "none", *packages, cwd=folder.parent)
    if words.strip():
        sys.exit("release: lintian says\n" + words)
    for package in packages:
        shutil.move(package, out / package.name)
        print("%5.1f MB  %s" % ((out / package.name).stat().st_size / 1e6, package.name))
    shutil.rmtree(folder.parent)


def everything(out, allow_changes):
    """All files of a release, and SHA256SUMS."""
    if not allow_changes and call("git", "status", "--porcelain").strip():
        sys.exit("release: the tree has changes that are not committed; commit them, or say --allow-changes to try it out")
    if out.exists() and any(out.iterdir()):
        sys.exit("release: %s is not empty; remove it, or name another folder by OUT=" % out)
    out.mkdir(parents=True, exist_ok=True)
    os.environ["SOURCE_DATE_EPOCH"] = str(epoch())
    (out / ("CHANGES-%s.md" % version())).write_text(call(sys.executable, "-B", "tools/changelog.py"))
    call(ROOT / ".venv-release/bin/python", "-B", "tools/wheel.py", "--out", out, show=True)
    deb(out)
    lines = ["%s  %s\n" % (hashlib.sha256(path.read_bytes()).hexdigest(), path.name) for path in sorted(out.iterdir())]
    (out / "SHA256SUMS").write_text("".join(lines))
    print("leat %s: %d files in %s" % (version(), len(lines) + 1, out))


def compare(first, second):
    """Ends with 1 where two folders have files that differ."""
    digests = [{path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()} for folder in (first, second)]
    differ = sorted(name for name in {*digests[0], *digests[1]} if digests[0].get(name) != digests[1].get(name))
    print("\n".join("differs: " + name for name in differ) or "%d files, the same bytes" % len(digests[0]))
    return 1 if differ else 0


def main():
    """Does what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["deb", "all", "compare"])
    parser.add_argument("folders", nargs="*", type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--allow-changes", action="store_true")
    options = parser.parse_args()
    out = options.out.resolve()
    if options.what == "compare":
        return compare(*options.folders)
    if options.what == "deb":
        out.mkdir(parents=True, exist_ok=True)
        deb(out)
    else:
        everything(out, options.allow_changes)
    return 0


if __name__ == "__main__":
    sys.exit(main())
