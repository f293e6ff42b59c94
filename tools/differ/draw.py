"""Random values: dtypes, shapes and numbers, the ordinary ones most often and the special ones often enough."""
import math

import programs
from programs import py, ref

FLOAT = ["float32", "float32", "float32", "float64", "float16", "bfloat16"]
REAL = ["float32", "float64"]
INT = ["int32", "int32", "int64", "int8", "uint8", "int16", "uint16", "uint32", "uint64"]
COMPLEX = ["complex64", "complex128"]
NUMBER = ["float32"] * 5 + FLOAT + INT + COMPLEX
ANY = NUMBER + ["bool", "string"]
BITS = {"int8": 8, "uint8": 8, "int16": 16, "uint16": 16, "int32": 32, "uint32": 32, "int64": 64, "uint64": 64}
MOST = {"float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38, "float64": 1.7976931348623157e308}
LEAST = {"float16": 6.103515625e-05, "bfloat16": 1.1754943508222875e-38, "float32": 1.1754943508222875e-38, "float64": 2.2250738585072014e-308}
WORDS = ["", "a", "b", "abc", "hello world", " x ", "A,b;c", "1", "-2.5", "nan", "\xc3\xa9t\xc3\xa9", "\xe4\xb8\xad", "0x1f", "a.b.c", "\x00z",
    "\xff"]


def limits(dtype):
    """The least and the greatest integer."""
    bits = BITS[dtype]
    return (0, 2 ** bits - 1) if dtype.startswith("u") else (-2 ** (bits - 1), 2 ** (bits - 1) - 1)


def product(shape):
    return math.prod(shape)


class Draw:
    """What one program is drawn with: a source of chance, and a dtype and a shape that its tensors share."""

    def __init__(self, rng):
        self.rng, self.values = rng, []
        self.dtype, self.shape, self.style = "float32", [2, 3], "plain"

    def chance(self, share):
        return self.rng.random() < share

    def choice(self, options):
        return self.rng.choice(options)

    def theme(self, dtypes=NUMBER, ranks=(0, 3), shapes=None, style=None):
        """Draws what the tensors of the program share."""
        self.dtype = self.choice(dtypes)
        self.shape = list(self.choice(shapes)) if shapes else self.any_shape(*ranks)
        self.style = style or self.choice(["plain"] * 6 + ["unit", "positive", "positive", "special", "whole"])

    def any_shape(self, least=0, most=3):
        rank = self.rng.randint(least, most) if self.chance(0.93) else self.rng.randint(least, max(most, 5))
        return [self.choice([1, 2, 2, 3, 3, 4, 5]) if self.chance(0.96) else 0 for _ in range(rank)]

    def scalar(self, dtype, style):
        """One number, as data of a tensor."""
        rng = self.rng
        if dtype.startswith("complex"):
            part = "float32" if dtype == "complex64" else "float64"
            return [self.scalar(part, style), self.scalar(part, style)]
        if dtype == "bool":
            return rng.random() < 0.5
        if dtype == "string":
            return rng.choice(WORDS)
        if dtype in BITS:
            low, high = limits(dtype)
            if style == "special" and rng.random() < 0.4:
                return rng.choice([low, high, low + 1, high - 1, 0])
            return rng.randint(0 if style in ("unit", "positive") or low == 0 else -6, 6 if style != "unit" else 1)
        if style == "special" and rng.random() < 0.5:
            return rng.choice([math.nan, math.inf, -math.inf, -0.0, 0.0, MOST[dtype], -MOST[dtype], LEAST[dtype], 1.0])
        if style == "unit":
            return round(rng.random(), 3)
        if style == "positive":
            return round(rng.uniform(0.1, 5.0), 2)
        return float(rng.randint(-4, 4)) if style == "whole" else round(rng.uniform(-3.0, 3.0), 2)

    def data(self, dtype, shape, style=None):
        return [self.scalar(dtype, style or self.style) for _ in range(product(shape))]

    def tensor(self, name, dtype=None, shape=None, style=None):
        """A tensor among the values of the program; the expression that refers to it."""
        dtype, shape = dtype or self.dtype, self.shape if shape is None else shape
        return self.keep(name, ["tensor", dtype, list(shape), self.data(dtype, shape, style)])

    def keep(self, name, expr):
        """Gives an expression a variable; names that are taken get a number."""
        taken, new = {one for one, _ in self.values}, name
        while new in taken or new in ("f", "y", "tf", "np", "tape", "mapped", "gradient", "lambda", "in", "from"):
            new += "_"
        self.values.append([new, expr])
        return ref(new)

    def like(self, shape):
        """A shape that broadcasts with this one, mostly the same."""
        pick = self.rng.random()
        if pick < 0.6:
            return list(shape)
        if pick < 0.75:
            return list(shape[self.rng.randint(0, len(shape)):])
        if pick < 0.88:
            return [1 if self.chance(0.4) else size for size in shape]
        return [] if pick < 0.95 else self.any_shape()

    def either(self, name, dtype=None, shape=None, style=None):
        """A tensor, or now and then what stands for one: an array, nested lists, a plain number."""
        dtype, shape = dtype or self.dtype, self.like(self.shape) if shape is None else shape
        pick = self.rng.random()
        if pick < 0.82 or dtype in ("bfloat16", "string") or dtype.startswith("complex"):
            return self.tensor(name, dtype, shape, style)
        if pick < 0.92:
            return ["array", dtype, list(shape), self.data(dtype, shape, style)]
        if dtype in BITS and dtype != "int32" or 0 in shape:
            return self.tensor(name, dtype, shape, style)
        return self.plain(shape, self.data(dtype, shape, style))

    def plain(self, shape, data):
        """Nested lists of numbers."""
        if not shape:
            return py(data[0])
        size = len(data) // shape[0]
        return ["list", [self.plain(shape[1:], data[at * size:(at + 1) * size]) for at in range(shape[0])]]

    def ints(self, name, below, shape=None, dtypes=("int32", "int64"), least=0):
        """Integers from `least` up to `below`, which is rarely passed."""
        shape = self.any_shape(0, 2) if shape is None else list(shape)
        top = max(below - 1, least) + (1 if self.chance(0.06) else 0)
        data = [self.rng.randint(least, top) for _ in range(product(shape))]
        return self.keep(name, ["tensor", self.choice(dtypes), shape, data])

    def dtype_name(self, dtypes=ANY):
        dtype = self.choice(dtypes)
        return ["name", "tf." + dtype] if self.chance(0.8) else py(dtype)

    def axis(self, rank=None):
        rank = len(self.shape) if rank is None else rank
        if self.chance(0.06):
            return py(self.choice([rank, -rank - 1, 5]))
        return py(self.rng.randint(-rank, rank - 1) if rank else self.choice([0, -1]))

    def axes(self):
        """An axis, some, or all by None."""
        pick = self.rng.random()
        if pick < 0.5:
            return self.axis()
        if pick < 0.65:
            return py(None)
        rank = len(self.shape)
        return py([one - (rank if self.chance(0.3) else 0) for one in self.rng.sample(range(rank), self.rng.randint(0, rank))])

    def small(self, least=0, most=4):
        return py(self.rng.randint(least, most))

    def fraction(self):
        return py(self.choice([0.0, 0.1, 0.25, 0.5, 0.7, 0.9, 1.0]))

    def sorted_ints(self, name, below, length):
        data = sorted(self.rng.randint(0, max(below - 1, 0)) for _ in range(length))
        return self.keep(name, ["tensor", self.choice(["int32", "int64"]), [length], data])

    def sparse(self, dtype=None, shape=None):
        """tf.SparseTensor of some places in order."""
        shape = shape or [self.rng.randint(2, 4), self.rng.randint(2, 4)]
        count = self.rng.randint(1, min(4, product(shape)))
        flat = sorted(self.rng.sample(range(product(shape)), count))
        indices = []
        for place in flat:
            row = []
            for size in reversed(shape):
                place, at = divmod(place, size)
                row.insert(0, at)
            indices += row
        dtype = dtype or self.dtype
        return programs.call("tf.SparseTensor", ["tensor", "int64", [count, len(shape)], indices],
                             ["tensor", dtype, [count], self.data(dtype, [count])], ["tensor", "int64", [len(shape)], shape])

    def ragged(self, dtype=None):
        """tf.RaggedTensor of rows of different lengths."""
        dtype = dtype or self.dtype
        lengths = [self.rng.randint(0, 3) for _ in range(self.rng.randint(1, 4))]
        return programs.call("tf.RaggedTensor.from_row_lengths", ["tensor", dtype, [sum(lengths)], self.data(dtype, [sum(lengths)])],
                             ["tensor", "int64", [len(lengths)], lengths])
