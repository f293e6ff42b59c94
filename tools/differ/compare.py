"""Two answers to one program: is there a difference, and of what kind?

`compare(expected, found)` takes TensorFlow's answer and leat's and gives None or a Difference. Its kinds, most weighty first, are KINDS.

Integers, bools, strings, dtypes, shapes, keys and their order are equal or differ. Floats a and b of one dtype are equal where both are nan, both
the same infinity, or

    |a - b| <= eps * (ULPS * max(|a|, |b|) + SCALE * largest)

with eps the distance from 1 to the next number, and `largest` the largest finite magnitude in the array and among the program's
values: a sum of large numbers that cancel is not expected to know digits that they do not have. eps, ULPS and SCALE (TOLERANCE) are those of the
coarsest of the array's dtype, the dtypes that the program mentions, as its values may go through them, and in Keras float32, the dtype of its
constants; names whose results come of iterations have a factor in LOOSE. Magnitudes below the dtype's normal range are 0, as TensorFlow flushes
them on some of its threads. Errors are alike by `alike`.
"""
import base64
import collections
import math
import re
import struct

KINDS = ["crash", "hang", "value", "order", "shape", "dtype", "structure", "key order", "accepts", "refuses", "absent", "error class", "zero sign",
         "tensorflow crash", "tensorflow hang"]
