"""The builders of tensor operations are what the tables say (make builders), and the check sees where they are not."""
import os
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOL = os.path.join(os.environ["LEAT_BUILD"], "bin", "leat")


def check(*folder):
    command = [sys.executable, "-B", os.path.join(ROOT, "tools", "builders.py"), "--check", TOOL, *folder]
    return subprocess.run(command, capture_output=True, text=True)


class BuildersTest(unittest.TestCase):
    def test_they_are_what_the_tables_say(self):
        done = check()
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def test_others_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            done = check(folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("include/leat/ops/math.h: not what the tables say; run make builders", done.stdout)


if __name__ == "__main__":
    unittest.main()
