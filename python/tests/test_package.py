"""What the package is besides its functions: what importing it loads, its stubs, its help and its examples."""

import ast
import importlib
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
from leat import _native
from leat._core import tensor
from leat._core.later import Hook
from leat._graph import ops, trace
from leat.data import dataset

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each of these costs milliseconds, and is needed only where a function of the user is read or a table is drawn.
HEAVY = {"asyncio", "concurrent.futures", "html", "http", "logging", "shutil", "multiprocessing", "pdb",
         "pydoc", "tkinter", "tqdm", "unittest", "xml", "torch", "jax", "pandas", "pyarrow", "ml_dtypes", "tensorflow"}


def run(*arguments, variables=()):
    """A Python of its own with the same modules to import."""
    return subprocess.run([sys.executable, "-B", *map(str, arguments)], cwd=ROOT, capture_output=True, text=True,
                          check=False, env={**os.environ, "MYPY_CACHE_DIR": os.devnull, **dict(variables)})


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
    done = run("-c", "from leat._graph.ops import FUNCTIONS, TABLE; "
                     "print(*map(dict.__len__, (TABLE, FUNCTIONS)), len(TABLE))")
    lines, functions, known = map(int, done.stdout.split())
    assert (lines, functions) == (0, 0) and known > 300


def test_lazy_names_are_there():
    from_math, image = {}, {}
    exec("from leat.math import erf, bincount; from leat import *", from_math)
    exec("from leat.image import resize; import leat.bitwise", image)
    assert from_math["erf"] is tf.math.erf and from_math["image"].resize is image["resize"]
    assert {"Variable", "function", "reduce_sum", "data", "keras"} <= set(dir(tf)) & from_math.keys()
    assert {"erf", "bincount"} <= set(dir(tf.math)) & set(tf.math.__all__)
    with pytest.raises(AttributeError, match="'levitate'"):
        tf.math.levitate
    for text in (pydoc.plain(pydoc.render_doc(tf.image)), pydoc.plain(pydoc.render_doc(tf.math))):
        assert "resize(" in text or "erf(" in text and "bincount(" in text


def test_hooks():
    hook, late = Hook(), Hook()

    @hook.provide
    def double(x):
        return 2 * x
    assert hook(3) == 6 and hook.value is double
    late.at("leat.math", "no_such_name")
    with pytest.raises(AttributeError, match="no_such_name"):
        late(3)
    late.at("leat.math", "polyval")
    assert late.value is tf.math.polyval


def test_all_that_the_package_promises_is_there():
    for hook in (tensor.parts_of, tensor.composite_of_value, trace.convert_control_flow):
        assert callable(hook.value)
    assert [spec.value_class.value for spec in (tf.RaggedTensorSpec, tf.SparseTensorSpec, tf.data.DatasetSpec)] == [
        tf.RaggedTensor, tf.sparse.SparseTensor, tf.data.Dataset]
    assert tf.TensorSpec([]).value_type is tf.Tensor and tf.NoneTensorSpec().value_type is type(None)


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


@pytest.fixture(scope="module")
def stubs(tmp_path_factory):
    """{path below the package: text} of the stubs, made of the package as it is."""
    folder = tmp_path_factory.mktemp("stubs")
    (folder / "leat" / "gone").mkdir(parents=True)
    (folder / "leat" / "gone" / "old.pyi").write_text("")
    done = run("tools/make_stubs.py", folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return {path.relative_to(folder / "leat").as_posix(): path.read_text() for path in folder.rglob("*.pyi")}


def stub_of(stubs, module):
    """The text of a module's stub."""
    path = module.replace(".", "/").removeprefix("leat").lstrip("/")
    return stubs.get(f"{path}.pyi") or stubs[f"{path}/__init__.pyi".lstrip("/")]


def declared(node, owner=""):
    """(name, function) of each function that a stub declares without overloads."""
    for child in node.body:
        if isinstance(child, ast.ClassDef):
            yield from declared(child, child.name + ".")
        elif isinstance(child, ast.FunctionDef) and "overload" not in map(ast.unparse, child.decorator_list):
            yield owner + child.name, child


def test_stubs_parse_and_agree_with_the_package(stubs):
    """Their functions have the parameters, in order and with defaults, of those that run."""
    assert len(stubs) > 100 and "gone/old.pyi" not in stubs
    count = 0
    for path, text in stubs.items():
        tree = ast.parse(text, path)
        module = "leat." + path.removesuffix(".pyi").removesuffix("__init__").rstrip("/").replace("/", ".")
        if path == "_types.pyi":
            continue
        running = importlib.import_module(module.rstrip("."))
        for name, function in declared(tree):
            owner, _, last = name.rpartition(".")
            found = inspect.getattr_static(getattr(running, owner), last) if owner else getattr(running, last)
            found = getattr(found, "__func__", found)
            if isinstance(found, property) or not inspect.isfunction(found):
                continue
            given, fields = function.args, inspect.signature(found).parameters.values()
            names = [a.arg for a in (*given.args, given.vararg, *given.kwonlyargs, given.kwarg) if a]
            assert names == [field.name for field in fields], (module, name)
            assert len(given.defaults) + sum(d is not None for d in given.kw_defaults) == sum(
                field.default is not field.empty for field in fields), (module, name)
            count += 1
    assert count > 2500


def test_every_line_of_the_tables_has_a_stub(stubs):
    for path in ops.FUNCTIONS:
        module, _, name = path.rpartition(".")
        text = stub_of(stubs, module)
        assert f"def {name}(" in text or f"import {name} as" in text, path
    for op, entry in dataset.OPERATORS.items():
        if not op.endswith("_dataset") and not entry["names"][0].startswith("experimental.service."):
            assert f"    def {op}(" in stubs["data/dataset.pyi"], op


def test_what_modules_list_is_in_their_stubs(stubs):
    listed = [(module, name) for module in list(sys.modules) if module.split(".")[0] == "leat"
              for name in getattr(sys.modules[module], "__all__", ())]
    assert ("leat.data", "Dataset") in listed
    for module, name in listed:
        assert re.search(rf"\b(def |class |as ){name}\b|^{name}:", stub_of(stubs, module), re.M), (module, name)


def mypy(stubs, folder, *arguments):
    """mypy with these stubs alone."""
    for path, text in {**stubs, "py.typed": ""}.items():
        (folder / "leat" / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / "leat" / path).write_text(text)
    return run("-m", "mypy", "--config-file", "pyproject.toml", "--no-incremental", *arguments,
               variables={"MYPYPATH": str(folder)})


def test_mypy_passes_on_the_examples(stubs, tmp_path):
    pytest.importorskip("mypy")
    done = mypy(stubs, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_mypy_refuses_a_wrong_program(stubs, tmp_path):
    pytest.importorskip("mypy")
    wrong = tmp_path / "wrong.py"
    wrong.write_text("import leat as tf\ntf.data.Dataset.range(3).batch(batch_size='four')\n"
                     "tf.data.Dataset.range(3).no_such_method()\n")
    done = mypy(stubs, tmp_path, wrong)
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
