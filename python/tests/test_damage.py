"""Decoders and damaged data: each input is cut short and gets flipped bits at places spread over all of it.

A decoder answers or refuses; a refusal has a code that blames the data, and the same bytes get the same answer twice.
A sample runs here; LEAT_DAMAGE=1000 (`make test-long`) makes so many changes of each input.
"""

import base64
import gzip
import os
import pathlib
import struct
import zlib

import numpy as np
import pytest

import leat as tf

FILES = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/data/image/files"
CHANGES = int(os.environ.get("LEAT_DAMAGE", "60"))
BLAMES_DATA = (tf.errors.InvalidArgumentError, tf.errors.DataLossError, tf.errors.OutOfRangeError)


def _field(number, data):
    assert len(data) < 128
    return bytes([number << 3 | 2, len(data)]) + data


def _entry(key, feature):
    return _field(1, _field(1, key) + _field(2, feature))


NUMBERS = struct.pack("<3f", 1, 2, 3)
EXAMPLE = _field(1, _entry(b"a", _field(3, _field(1, b"\x01\x7f\x05")))
                 + _entry(b"b", _field(2, _field(1, NUMBERS)))
                 + _entry(b"c", _field(1, _field(1, b"xyz") + _field(1, b""))))
SEQUENCE = _field(1, EXAMPLE[2:]) + _field(
    2, _entry(b"d", _field(1, _field(3, _field(1, b"\x01\x02"))) + _field(1, b"")))
TENSORS = [tf.io.serialize_tensor(tf.constant(np.arange(6).reshape(2, 3))).numpy(),
           tf.io.serialize_tensor(["ab", "", "c"]).numpy(),
           b"\x08\x03\x12\x08\x12\x02\x08\x02\x12\x02\x08\x03" + b"\x3a\x02\x05\x07"]
WAV = tf.audio.encode_wav(np.linspace(-1, 1, 24, dtype=np.float32).reshape(12, 2), 8000).numpy()
JSON = (b'{"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}, '
        b'"b": {"floatList": {"value": [1.5, "NaN"]}}, "c": {"bytesList": {"value": ["YWJj", ""]}}}}}')
TEXT = "aé日\U0001f600 b-1,\"x\"\"y\",2.5\n".encode()
SPEC = {"a": tf.io.VarLenFeature(tf.int64), "b": tf.io.FixedLenFeature([3], tf.float32),
        "c": tf.io.RaggedFeature(tf.string)}
STEPS = {"d": tf.io.VarLenFeature(tf.int64)}


def _parts(value):
    """All tensors of a structure."""
    if isinstance(value, dict):
        return [part for key in sorted(value) for part in _parts(value[key])]
    if isinstance(value, (list, tuple)):
        return [part for item in value for part in _parts(item)]
    if isinstance(value, tf.SparseTensor):
        return [value.indices, value.values, value.dense_shape]
    if isinstance(value, tf.RaggedTensor):
        return [value.flat_values, *value.nested_row_splits]
    return [value]


def _pictures(ending):
    return [path.read_bytes() for path in sorted(FILES.glob("*" + ending)) if path.stat().st_size > 0]


def _with(function, **kwargs):
    return lambda data: function(data, **kwargs)


def _unicode():
    readers = [_with(tf.strings.unicode_decode, input_encoding=name) for name in ("UTF-8", "UTF-16-LE", "UTF-32-BE")]
    strict = _with(tf.strings.unicode_transcode, input_encoding="UTF-8", output_encoding="UTF-16-BE", errors="strict")
    return [*readers, strict, _with(tf.strings.upper, encoding="utf-8"), _with(tf.strings.length, unit="UTF8_CHAR")]


