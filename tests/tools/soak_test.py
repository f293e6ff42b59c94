"""`make soak` as a program: a short run of all kinds of work is flat, a planted leak is found, and Ctrl-C ends it with a verdict."""
import csv
import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("LEAT_BUILD", os.path.join(ROOT, "build")))
TOOL = os.path.join(ROOT, "tools", "soak")
PYTHON = os.path.join(ROOT, ".venv", "bin", "python")
KINDS = {"pipeline", "fit", "workers 0", "workers 1", "leat launch", "launch", "abandoned", "callbacks", "files"}

# A process of the kind `files` that opens a descriptor and keeps it in each turn.
LEAKY = """
    import os, sys
    sys.path.insert(0, {tool!r})
    import turns

    class Leaky(turns.Kind):
        def turn(self):
            os.open(os.devnull, os.O_RDONLY)
    turns.KINDS["files"] = Leaky
    turns.main()
"""
WITH_LEAKY = "import sys; sys.path.insert(0, {tool!r}); import main; main.TURNS = {leaky!r}; main.main()"


@unittest.skipUnless(os.path.exists(PYTHON), "there is no .venv to run leat with; `make deps` makes it")
@unittest.skipUnless(os.path.exists(os.path.join(BUILD, "python", "leat", "_native.abi3.so")), "the Python package was not built")
class Soak(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="leat-soak-test-")
        self.addCleanup(folder.cleanup)
        self.out = folder.name

    def start(self, *arguments, program=(os.path.join(TOOL, "main.py"),)):
        command = [sys.executable, "-B", *program, "--build", BUILD, "--out", self.out, *arguments]
        return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def ended(self, process):
        """Exit status and lines."""
        out, _ = process.communicate(timeout=280)
        return process.returncode, out.splitlines()

    def read(self, name):
        with open(os.path.join(self.out, name), encoding="utf-8") as file:
            return file.read()

    def test_all_kinds(self):
        status, lines = self.ended(self.start("--rounds", "8", "--every", "1"))
        self.assertEqual(status, 0, "\n".join(lines) + self.read("log.txt"))
        self.assertRegex(lines[-1], r"^soak: .* 8 rounds, \d+ turns, \d+ samples: flat$")
        with open(os.path.join(self.out, "samples.csv"), encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual({row["process"] for row in rows}, KINDS | {"job"})
        self.assertEqual({row["state"] for row in rows if row["process"] == "pipeline"}, {"works", "waits"})
        self.assertEqual(self.read("report.txt").splitlines(), lines)
        self.assertIn("<polyline", self.read("curve.svg"))

    def test_planted_leak(self):
        leaky = os.path.join(self.out, "leaky.py")
        with open(leaky, "w", encoding="utf-8") as file:
            file.write(textwrap.dedent(LEAKY).format(tool=TOOL))
        process = self.start("--rounds", "8", "files", program=("-c", WITH_LEAKY.format(tool=TOOL, leaky=leaky)))
        status, lines = self.ended(process)
        self.assertEqual(status, 1, "\n".join(lines))
        grown = [line.split()[:2] for line in lines if line.endswith("grows")]
        self.assertIn(["files", "descriptors"], grown, "\n".join(lines))
        self.assertNotIn(["files", "threads"], grown)

    def test_ctrl_c(self):
        process = self.start("--rounds", "1000000", "--every", "0.2", "callbacks")
        end = time.monotonic() + 120
        while not os.path.exists(os.path.join(self.out, "samples.csv")) or "works" not in self.read("samples.csv"):
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        status, lines = self.ended(process)
        self.assertIn(status, (0, 1), "\n".join(lines))
        self.assertRegex(lines[-1], r"samples: (too short|flat|grows)$")

    def test_what_cannot_start_fails(self):
        process = self.start("--rounds", "1", "--build", self.out, "callbacks")
        status, lines = self.ended(process)
        self.assertEqual(status, 1)
        self.assertTrue(lines[-1].endswith("failed"), "\n".join(lines))


if __name__ == "__main__":
    unittest.main()
