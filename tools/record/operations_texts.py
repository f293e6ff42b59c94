"""Cases of strings; see operations.py."""
import numpy as np
import tensorflow as tf

from op_case_model import DTYPE, SHAPE, STRUCTURE, VALUE
from operations import case

s = tf.strings
WORD = "h\u00e9l\U0001f600o"
BAD = [b"\xe2\x28\xa1", b"\xf0\x9f\x98", b"\xff\xfe", b"\xc0\xaf", b"\xed\xa0\x80", "h\u00e9\U0001f600\x01".encode(), b"", b"\xef\xbb\xbfa",
       b"\xf4\x90\x80\x80", b"a\xe2\x82"]
I32 = np.int32


def none():
    return np.zeros(0, object)


# ---- characters ----
case("string_length", "characters", [[WORD, "", b"\x80a\xff\xc3"]], lambda x: s.length(x, unit="UTF8_CHAR"), {"unit": "UTF8_CHAR"})
case("string_length", "other_unit", [[WORD]], lambda x: s.length(x, unit="X"), {"unit": "X"}, (VALUE, "BYTE"))
for number, (pos, size) in enumerate([(1, 2), (-2, 1), (0, -1), (5, 1), (-5, 2), (3, 9), (2, 0), (1, -3)]):
    case("substr", "characters_%d" % number, [WORD, I32(pos), I32(size)], lambda *x: s.substr(*x, unit="UTF8_CHAR"), {"unit": "UTF8_CHAR"})
for name, pos in (("beyond", 6), ("before", -6)):
    case("substr", "characters_" + name, [WORD, I32(pos), I32(1)], lambda *x: s.substr(*x, unit="UTF8_CHAR"), {"unit": "UTF8_CHAR"},
         (VALUE, "range"))
case("substr", "characters_each", [[WORD, "\u00e9\u00e8", "ab"], np.array([1, -1, 0]), np.array([1, 5, 1])],
     lambda *x: s.substr(*x, unit="UTF8_CHAR"), {"unit": "UTF8_CHAR"})
case("substr", "no_characters", [b"\x80\x80a\xff", I32(1), I32(1)], lambda *x: s.substr(*x, unit="UTF8_CHAR"), {"unit": "UTF8_CHAR"})

# ---- cases of letters ----
case("string_lower", "letters", [["\u00c9\u0130\u03a3 \u1e9e AB\u03a3", "", b"\xffA"]], lambda x: s.lower(x, "utf-8"), {"encoding": "utf-8"})
case("string_lower", "of_no_encoding", [["\u00c9A"]], s.lower)
case("string_lower", "other_encoding", ["A"], lambda x: s.lower(x, "latin1"), {"encoding": "latin1"}, (VALUE, "utf-8"))
case("string_upper", "letters", [["\u00e9\u00df\ufb01\u0131", b"\xffa\xe2\x82", "\U00010428"]], lambda x: s.upper(x, "utf-8"), {"encoding": "utf-8"})
case("string_upper", "scalar_letters", ["stra\u00dfe"], lambda x: s.upper(x, "utf-8"), {"encoding": "utf-8"})
case("string_upper", "other_encoding", ["A"], lambda x: s.upper(x, "utf8"), {"encoding": "utf8"}, (VALUE, "utf-8"))

# ---- numbers ----
for dtype, good, bad in (("uint32", ["1", " 12 ", "+5", "4294967295"], ["-1", "4294967296", "1.5", "", "-0"]),
                         ("uint64", ["4294967296", "18446744073709551615"], ["18446744073709551616", "-1", "x"])):
    case("string_to_number", dtype, [good], lambda x: s.to_number(x, tf.as_dtype(dtype)), {"out_type": dtype})
    for number, text in enumerate(bad):
        case("string_to_number", "%s_bad_%d" % (dtype, number), [text], lambda x: s.to_number(x, tf.as_dtype(dtype)), {"out_type": dtype},
             (VALUE, dtype))