# dtype: struct's letter, eps, the smallest normal magnitude, ULPS, SCALE
TOLERANCE = {
    "float16": ("e", 2.0 ** -10, 2.0 ** -14, 4, 2),
    "bfloat16": ("H", 2.0 ** -7, 2.0 ** -126, 4, 2),
    "float32": ("f", 2.0 ** -23, 2.0 ** -126, 64, 16),
    "float64": ("d", 2.0 ** -52, 2.0 ** -1022, 256, 64),
    "complex64": ("f", 2.0 ** -23, 2.0 ** -126, 64, 16),
    "complex128": ("d", 2.0 ** -52, 2.0 ** -1022, 256, 64),
}
WHOLE = {"int8": "b", "uint8": "B", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I", "int64": "q", "uint64": "Q", "bool": "?"}
# Iterations, and what is computed through a cancellation in TensorFlow: how many times the tolerance.
LOOSE = {"tf.linalg": 64, "tf.keras.optimizers": 16, "tf.keras.layers": 16, "tf.keras.ops": 16, "tf.image": 16, "tf.signal": 16,
         "tf.math.special": 64, "tf.math": 4, "tf.nn": 4, "tf.keras.applications": 64}
# Errors of TensorFlow that are accidents of its Python code: any error answers them.
ACCIDENTS = {"AttributeError", "UnboundLocalError", "AssertionError", "IndexError", "KeyError", "NameError", "ZeroDivisionError", "InternalError",
             "RecursionError", "StagingError", "OverflowError", "SystemError", "_FallbackException", "UnknownError", "MemoryError"}
NO_KERNEL = ("Could not find device for node", "No OpKernel was registered", "not in the list of allowed values",
    "not in list of allowed values", "No unary variant",
             "is not supported", "only supports", "not implemented", "object has no attribute 'astype'",
             "requires the scipy module", "requires PIL")
# Dtypes over which Keras stumbles on its way, by its own constants: leat computes them (docs/COMPATIBILITY.md, Numbers).
STUMBLES = ("to EagerTensor of dtype", "can't convert negative int to unsigned", "was expected to be a")
# A refused argument: TensorFlow and Keras choose among these by where the check happens to stand.
REFUSED = {"ValueError", "TypeError", "InvalidArgumentError"}

Difference = collections.namedtuple("Difference", "kind where expected found")


def limits(name, values):
    """The factor of a name's tolerance, and the largest finite magnitude of a program's values."""
    factor, longest = 1, -1
    for start, times in LOOSE.items():
        if name.startswith(start) and len(start) > longest:
            factor, longest = times, len(start)
    return factor, largest(values)


def coarsest(name, values):
    """The dtype with the largest eps that a program's values go through."""
    found, stack = {"float32"} if name.startswith("tf.keras") else set(), [values]
    while stack:
        one = stack.pop()
        if isinstance(one, (list, tuple)):
            stack += one
        elif isinstance(one, str):
            word = one.removeprefix("tf.").removeprefix("mixed_")
            found |= {word} if word in TOLERANCE else set()
    return max(found, key=lambda dtype: TOLERANCE[dtype][1], default="float64")


def largest(values):
    """Of the numbers in the values of a program."""
    most, stack = 0.0, [expr for _, expr in values]
    while stack:
        one = stack.pop()
        if isinstance(one, (list, tuple)):
            stack += one
        elif isinstance(one, (int, float)) and not isinstance(one, bool) and math.isfinite(one):
            most = max(most, abs(float(one)))
    return most


def unpacked(dtype, data):
    """The elements of an encoded array, complex numbers as two each."""
    if dtype == "string" or isinstance(data, list):
        return [base64.b64decode(one) for one in data]
    raw = base64.b64decode(data)
    letter = TOLERANCE[dtype][0] if dtype in TOLERANCE else WHOLE.get(dtype)
    if letter is None:
        return list(raw)
    found = struct.unpack("<%d%s" % (len(raw) // struct.calcsize(letter), letter), raw)
    if dtype == "bfloat16":
        found = struct.unpack("<%df" % len(found), b"".join(struct.pack("<I", one << 16) for one in found))
    return list(found)


def brief(value):
    """An encoded value for a reader."""
    if value is None:
        return "nothing"
    if "error" in value:
        return "%s: %s" % (value["error"]["classes"][0], value["error"]["text"].replace("\n", " ")[:160])
    if "data" in value:
        data = unpacked(value["dtype"], value["data"])
        return "%s %s %s %s%s" % (value["is"], value["dtype"], value["shape"], data[:6], "..." if len(data) > 6 else "")
    if "items" in value:
        named = value.get("keys") or value.get("names") or [""] * len(value["items"])
        return "%s(%s)" % (value["is"], ", ".join("%s%s" % (name and name + ": ", brief(one)) for name, one in list(
            zip(named, value["items"]))[:4]))
    return "%s %s" % (value.get("is"), value.get("value", value.get("type", "")))


class Comparer:
    """Compares encoded values; `limits` and `coarsest` as above."""

    def __init__(self, factor=1, most=0.0, through="float64"):
        self.factor, self.most, self.through = factor, most, through

    def numbers(self, dtype, expected, found):
        """None, "value" or "zero sign" of two lists of floats, and the place of the first that differs."""
        _, eps, normal, ulps, scale = max(TOLERANCE[dtype], TOLERANCE[self.through], key=lambda row: row[1])
        finite = [abs(one) for one in expected if math.isfinite(one)]
        slack = self.factor * eps * scale * max(finite + [self.most])
        sign = None
        for at, (a, b) in enumerate(zip(expected, found)):
            if a == b:
                if a == 0 and math.copysign(1, a) != math.copysign(1, b) and sign is None:
                    sign = at
            elif not (math.isfinite(a) and math.isfinite(b)):
                if not (math.isnan(a) and math.isnan(b)):
                    return "value", at
            elif abs(a - b) > self.factor * eps * ulps * max(abs(a), abs(b)) + slack + 2 * normal:
                return "value", at
        return (None, 0) if sign is None else ("zero sign", sign)

    def arrays(self, where, a, b):
        if a["dtype"] != b["dtype"]:
            return Difference("dtype", where, a["dtype"], b["dtype"])
        if a["shape"] != b["shape"]:
            return Difference("shape", where, a["shape"], b["shape"])
        expected, found = unpacked(a["dtype"], a["data"]), unpacked(b["dtype"], b["data"])
        if a["dtype"] in TOLERANCE:
            kind, at = self.numbers(a["dtype"], expected, found)
            return kind and Difference(kind, "%s, number %d" % (where, at), expected[at], found[at])
        if expected == found:
            return None
        at = next(at for at, (one, other) in enumerate(zip(expected, found)) if one != other)
        return Difference("order" if sorted(expected) == sorted(found) else "value", "%s, number %d" % (where, at), expected[at], found[at])

    def python(self, where, a, b):
        if a.get("type") != b.get("type"):
            return Difference("structure", where, a.get("type"), b.get("type"))
        if a["type"] == "float":
            kind, _ = self.numbers("float32", [float(a["value"])], [float(b["value"])])
            return kind and Difference(kind, where, a["value"], b["value"])
        return Difference("value", where, a["value"], b["value"]) if a["value"] != b["value"] else None

    def values(self, where, a, b):
        if a["is"] != b["is"]:
            return Difference("structure", where, brief(a), brief(b))
        if "data" in a:
            return self.arrays(where, a, b)
        if a["is"] == "python":
            return self.python(where, a, b)
        if "items" in a:
            return self.items(where, a, b)
        kind = {"shape": "shape", "dtype": "dtype", "spec": "spec", "symbolic": "shape"}.get(a["is"], "structure")
        if a.get("value") != b.get("value") or a.get("type") != b.get("type"):
            if kind == "spec":
                kind = "shape" if re.findall(r"dtype=\w+", a["value"]) == re.findall(r"dtype=\w+", b["value"]) else "dtype"
            return Difference(kind, where, a.get("value", a.get("type")), b.get("value", b.get("type")))
        return None

    def items(self, where, a, b):
        names, others = (one.get("keys") or one.get("names") for one in (a, b))
        if names != others:
            return Difference("key order" if names and others and sorted(names) == sorted(others) else "structure", where, names, others)
        if len(a["items"]) != len(b["items"]):
            return Difference("structure", where, "%d items" % len(a["items"]), "%d items" % len(b["items"]))
        for at, (one, other) in enumerate(zip(a["items"], b["items"])):
            found = self.values("%s[%s]" % (where, names[at] if names else at), one, other)
            if found:
                if found.kind == "value" and a["is"] == "list" and self.permuted(a["items"], b["items"]):
                    return found._replace(kind="order")
                return found
        return None

    def permuted(self, items, others):
        left = list(others)
        for one in items:
            at = next((at for at, other in enumerate(left) if self.values("", one, other) is None), None)
            if at is None:
                return False
            del left[at]
        return True


def alike(expected, found):
    """Are these two errors the same to a program that catches them?"""
    ours, theirs = set(found["classes"]), expected["classes"]
    if ours.intersection(theirs) - {"OpError", "LookupError", "Error"}:
        return True
    if theirs[0] in ACCIDENTS or any(text in expected["text"] for text in NO_KERNEL):
        return True
    return bool(ours & REFUSED and set(theirs) & REFUSED)


def compare(program, expected, found):
    """None or the Difference of leat's answer (`found`) from TensorFlow's."""
    for what in ("crash", "hang"):
        if what in expected:
            return Difference("tensorflow " + what, "", str(expected[what]), brief(found) if "error" in found else "")
        if what in found:
            return Difference(what, "", brief(expected) if "error" in expected else "a result", str(found[what]))
    if "error" in expected and "error" in found:
        same = alike(expected["error"], found["error"])
        return None if same else Difference("error class", "", brief(expected), brief(found))
    if "error" in found:
        kind = "absent" if found["error"]["classes"][0] == "AttributeError" and "has no attribute" in found["error"]["text"] else "refuses"
        return Difference(kind, "", "; ".join(brief(one) for one in expected["shown"].values()), brief(found))
    if "error" in expected:
        lacks = NO_KERNEL + STUMBLES if program["name"].startswith("tf.keras") else NO_KERNEL
        if any(text in expected["error"]["text"] for text in lacks):
            return None    # what TensorFlow computes on other devices alone: docs/COMPATIBILITY.md
        return Difference("accepts", "", brief(expected), "; ".join(brief(one) for one in found["shown"].values()))
    statements = program["values"] + program["body"]
    comparer = Comparer(*limits(program["name"], statements), coarsest(program["name"], statements))
    worst = None
    for name, value in expected["shown"].items():
        one = comparer.values(name, value, found["shown"][name])
        if one and (worst is None or KINDS.index(one.kind) < KINDS.index(worst.kind)):
            worst = one
    return worst
