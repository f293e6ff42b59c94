#!/usr/bin/env python3
"""The check of the binary interface sees what breaks programs, and lets additions pass."""
import contextlib
import gzip
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import abi

ONE = "int leat_one(int a) { return a; }\n"
TWO = "int leat_two(int a) { return a; }\n"


@unittest.skipIf(shutil.which("abidiff") is None, "abidiff is not installed")
class AbiTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def library(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path + ".c", "w") as file:
            file.write(text)
        subprocess.run(["cc", "-g", "-shared", "-fPIC", "-o", path, path + ".c"], check=True)
        return path

    def breaks(self, before, now):
        path = os.path.join(self.folder, "abi")
        abi.INCLUDE = self.folder
        abi.describe(self.library("before.so", before), path)
        with open(path, "rb") as file, gzip.open(path + ".gz", "wb") as out:
            out.write(file.read())
        with contextlib.redirect_stdout(io.StringIO()) as said:
            status = abi.compare(self.library("now.so", now), path + ".gz")
        self.assertEqual(status == 0, said.getvalue() == "")
        return status

    def test_the_same_and_more_are_well(self):
        self.assertEqual(self.breaks(ONE, ONE), 0)
        self.assertEqual(self.breaks(ONE, ONE + TWO), 0)

    def test_options_may_grow_at_their_end(self):
        text = "struct leat_a_options { long size, a%s; };\nint leat_one(struct leat_a_options *o) { return (int)o->a; }\n"
        self.assertEqual(self.breaks(text % "", text % ", b"), 0)
        self.assertEqual(self.breaks(text % "", text.replace("size, a", "size, b, a") % ""), 1)
        other = text.replace("_options", "_thing")
        self.assertEqual(self.breaks(other % "", other % ", b"), 1)

    def test_what_is_gone_or_has_other_parameters_is_not(self):
        self.assertEqual(self.breaks(ONE + TWO, ONE), 1)
        self.assertEqual(self.breaks(ONE, ONE.replace("int a", "int a, long b")), 1)


if __name__ == "__main__":
    unittest.main()