case("string_to_number", "words_of_floats", [["INF", "-Infinity", "nan(1)", "1e400", "1e-400", "1.", "-0"]], s.to_number)
case("string_to_number", "other_dtype", ["1"], lambda x: s.to_number(x, tf.float16), {"out_type": "float16"}, (DTYPE, "out_type"))
FLOATS = np.array([0, 1, -1.5, 1e10, 1.0 / 3, np.nan, np.inf, -np.inf, 1e-10, 123456789.125], np.float32)
for number, given in enumerate([
        {"precision": 3}, {"scientific": True}, {"shortest": True}, {"precision": 2, "scientific": True}, {"precision": 4, "shortest": True},
        {"width": 12}, {"width": 12, "fill": "0"}, {"width": 12, "fill": "-"}, {"width": 12, "fill": " "}, {"width": 12, "fill": "+"},
        {"width": 3, "precision": 1, "fill": "#"}, {"precision": 0}, {"precision": -2}, {"width": -5}, {"precision": 60}]):
    case("as_string", "floats_%d" % number, [FLOATS], lambda x: s.as_string(x, **given), given)
    if "precision" not in given and "scientific" not in given and "shortest" not in given:
        case("as_string", "integers_%d" % number, [np.array([1, -20, 300])], lambda x: s.as_string(x, **given), given)
        case("as_string", "bytes_%d" % number, [np.array([0, 250], np.uint8)], lambda x: s.as_string(x, **given), given)
        case("as_string", "booleans_%d" % number, [np.array([True, False])], lambda x: s.as_string(x, **given), given)
    case("as_string", "texts_%d" % number, [["abc", ""]], lambda x: s.as_string(x, **given), given)
for name, value, given, fails in (
        ("precise_integers", np.array([1]), {"precision": 2}, (VALUE, "int64")), ("short_booleans", np.array([True]), {"shortest": True}, (VALUE, "bool")),
        ("both", np.array([1.0]), {"scientific": True, "shortest": True}, (VALUE, "both")), ("long_fill", np.array([1]), {"fill": "ab"}, (VALUE, "fill")),
        ("other_fill", np.array([1.0]), {"fill": "x", "width": 9}, (VALUE, "fill"))):
    case("as_string", name, [value], lambda x: s.as_string(x, **given), given, fails)
PAIRS = np.array([1 + 2j, -1.5e10 - 2.25j, complex(np.inf, np.nan), complex(-0.0, 1e-10)], np.complex64)
for number, given in enumerate([{}, {"precision": 2}, {"scientific": True}, {"shortest": True}, {"precision": 2, "shortest": True}, {"width": 12},
                                {"width": 8, "precision": 3}, {"width": 10, "fill": "0"}, {"fill": "+"}, {"width": 9, "fill": "-"}]):
    case("as_string", "pairs_%d" % number, [PAIRS], lambda x: s.as_string(x, **given), given or None)
case("as_string", "wide_pairs", [PAIRS.astype(np.complex128) / 3], s.as_string)

# ---- hashes ----
for name, value in (("strings", [b"a", b"", b"hello world, hello"]), ("rows_of_strings", np.array([[b"a", b"b"], [b"c", b""]], object)),
                    ("one_string_a_row", np.array([[b"a"], [b"b"]], object)), ("cube_of_strings", np.array([[[b"a", b"b"]], [[b"c", b"d"]]], object)),
                    ("numbers", np.arange(6, dtype=np.int32).reshape(2, 3)), ("long_rows", np.arange(60, dtype=np.float64).reshape(2, 5, 6)),
                    ("bool", np.array([[True, False]])), ("complex", np.array([1 + 2j, 0], np.complex64)), ("no_values", np.zeros((2, 0), np.float32)),
                    ("no_rows", np.zeros((0, 2), np.float32))):
    case("fingerprint", name, [value], tf.fingerprint)
