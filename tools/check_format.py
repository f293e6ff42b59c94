#!/usr/bin/env python3
"""Check, or with --fix restore, the house format of every C file, with the clang-format that Debian
12 ships.

    check_format.py [--fix] [ROOT]

The formats of other versions differ in small ways, so another major version is refused rather
than believed.
"""
import argparse
import shutil
import subprocess
import sys

import sources

MAJOR = "14"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fix", action="store_true")
    parser.add_argument("root", nargs="?", default=sources.ROOT)
    args = parser.parse_args()
    program = shutil.which("clang-format-" + MAJOR) or shutil.which("clang-format")
    if not program:
        sys.exit("check_format: clang-format is not installed; `make deps` installs it")
    version = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    if "version %s." % MAJOR not in version:
        sys.exit("check_format: expected clang-format %s, found: %s" % (MAJOR, version.strip()))
    names = sources.c_files(args.root, "src", "include", "tests", "examples", "bench", "fuzz", "python")
    if not names:
        sources.finish("check_format", [], 0)
    how = ["-i"] if args.fix else ["--dry-run", "-Werror", "--ferror-limit=3"]
    done = subprocess.run([program, *how, *names], cwd=args.root, capture_output=True, text=True)
    problems = [line for line in done.stderr.split("\n") if "error:" in line]
    if done.returncode and not problems:
        problems = [done.stderr.strip()]
    sources.finish("check_format", problems, len(names))


if __name__ == "__main__":
    main()
