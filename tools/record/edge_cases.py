#!/usr/bin/env python3
"""Record cases at the edges of operations' arguments into tests/conform/ops/<operation>.json.

    edge_cases.py tests/conform/ops

What random arguments, tried in TensorFlow 2.21 and here, showed to be easily got wrong. The cases are called edge_*, and join those that
other scripts write into the same files; where one of them writes a file anew, this script runs after it.
"""
import json
import os
import sys

import op_recorder
from op_recorder import DTYPE, F32, F64, I32, I64, NONE, VALUE, np, record, tf

F16 = np.float16


def BF16(values):  # noqa: N802: named as the others
    return np.array(values, tf.bfloat16.as_numpy_dtype)


def texts(*values):
    """Texts as an array that keeps zero bytes."""
    out = np.empty(len(values), object)
    out[:] = [value.encode() if isinstance(value, str) else value for value in values]
    return out


def edge(op, name, call, inputs, attributes=None, **more):
    """Records a case; an array of texts stays as it is."""
    record(op, "edge_" + name, call, inputs, attributes, recorded=True, **more)


# ---- reductions: an empty list names no dimension ----
x = F32([[1, -2, 3], [4, 5, -6]])
for name in ("sum", "mean", "prod", "max", "min"):
    call = getattr(tf, "reduce_" + name)
    for keep in (False, True):
        edge("reduce_" + name, "no_axis_%d" % keep, call, [x], {"axis": [], "keepdims": keep}, gradient=True)
for name in ("all", "any"):
    edge("reduce_" + name, "no_axis", getattr(tf, "reduce_" + name), [np.array([[True, False]])], {"axis": []})
edge("count_nonzero", "no_axis", tf.math.count_nonzero, [I32([[1, 0, 7]])], {"axis": []})
edge("string_reduce_join", "no_axis", tf.strings.reduce_join, [texts("a", "b")], {"axis": [], "keepdims": True})
for op, call in (("argmax", tf.argmax), ("argmin", tf.argmin)):
    edge(op, "float16", call, [F16([1, 3, -2, 3])], {"axis": 0})
    edge(op, "bfloat16", call, [BF16([[1, 3], [5, -2]])], {"axis": 1})
    edge(op, "bool", call, [np.array([False, True, False])], {"axis": 0})
edge("argmax", "int16", tf.argmax, [I32([1, 9, 3])], {"axis": 0, "output_type": "int16"})
edge("argmax", "uint16", tf.argmax, [I32([[1, 9], [8, 3]])], {"axis": 1, "output_type": "uint16"})
edge("argmin", "int16", tf.argmin, [I32([1])], {"axis": 0, "output_type": "int16"}, fails=(DTYPE, "int32"))
edge("top_k", "int16", tf.math.top_k, [F32([3, 9, 4])], {"k": 2, "index_type": "int16"})

# ---- numbers ----
for name, low, high in (("crossed", 3, 1), ("nan_low", np.nan, 1), ("nan_high", 0, np.nan), ("infinite", -np.inf, np.inf)):
    for dtype in (F32, F64, F16):
        edge("clip_by_value", "%s_%s" % (name, np.dtype(dtype).name), tf.clip_by_value, [dtype([-5, 2, 7, np.nan]), dtype(low), dtype(high)])
edge("clip_by_value", "crossed_int32", tf.clip_by_value, [I32([-5, 2, 7]), I32(3), I32(1)])
for dtype in (np.uint8, np.uint16, np.uint32, np.uint64):
    edge("relu", np.dtype(dtype).name, tf.nn.relu, [dtype([0, 3, 200])])
for dtype in (np.int8, np.int16, I32, I64, np.uint8, np.uint16, np.uint32, np.uint64):
    edge("relu6", np.dtype(dtype).name, tf.nn.relu6, [np.array([-3, 0, 5, 6, 7, 100]).astype(dtype)])
for dtype in (F32, F64, F16, BF16):
    edge("truncatediv", dtype([0]).dtype.name, tf.truncatediv, [dtype([7, -7, 1, -1, 0]), dtype([2, 2, -3, 0, 0])])
edge("linspace", "none", tf.linspace, [F32(1), F32(2)], {"num": 0})
edge("per_image_standardization", "uint8", tf.image.per_image_standardization, [np.uint8([[[100], [101]], [[99], [100]]])], tolerance=1e-5)
edge("per_image_standardization", "int64", tf.image.per_image_standardization, [I64([[[5, -5], [9, 8]]])], tolerance=1e-5)