case("fingerprint", "scalar", ["a"], tf.fingerprint, None, (SHAPE, "scalar"))
case("fingerprint", "other_method", [["a"]], lambda x: tf.fingerprint(x, "sha1"), {"method": "sha1"}, (VALUE, "sha1"))
LENGTHS = [bytes((i * 37 + n * 11 + 5) % 256 for i in range(n)) for n in [*range(0, 18), 23, 24, 25, 31, 32, 33, 63, 64, 65, 100, 200]]
MOST = 2**63 - 1
case("string_to_hash_bucket", "lengths", [LENGTHS], lambda x: s.to_hash_bucket(x, MOST), {"num_buckets": MOST})
case("string_to_hash_bucket", "few", [["", "a", "hello world", b"\xff" * 70]], lambda x: s.to_hash_bucket(x, 1000), {"num_buckets": 1000})
case("string_to_hash_bucket", "scalar", ["hello world"], lambda x: s.to_hash_bucket(x, 3), {"num_buckets": 3})
case("string_to_hash_bucket", "nothing", [none()], lambda x: s.to_hash_bucket(x, 3), {"num_buckets": 3})
case("string_to_hash_bucket", "none", [["a"]], lambda x: s.to_hash_bucket(x, 0), {"num_buckets": 0}, (VALUE, "num_buckets"))
KEYS = [[1, 2], [0, 0], [-1, 2**62], [123456789, -987654321]]
for number, key in enumerate(KEYS):
    case("string_to_hash_bucket_strong", "lengths_%d" % number, [LENGTHS], lambda x: s.to_hash_bucket_strong(x, MOST, key), {"num_buckets": MOST, "key": key})
case("string_to_hash_bucket_strong", "few", [["", "a", "hello world"]], lambda x: s.to_hash_bucket_strong(x, 10, [1, 2]), {"num_buckets": 10, "key": [1, 2]})
case("string_to_hash_bucket_strong", "none", [["a"]], lambda x: s.to_hash_bucket_strong(x, 0, [1, 2]), {"num_buckets": 0, "key": [1, 2]}, (VALUE, "num_buckets"))
case("string_to_hash_bucket_strong", "one_number", [["a"]], lambda x: s.to_hash_bucket_strong(x, 3, [1]), {"num_buckets": 3, "key": [1]}, (VALUE, "2"))

# ---- parts ----
case("string_bytes_split", "values", [["ab", "", b"\x00c", "\u00e9"]], s.bytes_split)
case("string_bytes_split", "one", [["a"]], s.bytes_split)
case("string_bytes_split", "empty", [["", ""]], s.bytes_split)
case("string_bytes_split", "none", [none()], s.bytes_split)
case("string_bytes_split", "numbers", [np.array([1])], s.bytes_split, None, (DTYPE, "int64"))

# ---- regular expressions: (pattern, text, replacement) ----
PAIRS = [
    ("a", "banana", "X"), ("a*", "baaac", "-"), ("x*", "abc", "-"), ("(a)(b)?", "ab a", r"[\2\1\0]"), ("a", "banana", r"\\"), ("a", "banana", r"\1"),
    ("", "abc", "-"), ("\u00e9*", "a\u00e9b", "-"), (r"\s", "a\vb c", "_"), (r"\v", "a\vb c", "_"), (r"[\s\S]", "a\v", "_"), (r"\pL", "a\u00e91", "_"),
    (r"\p{Greek}", "a\u03b1", "_"), ("(?i)\u00c9", "\u00e9\u00c9", "_"), ("^", "a\nb\n", "_"), ("(?m)^", "a\nb\n", "_"), ("(?m)$", "a\nb\n", "_"),
    ("$", "a\n", "_"), ("(?s).", "a\n", "_"), (".", "a\n", "_"), (r"\Qa.b\E", "a.b", "_"), ("(?P<n>a)", "a", r"<\1>"), ("[[:word:]]", "a_-", "x"),
    ("a|", "ab", "_"), (r"\_", "_", "x"), (r"\z", "y", "x"), ("{", "{", "x"), ("a{,2}", "a{,2}", "x"), ("a{2", "a{2", "x"), ("[]a]", "]", "x"),
    (r"\12", "\n", "x"), (r"\08", "\x008", "x"), (r"\x41", "A", "x"), (r"\x{1F600}", "\U0001f600", "x"), ("a*?", "aa", "x"), ("^*", "aa", "x"),
    (r"\b", "ab cd", "|"), ("(?U)a+", "aaa", "x"), ("(?i:A)b", "abAb", "x"), ("[[=a=]]", "a=]", "x"), ("[^a]", b"a\xffb\xc3", "_"), ("", b"a\xffb", "-"),
    (".", b"a\xffb", "-"), (r"\d+-\w", "12-a 3-", "<\\0>"), ("(a|ab)(c|bcd)", "abcd", r"\1,\2"), (r"\|*x", "||x", "_"), (r"[a\]]", "]b", "_"),
    (r"a{2,3}", "aaaaa", "_"), (r"[\d\-]+", "1-2", "_"), (r"[^\S]", "a b", "_"), (r"\PN", "a1", "_"), ("(?-s).", "\n", "x"), ("[[:^alpha:]]", "a1", "x"),
]
for number, (pattern, text, rewrite) in enumerate(PAIRS):
    case("regex_replace", "pattern_%d" % number, [[text]], lambda x: s.regex_replace(x, pattern, rewrite), {"pattern": pattern, "rewrite": rewrite})
