"""Cases of decoding what strings hold; see operations.py."""
import gzip
import struct
import zlib

import numpy as np
import tensorflow as tf

from op_case_model import DTYPE, NONE, SHAPE, VALUE
from operations import array, case

io = tf.io

# ---- numbers as bytes ----


def raw(name, strings, dtype, fails=None, **given):
    case("decode_raw", name, [strings], lambda x: io.decode_raw(x, tf.as_dtype(dtype), **given), {"out_type": dtype, **given}, fails)


raw("big_endian", [b"\1\0\2\0", b"\3\4\5\6"], "int16", little_endian=False)
raw("big_endian_float64", struct.pack(">2d", 1.5, -2.0), "float64", little_endian=False)
raw("bytes_of_one", [b"\1\2"], "uint8", little_endian=False)
raw("filled_up", [b"\1\0\2\0", b"\1"], "int16", fixed_length=4)
raw("cut", [b"\1\0\2\0", b"\1\2"], "int16", fixed_length=2)
raw("big_endian_filled_up", [b"\1\0\2\0", b"\1\2\3"], "int16", fixed_length=4, little_endian=False)
raw("one_filled_up", b"\1\2", "uint8", fixed_length=3)
raw("fixed_nothing", [b"\1", b""], "int32", fixed_length=4)
raw("fixed_none", np.zeros(0, object), "int16", fixed_length=2)
raw("no_multiple", [b"\1"], "int16", (VALUE, "2"), fixed_length=3)
raw("no_length", [b"\1"], "int16", (VALUE, "greater"), fixed_length=0)
raw("negative_length", [b"\1"], "int16", (VALUE, "greater"), fixed_length=-2)
raw("float16", [b"\0\x3c\0\xc0"], "float16")

# ---- comma-separated text ----


def csv(name, records, defaults, fails=None, **given):
    tensors = [tf.constant(*d) if isinstance(d, tuple) else tf.constant(d) for d in defaults]
    case("decode_csv", name, [array(records), *(array(t.numpy()) for t in tensors)], lambda *_: io.decode_csv(records, tensors, **given), given, fails)


NEEDED = ([], tf.int32)
csv("rows", ["1,2.5,x", "3,4,y"], [[0], [0.0], [""]])
csv("one", "1,2.5,x", [[0], [0.0], [""]])
csv("defaults", ["1,,", ",2,z"], [[7], [1.5], ["d"]])
csv("needed", ["1,,"], [NEEDED, ([], tf.float32), ["d"]], (VALUE, "1"))
csv("too_few", ["1,2", "1"], [[0], [0]], (VALUE, "2"))
csv("too_many", ["1,2,3"], [[0], [0]], (VALUE, "2"))
csv("no_number", ["a,2"], [[0], [0]], (VALUE, "int32"))
csv("quotes", ['"a,b","c ""q"""', '"","a\nb"'], [["z"], [""]])
csv("no_quotes", ['"a,b",c'], [[""], [""], [""]], use_quote_delim=False)
csv("quotes_as_bytes", ['a"b,c'], [[""], [""]], use_quote_delim=False)
csv("delimiter", ["1|2"], [[0], [0]], field_delim="|")
csv("tab", ["1\t2"], [[0], [0]], field_delim="\t")
csv("missing_word", ["NA,2", '"NA",'], [[9], [0]], na_value="NA")
csv("some_columns", ["1,2,3"], [[0], [0]], select_cols=[0, 2])
csv("column_that_lacks", ["1,2,3"], [[0], [0]], (VALUE, "2"), select_cols=[0, 5])
csv("columns_fall", ["1,2,3"], [[0], [0]], (VALUE, "rising"), select_cols=[2, 0])
csv("other_columns", ["1,2,3"], [[0], [0]], (SHAPE, "select_cols"), select_cols=[0])
csv("matrix", [["1,2"], ["3,4"]], [[0], [0]])
csv("scalar_defaults", ["1,2", ","], [5, 6])
csv("two_defaults", ["1,2"], [[0, 1], [0]], (SHAPE, "1"))
csv("line_end", ["1,2\n"], [[0], [0]], (VALUE, "lines"))
csv("carriage_return", ["1,2\r\n"], [[0], [0]], (VALUE, "lines"))
csv("quote_inside", ['a"b,c'], [[""], [""]], (VALUE, "unquoted"))
csv("quote_not_doubled", ['"a"b,c'], [[""], [""]], (VALUE, "escaped"))
csv("quote_open", ['"a'], [[""]], (VALUE, "quote"))
csv("blanks", [" 1 , 2"], [[0], [0]])
csv("large", ["99999999999,1"], [[0], [0]], (VALUE, "int32"))
csv("dtypes", ["1e3,1,2.5"], [[0.0], ([0], tf.int64), ([0], tf.float64)])
csv("nothing", [""], [[1]], (VALUE, "1"))
csv("other_dtype", ["1"], [([0], tf.float16)], (DTYPE, "float16"))
csv("long_delimiter", ["1,2"], [[0], [0]], (VALUE, "byte"), field_delim=",,")
csv("words_of_floats", ["nan,inf"], [[0.0], [0.0]])
csv("no_records", np.zeros(0, object), [[0], [""]])

# ---- packed strings ----


def packed(name, strings, kind, fails=None, **more):
    case("decode_compressed", name, [strings], lambda x: io.decode_compressed(x, kind), {"compression_type": kind}, fails, **more)


