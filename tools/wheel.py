#!/usr/bin/env python3
"""The wheels for other machines, and the source distribution, in dist/: `make wheel`.

    wheel.py [--out dist] [--sdist-only]

1. scikit-build-core compiles the package for any x86-64 or ARM processor (src/base/isa.h chooses while it runs).
2. auditwheel copies in what glibc, libstdc++ and libgcc do not give, and says which glibc that needs: the tag.
   Of ICU's data there are its converters alone, all that leat asks for.
3. oneDNN, 40 megabytes with what it brings, and OpenBLAS go into a wheel of its own, libleat-train (`pip install libleat[train]`);
   both lie in the same folders once they are installed, so there is one libgomp.
4. Each wheel gets the copyright files of what it holds and a bill of materials (CycloneDX).

The same source gives the same bytes: times are SOURCE_DATE_EPOCH, by default that of the last commit. Runs in .venv-release (tools/venv.sh);
what was copied in comes from Debian's packages, which are asked for names, versions and copyrights.
"""
import argparse
import base64
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile

from elftools.elf.elffile import ELFFile

ROOT = pathlib.Path(__file__).resolve().parents[1]
TRAIN = {"leat/libleat_dnnl.so", "leat/libleat_lapack.so"}      # what the second wheel is for
LICENSES = pathlib.Path("/usr/share/common-licenses")
SUMMARY = "oneDNN and OpenBLAS for libleat: fast convolutions, matrix products and factors on CPUs"


def call(*command, **more):
    """Runs a command and returns what it prints; ends the program with its words where it fails."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **more)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()[-40:]
        sys.exit("wheel: %s failed:\n%s" % (" ".join(map(str, command)), "\n".join(lines)))
    return done.stdout


def epoch():
    """Seconds since 1970 that every file is of."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    return int(given or call("git", "log", "-1", "--format=%ct", cwd=ROOT))


def needed(data):
    """The names of the libraries that an ELF file asks for."""
    import io
    section = ELFFile(io.BytesIO(data)).get_section_by_name(".dynamic")
    return [tag.needed for tag in section.iter_tags() if tag.entry.d_tag == "DT_NEEDED"] if section else []


def small_icu(folder):
    """Makes a libicudata.so in the folder with ICU's converters alone; nothing where leat is built without ICU."""
    libraries = sorted(pathlib.Path("/usr/lib").glob("*/libicudata.so.*.*"))
    if not libraries:
        return
    with open(libraries[-1], "rb") as file:
        elf = ELFFile(file)
        (symbol,) = [s for s in elf.get_section_by_name(".dynsym").iter_symbols() if s.name.startswith("icudt")]
        section = elf.get_section(symbol["st_shndx"])
        start = symbol["st_value"] - section["sh_addr"]
        soname = next(tag.soname for tag in elf.get_section_by_name(".dynamic").iter_tags() if tag.entry.d_tag == "DT_SONAME")
        whole = section.data()[start:start + symbol["st_size"]]
    work = folder / "icu"
    (work / "files").mkdir(parents=True)
    package = work / (symbol.name.removesuffix("_dat") + "l.dat")
    package.write_bytes(whole)
    items = [item for item in call("icupkg", "-l", package).split() if re.search(r"\.cnv$|^cnvalias\.icu$", item)]
    (work / "items.txt").write_text("\n".join(items) + "\n")
    call("icupkg", "-x", work / "items.txt", "-d", work / "files", package)
    call("icupkg", "-s", work / "files", "-a", work / "items.txt", "new", work / "small.dat")
    (work / "data.s").write_text("""    .section .rodata
    .globl {0}
    .type {0}, %object
    .balign 16
{0}: .incbin "small.dat"
    .size {0}, . - {0}
    .section .note.GNU-stack, "", %progbits
""".format(symbol.name))
    call("gcc", "-shared", "-nostdlib", "-Wl,--build-id=none", "-Wl,-soname," + soname, "-o", folder / soname, "data.s", cwd=work)
    shutil.rmtree(work)


