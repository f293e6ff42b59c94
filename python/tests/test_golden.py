"""The recorded cases of tests/golden/data/tfdata, built through the Python methods.

The plans are built by the module that recorded TensorFlow's answers (tools/record/plans_tensorflow.py), with leat in
TensorFlow's place: what runs here is a TensorFlow program whose import line is another. No function may become a
callback; the lines of tests/golden/deviations.json hold here too.
"""

import fnmatch
import importlib
import json
import os
import pathlib
import shutil
import sys
import types

import pytest

import leat
from leat._graph import trace

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/golden/data"
FILES = sorted(path.name for path in (DATA / "tfdata").glob("*.json"))
DEVIATIONS = json.loads((ROOT / "tests/golden/deviations.json").read_text())["recorded"]
# Members of an answer that are compared as they are.
PARTS = ("element_spec", "cardinality", "value")


class _Queue:
    """A closed queue of TensorFlow: to take from it is OUT_OF_RANGE, when a function runs."""

    def __init__(self, *args, **kwargs):
        pass

    def close(self):
        pass

    def dequeue(self):
        return trace.current_graph().call("assert", '{"message": "closed", "code": "OUT_OF_RANGE"}',
                                          [leat.constant(False), leat.constant(0, leat.int64)])[0]


def _tensorflow():
    """Modules under TensorFlow's names, which hand on to leat."""
    fake = types.ModuleType("tensorflow")
    fake.__getattr__ = lambda name: getattr(leat, name)
    fake.queue = types.SimpleNamespace(FIFOQueue=_Queue)
    shuffles = types.ModuleType("tensorflow.python.data.experimental.ops.global_shuffle_op")
    shuffles._global_shuffle = lambda dataset, **args: dataset.global_shuffle(**args)
    modules = {"tensorflow": fake, shuffles.__name__: shuffles}
    for name in ("tensorflow.python", "tensorflow.python.data", "tensorflow.python.data.experimental",
                 "tensorflow.python.data.experimental.ops"):
        modules[name] = types.ModuleType(name)
    modules["tensorflow.python.data.experimental.ops"].global_shuffle_op = shuffles
    return modules


def _fails(after, kind):
    def generator():
        yield from range(after)
        raise kind("by order")
    return generator


GENERATORS = {
    "gen_count_5": lambda: iter(range(5)), "gen_empty": lambda: iter(()),
    "gen_pairs": lambda: iter([(0, "a"), (1, "bb"), (2, "ccc")]),
    "gen_dicts": lambda: iter([{"a": 0, "b": [1.5]}, {"a": 1, "b": [2.5, 3.5]}]),
    "gen_ragged_vectors": lambda: iter([[], [1], [1, 2], [1, 2, 3]]), "gen_count_to": lambda n: iter(range(n)),
    "gen_fail_after_2": _fails(2, ValueError), "gen_fail_unknown": _fails(2, KeyError),
    "gen_fail_not_implemented": _fails(1, NotImplementedError), "gen_fail_memory": _fails(1, MemoryError),
    "gen_wrong_type": lambda: iter([0, "text", 2]), "gen_wrong_shape": lambda: iter([[1, 2], [1, 2, 3], [3, 4]]),
}


def code_of(error):
    """The status of an exception; what a generator raised arrives as it is."""
    if isinstance(error, leat.errors.OpError):
        return leat._native.status_name(error.error_code)
    for kind, code in ((NotImplementedError, "UNIMPLEMENTED"), (MemoryError, "RESOURCE_EXHAUSTED"),
                       ((ValueError, TypeError), "INVALID_ARGUMENT")):
        if isinstance(error, kind):
            return code
    return "UNKNOWN"


@pytest.fixture(scope="module")
def plans():
    """The recorder's module over leat."""
    modules = _tensorflow()
    kept = {name: sys.modules.get(name) for name in (*modules, "plans", "plans_functions", "plans_tensorflow")}
    sys.modules.update(modules)
    sys.path.insert(0, str(ROOT / "tools/record"))
    try:
        module = importlib.import_module("plans_tensorflow")
    finally:
        sys.path.pop(0)
        for name, before in kept.items():
            sys.modules.pop(name)
            if before is not None:
                sys.modules[name] = before
    module.code_of = code_of
    module.SOURCES.update(text_line_dataset=leat.data.TextLineDataset, sql_dataset=leat.data.experimental.SqlDataset,
                          fixed_length_record_dataset=leat.data.FixedLengthRecordDataset)
    module.FUNCTION_ARGUMENTS += ("generator",)
    module.FUNCTIONS.update(GENERATORS)
    return module


