"""tf.strings, tf.io and tf.audio beside the operations' own cases; values were recorded from TensorFlow 2.21."""

import zlib

import numpy as np
import pytest

import leat as tf

WORD = "hé\U0001f600"


@pytest.fixture(autouse=True)
def whole_builds_only():
    """Skips what needs a library that the build was made without."""
    try:
        tf.strings.regex_replace("a", "a", "b")
        tf.strings.lower("a", encoding="utf-8")
    except tf.errors.UnimplementedError as lack:
        pytest.skip(str(lack))


def lists(value):
    if isinstance(value, tuple):
        return tuple(lists(item) for item in value)
    if isinstance(value, tf.RaggedTensor):
        return value.to_list()
    found = value.numpy()
    return found.tolist() if hasattr(found, "tolist") else found


@pytest.mark.parametrize("found, expected", [
    (lambda: tf.strings.bytes_split("hé"), [b"h", b"\xc3", b"\xa9"]),
    (lambda: tf.strings.bytes_split([["ab"], ["c"]]), [[[b"a", b"b"]], [[b"c"]]]),
    (lambda: tf.strings.unicode_decode(WORD, "UTF-8"), [104, 233, 128512]),
    (lambda: tf.strings.unicode_decode([["a", "b"], ["c", "de"]], "UTF-8"), [[[97], [98]], [[99], [100, 101]]]),
    (lambda: tf.strings.unicode_decode_with_offsets([WORD, ""], "UTF-8"), ([[104, 233, 128512], []], [[0, 1, 3], []])),
    (lambda: tf.strings.unicode_split([WORD, "b"], "UTF-8"), [[b"h", "é".encode(), "\U0001f600".encode()], [b"b"]]),
    (lambda: tf.strings.unicode_split_with_offsets(["hé", "b"], "UTF-8"),
     ([[b"h", "é".encode()], [b"b"]], [[0, 1], [0]])),
    (lambda: tf.strings.unicode_encode([104, 233, 128512], "UTF-8"), WORD.encode()),
    (lambda: tf.strings.unicode_encode([[104, 233], [128512, 97]], "UTF-16-BE"),
     [b"\x00h\x00\xe9", b"\xd8=\xde\x00\x00a"]),
    (lambda: tf.strings.unicode_encode(tf.ragged.constant([[104], [], [65, 66]], dtype=tf.int32), "UTF-8"),
     [b"h", b"", b"AB"]),
    (lambda: tf.strings.unicode_encode(tf.strings.unicode_decode([["a", "é"]], "UTF-8"), "UTF-8"),
     [[b"a", "é".encode()]]),
    (lambda: tf.strings.ngrams(["a", "b", "c", "d"], 2), [b"a b", b"b c", b"c d"]),
    (lambda: tf.strings.ngrams(["a", "b", "c"], [1, 3], separator="|"), [b"a", b"b", b"c", b"a|b|c"]),
    (lambda: tf.strings.ngrams(["a", "b"], 3, preserve_short_sequences=True), [b"a b"]),
    (lambda: tf.strings.ngrams(["a", "b"], 3, pad_values="_", padding_width=1), [b"_ a b", b"a b _"]),
    (lambda: tf.strings.ngrams(tf.ragged.constant([["a", "b"], [], ["c"]], dtype=tf.string), 2, pad_values="_"),
     [[b"_ a", b"a b", b"b _"], [b"_ _"], [b"_ c", b"c _"]]),
    (lambda: tf.strings.ngrams([["a", "b"], ["c", "d"]], 2), [[b"a b"], [b"c d"]]),
    (lambda: tf.strings.format("{} {}", (tf.constant(True), [[1, 2], [3, 4]])), b"1 [[1 2]\n [3 4]]"),
    (lambda: tf.strings.format("x", []), b"x"),
    (lambda: tf.strings.regex_replace("banana", "a(n)", r"<\1>"), b"b<n><n>a"),
    (lambda: tf.strings.regex_full_match(["abc", "b"], "a.*"), [True, False]),
    (lambda: tf.strings.as_string([1.5, 2.0], precision=2, width=6, fill="0"), [b"001.50", b"002.00"]),
    (lambda: tf.strings.to_hash_bucket_strong(["a", "b"], 1000, [1, 2]), [646, 184]),
    (lambda: tf.strings.length(WORD, unit="UTF8_CHAR"), 3),
    (lambda: tf.strings.substr(WORD, 1, 1, unit="UTF8_CHAR"), "é".encode()),
    (lambda: tf.strings.upper("straße", encoding="utf-8"), b"STRASSE"),
    (lambda: tf.strings.upper(chr(0x390) * 9, encoding="utf-8"), (chr(0x390) * 9).upper().encode()),
    (lambda: tf.io.decode_compressed([zlib.compress(b"abc")], "ZLIB"), [b"abc"]),
    (lambda: tf.io.decode_raw([b"\1\0\2\0", b"\1"], tf.int16, fixed_length=4), [[1, 2], [1, 0]]),
    (lambda: tf.io.decode_json_example('{"features":{"feature":{"a":{"int64_list":{"value":[1,2]}}}}}'),
     b"\n\r\n\x0b\n\x01a\x12\x06\x1a\x04\x08\x01\x08\x02"),
])
def test_values(found, expected):
    assert lists(found()) == expected


