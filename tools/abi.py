#!/usr/bin/env python3
"""Compare the library's binary interface with what it was, by libabigail (docs/VERSIONING.md).

    abi.py LIBRARY            fails where a program that was compiled for this soname would break
    abi.py --write LIBRARY    before a release: this is the interface from now on

What it was is tests/frozen/VERSION/libleat.abi.gz of the newest version with the library's soname. New symbols and members at the end of options are no breaks.
Exit status 77 where abidiff is not installed.
"""
import argparse
import glob
import gzip
import os
import re
import shutil
import subprocess
import sys
import tempfile

import sources

INCLUDE = os.path.join(sources.ROOT, "include")
# What docs/VERSIONING.md promises beside new symbols: options and dtypes grow at their end.
ALLOWED = """[suppress_type]
type_kind = struct
name_regexp = ^leat_.*_options$
has_data_member_inserted_at = end

[suppress_type]
type_kind = enum
name = leat_dtype
changed_enumerators = LEAT_NUM_DTYPES
"""


def version():
    text = sources.read(sources.ROOT, "include/leat/base.h")
    return [int(n) for n in re.findall(r"#define LEAT_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)]


def describe(library, path):
    """Write what the library's public symbols and their types are."""
    subprocess.run(["abidw", "--headers-dir", INCLUDE, "--drop-private-types", "--no-corpus-path",
                    "--no-comp-dir-path", "--no-show-locs", "--type-id-style", "hash", "--exported-interfaces-only",
                    "--out-file", path, library], check=True)


def kept(major, minor):
    """The newest description of this soname; None: there is none yet."""
    names = glob.glob(os.path.join(sources.ROOT, "tests", "frozen", "%d.%d.*" % (major, minor), "libleat.abi.gz"))
    return max(names, key=lambda n: int(n.split(os.sep)[-2].split(".")[2]), default=None)


def write(library):
    name = os.path.join(sources.ROOT, "tests", "frozen", "%d.%d.%d" % tuple(version()), "libleat.abi.gz")
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "abi")
        describe(library, path)
        with open(path, "rb") as file, open(name, "wb") as out:
            out.write(gzip.compress(file.read(), mtime=0))
    return 0


def compare(library, name):
    with tempfile.TemporaryDirectory() as folder:
        before, now = os.path.join(folder, "before.abi"), os.path.join(folder, "now.abi")
        with gzip.open(name) as file, open(before, "wb") as out:
            shutil.copyfileobj(file, out)
        describe(library, now)
        allowed = os.path.join(folder, "allowed")
        with open(allowed, "w") as file:
            file.write(ALLOWED)
        command = ["abidiff", "--no-added-syms", "--suppressions", allowed, before, now]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return 0
    print(done.stdout + done.stderr)
    print("abi: programs compiled for this soname would break: keep what they use, or raise the minor version; before the\n"
          "     first release of it, `make abi` says that this is the interface")
    return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("library")
    args = parser.parse_args()
    if shutil.which("abidiff") is None:
        print("SKIPPED: abidiff is not installed; `make deps` installs it")
        return 77
    if args.write:
        return write(args.library)
    name = kept(*version()[:2])
    if name is None:
        print("abi: no version with this soname is in tests/frozen; `make abi` writes it")
        return 1
    return compare(args.library, name)


if __name__ == "__main__":
    sys.exit(main())
