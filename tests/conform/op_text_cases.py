"""Cases of strings, of tensors as messages, of ranges with fewer bounds, and of random integers."""
import base64

import numpy as np

from op_case_model import DTYPE, F32, F64, I32, I64, INVALID, NONE, SHAPE, VALUE, Half, case, field, floats, varint, words

# ---- strings ----
case("string_lower", "values", [[b"ABc \xc3\x84Z", b"", b"\x00@[`"]], [b"abc \xc3\x84z", b"", b"\x00@[`"])
case("string_lower", "scalar", [b"Ab"], b"ab")
case("string_lower", "empty", [np.zeros((0, 2), object)], np.zeros((0, 2), object))
case("string_lower", "numbers", [I32(1)], error=(INVALID, DTYPE, "int32"))
case("string_strip", "values", [[b"  a b\t\n", b"", b"\x0b\x0cx\x00 ", b" \r\n"]], [b"a b", b"", b"x\x00", b""])
case("string_strip", "matrix", [[[b" a", b"b "], [b"c", b" d "]]], [[b"a", b"b"], [b"c", b"d"]])
case("string_strip", "numbers", [I32(1)], error=(INVALID, DTYPE, "int32"))
case("substr", "scalars", [[b"hello", b"wor"], I32(1), I32(2)], [b"el", b"or"])
case("substr", "each", [[b"hello", b"abc"], I64([1, 2]), I64([2, 1])], [b"el", b"c"])
case("substr", "from_end", [[b"hello"], I32(-3), I32(2)], [b"ll"])
case("substr", "long", [[b"hello"], I32([1]), I32([100])], [b"ello"])
case("substr", "negative_length", [[b"hello"], I32(1), I32(-2)], [b"ello"])
case("substr", "at_end", [[b"hello"], I32(5), I32(2)], [b""])
case("substr", "broadcast", [b"hello", I32([0, 1]), I32([2, 2])], [b"he", b"el"])
case("substr", "outside", [[b"hello", b"a"], I32(2), I32(1)], error=(INVALID, VALUE, "range"))
case("substr", "far_negative", [[b"hello"], I32(-6), I32(1)], error=(INVALID, VALUE, "range"))
case("substr", "dtypes", [[b"a"], I32(0), I64(1)], error=(INVALID, DTYPE, "int64"))

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
case("parse_tensor", "another_dtype", [message(I32([1]))], error=(INVALID, DTYPE, "type"), attributes={"out_type": "float32"})
case("parse_tensor", "no_message", [b"\xff\xff"], error=(INVALID, NONE, "serialised"), attributes={"out_type": "int32"})
case("parse_tensor", "vector", [[b"", b""]], error=(INVALID, SHAPE, "0"), attributes={"out_type": "int32"})
case("parse_tensor", "no_dtype", [b""], error=(INVALID, VALUE, "out_type"))

# ---- ranges ----
case("range", "limit", [I32(5)], np.arange(5, dtype=I32))
case("range", "limit_of_floats", [F32(3)], F32([0, 1, 2]))
case("range", "limit_and_delta", [I64(5), I64(2)], I64([0, 2, 4]))
case("range", "as_int64", [I32(1), I32(10), I32(3)], I64([1, 4, 7]), {"dtype": "int64"})
case("range", "as_float64", [I32(3)], F64([0, 1, 2]), {"dtype": "float64"})
case("range", "no_limit", [I32(-1)], error=(INVALID, VALUE, "never"))

# ---- random integers: TensorFlow's numbers for set_seed(87654321) and these seeds ----
w = words(87654321, 7, 2)
assert [x % 100 for x in w[:5]] == [87, 87, 25, 94, 60]
case("random_uniform", "int32", [], I32([x % 100 for x in w[:5]]), {"shape": [5], "maxval": 100, "dtype": "int32", "seed": 7})
w = words(87654321, 8, 3)
values = [(w[2 * i + 1] << 32 | w[2 * i]) % 1000005 - 5 for i in range(5)]
assert values == [437094, 426503, 776580, 973738, 289725]
case("random_uniform", "int64", [], I64(values), {"shape": [5], "minval": -5, "maxval": 1000000, "dtype": "int64", "seed": 8})
case("random_uniform", "no_range", [], error=(INVALID, VALUE, "minval"), attributes={"shape": [2], "minval": 3, "maxval": 3, "dtype": "int32"})

