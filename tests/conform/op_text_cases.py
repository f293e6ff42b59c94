"""Cases of strings, of tensors as messages, of ranges with fewer bounds, and of random integers."""
import base64

import numpy as np

from op_case_model import F32, F64, I32, I64, INVALID, Half, case, field, floats, varint, words

# ---- strings ----
case("string_lower", "values", [[b"ABc \xc3\x84Z", b"", b"\x00@[`"]], [b"abc \xc3\x84z", b"", b"\x00@[`"])
case("string_lower", "scalar", [b"Ab"], b"ab")
case("string_lower", "empty", [np.zeros((0, 2), object)], np.zeros((0, 2), object))
case("string_lower", "numbers", [I32(1)], error=(INVALID, "int32"))
case("string_strip", "values", [[b"  a b\t\n", b"", b"\x0b\x0cx\x00 ", b" \r\n"]], [b"a b", b"", b"x\x00", b""])
case("string_strip", "matrix", [[[b" a", b"b "], [b"c", b" d "]]], [[b"a", b"b"], [b"c", b"d"]])
case("string_strip", "numbers", [I32(1)], error=(INVALID, "int32"))
case("substr", "scalars", [[b"hello", b"wor"], I32(1), I32(2)], [b"el", b"or"])
case("substr", "each", [[b"hello", b"abc"], I64([1, 2]), I64([2, 1])], [b"el", b"c"])
case("substr", "from_end", [[b"hello"], I32(-3), I32(2)], [b"ll"])
case("substr", "long", [[b"hello"], I32([1]), I32([100])], [b"ello"])
case("substr", "negative_length", [[b"hello"], I32(1), I32(-2)], [b"ello"])
case("substr", "at_end", [[b"hello"], I32(5), I32(2)], [b""])
case("substr", "broadcast", [b"hello", I32([0, 1]), I32([2, 2])], [b"he", b"el"])
case("substr", "outside", [[b"hello", b"a"], I32(2), I32(1)], error=(INVALID, "out of range"))
case("substr", "far_negative", [[b"hello"], I32(-6), I32(1)], error=(INVALID, "out of range"))
case("substr", "dtypes", [[b"a"], I32(0), I64(1)], error=(INVALID, "int64"))

# ---- messages ----
NUMBERS = {"float32": 1, "float64": 2, "int32": 3, "uint8": 4, "int16": 5, "int8": 6, "int64": 9, "bool": 10}


def shape_message(shape):
    return b"".join(field(2, varint(1 << 3) + varint(d) if d else b"") for d in shape)


def message(array):
    head = varint(1 << 3) + varint(NUMBERS[str(array.dtype)]) + field(2, shape_message(array.shape))
    return head + (field(4, array.tobytes()) if array.size else b"")


for name, array in {
    "int32": I32([[1, 2], [3, 4]]), "scalar": np.array(1.5, F32), "bool": np.array([True, False]), "empty": np.zeros((0, 2), F32),
    "float64": F64([1.5, -2]), "uint8": np.array([1, 255], np.uint8), "int64": I64([2**40]), "int16": np.array([[-3]], np.int16),
}.items():
    case("serialize_tensor", name, [array], message(array))
    case("parse_tensor", name, [message(array)], array, {"out_type": str(array.dtype)})
texts = varint(1 << 3) + varint(7) + field(2, shape_message((2,))) + field(8, b"a") + field(8, b"bc")
case("serialize_tensor", "strings", [[b"a", b"bc"]], texts)
case("parse_tensor", "strings", [texts], [b"a", b"bc"], {"out_type": "string"})
one_value = varint(1 << 3) + varint(3) + field(2, shape_message((3,))) + field(7, varint(5))
case("parse_tensor", "one_value_for_all", [one_value], I32([5, 5, 5]), {"out_type": "int32"})
case("parse_tensor", "another_dtype", [message(I32([1]))], error=(INVALID, "type mismatch"), attributes={"out_type": "float32"})
case("parse_tensor", "no_message", [b"\xff\xff"], error=(INVALID, ""), attributes={"out_type": "int32"})
case("parse_tensor", "vector", [[b"", b""]], error=(INVALID, "rank 0"), attributes={"out_type": "int32"})
case("parse_tensor", "no_dtype", [b""], error=(INVALID, "out_type"))

# ---- ranges ----
case("range", "limit", [I32(5)], np.arange(5, dtype=I32))
case("range", "limit_of_floats", [F32(3)], F32([0, 1, 2]))
case("range", "limit_and_delta", [I64(5), I64(2)], I64([0, 2, 4]))
case("range", "as_int64", [I32(1), I32(10), I32(3)], I64([1, 4, 7]), {"dtype": "int64"})
case("range", "as_float64", [I32(3)], F64([0, 1, 2]), {"dtype": "float64"})
case("range", "no_limit", [I32(-1)], error=(INVALID, "never arrives"))

# ---- random integers: TensorFlow's numbers for set_seed(87654321) and these seeds ----
w = words(87654321, 7, 2)
assert [x % 100 for x in w[:5]] == [87, 87, 25, 94, 60]
case("random_uniform", "int32", [], I32([x % 100 for x in w[:5]]), {"shape": [5], "maxval": 100, "dtype": "int32", "seed": 7})
w = words(87654321, 8, 3)
values = [(w[2 * i + 1] << 32 | w[2 * i]) % 1000005 - 5 for i in range(5)]
assert values == [437094, 426503, 776580, 973738, 289725]
case("random_uniform", "int64", [], I64(values), {"shape": [5], "minval": -5, "maxval": 1000000, "dtype": "int64", "seed": 8})
case("random_uniform", "no_range", [], error=(INVALID, "minval < maxval"), attributes={"shape": [2], "minval": 3, "maxval": 3, "dtype": "int32"})