# ---- arrays ----
edge("concat", "one_scalar", lambda values, axis: tf.concat([values], axis), [F32(3)], {"axis": 0}, gradient=True)
edge("concat", "one_outside", lambda values, axis: tf.concat([values], axis), [F32([3, 4])], {"axis": 7}, gradient=True)
for equation in ("ab->aab", "ab,bc->aca", "...->......"):
    given = [x] if "," not in equation else [x, x.T]
    edge("einsum", "twice_" + equation, lambda *operands, equation: tf.einsum(equation, *operands), given, {"equation": equation},
         fails=(VALUE, "once") if equation[0] == "a" else (VALUE, "read"))
edge("scatter_nd", "bool_twice", tf.scatter_nd, [I32([[0], [0], [1]]), np.array([True, False, False])], {"shape": [3]})
edge("repeat", "scalar", tf.repeat, [I32(5), I32(3)], {"axis": 0})
edge("repeat", "scalar_last", tf.repeat, [I32(5), I32([2])], {"axis": -1})
edge("pad", "scalar", lambda x, paddings: tf.pad(x, np.zeros((0, 2), I32)), [I32(5)], {"paddings": {"dtype": "int32", "shape": [0, 2], "data": []}})

# ---- texts ----
for pattern in ("\\A{0,1}(a)", "\\b*?\\b", "\\B+a", "a\\z*", "(?:\\b)a", "\\bab\\b|\\Ba", "\\pp", "\\p{lu}", "\\p{greek}", "\\pX"):
    wrong = pattern in ("\\pp", "\\p{lu}", "\\p{greek}", "\\pX")
    edge("regex_full_match", "places_" + pattern, tf.strings.regex_full_match, [texts("a", "ab", "", "aba")], {"pattern": pattern},
         **({"fails": (VALUE, "invalid")} if wrong else {}))
for name, pattern in (("class", "[^a]*[\\d.-]*\\w?"), ("empty", "[\\d.-]??|(?:ab)"), ("any", "(?s).*"), ("some", "a*")):
    edge("regex_full_match", "bytes_" + name, tf.strings.regex_full_match, [texts("", "b", b"\xfb\x17\xb9K\x8a", b"a\xff", b"\xffa", b"a\xffa", b"\xff")],
         {"pattern": pattern})
for everywhere in (False, True):
    for name, rewrite in (("letter", "x\\y"), ("end", "x\\"), ("good", "\\\\\\0")):
        edge("regex_replace", "rewrite_%s_%d" % (name, everywhere), tf.strings.regex_replace, [texts("a b", "bb")],
             {"pattern": "\\w", "rewrite": rewrite, "replace_global": everywhere})
for op, call, inputs, attributes in (
        ("unicode_transcode", tf.strings.unicode_transcode, [texts("a")], {"input_encoding": "UTF-8", "output_encoding": "UTF-8"}),):
    for code in (-1, 0x110000):
        edge(op, "replacement_%d" % code, call, inputs, {**attributes, "errors": "ignore", "replacement_char": code}, fails=(VALUE, "replacement_char"))

# ---- records ----
one = [texts("0"), F32([0.5])]


def csv(*given, **attributes):
    return tf.io.decode_csv(given[0], list(given[1:]), **attributes)


def rows(name, lines, defaults, attributes=None, fails=None):
    edge("decode_csv", name, csv, [texts(*lines), *defaults], attributes, fails=fails)


rows("newline_between", ["1,\n2", "\n3,4", "\r\n5,\r6"], [I32([0]), I32([0])])
rows("newline_alone", ["1,\n"], [I32([0]), I32([9])], fails=(VALUE, "2"))
rows("newline_behind", ["1,2\n"], [I32([0]), I32([0])], fails=(VALUE, "quotes"))
rows("newline_unquoted", ["1,\"a\rb\""], [I32([0]), texts("")], {"use_quote_delim": False}, fails=(VALUE, "quotes"))
rows("quotes_unquoted", ["1,\"ab\"x"], [I32([0]), texts("")], {"use_quote_delim": False})
rows("behind_selected", ["a,b,\"c", "d,e,f\n", "g,h,i\"j"], [texts(""), texts("")], {"select_cols": [0, 1]})
rows("before_selected", ["a,\"b,c"], [texts("")], {"select_cols": [1]}, fails=(VALUE, "quoted"))
rows("selected_empty_last", ["a,"], [texts("z")], {"select_cols": [1]})
rows("empty_last", ["1,", ",", ",2"], [I32([8]), I32([9])])
rows("only_newline", ["\n"], [texts("z")], fails=(VALUE, "1"))