# ---- base64 ----
raw = [b"hello", b"\xff\xfe\xfd\xfc", b"", b"abc", b"ab", b"a"]
padded = [base64.urlsafe_b64encode(x) for x in raw]
plain = [x.rstrip(b"=") for x in padded]
case("encode_base64", "plain", [raw], plain)
case("encode_base64", "padded", [raw], padded, {"pad": True})
case("encode_base64", "scalar", [b"hello"], b"aGVsbG8")
case("encode_base64", "numbers", [I32(1)], error=(INVALID, DTYPE, "int32"))
case("decode_base64", "plain", [plain], raw)
case("decode_base64", "padded", [padded], raw)
case("decode_base64", "half_filled", [[b"aG=="]], [b"h"])
case("decode_base64", "one_letter", [[b"aGVs", b"a"]], error=(INVALID, VALUE, "1"))
case("decode_base64", "other_alphabet", [[b"a+b/"]], error=(INVALID, VALUE, "invalid"))
case("decode_base64", "numbers", [I32(1)], error=(INVALID, DTYPE, "int32"))

# ---- linspace ----
case("linspace", "float32", [F32(0), F32(1)], F32([0, 0.25, 0.5, 0.75, 1]), {"num": 5}, gradient=True)
case("linspace", "down", [F64(3), F64(-1)], F64([3, 1, -1]), {"num": 3})
case("linspace", "one", [F32(1), F32(5)], F32([1]), {"num": 1}, gradient=True)
case("linspace", "negative", [F32(1), F32(5)], error=(INVALID, VALUE, "num"), attributes={"num": -1})
case("linspace", "vector", [F32([1]), F32(5)], error=(INVALID, SHAPE, "0"), attributes={"num": 2})
case("linspace", "integers", [I32(1), I32(5)], error=(INVALID, DTYPE, "int32"), attributes={"num": 2})

# ---- checks, values without repetitions, the identity ----
x = floats(2, 3)
case("check_numerics", "values", [x], x, {"message": "m"}, gradient=True)
case("check_numerics", "float64", [F64([1, 2])], F64([1, 2]), {"message": "m"})
case("check_numerics", "float16", [Half("float16", [1, 2])], Half("float16", [1, 2]), {"message": "m"})
case("check_numerics", "nan", [F32([[1, np.nan, 0], [0, 0, 0]])], error=(INVALID, VALUE, "NaN"), attributes={"message": "oh"})
case("check_numerics", "inf", [F64([-np.inf])], error=(INVALID, VALUE, "Inf"), attributes={"message": "oh"})
case("check_numerics", "both", [F32([np.inf, np.nan])], error=(INVALID, VALUE, "NaN"), attributes={"message": "oh"})
case("check_numerics", "half", [Half("bfloat16", [1, np.inf])], error=(INVALID, VALUE, "Inf"), attributes={"message": "oh"})
case("check_numerics", "integers", [I32(1)], error=(INVALID, DTYPE, "int32"), attributes={"message": "oh"})
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
case("unique", "matrix", [x], error=(INVALID, SHAPE, "1"))
case("unique", "no_numbers", [I32([1])], error=(INVALID, DTYPE, "out_idx"), attributes={"out_idx": "float32"})
case("eye", "square", [], np.eye(3, dtype=F32), {"num_rows": 3})
case("eye", "wide", [], np.eye(2, 4, dtype=I32), {"num_rows": 2, "num_columns": 4, "dtype": "int32"})
case("eye", "tall", [], np.eye(3, 2, dtype=F64), {"num_rows": 3, "num_columns": 2, "dtype": "float64"})
case("eye", "batch", [], np.stack([np.eye(2, dtype=bool)] * 3), {"num_rows": 2, "batch_shape": [3], "dtype": "bool"})
case("eye", "none", [], np.zeros((0, 0), F32), {"num_rows": 0})
case("eye", "negative", [], error=(INVALID, VALUE, "num_rows"), attributes={"num_rows": -1})
case("eye", "strings", [], error=(INVALID, DTYPE, "string"), attributes={"num_rows": 2, "dtype": "string"})

