#!/usr/bin/env python3
"""The wheels as a user gets them: their tags, sizes and papers, and that they run where nothing else is: `make test-wheel`.

LEAT_WHEELS is the folder that `make wheel` filled. LEAT_PYTHONS names interpreters, the one that runs this by default; each gets
environments with the wheels and numpy alone, where all examples run, the tool, and its demo within a minute. Of the system's
libraries the wheels may ask for those that every Linux has, EVERYWHERE.
"""
import csv
import json
import os
import pathlib
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
WHEELS = pathlib.Path(os.environ.get("LEAT_WHEELS") or "dist").resolve()
PYTHONS = os.environ.get("LEAT_PYTHONS", "").split() or [sys.executable]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
PACKED, INSTALLED = 25e6, 60e6      # bytes of the wheel libleat
IMPORT_MS = 50                      # beyond numpy's
DEMO_S = 60
EVERYWHERE = re.compile(r"(ld-linux[-\w]*|lib(c|m|dl|rt|pthread|util|gcc_s|stdc\+\+|z|resolv|nss_\w+))[-.\d]*\.so[.\d]*$")
ARGUMENTS = {"resnet50_photos.py": [ROOT / "data/digits/sample"]}
IMPORT = """
import time, numpy
start = time.process_time()
import leat
print((time.process_time() - start) * 1e3)
"""


def newest(name):
    """The wheel of that name in the folder."""
    found = sorted(WHEELS.glob(name + "-*.whl"))
    if len(found) != 1:
        raise AssertionError("expected one %s-*.whl in %s, found %s; `make wheel` makes it" % (name, WHEELS, [f.name for f in found]))
    return found[0]


class Papers(unittest.TestCase):
    def test_tags_and_sizes(self):
        wheel, train = newest("libleat"), newest("libleat_train")
        self.assertRegex(wheel.name, r"^libleat-[\d.]+-cp311-abi3-manylinux_2_\d+_(x86_64|aarch64)\.whl$")
        self.assertRegex(train.name, r"^libleat_train-[\d.]+-py3-none-manylinux_2_\d+_(x86_64|aarch64)\.whl$")
        for path in (wheel, train):
            self.assertLess(path.stat().st_size, PACKED, path)

    def test_records_papers_and_one_home_for_each_file(self):
        homes = {}
        for name in ("libleat", "libleat_train"):
            with zipfile.ZipFile(newest(name)) as archive:
                self.assertIsNone(archive.testzip())
                names = set(archive.namelist())
                info = next(n for n in names if n.endswith("/RECORD")).split("/")[0]
                with archive.open(info + "/RECORD") as file:
                    rows = list(csv.reader(file.read().decode().splitlines()))
                self.assertEqual(sorted(row[0] for row in rows), sorted(names))
                metadata = archive.read(info + "/METADATA").decode()
                for line in re.findall(r"(?m)^License-File: (.*)$", metadata):
                    self.assertIn(info + "/licenses/" + line, names)
                libraries = {n for n in names if ".libs/" in n}
                bill = json.loads(archive.read(info + "/sboms/%s.cdx.json" % name.replace("_", "-")))
                self.assertEqual({part["bom-ref"] for part in bill["components"]}, libraries)
                for part in bill["components"]:
                    self.assertIn("%s/licenses/vendored/%s.txt" % (info, part["name"]), names)
            for file in names:
                self.assertNotIn(file, homes)
                homes[file] = name

    def test_all_libraries_are_inside_or_everywhere(self):
        """The names that are inside have hashes in them, so none of the system's can come instead."""
        with tempfile.TemporaryDirectory() as folder:
            for name in ("libleat", "libleat_train"):
                with zipfile.ZipFile(newest(name)) as archive:
                    archive.extractall(folder, [n for n in archive.namelist() if ".so" in n])
            files = {path.name: path for path in pathlib.Path(folder).rglob("*.so*")}
            for name, path in files.items():
                text = subprocess.run(["readelf", "-d", path], check=True, capture_output=True, text=True).stdout
                wanted = re.findall(r"\(NEEDED\).*\[(.*)\]", text)
                missing = [n for n in wanted if n not in files and not EVERYWHERE.search(n)]
                self.assertEqual(missing, [], name)
                if any(n in files for n in wanted):
                    self.assertRegex(text, r"(RUNPATH|RPATH).*\$ORIGIN", name)

    def test_metadata(self):
        with zipfile.ZipFile(newest("libleat")) as archive:
            name = next(n for n in archive.namelist() if n.endswith("/METADATA"))
            metadata = archive.read(name).decode()
            self.assertIn("leat/py.typed", archive.namelist())
            self.assertIn("leat/data/dataset.pyi", archive.namelist())
            self.assertIn("leat = _leat_tool:main", archive.read(name.replace("METADATA", "entry_points.txt")).decode())
        for field in ("Name: libleat\n", "License-Expression: Apache-2.0", "Requires-Python: >=3.11", "Requires-Dist: numpy>=1.26",
                      "Provides-Extra: train", "Author: ", "Keywords: ", "Description-Content-Type: text/markdown"):
            self.assertIn(field, metadata)
        self.assertRegex(metadata, r"Requires-Dist: libleat-train==[\d.]+; extra == .train.")


