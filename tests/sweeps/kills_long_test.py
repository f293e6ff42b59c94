"""Some hundred saves whose process is killed at random calls: python/tests/test_killed_saves.py, which else kills 30.

LEAT_KILLS=10000 kills as many. Needs .venv."""
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
    if not (BUILD / "tests/faults_preload.so").exists():
        return "the build has no tests/faults_preload.so"
    if not (BUILD / "python/leat/_native.abi3.so").exists():
        return "the Python package was not built"
    return None


@unittest.skipIf(reason(), reason())
class Kills(unittest.TestCase):
    def test_random_kills(self):
        environment = {"LEAT_KILLS": "600", **os.environ, "LEAT_BUILD": str(BUILD), "PYTHONPATH": str(BUILD / "python")}
        done = subprocess.run([PYTHON, "-B", "-m", "pytest", "-q", ROOT / "python/tests/test_killed_saves.py"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])


if __name__ == "__main__":
    sys.exit(unittest.main())
