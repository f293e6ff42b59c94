#!/usr/bin/env python3
"""Sweeps for `make test-long`: the random tests again, with many more seeds.

LEAT_BUILD names the build folder. A failing seed is in the output of the program that found it.
"""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build"))
DATA = os.path.join(ROOT, "tests", "golden", "data")


def run(command, **environment):
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **environment})
    return done.returncode, (done.stdout + done.stderr)[-4000:]


class Sweeps(unittest.TestCase):
    def test_element_programs(self):
        """100,000 random functions against the interpreter."""
        code, output = run([os.path.join(BUILD, "units", "exec"), "exec/program_random_test"], LEAT_SWEEP="20")
        self.assertEqual(code, 0, output)

    def test_compositions(self):
        """2,000 random pipelines of two to six operators against the model, in every mode."""
        for seed in range(101, 111):
            with self.subTest(seed=seed), tempfile.TemporaryDirectory() as folder:
                cases = subprocess.run(
                    [sys.executable, "-B", os.path.join(ROOT, "tests", "conform", "make_data_cases.py"),
                     "--compositions", str(seed), "200"], check=True, capture_output=True, text=True).stdout
                os.mkdir(os.path.join(folder, "tfdata"))
                with open(os.path.join(folder, "tfdata", "compositions.json"), "w") as file:
                    file.write(cases)
                os.symlink(os.path.join(DATA, "files"), os.path.join(folder, "files"))
                code, output = run([os.path.join(BUILD, "tests", "golden"), "--only", "tfdata", "--modes", "all",
                                    folder])
                self.assertEqual(code, 0, output)
                self.assertIn(" 0 failed", output)


if __name__ == "__main__":
    unittest.main()