COLUMNS = [[""], tf.zeros([0], tf.int32), [""], [0.5]]
DECODERS = {
    "jpeg": ([tf.io.decode_jpeg, _with(tf.io.decode_jpeg, try_recover_truncated=True), tf.io.extract_jpeg_shape,
              _with(tf.io.decode_jpeg, acceptable_fraction=0.1, ratio=4),
              _with(tf.io.decode_and_crop_jpeg, crop_window=[1, 2, 9, 7])], lambda: _pictures(".jpg")),
    "png": ([tf.io.decode_png, _with(tf.io.decode_png, channels=4, dtype=tf.uint16)], lambda: _pictures(".png")),
    "bmp": ([tf.io.decode_bmp, _with(tf.io.decode_image, channels=3)], lambda: _pictures(".bmp")),
    "gif": ([tf.io.decode_gif, _with(tf.io.decode_image, expand_animations=False)], lambda: _pictures(".gif")),
    "wav": ([tf.audio.decode_wav], lambda: [WAV]),
    "csv": ([_with(tf.io.decode_csv, record_defaults=COLUMNS)], lambda: [TEXT[:-1]]),
    "json": ([tf.io.decode_json_example], lambda: [JSON]),
    "zlib": ([_with(tf.io.decode_compressed, compression_type="ZLIB")], lambda: [zlib.compress(bytes(range(256)) * 3)]),
    "gzip": ([_with(tf.io.decode_compressed, compression_type="GZIP")],
             lambda: [gzip.compress(bytes(range(256)) * 3, mtime=0) * 2]),
    "base64": ([tf.io.decode_base64], lambda: [base64.urlsafe_b64encode(bytes(range(200)))]),
    "raw": ([_with(tf.io.decode_raw, out_type=tf.int32), _with(tf.io.decode_raw, out_type=tf.float64, fixed_length=24)],
            lambda: [bytes(range(32))]),
    "example": ([_with(tf.io.parse_single_example, features=SPEC),
                 lambda data: tf.io.parse_example([data, EXAMPLE], SPEC)], lambda: [EXAMPLE]),
    "sequence": ([lambda data: tf.io.parse_single_sequence_example(data, SPEC, STEPS),
                  lambda data: tf.io.parse_sequence_example([SEQUENCE, data], SPEC, STEPS)], lambda: [SEQUENCE]),
    "tensor": ([_with(tf.io.parse_tensor, out_type=dtype) for dtype in (tf.int64, tf.string, tf.int32)],
               lambda: TENSORS),
    "number": ([_with(tf.strings.to_number, out_type=dtype) for dtype in (tf.float32, tf.int64)],
               lambda: [b"-123.5e-7", b" 9223372036854775807 "]),
    "unicode": (_unicode(), lambda: [TEXT * 3]),
    "regex": ([_with(tf.strings.regex_replace, pattern="(\\w+)\\W", rewrite="<\\1>"),
               _with(tf.strings.regex_full_match, pattern="(a|[^b])*")], lambda: [TEXT * 3]),
    "pattern": ([lambda data: tf.strings.regex_full_match("abc", data)],
                lambda: [b"(?i)(a|\\p{Greek}[^b-d\\s]){1,3}\\b.*?$"]),
}


def changed(data):
    """The bytes cut at places spread over all of them, then with single bits flipped."""
    cuts = flips = max(CHANGES // 2, 1)
    for at in sorted({len(data) * i // cuts for i in range(cuts)}):
        yield data[:at]
    for bit in sorted({8 * len(data) * i // flips + i % 8 for i in range(flips)}):
        if bit < 8 * len(data):
            yield data[:bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1:]


def answer(decoder, data):
    """What a decoder makes of bytes, as something to compare."""
    try:
        parts = _parts(decoder(data))
    except BLAMES_DATA as error:
        assert len(str(error)) > 20, data
        return str(error)
    return [(part.dtype.name, tuple(part.shape), np.asarray(part.numpy()).tobytes() if part.dtype is not tf.string
             else np.asarray(part.numpy(), object).reshape(-1).tolist()) for part in parts]


@pytest.fixture(autouse=True)
def limits():
    tf.config.set_decode_limits(1 << 20, 1 << 20)
    yield
    tf.config.set_decode_limits()


@pytest.mark.parametrize("name", DECODERS)
def test_damage(name):
    decoders, inputs = DECODERS[name]
    for data in inputs():
        for decoder in decoders:
            for bad in changed(data):
                assert answer(decoder, bad) == answer(decoder, bad)
