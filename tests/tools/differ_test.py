"""`make differ` without TensorFlow: two packages of a few functions that differ in what is planted, which it finds, shrinks and counts once."""
import base64
import itertools
import json
import math
import os
import random
import struct
import sys
import types
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tools", "differ"))
import calls  # noqa: E402
import compare  # noqa: E402
import draw  # noqa: E402
import main  # noqa: E402
import names  # noqa: E402
import programs  # noqa: E402
import shrink  # noqa: E402
import worker  # noqa: E402


class Tensor:
    """Numbers, flat, with a dtype and a shape."""

    def __init__(self, data, dtype, shape):
        self.data, self.dtype, self.shape = data, dtype, shape

    def like(self, data, dtype=None):
        return Tensor(data, dtype or self.dtype, self.shape)


def constant(value, dtype, shape=None):
    sizes = []
    while isinstance(value, list) and value and isinstance(value[0], list):
        sizes.append(len(value))
        value = [one for part in value for one in part]
    if isinstance(value, list):
        sizes.append(len(value))
    data = value if isinstance(value, list) else [value]
    return Tensor(data, dtype, shape or [size // (sizes[at - 1] if at else 1) for at, size in enumerate(sizes)])


def encode(value):
    if isinstance(value, Tensor):
        return {"is": "tensor", "dtype": value.dtype, "shape": value.shape,
                "data": base64.b64encode(struct.pack("<%df" % len(value.data), *value.data)).decode()}
    if isinstance(value, (list, tuple)):
        return {"is": "list", "items": [encode(one) for one in value]}
    return {"is": "python", "type": type(value).__name__, "value": repr(value)}


class Elements(list):
    """What a mapped dataset gives."""
    element_spec = "spec"


class Mapped:
    """What the wrapping in map needs of a dataset."""

    def __init__(self, given, times=1):
        self.given, self.times = given, times

    def repeat(self, times):
        return Mapped(self.given, times)

    def map(self, function):
        return Elements([function(*self.given) if isinstance(self.given, tuple) else function(self.given)] * self.times)


class Tape:
    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def watch(self, _):
        pass

    def gradient(self, y, by):
        return 1.0


def package(planted):
    """A package of four functions, `planted` with defects or not."""
    def twice(x, power=1, flag=False):
        """Twice x; the planted one adds where a number is above 2."""
        return x.like([2 * one + (1 if planted and one > 2 else 0) for one in x.data])

    def kind(x):
        return x.like(x.data, "float64x" if planted and len(x.shape) > 1 else None)

    def strict(x, limit=3):
        if planted:
            raise ValueError("strict takes no %d numbers" % len(x.data))
        return x.like(x.data)

    def lenient(x):
        if not planted:
            raise ValueError("never")
        return Tensor([1.0], "float32", [1])

    def broken(x):
        raise (KeyError if planted else ValueError)("broken")

    def fine(x, flag=False):
        return x.like([one + 1 for one in x.data])
    rolled = itertools.count(planted, 7919 + planted)

    def dice(x):
        return Tensor([next(rolled) % 1009 + 0.5], "float32", [1])
    found = types.SimpleNamespace(dice=dice, twice=twice, kind=kind, strict=strict, lenient=lenient, broken=broken, fine=fine)
    dataset = types.SimpleNamespace(from_tensors=lambda given: Mapped(given))
    return types.SimpleNamespace(math=found, constant=constant, function=lambda f: f, GradientTape=Tape, data=types.SimpleNamespace(Dataset=dataset),
                                 float32="float32", float64="float32", float16="float32", bfloat16="float32", **{one: "float32" for one in draw.BITS})


class Side:
    """A side in this process; what dies and what hangs is only said."""

    def __init__(self, planted):
        self.planted, self.runner, self.asked = planted, worker.Runner(package(planted), encode), 0

    def run(self, program):
        self.asked += 1
        if self.planted and program["name"] == "tf.math.fine" and program["mode"] == "map":
            return {"crash": -11}
        return self.runner.run(program)

    def trim(self):
        pass


def row(name, *words):
    parameters = [["x", "plain", ["none"]]] + [[word, "plain", ["py", value]] for word, value in words]
    return "ops", {"name": "tf.math." + name, "names": ["tf.math." + name], "what": "function", "parameters": parameters}, calls.function


ROWS = [row("twice", ("power", 1), ("flag", False)), row("kind"), row("strict", ("limit", 3)), row("lenient"), row("broken"),
        row("fine", ("flag", False)), row("dice")]
MISSING = ["tf.complex64", "tf.complex128"]


def run(trials=250, seed="1", rows=ROWS, known=(), trial=None):
    said = []
    found = main.Differ(Side(True), Side(False), rows, seed, MISSING, known, said.append)
    found.run(0, trial, trials)
    return found, said


class Planted(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.found, cls.said = run()

    def finding(self, name, kind):
        return [one for one in self.found.findings.values() if one.key[:2] == ("tf.math." + name, kind)]

    def test_kinds(self):
        kinds = {key[:2] for key in self.found.findings}
        self.assertEqual(kinds, {("tf.math.twice", "value"), ("tf.math.kind", "dtype"), ("tf.math.strict", "refuses"), ("tf.math.lenient", "accepts"),
                                 ("tf.math.broken", "error class"), ("tf.math.fine", "crash")})

    def test_of_chance(self):
        self.assertGreater(self.found.counts["of chance"], 10)

    def test_counted_once_and_shrunk(self):
        one, = self.finding("twice", "value")
        self.assertEqual(one.key[2], "eager")
        self.assertGreater(one.count, 10)
        self.assertEqual(len(one.shown), 1)
        program = one.shown[0]["program"]
        self.assertEqual(len(programs.Source(program).lines), 2)
        self.assertEqual(program["body"][0][1][3], [])    # no argument that does not matter
        self.assertLessEqual(max(len(expr[3]) for _, expr in program["values"]), 2)
        self.assertEqual(sum("tf.math.twice: value" in text for text in self.said), 1)

    def test_variants_of_one_kind(self):
        one, = self.finding("strict", "refuses")
        self.assertEqual(len(one.shown), 1)    # numbers in a text do not make two of it

    def test_a_trial_again(self):
        one, = self.finding("kind", "dtype")
        number = one.shown[0]["trial"]
        again, said = run(rows=main.chosen(ROWS, ["tf.math.kind"]), trial=number)
        self.assertEqual([each.key for each in again.findings.values()], [one.key])
        self.assertEqual(again.findings[one.key].shown, one.shown)
        self.assertIn("TRIAL=%d ONLY=tf.math.kind" % number, said[0])

    def test_what_is_left_of_findings(self):
        kept = [{"shown": one.shown} for one in self.found.findings.values()]
        again = main.Differ(Side(True), Side(False), ROWS, "9", MISSING, (), str)
        again.again(kept)
        self.assertEqual(set(again.findings), set(self.found.findings))
        mended = main.Differ(Side(False), Side(False), ROWS, "9", MISSING, (), str)
        mended.again(kept)
        self.assertEqual((mended.findings, mended.counts["trials"]), ({}, len(kept)))

    def test_seeds(self):
        first, second, third = (run(40, seed)[1] for seed in ("4", "4", "5"))
        self.assertEqual(first, second)
        self.assertNotEqual(first, third)

    def test_known(self):
        one, = self.finding("broken", "error class")
        line = {"name": "tf.math.br*", "kind": "error class", "says": "broken", "reason": "planted", "program": one.shown[0]["program"]}
        gone = {**line, "kind": "value"}
        found, said = run(known=[line, gone])
        self.assertNotIn(one.key, [each.key for each in found.unknown()])
        self.assertFalse([text for text in said if "broken" in text])
        needless = list(found.needless())
        self.assertEqual(len(needless), 1, needless)
        self.assertIn("error class", needless[0])

    def test_report(self):
        table = [one for _, one, _ in ROWS] + [{"name": "tf.a.b", "names": ["tf.a.b", "tf.b"], "what": "function"}] + [
            {"name": name, "names": [name], "what": what} for name, what in (("tf.C", "class"), ("tf.C.m", "method"), ("tf.C.n", "method"))]
        lines = list(main.report(self.found, table, {"tf.a.b", "tf.b", "tf.C.m"}))
        self.assertIn("crash 1", lines[-5])
        self.assertIn("tf.math 6", lines[-4])
        self.assertIn("tf.a 1 of 1", lines[-3])
        self.assertIn("1 of 2", lines[-2])
        self.assertIn("| tf.a | 0 | 1 | 0 | b |", list(main.names_page(table, {"tf.a.b", "tf.b", "tf.C.m"})))
        self.assertRegex(lines[-1], r"^differ: 250 trials \(.* of chance\), .* in \d+ kinds that nobody knows and 0 known$")


class Parts(unittest.TestCase):
    def test_source(self):
        program = {"name": "tf.add", "group": "ops", "mode": "function", "show": ["y"], "values": [
            ["x", ["tensor", "float32", [2, 1], [math.nan, -0.0]]], ["e", ["tensor", "string", [0, 2], []]]],
            "body": [["y", programs.call("tf.add", ["ref", "x"], ["complex", 1.0, math.inf], name=programs.py([None, "a"]))]]}
        text = programs.runnable(program, "leat")
        self.assertIn("x = tf.constant([[nan], [-0.0]], tf.float32)\ne = tf.constant([], tf.string, shape=[0, 2])\n@tf.function\ndef f(x, e):\n"
                      "    y = tf.add(x, complex(1.0, inf), name=[None, 'a'])\n    return y\ny = f(x, e)\nprint(y)\n", text)
        compile(text, "text", "exec")
        index = ["index", ["ref", "x"], [["slice", ["py", None], ["py", 2], ["py", -1]], ["name", "..."]]]
        self.assertEqual(programs.render(index), "x[:2:-1, ...]")

    def test_drawn_programs(self):
        """What needs no table of names is source for Python, the same for the same seed, and stays it on the way through JSON."""
        for group, about, make in main.all_rows([]):
            for seed in range(2):
                program, again = (make(draw.Draw(random.Random(seed)), about) for _ in range(2))
                self.assertEqual(json.loads(json.dumps(program)), program, about)
                self.assertEqual((program, program["group"]), (again, group))
                compile(programs.runnable(program, "leat"), about["name"], "exec")
                for smaller in itertools.islice(shrink.candidates(program), 12):
                    compile(programs.Source(smaller).text(), about["name"], "exec")

    def test_floats(self):
        comparer = compare.Comparer()
        step = 2.0 ** -23
        for a, b, kind in (([1.0], [1.0 + 10 * step], None), ([1.0], [1.0 + 200 * step], "value"), ([math.nan], [math.nan], None),
                           ([math.nan], [1.0], "value"), ([math.inf], [-math.inf], "value"), ([0.0], [-0.0], "zero sign"),
                           ([1e30, 1.0], [1e30, 2.0], None), ([1e-40], [0.0], None)):
            self.assertEqual(comparer.numbers("float32", a, b)[0], kind, (a, b))

    def test_order(self):
        items = [encode(1), encode(2), encode(3)]
        one, other = {"is": "list", "items": items}, {"is": "list", "items": items[::-1]}
        self.assertEqual(compare.Comparer().values("y", one, other).kind, "order")
        keys = [{"is": "dict", "keys": keys, "items": items[:2]} for keys in (["'a'", "'b'"], ["'b'", "'a'"])]
        self.assertEqual(compare.Comparer().values("y", *keys).kind, "key order")
        halves = {"is": "tensor", "dtype": "bfloat16", "shape": [1], "data": base64.b64encode(b"\x80\x3f").decode()}
        self.assertEqual(compare.unpacked("bfloat16", halves["data"]), [1.0])

    def test_errors(self):
        def error(*classes, text=""):
            return {"classes": list(classes), "text": text}
        self.assertTrue(compare.alike(error("InvalidArgumentError", "OpError"), error("ShapeError", "InvalidArgumentError", "OpError")))
        self.assertTrue(compare.alike(error("ValueError"), error("TypeError")))
        self.assertTrue(compare.alike(error("AttributeError"), error("TypeError")))
        self.assertFalse(compare.alike(error("OutOfRangeError", "OpError"), error("NotFoundError", "OpError")))
        self.assertFalse(compare.alike(error("ValueError"), error("RuntimeError")))

    def test_what_a_shrunk_chain_is_about(self):
        source = programs.call("tf.data.Dataset.range", ["py", 3])
        chain = programs.method(programs.method(source, "batch", ["py", 2]), "take", ["py", 1])
        for expr, name in ((chain, "batch"), (programs.method(source, "take", ["py", 1]), "take"), (source, "range")):
            program = {"name": "tf.data.Dataset.batch", "group": "datasets", "mode": "eager", "values": [["dataset", expr]], "body": [], "show": []}
            self.assertEqual(programs.about(program), "tf.data.Dataset." + name)

    def test_unused_values_go(self):
        program = {"name": "n", "group": "ops", "mode": "eager", "values": [["x", ["py", 1]], ["w", ["py", 2]]],
                   "body": [["y", ["ref", "x"]]], "show": ["y"]}
        self.assertEqual([name for name, _ in shrink.used(program)["values"]], ["x"])

    def test_names(self):
        module = types.ModuleType("tensorflow")
        module.math = types.ModuleType("tensorflow.math")

        def add(x, y, name=None):
            return x
        module.add = module.math.add = add
        module.os, module._hidden = os, 1
        table = names.table(module)
        self.assertEqual([one["name"] for one in table], ["tf.math", "tf.math.add"])
        self.assertEqual(table[1]["names"], ["tf.add", "tf.math.add"])
        self.assertEqual(table[1]["parameters"][2], ["name", "plain", ["py", None]])
        self.assertEqual(worker.have(types.SimpleNamespace(a=1), ["tf.a", "tf.b", "tf.b.c"]), ["tf.b", "tf.b.c"])


if __name__ == "__main__":
    unittest.main()
