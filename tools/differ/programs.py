"""A random program as data, and the Python that it stands for.

A program is a dictionary that JSON can carry:

    name      the public name that it is about, by which findings are counted: "tf.math.add"
    group     the generator that drew it: "ops", "layers", "datasets", ...
    mode      how it is run; "function", "map" and "tape" wrap the body, every other word only says what the body does
    values    statements that make what the body takes: [variable or None, expression]
    body      statements that are looked at
    show      the variables whose values are compared
    wrt       under "tape": the expression of what is differentiated by (without it, the body's floating tensors)

An expression is a list whose first word says what it is:

    ["py", v]                         a number, text, bool or None
    ["bytes", t], ["complex", r, i]   t in latin-1
    ["list", es], ["tuple", es], ["dict", [[e, e], ...]], ["slice", e, e, e]
    ["tensor", dtype, shape, data]    tf.constant; data flat, complex numbers as pairs, strings in latin-1
    ["array", dtype, shape, data]     np.array
    ["ref", variable], ["name", "tf.float32"]
    ["attr", e, word], ["index", e, [es]], ["binary", sign, e, e], ["unary", sign, e]
    ["call", e, [es], [[word, e], ...]]
    ["lambda", "x, y", e]

The package under test is always `tf`; which one that is, is said by the process that runs the program.
"""
import json
import math

WRAPPED = ("function", "map", "tape")
FLOATS = ("float16", "bfloat16", "float32", "float64", "complex64", "complex128")


def call(callee, *args, **more):
    """["call", ...] of a public name or of an expression."""
    callee = ["name", callee] if isinstance(callee, str) else callee
    return ["call", callee, list(args), [[word, value] for word, value in more.items()]]


def method(of, word, *args, **more):
    return call(["attr", ["ref", of] if isinstance(of, str) else of, word], *args, **more)


def py(value):
    """The expression of a plain Python value."""
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, [py(one) for one in value]]
    if isinstance(value, dict):
        return ["dict", [[py(key), py(one)] for key, one in value.items()]]
    return ["py", value]


def ref(name):
    return ["ref", name]


def number(value):
    """A number or text as Python source; nan and inf are names."""
    if isinstance(value, float) and not math.isfinite(value):
        return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"
    return repr(value)


def element(dtype, value):
    if dtype == "string":
        return repr(value.encode("latin-1"))
    if dtype.startswith("complex"):
        return "complex(%s, %s)" % (number(value[0]), number(value[1]))
    return number(value)


def nested(shape, parts):
    """Flat parts, which are source, as nested lists."""
    if not shape:
        return parts[0]
    size = len(parts) // shape[0] if shape[0] else 0
    return "[%s]" % ", ".join(nested(shape[1:], parts[at * size:(at + 1) * size]) for at in range(shape[0]))


def literal(expr):
    what, dtype, shape, data = expr
    maker, prefix = ("tf.constant", "tf.") if what == "tensor" else ("np.array", "np.")
    kind = prefix + dtype if what == "tensor" or dtype not in ("bool", "string") else {"bool": "bool", "string": "object"}[dtype]
    if 0 in shape:
        return "tf.constant([], %s, shape=%s)" % (kind, shape) if what == "tensor" else "np.zeros(%s, %s)" % (shape, kind)
    return "%s(%s, %s)" % (maker, nested(shape, [element(dtype, value) for value in data]), kind)


def joined(parts):
    return ", ".join(render(part) for part in parts)


def render(expr):
    """The source of an expression."""
    what, *rest = expr
    if what == "py":
        return number(rest[0])
    if what in ("tensor", "array"):
        return literal(expr)
    if what == "call":
        words = ["%s=%s" % (word, render(value)) for word, value in rest[2]]
        return "%s(%s)" % (render(rest[0]), ", ".join([render(one) for one in rest[1]] + words))
    if what in ("binary", "unary"):
        return "(%s)" % (" %s " % rest[0]).join(render(one) for one in rest[1:]) if what == "binary" else rest[0] + render(rest[1])
    return SOURCES[what](*rest)


