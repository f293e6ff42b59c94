#!/usr/bin/env python3
"""The fuzz targets in OSS-Fuzz's layout, as far as a moment reaches: the build is set up with the flags that are given, it has a
program for each target, and what makes a target of a program is compiled. tests/sweeps/oss_fuzz_long_test.py builds one."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LAYOUT = os.path.join(ROOT, "tests", "fuzz", "oss-fuzz")
FLAGS = "-O1 -g1 -fsanitize=address,fuzzer-no-link"

# What stands in front of build.sh's ninja: of the targets, notes which are asked for and makes the entry points of one.
NINJA = """#!/bin/sh
case " $* " in
*" tests/fuzz_replay "*) ;;
*) exec "$NINJA" "$@" ;; # CMake's own
esac
echo "$@" >>"$NOTED"
for last; do :; done
object=$("$NINJA" -C "$2" -t commands "$last" | sed -n 's/.* -o \\([^ ]*libfuzzer.c.o\\) .*/\\1/p')
"$NINJA" -C "$2" "$object" >/dev/null && cp "$2/$object" "$OUT/" && exit 70
"""


def read(*path):
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        return file.read()


def targets():
    return re.findall(r"^X\((\w+)\)$", read("tests", "fuzz", "targets.def"), re.M)


class OssFuzz(unittest.TestCase):
    @unittest.skipUnless(shutil.which("clang") and shutil.which("ninja"), "there is no clang or no ninja")
    def test_set_up(self):
        folder = tempfile.mkdtemp(prefix="leat-oss-fuzz-")
        self.addCleanup(shutil.rmtree, folder)
        noted, stand_in = os.path.join(folder, "noted"), os.path.join(folder, "bin", "ninja")
        os.makedirs(os.path.dirname(stand_in))
        with open(stand_in, "w", encoding="utf-8") as file:
            file.write(NINJA)
        os.chmod(stand_in, 0o755)
        # Where there is no $SRC/leat the script takes the tree that it lies in.
        environment = {**os.environ, "PATH": os.path.dirname(stand_in) + os.pathsep + os.environ["PATH"], "CC": "clang",
                       "CXX": "clang++", "CFLAGS": FLAGS, "CXXFLAGS": FLAGS, "LIB_FUZZING_ENGINE": "-fsanitize=fuzzer",
                       "OUT": folder, "WORK": os.path.join(folder, "work"), "SRC": folder, "NOTED": noted,
                       "NINJA": shutil.which("ninja")}
        done = subprocess.run([os.path.join(LAYOUT, "build.sh")], env=environment, capture_output=True, text=True)
        self.assertEqual(done.returncode, 70, done.stdout + done.stderr)
        with open(noted, encoding="utf-8") as file:
            asked = file.read().split()
        self.assertEqual([one for one in asked if one.startswith("tests/fuzz_") and one != "tests/fuzz_replay"],
                         ["tests/fuzz_" + name for name in targets()])
        names = subprocess.run(["nm", os.path.join(folder, "libfuzzer.c.o")], capture_output=True, text=True).stdout
        for name in ("LLVMFuzzerInitialize", "LLVMFuzzerTestOneInput", "LLVMFuzzerCustomMutator"):
            self.assertRegex(names, r"\bT %s\b" % name)
        self.assertRegex(names, r"\bw LLVMFuzzerMutate\b")  # which libFuzzer alone has
        self.assertIn("__asan_", names)

    def test_image(self):
        """Every library that the build wants is in the image, but for those that build.sh leaves out."""
        wanted = re.search(r"^BUILD_PACKAGES = ((?:.*\\\n)*.*)", read("Makefile"), re.M)[1].replace("\\", "").split()
        has = set(re.findall(r"[a-z0-9+.-]+", read("tests", "fuzz", "oss-fuzz", "Dockerfile")))
        here = {"libjpeg62-turbo-dev": "libjpeg-dev"}  # Debian's name, and that of the image
        missing = [name for name in wanted if here.get(name, name) not in has]
        self.assertEqual(missing, ["gcc", "g++", "libc6-dev", "libdnnl-dev", "libgloo-dev", "libkissfft-dev", "libopenblas-pthread-dev",
                                   "libgrpc++-dev", "libmicrohttpd-dev", "libssl-dev", "libcurl4-openssl-dev"])

    @unittest.skipUnless(shutil.which("shellcheck"), "there is no shellcheck")
    def test_script(self):
        done = subprocess.run(["shellcheck", os.path.join(LAYOUT, "build.sh")], capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


if __name__ == "__main__":
    sys.exit(unittest.main())