def shape(*dims):
    dims = b"".join(b"\x12\x02\x08" + bytes([dim]) for dim in dims)
    return b"\x12" + bytes([len(dims)]) + dims


for name, proto, dtype in (("no_values", b"\x08\x09" + shape(3, 2), "int64"), ("no_values_float", b"\x08\x01" + shape(2), "float32"),
                           ("no_values_string", b"\x08\x07" + shape(2), "string"), ("no_values_bool", b"\x08\x0a", "bool"),
                           ("one_value", b"\x08\x03" + shape(4) + b"\x38\x05", "int32")):
    edge("parse_tensor", name, lambda x, out_type: tf.io.parse_tensor(x, tf.as_dtype(out_type)), [texts(proto).reshape([])], {"out_type": dtype})


def json_case(name, text, fails=None):
    edge("decode_json_example", name, tf.io.decode_json_example, [texts(text).reshape([])], fails=fails)


def value(kind, text):
    return '{"features": {"feature": {"a": {"%s": {"value": [%s]}}}}}' % (kind, text)


json_case("integer_texts", value("int64List", '"1e2", "1.0", "-0", "-9223372036854775808"'))
json_case("integer_space", value("int64List", '" 1"'), fails=(VALUE, "64"))
json_case("integer_space_behind", value("int64List", '"1 "'), fails=(VALUE, "64"))
json_case("integer_fraction", value("int64List", '"1.5"'), fails=(VALUE, "64"))
json_case("float_beyond", value("floatList", "3.4028236e38"), fails=(VALUE, "JSON"))
json_case("float_text_beyond", value("floatList", '"3.5e38"'), fails=(VALUE, "JSON"))
json_case("float_space", value("floatList", '"1.5 ", " 2"'))
json_case("float_names", value("floatList", '"Infinity", "-Infinity", "NaN", 3.4028234e38, 1e-50'))


def packed(text, kind):
    import gzip
    import zlib
    return gzip.compress(text, mtime=0) if kind == "GZIP" else zlib.compress(text)


for name, kind, behind in (("junk", "GZIP", b"abc"), ("zeros", "GZIP", b"\0\0\0\0"), ("one_byte", "GZIP", b"a"), ("member", "GZIP", packed(b"more", "GZIP"))):
    fails = (NONE, "such") if name in ("junk", "zeros") else None
    edge("decode_compressed", "behind_" + name, tf.io.decode_compressed, [texts(packed(b"hello", kind) + behind)], {"compression_type": kind}, fails=fails)


def wave(*chunks, channels=1):
    import struct
    body = b"WAVEfmt " + struct.pack("<IHHIIHH", 16, 1, channels, 8000, 16000 * channels, 2 * channels, 16)
    for name, size, data in chunks:
        body += name + struct.pack("<I", size) + data
    return b"RIFF" + struct.pack("<I", len(body)) + body


for name, data, fails in (
        ("half_sample", wave((b"data", 5, b"\1\0\2\0")), None), ("half_frame", wave((b"data", 6, b"\1\0\2\0"), channels=2), None),
        ("short", wave((b"data", 4, b"\1\0")), (VALUE, "short")), ("no_samples", wave((b"data", 0, b"")), None),
        ("twice", wave((b"data", 2, b"\1\0"), (b"data", 2, b"\2\0")), (VALUE, "data")), ("odd_chunk", wave((b"LIST", 3, b"abc"), (b"data", 2, b"\1\0")), None),
        ("long_chunk", wave((b"data", 2, b"\1\0"), (b"LIST", 9, b"abc")), None)):
    edge("decode_wav", name, tf.audio.decode_wav, [texts(data).reshape([])], fails=fails)


def write(folder):
    """Puts the cases behind those of other scripts."""
    if op_recorder.WRONG:
        sys.exit("\n".join(op_recorder.WRONG))
    for op, lines in op_recorder.CASES.items():
        path = os.path.join(folder, op + ".json")
        with open(path) as text:
            kept = [line.rstrip(",\n") for line in text if line.startswith('{"name"') and not line.startswith('{"name": "edge_')]
        with open(path, "w") as out:
            out.write('{"op": "%s", "cases": [\n' % op)
            out.write(",\n".join(kept + [json.dumps(line) for line in lines]))
            out.write("\n]}\n")


if __name__ == "__main__":
    write(sys.argv[1])