# ---- parts, hashes, joins along dimensions ----
WHITE = b" \t\n\v\f\r"


def parts(string, sep, most):
    """The parts of one string as tf.strings.split has them: bytes.split but for the rest after the last cut."""
    if most == 0:
        return [string]
    if sep:
        return string.split(sep, most)
    found = string.split(None, most)
    if most > 0 and len(found) == most:
        return found + [b""]
    if most > 0 and len(found) > most:
        rest = string.lstrip(WHITE)
        for part in found[:most]:
            rest = rest[len(part):].lstrip(WHITE)
        found[most] = rest
    return found


def split_case(name, strings, sep=b"", most=-1):
    rows = [parts(string, sep, most) for string in strings]
    values = np.array([part for row in rows for part in row] + [None], object)[:-1]
    case("string_split", name, [np.array(strings, object)], (values, I64(np.cumsum([0] + [len(row) for row in rows]))),
         {**({"sep": sep.decode()} if sep else {}), **({"maxsplit": most} if most >= 0 else {})})


assert parts(b"  a", b"", 1) == [b"a", b""] and parts(b" a b  c d ", b"", 1) == [b"a", b"b  c d "]
spaces = [b"a b  c", b" x ", b"", b" ", b"a\x0bb\x0cc\rd\xc2\xa0e"]
split_case("white_space", spaces)
split_case("one_cut", [b" a b  c d ", b"  a", b"a  ", b"", b" "], most=1)
split_case("two_cuts", [b" a b  c d ", b"a b", b"a b "], most=2)
split_case("no_cut", [b" a b", b"", b" "], most=0)
split_case("separator", [b"a<>b<><>c", b"<>x<>", b"", b"<>", b"<"], b"<>")
split_case("separator_once", [b"a<>b<><>c", b"<>x<>", b""], b"<>", 1)
split_case("separator_never", [b"a,b", b""], b",", 0)
split_case("no_strings", [])
case("string_split", "scalar", [b"a b"], error=(INVALID, SHAPE, "1"))
case("string_split", "numbers", [I32([1])], error=(INVALID, DTYPE, "int32"))

# TensorFlow's numbers below 2**63 - 1 for strings of each length whose byte i is (37 i + 11 length + 5) % 256.
HASHES = {
    0: 1936946117179621456, 1: 669125381193779828, 2: 1478807399770612555, 3: 6179183600730882022, 4: 5527415341266356854,
    5: 4393290042116030009, 7: 6761752570141199261, 8: 3516000268938779821, 9: 3065531691563212955, 12: 7039106518346037698,
    15: 8746908343259320801, 16: 3549032070146054938, 17: 7727603985549364300, 20: 2981845577907646364, 24: 8526649426529732573,
    31: 6033850021906537124, 32: 7770891726327863402, 33: 8775558915661249378, 40: 7010723114716551757, 48: 142769654774382181,
    63: 8705355200570374927, 64: 7515273302581885974, 65: 3941834905862237908, 66: 2457203459612453436, 100: 7388775845924436646,
    127: 304640132311119167, 128: 8177730461108372495, 129: 1220533166984262885, 191: 7416742745851505791,
    192: 2703989159037632588, 200: 3083330962068875177, 300: 6115448922203442909,
}
hashed = [bytes((i * 37 + n * 11 + 5) % 256 for i in range(n)) for n in HASHES]
case("string_to_hash_bucket_fast", "lengths", [hashed], I64(list(HASHES.values())), {"num_buckets": 2**63 - 1})
case("string_to_hash_bucket_fast", "few", [[b"", b"a", b"hello world", b"\xff" * 70]], I64([263, 939, 11, 416]), {"num_buckets": 1000})
case("string_to_hash_bucket_fast", "scalar", [b"hello world"], I64(11), {"num_buckets": 1000})
case("string_to_hash_bucket_fast", "one", [[b"a", b"b"]], I64([0, 0]), {"num_buckets": 1})
case("string_to_hash_bucket_fast", "none", [[b"a"]], error=(INVALID, VALUE, "num_buckets"), attributes={"num_buckets": 0})
case("string_to_hash_bucket_fast", "numbers", [I32(1)], error=(INVALID, DTYPE, "int32"), attributes={"num_buckets": 3})