def iterate(plans, iterator, limit, longest):
    """The results of an iterator, error codes among them; after its end it must stay there."""
    out = []
    while len(out) < (longest if limit is None else limit):
        try:
            out.append(plans.value_json(next(iterator)))
        except StopIteration:
            with pytest.raises(StopIteration):
                next(iterator)
            return out
        except Exception as error:  # a user's exceptions arrive as they are
            out.append({"error": code_of(error)})
    return out


def answer(plans, case, folder):
    """What leat answers, in the form of a recorded answer."""
    builder = plans.Builder(str(folder))
    leat.random.set_seed(case.get("global_seed"))
    try:
        for named in case.get("let", []):
            builder.named[named["name"]] = builder.build(named["node"])
        for action in case.get("before", []):
            dataset = builder.build(action["pipeline"])
            if action["action"] == "save":
                dataset.save(builder.argument("", action["path"]), **action["args"])
            else:
                list(dataset)
        dataset = builder.build(case["pipeline"])
        if case["expect"].get("error", {}).get("when", "terminal") != "terminal":
            iter(dataset)
    except Exception as error:
        return {"error": {"code": code_of(error), "text": f"{type(error).__name__}: {error}"}}
    found = {"element_spec": plans.spec_json(dataset.element_spec), "cardinality": int(dataset.cardinality())}
    if "terminal" in case:
        try:
            plans.answer_terminal(dataset, case["terminal"], builder, found)
        except Exception as error:
            found["error"] = {"code": code_of(error), "text": f"{type(error).__name__}: {error}"}
        return found
    for number, limit in enumerate(case.get("iterate", [None])):
        key = ("elements", "elements_epoch2", "elements_epoch3")[number]
        found[key] = iterate(plans, iter(dataset), limit, len(case["expect"].get(key, ())) + 3)
        if case.get("unordered"):
            found[key].sort(key=json.dumps)
            case["expect"][key].sort(key=json.dumps)
    return found


def differences(expect, found):
    """What is different, as text; an empty list where nothing is."""
    if "error" in expect:
        wanted = expect["error"]["code"]
        error = found.get("error", {"code": "no error"})
        return [] if error["code"] == wanted else [f"expected {wanted}, found {error}"]
    return [f"{part}: expected {json.dumps(expect[part])[:300]}, found {json.dumps(found.get(part))[:300]}"
            for part in (*PARTS, "elements", "elements_epoch2", "elements_epoch3")
            if part in expect and expect[part] != found.get(part)] + (
                [f"found {found['error']}"] if "error" in found else [])


def expected(file, case):
    """The recorded answer, or where leat deviates on purpose its own."""
    for line in DEVIATIONS:
        if line["file"] == f"tfdata/{file}" and fnmatch.fnmatch(case["name"], line["case"]):
            return dict(case["expect"], **line["expect"])
    return case["expect"]


@pytest.mark.parametrize("file", FILES)
def test_recorded(plans, file, tmp_path, monkeypatch):
    monkeypatch.chdir(DATA)
    called = []
    monkeypatch.setattr(trace, "announce", lambda function, what, reason: called.append(f"{what}: {reason}"))
    only = os.environ.get("LEAT_CASE")
    failed = []
    for case in json.loads((DATA / "tfdata" / file).read_text()):
        if only and not fnmatch.fnmatch(case["name"], only):
            continue
        folder = tmp_path / "case"
        folder.mkdir()
        case["expect"] = expected(file, case)
        called.clear()
        wrong = differences(case["expect"], answer(plans, case, folder))
        wrong += [f"a callback, {one}" for one in called]
        failed += [f"{case['name']}: {one}" for one in wrong]
        shutil.rmtree(folder)
    leat.random.set_seed(None)
    assert not failed, f"{len(failed)} differences\n" + "\n".join(failed)