class Bare:
    """An environment of its own and what runs in it."""

    wanted = "libleat"

    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="leat-wheel-"))
        subprocess.run([cls.python, "-m", "venv", cls.folder / "env"], check=True)
        cls.bin = cls.folder / "env/bin"
        cls.work = cls.folder / "work"
        cls.work.mkdir()
        shutil.copytree(ROOT / "data/digits", cls.folder / "data/digits")      # where the examples look for it
        done = subprocess.run([cls.bin / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-compile",
                               "--find-links", WHEELS, cls.wanted], capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(done.stdout + done.stderr)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.folder)

    def run_in(self, *command, **more):
        done = subprocess.run([str(word) for word in command], cwd=self.work, capture_output=True, text=True, timeout=300,
                              env={"PATH": "%s:/usr/bin:/bin" % self.bin, "HOME": str(self.work), "LD_LIBRARY_PATH": "", **more})
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done

    def test_the_import_takes_no_time(self):
        self.run_in(self.bin / "python", "-c", IMPORT)      # writes what is compiled
        took = [float(self.run_in(self.bin / "python", "-c", IMPORT).stdout) for _ in range(7)]
        print("%s: import beyond numpy: %.0f ms of processor time (least of 7), median %.0f" % (
            self.python, min(took), statistics.median(took)))
        self.assertLess(min(took), IMPORT_MS)

    def test_examples(self):
        for path in EXAMPLES:
            with self.subTest(path.name):
                copy = shutil.copy(path, self.work)
                done = self.run_in(self.bin / "python", copy, *ARGUMENTS.get(path.name, []))
                self.assertNotIn("Traceback", done.stderr)

    def test_tool(self):
        self.assertRegex(self.run_in("leat", "--version").stdout, r"^leat \d")
        self.run_in("leat", "launch", "-n", "2", "--service", "1", "--", "sh", "-c", "test -n \"$TF_CONFIG\" -a -n \"$LEAT_SERVICE_ADDRESS\"")

    def test_demo(self):
        self.demo()

    def demo(self):
        start = time.monotonic()
        done = self.run_in("leat", "demo")
        took = time.monotonic() - start
        accuracy = max(float(word) for word in re.findall(r"test accuracy ([\d.]+)", done.stdout))
        print("%s: leat demo, %s: %.0f s, test accuracy %.3f" % (self.python, self.wanted, took, accuracy))
        self.assertGreater(accuracy, 0.9)
        self.assertLess(took, DEMO_S)
        return done.stderr


class Alone(Bare):
    def test_size(self):
        site = next((self.folder / "env/lib").glob("python3*/site-packages"))
        size = sum(path.stat().st_size for path in [site / "_leat_tool.py", *site.glob("leat/**/*"), *site.glob("libleat*/**/*")]
                   if path.is_file() and "__pycache__" not in path.parts)
        print("installed: %.1f MB" % (size / 1e6))
        self.assertLess(size, INSTALLED)

    def test_plain_kernels_are_said(self):
        self.assertIn("libleat[train]", self.demo())

    def test_a_stranger_is_named(self):
        site = next((self.folder / "env/lib").glob("python3*/site-packages"))
        stranger = site / "leat-0.1.1.dist-info"
        stranger.mkdir()
        try:
            self.assertIn("UserWarning", self.run_in(self.bin / "python", "-c", "import leat").stderr)
        finally:
            stranger.rmdir()
        self.assertEqual(self.run_in(self.bin / "python", "-c", "import leat").stderr, "")

    def test_modules_are_loaded(self):
        program = "import ctypes, glob, os, leat; [ctypes.CDLL(p) for p in glob.glob(os.path.dirname(leat.__file__) + '/libleat_*.so')]"
        self.run_in(self.bin / "python", "-c", program)


class Training(Bare):
    wanted = "libleat[train]"

    def test_demo_has_onednn(self):
        self.assertNotIn("libleat", self.demo())


def load_tests(loader, tests, pattern):
    """Each environment once for each interpreter."""
    suite = unittest.TestSuite(loader.loadTestsFromTestCase(Papers))
    for number, python in enumerate(PYTHONS):
        for case in (Alone, Training):
            suite.addTests(loader.loadTestsFromTestCase(type("%s%d" % (case.__name__, number), (case, unittest.TestCase),
                                                             {"python": python})))
    return suite


if __name__ == "__main__":
    unittest.main(verbosity=2)