SOURCES = {
    "bytes": lambda text: repr(text.encode("latin-1")),
    "complex": lambda real, imaginary: "complex(%s, %s)" % (number(real), number(imaginary)),
    "list": lambda parts: "[%s]" % joined(parts),
    "tuple": lambda parts: "(%s%s)" % (joined(parts), "," if len(parts) == 1 else ""),
    "dict": lambda pairs: "{%s}" % ", ".join("%s: %s" % (render(key), render(value)) for key, value in pairs),
    "slice": lambda *ends: ":".join("" if end == ["py", None] else render(end) for end in ends),
    "ref": lambda name: name,
    "name": lambda name: name,
    "attr": lambda of, word: "%s.%s" % (render(of), word),
    "index": lambda of, places: "%s[%s]" % (render(of), joined(places)),
    "lambda": lambda names, body: "lambda %s: %s" % (names, render(body)) if names else "lambda: " + render(body),
}


def floating(program):
    """The variables of the values that are tensors of floats: what a tape can differentiate by."""
    return [name for name, expr in program["values"] if expr[0] == "tensor" and expr[1] in FLOATS]


def tensors(program):
    """The variables that become a function's or a dataset's arguments."""
    return [name for name, expr in program["values"] if expr[0] == "tensor"]


class Source:
    """The lines of a program, and which statement each line is."""

    def __init__(self, program):
        self.lines, self.statements = [], []
        for statement in program["values"]:
            self.add(statement)
        mode, shown = program["mode"], ", ".join(program["show"])
        if mode not in WRAPPED:
            for statement in program["body"]:
                self.add(statement)
        elif mode == "tape":
            self.tape(program)
        else:
            self.function(program, shown)

    def put(self, text, statement=None):
        self.lines.append(text)
        self.statements.append(statement)

    def add(self, statement, indent=""):
        name, expr = statement
        self.put(indent + ("%s = " % name if name else "") + render(expr), statement)

    def function(self, program, shown):
        """The body in a function, traced by tf.function, or by map over a dataset of three equal elements."""
        given = ", ".join(tensors(program))
        if program["mode"] == "function":
            self.put("@tf.function")
        self.put("def f(%s):" % given)
        for statement in program["body"]:
            self.add(statement, "    ")
        self.put("    return " + shown)
        if program["mode"] == "function":
            self.put("%s = f(%s)" % (shown, given))
            return
        self.put("mapped = tf.data.Dataset.from_tensors(%s).repeat(3).map(f)" % (given if len(tensors(program)) == 1 else "(%s)" % given))
        self.put("%s = mapped.element_spec, list(mapped)" % program["show"][0])

    def tape(self, program):
        watched = floating(program)
        self.put("with tf.GradientTape() as tape:")
        if watched and not program.get("wrt"):
            self.put("    tape.watch([%s])" % ", ".join(watched))
        for statement in program["body"]:
            self.add(statement, "    ")
        by = render(program["wrt"]) if program.get("wrt") else "[%s]" % ", ".join(watched)
        self.put("gradient = tape.gradient(%s, %s)" % (program["show"][0], by))

    def text(self):
        return "\n".join(self.lines) + "\n"


def shown(program):
    """The variables that are compared, by how the program is run."""
    if program["mode"] == "map":
        return program["show"][:1]
    return program["show"] + (["gradient"] if program["mode"] == "tape" else [])


def runnable(program, package):
    """The whole program for a reader: with imports, and prints of what is compared."""
    text = Source(program).text()
    head = ["import %s as tf" % package]
    head += ["import numpy as np"] if "np." in text else []
    head += ["from math import inf, nan"] if "nan" in text or "inf" in text else []
    return "\n".join(head) + "\n" + text + "print(%s)\n" % ", ".join(shown(program))


def callee(statement):
    """The public name that a statement calls, or None."""
    expr = statement[1] if statement else ["py", None]
    if expr[0] == "tensor":
        return "tf.constant[%s]" % expr[1]
    while expr[0] in ("index", "attr"):
        expr = expr[1]
    return expr[1][1] if expr[0] == "call" and expr[1][0] == "name" else None


def about(program):
    """The name by which a program is counted: its own, or of a shrunk chain of datasets without it that of the last operator."""
    word = program["name"].rpartition(".")[2]
    if program["group"] != "datasets" or ".%s(" % word in Source(program).text():
        return program["name"]
    last = dict(program["values"]).get("dataset", ["ref", ""])
    while last[0] == "call" and last[1][0] not in ("attr", "name"):
        last = last[1]
    if last[0] != "call":
        return program["name"]
    return last[1][1] if last[1][0] == "name" else "tf.data.Dataset." + last[1][2]


def same(program, other):
    return json.dumps(program, sort_keys=True) == json.dumps(other, sort_keys=True)
