"""600 random pipelines over a data service whose iterators are saved and restored while workers come and go and the dispatcher is started
again: python/tests/test_service_restores.py, which else takes 6.

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
    if not PYTHON.exists() or subprocess.run([PYTHON, "-c", "import pytest"], capture_output=True).returncode:
        return "there is no pytest in .venv; `make deps` installs it"
    if not (BUILD / "python/leat/_native.abi3.so").exists():
        return "the Python package was not built"
    return None


@unittest.skipIf(reason(), reason())
class Restores(unittest.TestCase):
    def test_restores(self):
        environment = {**os.environ, "LEAT_SERVICE_RESTORES": "600", "LEAT_SERVICE_RESTORES_FROM": "1000", "PYTHONPATH": str(BUILD / "python")}
        done = subprocess.run([PYTHON, "-B", "-m", "pytest", "-q", ROOT / "python/tests/test_service_restores.py"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, 0, done.stdout[-4000:] + done.stderr[-2000:])


if __name__ == "__main__":
    sys.exit(unittest.main())
