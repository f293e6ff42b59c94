"""What the package is besides its functions: what importing it loads, its stubs, its help and its examples."""

import inspect
import operator
import os
import pathlib
import pickle
import pydoc
import re
import subprocess
import sys

import pytest

import leat as tf
from leat import _native, ops
from leat.data import dataset

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each of these costs milliseconds, and is needed only where a function of the user is read or a table is drawn.
HEAVY = {"asyncio", "concurrent.futures", "html", "http", "logging", "shutil", "multiprocessing", "pdb",
         "pydoc", "tkinter", "tqdm", "unittest", "xml", "torch", "jax", "pandas", "pyarrow", "ml_dtypes", "tensorflow"}


def run(*arguments, cwd=ROOT):
    """A Python of its own with the same modules to import."""
    return subprocess.run([sys.executable, "-B", *map(str, arguments)], cwd=cwd, capture_output=True, text=True,
                          check=False, env={**os.environ, "MYPY_CACHE_DIR": os.devnull})


def loaded_by(statements):
    """The modules that statements load beyond numpy's."""
    done = run("-c", f"import sys, numpy; before = set(sys.modules); {statements}; "
                     "print(*sorted(set(sys.modules) - before))")
    assert done.returncode == 0, done.stderr
    return done.stdout.split()


def test_importing_loads_nothing_heavy_beyond_numpy():
    assert not HEAVY.intersection(loaded_by("import leat; leat.data; leat.Variable; leat.math"))


def test_importing_loads_little():
    """Processor time is for the benchmark; this counts what costs it."""
    assert len(loaded_by("import leat")) <= 32
    done = run("-c", "from leat import ops; print(*map(dict.__len__, (ops.TABLE, ops.FUNCTIONS)), len(ops.TABLE))")
    lines, functions, known = map(int, done.stdout.split())
    assert (lines, functions) == (0, 0) and known > 300


def test_lazy_names_are_there():
    from_math, image = {}, {}
    exec("from leat.math import erf, bincount; from leat import *", from_math)
    exec("from leat.image import resize; import leat.bitwise", image)
    assert from_math["erf"] is tf.math.erf and from_math["image"].resize is image["resize"]
    assert {"Variable", "function", "reduce_sum", "data", "keras"} <= set(dir(tf)) & from_math.keys()
    assert {"erf", "bincount"} <= set(dir(tf.math)) & set(tf.math.__all__)
    with pytest.raises(AttributeError, match="module 'leat.math' has no attribute 'levitate'"):
        tf.math.levitate
    for text in (pydoc.plain(pydoc.render_doc(tf.image)), pydoc.plain(pydoc.render_doc(tf.math))):
        assert "resize(" in text or "erf(" in text and "bincount(" in text


@pytest.mark.parametrize("path", ["reduce_sum", "math.erf", "random.experimental.index_shuffle", "where",
                                  "bitwise.invert", "nn.softmax", "data.Dataset.range"])
def test_functions_are_pickled_by_name(path):
    function = operator.attrgetter(path)(tf)
    assert pickle.loads(pickle.dumps(function)) is function


def test_one_operation_is_one_function():
    assert tf.reduce_sum is tf.math.reduce_sum and tf.reduce_sum.__module__ == "leat"
    assert tf.math.erf.__module__ == "leat.math"


def test_the_version_is_that_of_the_library():
    header = (ROOT / "include/leat/base.h").read_text()
    numbers = [header.split(f"LEAT_VERSION_{part} ")[1].split()[0] for part in ("MAJOR", "MINOR", "PATCH")]
    assert tf.__version__ == ".".join(numbers)


def test_stubs_are_current():
    done = run("tools/make_stubs.py", "--check")
    assert (done.returncode, done.stderr) == (0, ""), done.stderr


def test_every_line_of_the_tables_has_a_stub():
    stubs = {path.relative_to(ROOT / "python/leat").as_posix(): path.read_text()
             for path in (ROOT / "python/leat").rglob("*.pyi")}
    for path in ops.FUNCTIONS:
        module, _, name = path.rpartition(".")
        module = module.replace(".", "/")
        text = stubs.get(f"{module}.pyi") or stubs[f"{module}/__init__.pyi".lstrip("/")]
        assert f"def {name}(" in text or f"import {name} as" in text, path
    for op in dataset.OPERATORS:
        if not op.endswith("_dataset"):
            assert f"    def {op}(" in stubs["data/dataset.pyi"], op


def test_what_modules_list_is_in_their_stubs():
    listed = [(module, name) for module in list(sys.modules) if module.split(".")[0] == "leat"
              for name in getattr(sys.modules[module], "__all__", ())]
    assert ("leat.data", "Dataset") in listed
    for module, name in listed:
        path = ROOT / "python" / module.replace(".", "/")
        stub = path / "__init__.pyi" if path.is_dir() else path.with_suffix(".pyi")
        assert re.search(rf"\b(def |class |as ){name}\b|^{name}:", stub.read_text(), re.M), (module, name)


def test_mypy_passes_on_the_examples():
    pytest.importorskip("mypy")
    done = run("-m", "mypy", "--config-file", "pyproject.toml", "--no-incremental")
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_refuses_a_wrong_program(tmp_path):
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import leat as tf\ntf.data.Dataset.range(3).batch(batch_size='four')\n"
                     "tf.data.Dataset.range(3).no_such_method()\n")
    done = run("-m", "mypy", "--config-file", "pyproject.toml", "--no-incremental", wrong)
    assert done.stdout.count("error:") == 2, done.stdout + done.stderr


@pytest.mark.parametrize("function", [tf.reduce_sum, tf.image.decode_jpeg, tf.data.Dataset.batch,
                                      tf.data.TFRecordDataset])
def test_help_names_arguments(function):
    text = pydoc.plain(pydoc.render_doc(function))
    for parameter in inspect.signature(function).parameters:
        assert parameter in text
    assert inspect.getdoc(function)


def test_ten_lines():
    done = run("examples/ten_lines.py")
    assert (done.returncode, done.stderr) == (0, "")
    numbers = [int(word) for word in done.stdout.replace("[", " ").replace("]", " ").split()]
    assert sorted(numbers) == [x * x + 1 for x in range(10)]
    assert len(done.stdout.splitlines()) == 3


def test_the_limited_api_is_all_that_the_module_needs():
    assert _native.__file__.endswith("_native.abi3.so")
