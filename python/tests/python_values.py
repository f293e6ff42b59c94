"""Python's values as tensors, by TensorFlow or by leat: what `outcomes(tf)` says of each is its dtype and values."""

import itertools

import numpy as np

LEAVES = {"True": True, "1": 1, "300": 300, "2**33": 2**33, "1.5": 1.5, "2j": 2j, "'a'": "a", "npTrue": np.True_,
          "i8": np.int8(1), "u8": np.uint8(200), "i64": np.int64(7), "i64b": np.int64(2**33), "f16": np.float16(1.5),
          "f32": np.float32(1.5), "f64": np.float64(1.5), "c64": np.complex64(1j)}
WHOLE = {"range": range(3), "no range": range(0), "large range": range(2**33, 2**33 + 2),
         "arrays": [np.ones(2, np.int64), np.zeros(2, np.int64)], "array, list": [np.ones(2, np.float32), [1.0, 2.0]],
         "list, array": [[1, 2], np.ones(2)], "empty arrays": [np.ones(0, np.int64)] * 2, "empty": [],
         "objects": np.array([1, 2.5], object)}
DTYPES = ["int32", "float32", "uint8", "bool", "complex64", "float16", "int64", "float64"]
# What leat takes in its own way: NumPy's truth values beside numbers, Python's as dtypes that TensorFlow has no way to.
TAKEN = ("npTrue", "[True]->", "True alone->", "range->")


def outcome(make):
    """What a call gives, as text."""
    try:
        tensor = make()
    except (TypeError, ValueError):
        return "error"
    return f"{tensor.dtype.name} {tensor.numpy().tolist()}"


def cases(tf):
    """(name, what makes the tensor)."""
    def made(value, dtype=None):
        return lambda: tf.constant(value, dtype)
    for (first, one), (second, other) in itertools.product(LEAVES.items(), LEAVES.items()):
        yield f"[{first}, {second}]", made([one, other])
        yield f"[{first}, {second}] traced", tf.function(made([one, other]))
    for name, value in WHOLE.items():
        yield name, lambda value=value: tf.convert_to_tensor(value)
    for name, value in {**{f"[{name}]": [value] for name, value in LEAVES.items()}, **WHOLE,
                        **{f"array of {name}": np.array([value]) for name, value in LEAVES.items() if name != "'a'"},
                        **{f"{name} alone": value for name, value in LEAVES.items()}}.items():
        for dtype in DTYPES:
            yield f"{name}->{dtype}", made(value, dtype)


def outcomes(tf):
    """{name: outcome} of all cases."""
    return {name: outcome(make) for name, make in cases(tf)}
