"""Values, errors, random numbers and functions of the slow model of tf.data; see data_case_model.py."""
import itertools

INVALID = "INVALID_ARGUMENT"


class Error(Exception):
    """An outcome without an element. `at_end`: in place of the end, and again at every further call."""

    def __init__(self, code=INVALID, at_end=False):
        super().__init__(code)
        self.code, self.at_end = code, at_end


class Unknown(Exception):
    """A name that the model does not know."""


class Tensor:
    def __init__(self, dtype, shape, data):
        self.dtype, self.shape, self.data = dtype, list(shape), list(data)

    def json(self):
        return {"dtype": self.dtype, "shape": self.shape, "data": self.data}

    def rows(self):
        """The slices along the first dimension."""
        if not self.shape:
            raise Error()
        size = len(self.data) // self.shape[0] if self.shape[0] else 0
        return [type(self)(self.dtype, self.shape[1:], self.data[i * size : (i + 1) * size]) for i in range(self.shape[0])]

    @staticmethod
    def stacked(rows):
        if len({(row.dtype, tuple(row.shape)) for row in rows}) > 1:
            raise Error()
        return Tensor(rows[0].dtype, [len(rows)] + rows[0].shape, [x for row in rows for x in row.data])

    def without_rows(self):
        return Tensor(self.dtype, [0] + self.shape[1:], [])


def scalar(x, dtype="int64"):
    return Tensor(dtype, [], [x])


def json_of(value):
    if isinstance(value, Error):
        return {"error": value.code}
    if isinstance(value, tuple):
        return {"tuple": [json_of(v) for v in value]}
    if isinstance(value, dict):
        return {"dict": {k: json_of(value[k]) for k in sorted(value)}}
    return value.json()


def value_of(json_value):
    """A literal of a plan. Bare numbers and lists of them follow tf.constant."""
    if isinstance(json_value, dict) and "tuple" in json_value:
        return tuple(value_of(v) for v in json_value["tuple"])
    if isinstance(json_value, dict) and "dict" in json_value:
        return {k: value_of(v) for k, v in json_value["dict"].items()}
    if isinstance(json_value, dict) and "data" in json_value:
        return Tensor(json_value["dtype"], json_value["shape"], json_value["data"])
    for name, read in LITERALS.items():
        if isinstance(json_value, dict) and name in json_value:
            return read(json_value[name])
    raise Unknown("literal")


LITERALS = {}  # kinds of leaves that additions to the model know


def leaves(value):
    if isinstance(value, tuple):
        return [leaf for v in value for leaf in leaves(v)]
    if isinstance(value, dict):
        return [leaf for k in sorted(value) for leaf in leaves(value[k])]
    return [value]


def rebuild(value, new):
    """The structure of `value` over an iterator of leaves."""
    if isinstance(value, tuple):
        return tuple(rebuild(v, new) for v in value)
    if isinstance(value, dict):
        return {k: rebuild(value[k], new) for k in sorted(value)}
    return next(new)


# ---- random numbers: Philox4x32-10, one word at a time ----


def philox(key, counter):
    k0, k1 = key
    c = list(counter)
    for _ in range(10):
        m0, m1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [(m1 >> 32) ^ c[1] ^ k0, m1 & 0xFFFFFFFF, (m0 >> 32) ^ c[3] ^ k1, m0 & 0xFFFFFFFF]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c


def words(seed, seed2):
    key = (seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF)
    for block in itertools.count():
        yield from philox(key, (block & 0xFFFFFFFF, block >> 32, seed2 & 0xFFFFFFFF, seed2 >> 32 & 0xFFFFFFFF))


# ---- functions ----


def number(x):
    if not isinstance(x, Tensor) or x.shape or x.dtype != "int64":
        raise Unknown("number")
    return x.data[0]


def wrap(x):
    return (x + 2**63) % 2**64 - 2**63


def on_number(f):
    return lambda x: scalar(wrap(f(number(x))))


def fails(bad, code=INVALID):
    def f(x):
        if bad(number(x)):
            raise Error(code)
        return x

    return f


FUNCTIONS = {
    "identity": lambda *x: x[0] if len(x) == 1 else x,
    "add_one": on_number(lambda x: x + 1),
    "add_ten": on_number(lambda x: x + 10),
    "double": on_number(lambda x: 2 * x),
    "square": on_number(lambda x: x * x),
    "negate": on_number(lambda x: -x),
    "half": on_number(lambda x: x // 2),
    "mod_2": on_number(lambda x: x % 2),
    "mod_3": on_number(lambda x: x % 3),
    "minus_mod_3": on_number(lambda x: -(x % 3)),
    "pair_with_square": lambda x: (x, scalar(wrap(number(x) ** 2))),
    "to_dict": lambda x: {"a": x, "b": scalar(10 * number(x))},
    "to_string": lambda x: scalar(str(number(x)), "string"),
    "swap": lambda a, b: (b, a),
    "first": lambda a, b: a,
    "second": lambda a, b: b,
    "add_pair": lambda a, b: scalar(wrap(number(a) + number(b))),
    "vec3": lambda x: Tensor("int64", [3], [number(x), number(x) + 1, number(x) + 2]),
    "iota": lambda x: Tensor("int64", [max(number(x), 0)], range(number(x))),
    "iota_mod_4": lambda x: Tensor("int64", [number(x) % 4], range(number(x) % 4)),
    "fail_on_3": fails(lambda x: x == 3),
    "fail_on_odd": fails(lambda x: x % 2 == 1),
    "fail_on_mod_4_is_3": fails(lambda x: x % 4 == 3),
    "fail_always": fails(lambda x: True),
    "stop_on_3": fails(lambda x: x == 3),
}

PREDICATES = {
    "is_even": lambda x: number(x) % 2 == 0,
    "is_odd": lambda x: number(x) % 2 == 1,
    "less_than_5": lambda x: number(x) < 5,
    "not_multiple_of_3": lambda x: number(x) % 3 != 0,
    "always_true": lambda *x: True,
    "always_false": lambda *x: False,
    "first_is_even": lambda a, b: number(a) % 2 == 0,
    "even_fail_on_3": lambda x: number(fails(lambda v: v == 3)(x)) % 2 == 0,
    "small_fail_on_3": lambda x: number(fails(lambda v: v == 3)(x)) < 5,
}


def call(table, name, value):
    if name not in table:
        raise Unknown(name)
    return table[name](*value) if isinstance(value, tuple) else table[name](value)