REFUSED = {"(": (VALUE, "missing"), "a**": (VALUE, "repetition"), "a++": (VALUE, "repetition"), "(?=a)": (VALUE, "invalid"), r"\1": (VALUE, "invalid"),
           r"(a)\1": (VALUE, "invalid"), "a{1001}": (VALUE, "invalid"), "*a": (VALUE, "invalid"), "(?<n>a)": (VALUE, "invalid"),
           "(?x)a b": (VALUE, "invalid"), r"\y": (VALUE, "invalid"), r"\h": (VALUE, "invalid"), r"\Z": (VALUE, "invalid"), "(?#c)a": (VALUE, "invalid"),
           "[^]": (VALUE, "missing"), r"\x4": (VALUE, "invalid"), "(*UTF8)a": (VALUE, "argument"), "a{2}{3}": (VALUE, "repetition"), r"\K": (VALUE, "invalid"),
           r"\R": (VALUE, "invalid"), r"\X": (VALUE, "invalid"), "[[:foo:]]": (VALUE, "invalid"), "(?P=n)": (VALUE, "invalid"), "(?>a)": (VALUE, "invalid"),
           "(?:a": (VALUE, "missing"), "a)": (VALUE, "unmatched"), "[b-a]": (VALUE, "invalid"), "\\": (VALUE, "trailing"), "a?+": (VALUE, "repetition")}
for number, (pattern, fails) in enumerate(REFUSED.items()):
    case("regex_replace", "refused_%d" % number, [["a"]], lambda x: s.regex_replace(x, pattern, ""), {"pattern": pattern, "rewrite": ""}, fails)
case("regex_replace", "first", [["banana", "xyz"]], lambda x: s.regex_replace(x, "a", "x", replace_global=False),
     {"pattern": "a", "rewrite": "x", "replace_global": False})
case("regex_replace", "rows", [[["a1", "b"], ["", "22"]]], lambda x: s.regex_replace(x, "[0-9]", "#"), {"pattern": "[0-9]", "rewrite": "#"})
case("regex_replace", "numbers", [np.array([1])], lambda x: s.regex_replace(x, "a", ""), {"pattern": "a", "rewrite": ""}, (DTYPE, "int64"))
for number, (pattern, texts) in enumerate([("a.*", ["abc", "bc", "a\n", ""]), ("a|ab", ["ab", "a"]), ("", ["", "a"]), ("^a$", ["a", "a\n"]),
                                           ("(?i)AB+", ["abb", "AB", "a"]), (".", ["\u00e9", b"\xff", "ab"])]):
    case("regex_full_match", "pattern_%d" % number, [texts], lambda x: s.regex_full_match(x, pattern), {"pattern": pattern})
case("regex_full_match", "scalar", ["abc"], lambda x: s.regex_full_match(x, "[a-c]+"), {"pattern": "[a-c]+"})
case("regex_full_match", "refused", [["a"]], lambda x: s.regex_full_match(x, "("), {"pattern": "("}, (VALUE, "missing"))
case("regex_full_match", "numbers", [np.array([1])], lambda x: s.regex_full_match(x, "a"), {"pattern": "a"}, (DTYPE, "int64"))

# ---- code points ----