letters = np.array([[[b"a", b"b"], [b"c", b"d"]], [[b"e", b""], [b"gg", b"h"]]], object)


def join_along(array, axes, separator):
    """Joined by moving the axes to the end, the first of them last."""
    axes = [axis % array.ndim for axis in axes]
    kept = [d for d in range(array.ndim) if d not in axes]
    rows = array.transpose(kept + axes[::-1]).reshape([array.shape[d] for d in kept] + [-1])
    out = np.empty(rows.shape[:-1], object)
    for place in np.ndindex(out.shape):
        out[place] = separator.join(rows[place])
    return out


for name, axes, separator in (("first", [0], "-"), ("last", [-1], ""), ("two", [0, 2], ", "), ("two_back", [2, 0], ","),
                              ("every", [0, 1, 2], "")):
    case("string_reduce_join", name, [letters], join_along(letters, axes, separator.encode()), {"axis": axes, "separator": separator})
case("string_reduce_join", "all", [letters], b"a b c d e  gg h", {"separator": " "})
case("string_reduce_join", "keepdims", [letters], join_along(letters, [1], b"").reshape(2, 1, 2), {"axis": [1], "keepdims": True})
case("string_reduce_join", "scalar", [b"a"], b"a")
case("string_reduce_join", "none", [np.zeros((2, 0), object)], [b"", b""], {"axis": [1]})
case("string_reduce_join", "twice", [letters], error=(INVALID, VALUE, "twice"), attributes={"axis": [1, -2]})
case("string_reduce_join", "outside", [letters], error=(INVALID, SHAPE, "axis"), attributes={"axis": [3]})
case("string_reduce_join", "numbers", [I32([1])], error=(INVALID, DTYPE, "int32"))

# ---- repetitions, masks, bytes as other numbers, counts ----
x = floats(2, 3)
case("repeat", "all", [I32([[1, 2], [3, 4]]), I32(2)], np.repeat(I32([[1, 2], [3, 4]]), 2))
case("repeat", "each", [I32([1, 2, 3]), I64([2, 0, 1])], I32([1, 1, 3]))
case("repeat", "rows", [x, I32([2, 1])], np.repeat(x, [2, 1], axis=0), {"axis": 0})
case("repeat", "columns", [x, I32([0, 3, 1])], np.repeat(x, [0, 3, 1], axis=1), {"axis": -1})
case("repeat", "one_for_all", [x, I32([3])], np.repeat(x, 3, axis=1), {"axis": 1})
case("repeat", "scalar", [F64(5), I32(3)], F64([5, 5, 5]))
case("repeat", "strings", [[b"a", b"b"], I32([0, 2])], [b"b", b"b"], {"axis": 0})
case("repeat", "never", [x, I32(0)], np.zeros(0, F32))
case("repeat", "nothing", [np.zeros((0, 2), F32), I32(3)], np.zeros((0, 2), F32), {"axis": 0})
case("repeat", "negative", [x, I32(-1)], error=(INVALID, VALUE, "0"))
case("repeat", "negative_of_nothing", [F32([]), I32(-1)], error=(INVALID, VALUE, "0"))
case("repeat", "others", [x, I32([1, 2, 3])], error=(INVALID, SHAPE, "repeats"), attributes={"axis": 0})
case("repeat", "matrix", [x, I32([[1]])], error=(INVALID, SHAPE, "2"))
case("repeat", "floats", [x, F32(1)], error=(INVALID, DTYPE, "float32"))
case("repeat", "outside", [x, I32(1)], error=(INVALID, SHAPE, "axis"), attributes={"axis": 2})