def compiled(work):
    """The wheel as this machine's own libraries serve it."""
    build = "import scikit_build_core.build as b, sys; print(b.build_wheel(sys.argv[1]))"
    call(sys.executable, "-c", build, work / "raw", cwd=ROOT)
    (wheel,) = (work / "raw").glob("*.whl")
    return wheel


def repaired(wheel, work):
    """The same with the libraries that other machines lack, as {name: bytes}, and its file name's end."""
    (work / "libraries").mkdir()
    small_icu(work / "libraries")
    path = "%s:%s" % (pathlib.Path(sys.executable).parent, os.environ["PATH"])
    call(sys.executable, "-m", "auditwheel", "repair", "--strip", "-w", work / "whole", wheel,
         env={**os.environ, "PATH": path, "AUDITWHEEL_LD_LIBRARY_PATH": str(work / "libraries")})
    (whole,) = (work / "whole").glob("*.whl")
    with zipfile.ZipFile(whole) as archive:
        return {name: archive.read(name) for name in archive.namelist() if not name.endswith("/")}, whole.name.split("-", 2)[2]


def for_train(files):
    """The files that only the second wheel's modules need."""
    libraries = {os.path.basename(name): name for name in files if ".libs/" in name}
    def reach(names):
        found = set()
        while names:
            name = names.pop()
            if name not in found:
                found.add(name)
                names += [libraries[n] for n in needed(files[name]) if n in libraries]
        return found
    modules = [name for name in files if name.endswith(".so") and ".libs/" not in name]
    return reach([name for name in modules if name in TRAIN]) - reach([name for name in modules if name not in TRAIN])


def packages_of(names):
    """{file in the wheel: (Debian's package, its version, its source)} of what was copied in."""
    out = {}
    for name in sorted(names):
        stem = re.sub(r"-[0-9a-f]{8}(?=\.)", "", os.path.basename(name))
        owners = [line.split(": ")[0].split(",")[0] for line in call("dpkg-query", "-S", "*/" + stem).splitlines()
                  if line.endswith("/" + stem) or "/" + stem in line]
        package = owners[0]
        version, source = call("dpkg-query", "-W", "-f", "${Version} ${source:Package}", package).split()
        out[name] = (package.split(":")[0], version, source)
    return out


def notices(info, packages):
    """The copyright files of Debian's packages, and the licences that they name by Debian's files, below the folder `info`."""
    out = {}
    words = set()
    for package, _, _ in packages.values():
        text = pathlib.Path("/usr/share/doc", package, "copyright").read_bytes()
        out["%s/licenses/vendored/%s.txt" % (info, package)] = text
        words.update(re.findall(r"/usr/share/common-licenses/([A-Za-z]+(?:-[0-9]+(?:\.[0-9]+)?)?)", text.decode("utf-8", "replace")))
    for word in sorted(words):
        if (LICENSES / word).exists():
            out["%s/licenses/vendored/common-licenses/%s.txt" % (info, word)] = (LICENSES / word).read_bytes()
    return out


def bill(name, version, files, packages, seconds):
    """The bill of materials as CycloneDX's JSON."""
    parts = [{"type": "library", "bom-ref": file, "name": package, "version": debian,
              "purl": "pkg:deb/debian/%s@%s?distro=debian-12&upstream=%s" % (package, debian, source),
              "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(files[file]).hexdigest()}],
              "properties": [{"name": "file", "value": file}]}
             for file, (package, debian, source) in packages.items()]
    own = {"type": "library", "bom-ref": name, "name": name, "version": version, "purl": "pkg:pypi/%s@%s" % (name, version),
           "licenses": [{"license": {"id": "Apache-2.0"}}]}
    return json.dumps({
        "bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
        "metadata": {"timestamp": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds)), "component": own},
        "components": parts, "dependencies": [{"ref": name, "dependsOn": [part["bom-ref"] for part in parts]}],
    }, indent=1).encode() + b"\n"