# ---- base64 ----
raw = [b"hello", b"\xff\xfe\xfd\xfc", b"", b"abc", b"ab", b"a"]
padded = [base64.urlsafe_b64encode(x) for x in raw]
plain = [x.rstrip(b"=") for x in padded]
case("encode_base64", "plain", [raw], plain)
case("encode_base64", "padded", [raw], padded, {"pad": True})
case("encode_base64", "scalar", [b"hello"], b"aGVsbG8")
case("encode_base64", "numbers", [I32(1)], error=(INVALID, "int32"))
case("decode_base64", "plain", [plain], raw)
case("decode_base64", "padded", [padded], raw)
case("decode_base64", "half_filled", [[b"aG=="]], [b"h"])
case("decode_base64", "one_letter", [[b"aGVs", b"a"]], error=(INVALID, "1 modulo 4"))
case("decode_base64", "other_alphabet", [[b"a+b/"]], error=(INVALID, "invalid character"))
case("decode_base64", "numbers", [I32(1)], error=(INVALID, "int32"))

# ---- linspace ----
case("linspace", "float32", [F32(0), F32(1)], F32([0, 0.25, 0.5, 0.75, 1]), {"num": 5})
case("linspace", "down", [F64(3), F64(-1)], F64([3, 1, -1]), {"num": 3})
case("linspace", "one", [F32(1), F32(5)], F32([1]), {"num": 1})
case("linspace", "none", [F32(1), F32(5)], error=(INVALID, "num"), attributes={"num": 0})
case("linspace", "vector", [F32([1]), F32(5)], error=(INVALID, "rank 0"), attributes={"num": 2})
case("linspace", "integers", [I32(1), I32(5)], error=(INVALID, "int32"), attributes={"num": 2})

# ---- checks, values without repetitions, the identity ----
x = floats(2, 3)
case("check_numerics", "values", [x], x, {"message": "m"}, gradient=True)
case("check_numerics", "float64", [F64([1, 2])], F64([1, 2]), {"message": "m"})
case("check_numerics", "float16", [Half("float16", [1, 2])], Half("float16", [1, 2]), {"message": "m"})
case("check_numerics", "nan", [F32([[1, np.nan, 0], [0, 0, 0]])], error=(INVALID, "oh : Tensor had NaN values"), attributes={"message": "oh"})
case("check_numerics", "inf", [F64([-np.inf])], error=(INVALID, "oh : Tensor had Inf values"), attributes={"message": "oh"})
case("check_numerics", "both", [F32([np.inf, np.nan])], error=(INVALID, "oh : Tensor had Inf and NaN values"), attributes={"message": "oh"})
case("check_numerics", "half", [Half("bfloat16", [1, np.inf])], error=(INVALID, "Inf values"), attributes={"message": "oh"})
case("check_numerics", "integers", [I32(1)], error=(INVALID, "int32"), attributes={"message": "oh"})
case("unique", "int32", [I32([3, 1, 3, 2, 1])], (I32([3, 1, 2]), I32([0, 1, 0, 2, 1])))
case("unique", "int64_numbers", [I32([3, 3])], (I32([3]), I64([0, 0])), {"out_idx": "int64"})
case("unique", "strings", [[b"b", b"", b"a", b"b", b""]], ([b"b", b"", b"a"], I32([0, 1, 2, 0, 1])))
case("unique", "zeros", [F32([0.0, -0.0, 1])], (F32([0, 1]), I32([0, 0, 1])))
case("unique", "nan", [F64([np.nan, 1, np.nan])], (F64([np.nan, 1, np.nan]), I32([0, 1, 2])))
case("unique", "bool", [np.array([True, False, True])], (np.array([True, False]), I32([0, 1, 0])))
many = np.random.RandomState(5).randint(0, 90, 400).astype(I64)
first = list(dict.fromkeys(many.tolist()))
case("unique", "many", [many], (I64(first), I32([first.index(m) for m in many])))
case("unique", "none", [np.zeros(0, F32)], (np.zeros(0, F32), np.zeros(0, I32)))
case("unique", "matrix", [x], error=(INVALID, "rank 1"))
case("unique", "no_numbers", [I32([1])], error=(INVALID, "out_idx"), attributes={"out_idx": "float32"})
case("eye", "square", [], np.eye(3, dtype=F32), {"num_rows": 3})
case("eye", "wide", [], np.eye(2, 4, dtype=I32), {"num_rows": 2, "num_columns": 4, "dtype": "int32"})
case("eye", "tall", [], np.eye(3, 2, dtype=F64), {"num_rows": 3, "num_columns": 2, "dtype": "float64"})
case("eye", "batch", [], np.stack([np.eye(2, dtype=bool)] * 3), {"num_rows": 2, "batch_shape": [3], "dtype": "bool"})
case("eye", "none", [], np.zeros((0, 0), F32), {"num_rows": 0})
case("eye", "negative", [], error=(INVALID, "num_rows"), attributes={"num_rows": -1})
case("eye", "strings", [], error=(INVALID, "string"), attributes={"num_rows": 2, "dtype": "string"})