def masks(lengths, most, dtype):
    return (np.arange(most) < np.expand_dims(lengths, -1)).astype(dtype)


lengths = I32([1, 3, 2])
case("sequence_mask", "longest", [lengths], masks(lengths, 3, bool))
case("sequence_mask", "longer", [I64([[1, 0], [2, 5]])], masks(I64([[1, 0], [2, 5]]), 6, F32), {"maxlen": 6, "dtype": "float32"})
case("sequence_mask", "shorter", [lengths], masks(lengths, 2, I32), {"maxlen": 2, "dtype": "int32"})
case("sequence_mask", "scalar", [I32(2)], np.array([True, True]))
case("sequence_mask", "negative_length", [I32([-1, 2])], np.array([[False, False], [True, True]]))
case("sequence_mask", "none", [np.zeros(0, I32)], np.zeros((0, 0), bool))
case("sequence_mask", "no_places", [lengths], np.zeros((3, 0), bool), {"maxlen": 0})
case("sequence_mask", "negative", [lengths], error=(INVALID, VALUE, "maxlen"), attributes={"maxlen": -2})
case("sequence_mask", "floats", [F32([1])], error=(INVALID, DTYPE, "float32"))
case("sequence_mask", "strings", [lengths], error=(INVALID, DTYPE, "string"), attributes={"dtype": "string"})

case("bitcast", "same_size", [F32([[1, -2], [0, 0.5]])], F32([[1, -2], [0, 0.5]]).view(I32), {"type": "int32"})
case("bitcast", "smaller", [F32([1, 2])], F32([1, 2]).view(np.uint8).reshape(2, 4), {"type": "uint8"})
case("bitcast", "larger", [np.array([[1, 0, 0, 0], [0, 1, 0, 0]], np.uint8)], I32([1, 256]), {"type": "int32"})
case("bitcast", "scalar", [F32(1)], I32(1065353216), {"type": "int32"})
case("bitcast", "to_scalar", [I32([1, 2])], I64(8589934593), {"type": "int64"})
case("bitcast", "none", [np.zeros((0, 3), I64)], np.zeros((0, 3, 2), F32), {"type": "float32"})
case("bitcast", "other_size", [np.array([1, 2, 3], np.uint8)], error=(INVALID, SHAPE, "4"), attributes={"type": "int32"})
case("bitcast", "scalar_larger", [np.array(1, np.uint8)], error=(INVALID, SHAPE, "scalar"), attributes={"type": "int32"})
case("bitcast", "bool", [np.array([True])], error=(INVALID, DTYPE, "bool"), attributes={"type": "uint8"})
case("bitcast", "to_strings", [I32(1)], error=(INVALID, DTYPE, "string"), attributes={"type": "string"})

some = I32([[0, 1, 0], [2, 0, -3]])
case("count_nonzero", "all", [some], I64(3))
case("count_nonzero", "rows", [some], I64([1, 2]), {"axis": [1]})
case("count_nonzero", "keepdims", [some], I32([[1, 1, 1]]), {"axis": [0], "keepdims": True, "dtype": "int32"})
case("count_nonzero", "middle", [np.ones((2, 3, 2), F64)], np.full((2, 2), 3, F32), {"axis": [1], "dtype": "float32"})
case("count_nonzero", "floats", [F32([0, -0.0, np.nan, np.inf])], I64(2))
case("count_nonzero", "strings", [[[b"", b"a"], [b"b", b"\x00"]]], I64([1, 2]), {"axis": [-1]})
case("count_nonzero", "bool", [np.array([True, False])], I64(1))
case("count_nonzero", "none", [np.zeros((2, 0), F32)], I64([0, 0]), {"axis": [1]})
case("count_nonzero", "outside", [some], error=(INVALID, SHAPE, "axis"), attributes={"axis": [2]})
case("count_nonzero", "to_strings", [some], error=(INVALID, DTYPE, "string"), attributes={"dtype": "string"})
