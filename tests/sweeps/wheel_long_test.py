"""The wheel as a user gets it: its tag, size, contents and dependencies, and that it runs outside of the source tree. Needs
.venv, and compiles the library once more."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("LEAT_BUILD", ROOT / "build"))
PYTHON = ROOT / ".venv/bin/python"
MEGABYTES = 25
PROGRAM = """
import leat as tf
assert tf.__file__.startswith(%r), tf.__file__
print([batch.numpy().tolist() for batch in tf.data.Dataset.range(5).map(lambda x: x * x).batch(3)])
"""
# A module of the wheel is found there.
PAGE = """
import leat as tf
options = tf.data.Options()
options.watch = 0
iterator = iter(tf.data.Dataset.range(3).with_options(options))
print(open("/proc/self/maps").read())
"""


@unittest.skipUnless(PYTHON.exists(), "there is no .venv; `make deps` makes it")
class Wheel(unittest.TestCase):
    def pip(self, *arguments):
        done = subprocess.run([PYTHON, "-m", "pip", "--disable-pip-version-check", *map(str, arguments)],
                              cwd=ROOT, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_wheel(self):
        found = subprocess.run([PYTHON, "-c", "import scikit_build_core"], capture_output=True)
        self.assertEqual(found.returncode, 0, "an old .venv: it lacks scikit-build-core; `make venv` brings it up to date")
        with tempfile.TemporaryDirectory() as folder:
            made = pathlib.Path(folder, "made")
            self.pip("wheel", "-q", "--no-deps", "--no-build-isolation", "-w", made, ".")
            (wheel,) = made.iterdir()
            self.assertIn("-cp311-abi3-linux_", wheel.name)
            self.assertLess(wheel.stat().st_size, MEGABYTES * 1e6)
            with zipfile.ZipFile(wheel) as archive:
                names = archive.namelist()
                metadata = archive.read(next(n for n in names if n.endswith("/METADATA"))).decode()
            self.assertEqual([line for line in metadata.split("\n") if line.startswith("Requires-Dist")],
                             ["Requires-Dist: numpy>=1.26"])
            sources = {path.relative_to(ROOT / "python").as_posix() for path in (ROOT / "python/leat").rglob("*")
                       if path.is_file() and "__pycache__" not in path.parts}
            stubs = {name for name in names if name.endswith(".pyi")}
            modules = {"leat/" + path.name for path in BUILD.glob("libleat_*.so")}
            self.assertEqual({n for n in names if ".dist-info/" not in n} - stubs, sources | {"leat/_native.abi3.so"} | modules)
            self.assertLessEqual({"leat/__init__.pyi", "leat/data/dataset.pyi", "leat/keras/layers/__init__.pyi",
                                  "leat/bitwise.pyi"}, stubs)
            there = os.path.join(folder, "there")
            self.pip("install", "-q", "--no-deps", "--target", there, wheel)
            done = subprocess.run([PYTHON, "-c", PROGRAM % there], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": there})
            self.assertEqual((done.stdout, done.stderr), ("[[0, 1, 4], [9, 16]]\n", ""))
            done = subprocess.run([PYTHON, "-c", PAGE], cwd=folder, capture_output=True, text=True,
                                  env={**os.environ, "PYTHONPATH": there})
            self.assertEqual((done.returncode, "libleat_http.so" in done.stdout), (0, "leat/libleat_http.so" in modules))


if __name__ == "__main__":
    sys.exit(unittest.main())