def write(path, files, info, seconds):
    """Writes a wheel: sorted names, one time, its RECORD made anew."""
    record = []
    for name, data in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append("%s,sha256=%s,%d" % (name, digest, len(data)))
    files = {**dict(sorted(files.items())), info + "/RECORD": ("\n".join([*record, info + "/RECORD,,"]) + "\n").encode()}
    moment = time.gmtime(max(seconds, 315532800))[:6]   # zip begins in 1980
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for name, data in files.items():
            entry = zipfile.ZipInfo(name, moment)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if re.search(r"\.so(\.|$)", name) else 0o100644) << 16
            archive.writestr(entry, data)
    print("%5.1f MB packed, %5.1f MB unpacked  %s" % (path.stat().st_size / 1e6, sum(map(len, files.values())) / 1e6, path.name))


def with_notices(metadata, names, info):
    """Metadata that names its licences' files."""
    head, _, body = metadata.partition("\n\n")
    lines = ["License-File: " + name.removeprefix(info + "/licenses/") for name in sorted(names)]
    return "\n".join([head, *lines]) + "\n\n" + body


def add_papers(files, info, name, version, seconds):
    """Adds the notices and the bill of what was copied in."""
    packages = packages_of(n for n in files if ".libs/" in n)
    papers = notices(info, packages)
    files[info + "/METADATA"] = with_notices(files[info + "/METADATA"].decode(), papers, info).encode()
    files.update(papers)
    files[info + "/sboms/%s.cdx.json" % name] = bill(name, version, files, packages, seconds)


def wheels(out, seconds):
    """Both wheels."""
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        files, end = repaired(compiled(work), work)
    (info,) = {name.split("/")[0] for name in files if ".dist-info/" in name}
    version = info.removesuffix(".dist-info").split("-")[1]
    for name in [n for n in files if n.startswith(info + "/sboms/") or n == info + "/RECORD"]:
        del files[name]     # auditwheel's bill lists both wheels' libraries
    moved = {name: files.pop(name) for name in for_train(files)}
    if moved:
        files[info + "/METADATA"] = files[info + "/METADATA"].replace(b"libleat-train;", b"libleat-train==%s;" % version.encode())
        train = "libleat_train-%s.dist-info" % version
        license_file = info + "/licenses/LICENSE"
        moved[train + "/licenses/LICENSE"] = files[license_file]
        platform = end.removesuffix(".whl").split("-")[-1]
        moved[train + "/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: leat\nRoot-Is-Purelib: false\n%s\n" % "\n".join(
            "Tag: py3-none-" + tag for tag in platform.split("."))).encode()
        moved[train + "/METADATA"] = ("Metadata-Version: 2.4\nName: libleat-train\nVersion: %s\nSummary: %s\nLicense-Expression: Apache-2.0\n"
                                      "Requires-Python: >=3.11\nRequires-Dist: libleat==%s\nLicense-File: LICENSE\n\n%s.\n"
                                      % (version, SUMMARY, version, SUMMARY)).encode()
        add_papers(moved, train, "libleat-train", version, seconds)
        write(out / ("libleat_train-%s-py3-none-%s.whl" % (version, platform)), moved, train, seconds)
    add_papers(files, info, "libleat", version, seconds)
    write(out / ("libleat-%s-%s" % (version, end)), files, info, seconds)


def sdist(out):
    """The source distribution."""
    build = "import scikit_build_core.build as b, sys; print(b.build_sdist(sys.argv[1]))"
    name = call(sys.executable, "-c", build, out, cwd=ROOT).split()[-1]
    print("%5.1f MB  %s" % ((out / name).stat().st_size / 1e6, name))


def main():
    """Makes what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=ROOT / "dist")
    parser.add_argument("--sdist-only", action="store_true")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    out = options.out.resolve()
    seconds = epoch()
    os.environ["SOURCE_DATE_EPOCH"] = str(seconds)
    sdist(out)
    if not options.sdist_only:
        wheels(out, seconds)


if __name__ == "__main__":
    main()
