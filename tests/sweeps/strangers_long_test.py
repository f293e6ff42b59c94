"""A hundred thousand changed files of models: python/tests/test_strangers_mutated.py, which else takes a few hundred.

Needs .venv."""
import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build"))
PYTHON = ROOT / ".venv/bin/python"


def reason():
    """Why the sweep cannot run; None: it can."""
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import pytest, h5py"], capture_output=True).returncode:
        return "there is no pytest or h5py in .venv; `make deps` installs them"
    if not (BUILD / "python/leat/_native.abi3.so").exists():
        return "the Python package was not built"
    return None


@unittest.skipIf(reason(), reason())
class Strangers(unittest.TestCase):
    def test_changed_files(self):
        environment = {"LEAT_MUTATIONS": "20000", **os.environ, "PYTHONPATH": str(BUILD / "python")}
        done = subprocess.run([PYTHON, "-B", "-m", "pytest", "-q", ROOT / "python/tests/test_strangers_mutated.py"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])


if __name__ == "__main__":
    sys.exit(unittest.main())