def decoded(name, texts, encoding, fails=None, **given):
    def call(x):
        points, offsets = s.unicode_decode_with_offsets(x, encoding, **given)
        return [points.flat_values, points.row_splits, offsets.flat_values]
    case("unicode_decode", name, [texts], call, {"input_encoding": encoding, **given}, fails)


decoded("replace", BAD, "UTF-8")
decoded("ignore", BAD, "UTF-8", errors="ignore")
decoded("strict", ["a", "\u00e9"], "UTF-8", errors="strict")
decoded("strict_fails", ["a", b"\xff"], "UTF-8", (VALUE, "string"), errors="strict")
decoded("controls", BAD, "UTF-8", replacement_char=63, replace_control_characters=True)
decoded("utf16", ["\u00e9\U0001f600".encode("utf-16-be"), b"", b"\xd8\x00\x00a"], "UTF-16-BE")
decoded("latin1", [b"\xe9a"], "ISO-8859-1")
decoded("shift_jis", ["\u3042a".encode("shift_jis")], "SHIFT_JIS")
decoded("no_encoding", ["a"], "nope", (VALUE, "nope"))
decoded("other_errors", ["a"], "UTF-8", (VALUE, "replace"), errors="x")
decoded("none", none(), "UTF-8")
decoded("empty", ["", ""], "UTF-8")


def encoded(name, rows, encoding, fails=None, **given):
    flat, splits = np.array([point for row in rows for point in row], I32), np.cumsum([0] + [len(row) for row in rows])
    case("unicode_encode", name, [flat, splits], lambda *x: s.unicode_encode(tf.RaggedTensor.from_row_splits(*x), encoding, **given),
         {"output_encoding": encoding, **given}, fails)


encoded("utf8", [[104, 233, 128512], [], [0x7ff, 0x800, 0xffff, 0x10ffff]], "UTF-8")
encoded("utf16", [[104, 233], [128512, 97]], "UTF-16-BE")
encoded("utf32", [[65], [0x10ffff]], "UTF-32-BE")
encoded("replace", [[0xd800, 0x110000, -1, 0xfffe, 65]], "UTF-8")
encoded("replace_by", [[0xd800, 65]], "UTF-8", replacement_char=63)
encoded("ignore", [[0xd800, 65], [-5]], "UTF-8", errors="ignore")
encoded("strict", [[65], [0xd800]], "UTF-8", (VALUE, "range"), errors="strict")
encoded("other_encoding", [[65]], "latin1", (VALUE, "latin1"))
encoded("none", [], "UTF-8")
for name, given in (("utf16", {"output_encoding": "UTF-16-BE"}), ("ignore", {"output_encoding": "UTF-8", "errors": "ignore", "replace_control_characters": True}),
                    ("controls", {"output_encoding": "UTF-8", "replacement_char": 32, "replace_control_characters": True}),
                    ("utf32", {"output_encoding": "UTF-32-BE"})):
    case("unicode_transcode", name, [BAD], lambda x: s.unicode_transcode(x, "UTF-8", **given), {"input_encoding": "UTF-8", **given})
case("unicode_transcode", "latin1", [[b"\xe9\xff"]], lambda x: s.unicode_transcode(x, "ISO-8859-1", "UTF-8"),
     {"input_encoding": "ISO-8859-1", "output_encoding": "UTF-8"})
case("unicode_transcode", "scalar", ["\u00e9"], lambda x: s.unicode_transcode(x, "UTF-8", "UTF-16-BE"),
     {"input_encoding": "UTF-8", "output_encoding": "UTF-16-BE"})
for name, first, second, errors, fails in (("strict", "UTF-8", "UTF-8", "strict", (VALUE, "invalid")), ("no_encoding", "nope", "UTF-8", "replace", (VALUE, "nope")),
                                          ("no_output", "UTF-8", "latin1", "replace", (VALUE, "latin1"))):
    case("unicode_transcode", name, [BAD], lambda x: s.unicode_transcode(x, first, second, errors),
         {"input_encoding": first, "output_encoding": second, "errors": errors}, fails)