packed("zlib", [zlib.compress(b"abc"), zlib.compress(b"")], "ZLIB")
packed("gzip", [gzip.compress(b"abc", mtime=0), gzip.compress(bytes(range(256)) * 200, mtime=0)], "GZIP")
packed("two_members", gzip.compress(b"abc", mtime=0) + gzip.compress(b"def", mtime=0), "GZIP")
packed("not_at_all", [b"abc", b""], "")
packed("empty", [b""], "ZLIB")
packed("cut_off", [zlib.compress(b"abc" * 100)[:-4]], "ZLIB")
packed("no_stream", [b"abcdef"], "ZLIB", (NONE, "compression_type"))
packed("other_stream", [zlib.compress(b"abc")], "GZIP", (NONE, "compression_type"))
packed("wrong_sum", [zlib.compress(b"abc")[:-4] + b"1234"], "ZLIB", (NONE, "ZLIB"))
packed("other_codec", [b"x"], "SNAPPY", (VALUE, "SNAPPY"))

# ---- sound ----


def wav(data, channels=1, rate=8000, bits=16, kind=1, extra=b""):
    return (b"RIFF" + struct.pack("<I", 36 + len(extra) + len(data)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, kind, channels, rate, rate * channels * bits // 8, channels * bits // 8, bits) + extra + b"data" +
            struct.pack("<I", len(data)) + data)


SOUND = struct.pack("<6h", 0, 1, -1, 32767, -32768, 16384)


def sound(name, contents, fails=None, **given):
    case("decode_wav", name, [contents], lambda x: tf.audio.decode_wav(x, **given), given, fails)


sound("mono", wav(SOUND))
sound("stereo", wav(SOUND, 2, 44100))
sound("one_of_two", wav(SOUND, 2), desired_channels=1)
sound("two_of_one", wav(SOUND), desired_channels=2)
sound("cut", wav(SOUND), desired_samples=3)
sound("filled_up", wav(SOUND, 2), desired_channels=3, desired_samples=4)
sound("other_chunk", wav(SOUND, extra=b"LIST\x04\0\0\0abcd"))
sound("silence", wav(b""))
sound("eight_bits", wav(SOUND, bits=8), (VALUE, "16-bit"))
sound("other_format", wav(SOUND, kind=3), (VALUE, "1"))
sound("no_channel", wav(SOUND, channels=0), (SHAPE, "1"))
sound("no_file", b"RIFFxxxx", (VALUE, "short"))
sound("cut_off", wav(SOUND)[:-2], (VALUE, "short"))
sound("tail", wav(SOUND) + b"junk", (VALUE, "short"))
sound("vector", [wav(SOUND)], (SHAPE, "0"))


def samples(name, audio, rate, fails=None):
    case("encode_wav", name, [np.array(audio, np.float32), np.array(rate, np.int32)], tf.audio.encode_wav, None, fails)


samples("values", [[0.0], [1.0], [-1.0], [0.5], [2.0], [-2.0], [1 / 32767], [0.4 / 32767], [0.6 / 32767], [-0.6 / 32767]], 8000)
samples("stereo", [[0.1, 0.2], [-0.3, 0.25]], 44100)
samples("none", np.zeros((0, 1)), 8000)
samples("vector", [0.1], 8000, (SHAPE, "2"))
samples("no_rate", [[0.1]], 0, (VALUE, "sample_rate"))
samples("negative_rate", [[0.1]], -5, (VALUE, "sample_rate"))
samples("no_channel", np.zeros((2, 0)), 8000, (VALUE, "num_channels"))

# ---- Examples as JSON ----


def feature(text):
    return '{"features":{"feature":{"a":%s}}}' % text


JSON = [
    '{"features":{"feature":{"a":{"int64_list":{"value":[1,-2]}},"b":{"bytes_list":{"value":["eA==","aGVsbG8"]}},'
    '"c":{"floatList":{"value":[1.5,"-Infinity",1e2]}}}}}', "{}", '{"features":{}}', feature('{"int64List":{"value":["3",4]}}'), feature("{}"),
    feature('{"int64_list":{"value":[]}}'), '{"features":null}', feature('{"int64_list":{"value":7}}'), feature('{"bytes_list":{"value":["_-"]}}'),
    feature('{"float_list":{"value":["Infinity","1.5"]}}'), '{"features":{"feature":{"b":{"int64_list":{"value":[1]}},"a":{"int64_list":{"value":[2]}}}}}',
    " {} ", feature('{"int64_list":{"value":[1e3, 0, 2.0]}}'), feature("null"), feature('{"float_list":null,"int64_list":{"value":[5]}}'),
]
for number, text in enumerate(JSON):
    case("decode_json_example", "text_%d" % number, [text], io.decode_json_example)
case("decode_json_example", "matrix", [[["{}", JSON[3]]]], io.decode_json_example)
for number, (text, fails) in enumerate([("[]", (VALUE, "object")), ("x", (VALUE, "1")), ('{"x":1}', (VALUE, "features")), (feature('{"int64_list":{"value":[1.5]}}'), (VALUE, "integer")),
                                         (feature('{"bytes_list":{"value":["***"]}}'), (VALUE, "JSON")), ("", (VALUE, "1")),
                                         (feature('{"int64_list":{"value":[1]},"float_list":{"value":[1]}}'), (VALUE, "JSON")),
                                         (feature('{"int64_list":{"value":[9223372036854775808]}}'), (VALUE, "64"))]):
    case("decode_json_example", "refused_%d" % number, [text], io.decode_json_example, None, fails)
