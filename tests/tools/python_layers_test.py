"""The floors of the Python package: what points up, and what runs in a circle, is found wherever the import stands."""
import os
import shutil
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools"))
import python_layers  # noqa: E402

FLOORS = "# the lowest first\ncore: leat.low leat._core.*\nroot: leat\ndata: leat.data.*\n      leat.high\n"


class Layers(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.write("python/floors", FLOORS)
        for name in ("__init__", "_core/__init__", "_core/a", "_core/b", "low", "high", "data/__init__", "data/dataset"):
            self.write("python/leat/%s.py" % name, "")

    def write(self, name, text):
        path = os.path.join(self.root, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)

    def problems(self):
        found, looked_at = python_layers.check(self.root)
        self.assertEqual(looked_at, sum(name.endswith(".py") for _, _, files in os.walk(self.root) for name in files))
        return found

    def finds(self, *expected):
        self.assertEqual(self.problems(), list(expected))

    def test_down_and_own_drawer(self):
        self.write("python/leat/_core/b.py", "from leat import low\nfrom . import a\n")
        self.write("python/leat/high.py", "import leat as tf\nfrom leat._core.a import x\n\n\ndef f():\n    return tf.low\n")
        self.write("python/leat/data/__init__.py", "from leat.data.dataset import Dataset\n")
        self.finds()

    def test_up(self):
        self.write("python/leat/low.py", "import json\nfrom leat.data import dataset\n")
        self.finds("python/leat/low.py:2: leat.low (core) may not import leat.data.dataset (data)")

    def test_up_in_a_function(self):
        self.write("python/leat/_core/a.py", "class A:\n    def f(self):\n        from ..high import x\n        return x\n")
        self.finds("python/leat/_core/a.py:3: leat._core.a (core) may not import leat.high (data)")

    def test_up_by_an_attribute(self):
        self.write("python/leat/low.py", "import leat._core\n\n\ndef f():\n    return leat.data.dataset.Dataset\n")
        self.finds("python/leat/low.py:5: leat.low (core) may not import leat.data.dataset (data)")

    def test_up_by_a_text(self):
        self.write("python/leat/low.py", 'HOMES = {"leat.high": "x y"}\n')
        self.write("python/leat/_core/a.py", 'hook.at("leat.data", "x")\nnamed("leat.data")\n')
        self.finds("python/leat/_core/a.py:1: leat._core.a (core) may not import leat.data (data)",
                   "python/leat/low.py:1: leat.low (core) may not import leat.high (data)")

    def test_circle(self):
        self.write("python/leat/_core/a.py", "from leat._core import b\n")
        self.write("python/leat/_core/b.py", "from leat._core.a import x\n")
        self.finds("python/leat/_core/a.py:1: 2 modules import each other: leat._core.a -> leat._core.b -> leat._core.a")

    def test_circle_through_a_function(self):
        self.write("python/leat/_core/a.py", "import leat.low\n")
        self.write("python/leat/low.py", "from leat._core import b\n")
        self.write("python/leat/_core/b.py", "\n\ndef f():\n    from leat._core import a\n    return a\n")
        self.finds("python/leat/_core/a.py:1: 3 modules import each other: leat._core.a -> leat.low -> leat._core.b -> "
                   "leat._core.a")

    def test_circle_with_the_package(self):
        self.write("python/leat/data/__init__.py", "from leat.data import dataset\nNAME = 1\n")
        self.write("python/leat/data/dataset.py", "def f():\n    from leat.data import NAME\n    return NAME\n")
        self.finds("python/leat/data/__init__.py:1: 2 modules import each other: leat.data -> leat.data.dataset -> leat.data")

    def test_what_never_runs(self):
        self.write("python/leat/low.py", "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from leat import high\n")
        self.finds()
        self.write("python/leat/low.py", "import typing\nif typing.TYPE_CHECKING:\n    pass\nelse:\n    from leat import high\n")
        self.finds("python/leat/low.py:5: leat.low (core) may not import leat.high (data)")

    def test_module_on_no_floor(self):
        self.write("python/leat/attic.py", "")
        self.finds("python/leat/attic.py: leat.attic is on no floor of python/floors")

    def test_pattern_of_nothing(self):
        self.write("python/floors", FLOORS + "attic: leat.attic\n")
        self.finds("python/floors: attic: leat.attic fits no module")


if __name__ == "__main__":
    unittest.main()