@pytest.mark.parametrize("call, kind, text", [
    (lambda: tf.strings.format("{} {}", [1]), ValueError, "template"),
    (lambda: tf.strings.ngrams(["a"], 0), ValueError, "ngram_widths"),
    (lambda: tf.strings.ngrams("a", 2), ValueError, "rank"),
    (lambda: tf.strings.ngrams(["a"], 2, padding_width=1), ValueError, "pad_values"),
    (lambda: tf.strings.ngrams(["a"], 2, pad_values="_", padding_width=0), ValueError, "padding_width"),
    (lambda: tf.strings.regex_replace("a", "(", ""), tf.errors.InvalidArgumentError, "pattern"),
    (lambda: tf.strings.unicode_decode(b"\xff", "UTF-8", "strict"), tf.errors.InvalidArgumentError, "formatting"),
    (lambda: tf.io.decode_csv(["1"], [[0], [0]]), tf.errors.InvalidArgumentError, "fields"),
    (lambda: tf.io.decode_csv(["1"], [[0]], select_cols=[-1]), ValueError, "negative"),
    (lambda: tf.io.decode_csv(["1"], [[0], [0]], select_cols=[1, 0]), ValueError, "increasing"),
    (lambda: tf.io.decode_csv(["1"], [[0]], select_cols=[0, 1]), ValueError, "record_defaults"),
])
def test_refusals(call, kind, text):
    with pytest.raises(kind, match=text):
        call()


def test_csv_gives_columns():
    one, two, three = tf.io.decode_csv(["1,2.5,x", "3,,y"], [[0], [0.5], [""]])
    assert (lists(one), lists(two), lists(three)) == ([1, 3], [2.5, 0.5], [b"x", b"y"])


def test_sound_goes_there_and_back():
    samples = np.array([[0.0], [0.5], [-1.0]], np.float32)
    decoded = tf.audio.decode_wav(tf.audio.encode_wav(samples, 8000))
    assert lists(decoded.audio) == samples.tolist() and lists(decoded.sample_rate) == 8000


def test_files(tmp_path):
    path = str(tmp_path / "new" / "x.txt")
    assert tf.io.write_file(path, "hello") is None
    assert lists(tf.io.read_file(path)) == b"hello"
    assert lists(tf.io.matching_files(str(tmp_path / "*" / "*.txt"))) == [path.encode()]
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.io.write_file(str(tmp_path), "x")


def test_within_traced_functions(caplog, tmp_path):
    def parse(line):
        number, word = tf.io.decode_csv(line, [[0], [""]])
        tf.io.write_file(tf.strings.join([str(tmp_path), "/", word]), tf.strings.format("{}", number))
        grams = tf.strings.ngrams(tf.strings.unicode_split(tf.strings.regex_replace(word, "[0-9]", ""), "UTF-8"), 2)
        return number, tf.strings.upper(word, encoding="utf-8"), grams
    lines = tf.data.Dataset.from_tensor_slices(["1,aé9", "2,bcd"]).map(parse)
    assert not caplog.records
    assert [lists(line) for line in lines] == [(1, "AÉ9".encode(), ["a é".encode()]), (2, b"BCD", [b"b c", b"c d"])]
    assert (tmp_path / "aé9").read_text() == "1" and (tmp_path / "bcd").read_text() == "2"


def test_errors_name_the_element():
    lines = tf.data.Dataset.from_tensor_slices(["1,2", "1,x"]).map(lambda line: tf.io.decode_csv(line, [[0], [0]]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="int32") as caught:
        list(lines)
    assert caught.value.element == 1
