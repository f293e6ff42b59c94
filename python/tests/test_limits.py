"""Limits on what data unfold to, and pictures that were cut short."""

import gzip
import pathlib
import zlib

import pytest

import leat as tf

FILES = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/data/image/files"


@pytest.fixture(autouse=True)
def limits():
    yield
    tf.config.set_decode_limits()


def test_pixels():
    data = (FILES / "a_420.jpg").read_bytes()
    height, width, _ = tf.io.decode_jpeg(data).shape
    tf.config.set_decode_limits(pixels=height * width)
    assert tf.io.decode_jpeg(data).shape == [height, width, 3]
    tf.config.set_decode_limits(pixels=height * width - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_decode_limits"):
        tf.io.decode_jpeg(data)
    tf.config.set_decode_limits(pixels=1500)
    with pytest.raises(tf.errors.InvalidArgumentError, match="GIF"):
        tf.io.decode_gif((FILES / "b_animated.gif").read_bytes())


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_packed(kind):
    data = bytes(1 << 22)
    packed = zlib.compress(data, 9) if kind == "ZLIB" else gzip.compress(data, 9)
    assert tf.strings.length(tf.io.decode_compressed(packed, kind)).numpy() == len(data)
    tf.config.set_decode_limits(bytes=1 << 22)
    assert tf.strings.length(tf.io.decode_compressed([packed, packed], kind)).numpy().tolist() == [len(data)] * 2
    tf.config.set_decode_limits(bytes=(1 << 22) - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_decode_limits"):
        tf.io.decode_compressed([b"", packed], kind)


def test_tensors():
    """A message of a few bytes that stands for a large tensor; its value is repeated."""
    message = b"\x08\x01\x12\x0c\x12\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x01" + b"\x2a\x04\0\0\x80\x3f"
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        tf.io.parse_tensor(message, tf.float32)
    small = b"\x08\x01\x12\x05\x12\x03\x08\xe8\x07" + b"\x2a\x04\0\0\x80\x3f"
    assert tf.io.parse_tensor(small, tf.float32).numpy().tolist() == [1.0] * 1000
    tf.config.set_decode_limits(bytes=3999)
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_decode_limits"):
        tf.io.parse_tensor(small, tf.float32)
    wrong = b"\x08\x01\x12\x0c\x12\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x01" + b"\x22\x04\0\0\x80\x3f"
    with pytest.raises(tf.errors.InvalidArgumentError, match="content"):
        tf.io.parse_tensor(wrong, tf.float32)


@pytest.mark.parametrize("given", [{"pixels": 0}, {"bytes": -1}, {"pixels": 2**70}])
def test_no_limits(given):
    with pytest.raises((ValueError, OverflowError)):
        tf.config.set_decode_limits(**given)


def test_recovered():
    """explain counts the pictures that were cut short, per operator."""
    whole, cut = (FILES / "a_420.jpg").read_bytes(), (FILES / "a_truncated_90.jpg").read_bytes()
    dataset = tf.data.Dataset.from_tensor_slices([whole, cut, cut, whole]).map(
        lambda x: tf.io.decode_jpeg(x, try_recover_truncated=True))
    iterator = iter(dataset)
    assert len(list(iterator)) == 4
    found = iterator.explain()
    assert "map: 2 truncated pictures were filled up\n" in found
    assert [row["recovered"] for row in found.operators if row["operator"] == "map"] == [2]
    iterator = iter(tf.data.Dataset.from_tensors(whole).map(lambda x: tf.io.decode_jpeg(x, try_recover_truncated=True)))
    next(iterator)
    assert "truncated" not in iterator.explain()
