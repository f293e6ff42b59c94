#!/usr/bin/env python3
"""The kept inputs of the fuzz targets: what tools/fuzz.py writes into a line, fuzz_replay reads."""
import os
import random
import subprocess
import sys
import unittest

from tool import BUILD, ROOT, ToolTest

sys.path.insert(0, os.path.join(ROOT, "tools"))
import fuzz  # noqa: E402

REPLAY = os.path.join(BUILD, "tests", "fuzz_replay")
CORPUS = fuzz.CORPUS


class FuzzTest(ToolTest):
    def unpack(self, corpus, target):
        """The inputs by name, as fuzz_replay reads them."""
        out = os.path.join(self.folder, "out-" + target)
        os.makedirs(out)
        subprocess.run([REPLAY, "--unpack", corpus, target, out], check=True, capture_output=True)
        found = {}
        for name in os.listdir(out):
            with open(os.path.join(out, name), "rb") as file:
                found[name] = file.read()
        return found

    def keep(self, target, lines):
        self.addCleanup(setattr, fuzz, "CORPUS", CORPUS)
        fuzz.CORPUS = self.folder
        fuzz.write_kept(target, lines)

    def test_corpus(self):
        listed = subprocess.run([REPLAY, "--list"], check=True, capture_output=True, text=True).stdout
        targets = [line.split("\t")[0] for line in listed.splitlines()]
        self.assertEqual(sorted(os.listdir(CORPUS)), sorted(target + ".seeds" for target in targets))
        for target in targets:
            found = self.unpack(CORPUS, target)
            self.assertEqual([fuzz.kept_line(name, found[name]) for name in sorted(found)], fuzz.kept_lines(target))

    def test_any_bytes(self):
        inputs = {"a": bytes(range(256)), "b": b"\\", "c": b"ends in a space ", "d": b" ", "e": b"\\20", "f": b"\n\n\0"}
        inputs["g"] = random.Random(7).randbytes(5000)
        self.keep("csv", [fuzz.kept_line(name, data) for name, data in inputs.items()])
        self.assertEqual(self.unpack(self.folder, "csv"), inputs)

    def test_fixed(self):
        self.keep("csv", ["0123 one", "fixed-old two", "fixed-same three"])
        fuzz.add_fixed("same", self.write("found", b"four\0"), "csv")
        self.assertEqual(fuzz.kept_lines("csv"), ["0123 one", "fixed-old two", "fixed-same four\\00"])

    def test_broken(self):
        for line in ("name", "name a\\g0", "name a\\0", "name a\\", "name a\0b", "name cut", ""):
            path = self.write("csv.seeds", line + ("" if line.endswith("cut") else "\n"))
            done = subprocess.run([REPLAY, "--unpack", os.path.dirname(path), "csv", self.folder], capture_output=True)
            self.assertNotEqual(done.returncode, 0, line)


if __name__ == "__main__":
    unittest.main()