POINTS = np.array([65, 0x3b1, 32, 0x3042, -1, 0x110000, 0x10ffff, 0xd800, 0x4e00, 0x5d0, 0x627], I32)
case("unicode_script", "values", [POINTS], s.unicode_script)
case("unicode_script", "scalar", [I32(0x41)], s.unicode_script)
case("unicode_script", "matrix", [POINTS[:4].reshape(2, 2)], s.unicode_script)
case("unicode_script", "none", [np.zeros(0, I32)], s.unicode_script)
case("unicode_script", "texts", [["a"]], s.unicode_script, None, (DTYPE, "string"))

# ---- n-grams ----


def grams(name, rows, widths, **given):
    data = tf.ragged.constant(rows, dtype=tf.string, ragged_rank=1)
    pads = given.get("pad_values")
    attributes = {"ngram_widths": widths, "separator": given.get("separator", " "), "preserve_short_sequences": given.get("preserve_short_sequences", False)}
    if pads is not None:
        attributes.update(left_pad=pads[0], right_pad=pads[1], pad_width=given.get("padding_width", -1))
    case("string_ngrams", name, [array_of(data), np.array(data.row_splits)], lambda *x: s.ngrams(data, widths, **given), attributes)


def array_of(data):
    return np.array(list(data.flat_values.numpy()) + [None], object)[:-1]


ROWS = [["a", "b", "c", "d"], ["e", "f"], [], ["g"]]
grams("pairs", ROWS, [2])
grams("several", ROWS, [1, 3], separator="|")
grams("padded", ROWS, [3], pad_values=("<", ">"))
grams("padded_once", ROWS, [3, 2], pad_values=("<", ">"), padding_width=1)
grams("short", ROWS, [3], preserve_short_sequences=True)
grams("short_padded", ROWS, [2, 5], preserve_short_sequences=True, pad_values=("L", "R"), padding_width=1)
grams("no_rows", [], [2])
case("string_ngrams", "int32", [["a", "b"], np.array([0, 2], I32)], lambda *x: s.ngrams(tf.RaggedTensor.from_row_splits(*x), 2), {"ngram_widths": [2]})
case("string_ngrams", "no_width", [["a"], np.array([0, 1])], lambda *x: s.ngrams(tf.RaggedTensor.from_row_splits(*x), 0), {"ngram_widths": [0]}, (VALUE, "ngram_widths"))

# ---- formats ----


def formatted(name, template, inputs, fails=None, **given):
    case("string_format", name, inputs, lambda *x: s.format(template, [tf.constant(v) for v in x], **given), {"template": template, **given}, fails)


F32 = np.float32
formatted("vector", "{}", [np.arange(10, dtype=I32)])
formatted("scalar", "a {} b", [F32(1.5)])
formatted("texts", "{} {}", [array_of(tf.ragged.constant([["x", "y\n\"q'\t\\"]])), b"\xff\x00\xc3\xa9"])
formatted("matrix", "{} {}", [np.array(True), np.array([[1, 2], [3, 4]])])
formatted("nothing", "{} {}", [np.zeros((2, 0), F32), np.zeros(0, F32)])
formatted("floats", "{}", [np.array([1, 2.5, 1e10, 1 / 3, np.nan, np.inf, 1e-7], F32)], summarize=-1)
formatted("more_floats", "{}", [np.array([1e-5, 123456789, 1e16, 1e15, 1e5, 1e6, 16777216, 1e-4], F32)], summarize=10)
formatted("float64", "{}", [np.array([0.1, 1 / 3, 123456.789, -np.inf])], summarize=5)
formatted("float16", "{}", [np.array([0.1, 1 / 3], np.float16)])
formatted("rank_3", "{}", [np.arange(60, dtype=I32).reshape(3, 4, 5)])
formatted("edges", "{}", [np.arange(64, dtype=I32).reshape(8, 8)], summarize=1)
formatted("all", "{}", [np.arange(8)], summarize=-1)
formatted("no_values", "{}", [np.arange(8)], summarize=0)
formatted("placeholder", "%t, %t", [np.array(1), np.arange(8)], placeholder="%t", summarize=2)
formatted("bytes", "{}{}", [np.array([3, 255], np.uint8), np.array([2**64 - 1], np.uint64)])
formatted("too_few", "{} {}", [np.array(1)], (STRUCTURE, "2"))
