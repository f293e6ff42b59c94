"""Files of python/tests that a sweep runs with larger numbers."""
import os
import pathlib
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build"))
PYTHON = ROOT / ".venv/bin/python"


def reason(packages, files):
    """Why a sweep cannot run; None: it can."""
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import " + ", ".join(packages)],
                                             capture_output=True).returncode:
        return "there is no %s in .venv; `make deps` installs them" % " or ".join(packages)
    for file in files:
        if not (BUILD / file).exists():
            return "the build has no %s" % file
    return None


def suite(name, environment, packages=("pytest",), files=()):
    """The test case of python/tests/NAME.py with these variables. It is skipped without the packages in .venv, or
    without the files, and the Python package, in the build."""
    why = reason(packages, [*files, "python/leat/_native.abi3.so"])

    class Suite(unittest.TestCase):
        @unittest.skipIf(why, why)
        def test_suite(self):
            done = subprocess.run([PYTHON, "-B", "-m", "pytest", "-q", ROOT / "python/tests" / (name + ".py")],
                                  capture_output=True, text=True,
                                  env={**environment, "LEAT_BUILD": str(BUILD), "PYTHONPATH": str(BUILD / "python")})
            self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])
    return Suite
