"""Sounds that libsndfile decodes (``leat.audio.decode_audio``): files that the library writes of samples known here."""
import ctypes
import ctypes.util

import numpy as np
import pytest

import leat as tf
from leat._files import sounds

LIBRARY = ctypes.util.find_library("sndfile")
needs_library = pytest.mark.skipif(LIBRARY is None, reason="libsndfile is not installed")
RATE = 8000
FORMATS = {"wav16": 0x010002, "wav24": 0x010003, "wavfloat": 0x010006, "flac16": 0x170002, "aiff": 0x020002,
           "ogg": 0x200060, "mp3": 0x230082}
LOSSY = ("ogg", "mp3")


def samples(channels, count=RATE):
    """Tones, a channel each, of values that 16 bits have."""
    t = np.arange(count)[:, None] / RATE
    tones = 0.5 * np.sin(2 * np.pi * t * np.array([440, 660, 880][:channels]))
    return np.round(tones * 32767).astype(np.int16)


def written(path, kind, values):
    """The bytes of a file with these values of 16 bits."""
    library = ctypes.CDLL(LIBRARY)
    library.sf_open.restype = ctypes.c_void_p
    library.sf_open.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p]
    write = library.sf_writef_float if kind == "wavfloat" else library.sf_writef_short
    write.restype, write.argtypes = ctypes.c_int64, [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64]
    library.sf_close.argtypes = [ctypes.c_void_p]
    info = sounds._Info(samplerate=RATE, channels=values.shape[1], format=FORMATS[kind])
    handle = library.sf_open(str(path).encode(), 0x20, ctypes.byref(info))
    if not handle:
        pytest.skip(f"this libsndfile does not write {kind}")
    values = np.ascontiguousarray(values / np.float32(32768) if kind == "wavfloat" else values)
    assert write(handle, values.ctypes.data, len(values)) == len(values)
    library.sf_close(handle)
    return path.read_bytes()


@needs_library
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("kind", FORMATS)
def test_formats(tmp_path, kind, channels):
    values = samples(channels)
    audio, rate = tf.audio.decode_audio(written(tmp_path / "a", kind, values))
    assert audio.dtype is tf.float32 and int(rate) == RATE and audio.shape[1] == channels
    found, wanted = audio.numpy(), values / np.float32(32768)
    if kind not in LOSSY:
        assert np.array_equal(found, wanted)
        return
    assert abs(len(found) - len(wanted)) < 3000
    # Coders shift a sound; its tones stay.
    for channel in range(channels):
        spectrum = np.abs(np.fft.rfft(found[1000:1000 + 4000, channel]))
        assert abs(spectrum.argmax() * RATE / 4000 - [440, 660][channel]) <= 4


@needs_library
def test_shapes_and_datasets(tmp_path):
    values = samples(2, 1000)
    content = written(tmp_path / "a.flac", "flac16", values)
    wav = written(tmp_path / "a.wav", "wav16", values)
    for channels, count in ((1, 10), (2, 1005), (3, -1), (-1, 7)):
        found, wanted = tf.audio.decode_audio(content, channels, count), tf.audio.decode_wav(wav, channels, count)
        assert np.array_equal(found.audio, wanted.audio) and int(found.sample_rate) == int(wanted.sample_rate)
    data = tf.data.Dataset.list_files(str(tmp_path / "*.flac")).map(
        lambda path: tf.audio.decode_audio(tf.io.read_file(path), desired_channels=1, desired_samples=500).audio)
    assert data.element_spec.shape == [500, 1] and next(iter(data.batch(1))).shape == (1, 500, 1)


@needs_library
def test_damage(tmp_path):
    content = written(tmp_path / "a.flac", "flac16", np.random.default_rng(1).integers(-999, 999, (20000, 1), np.int16))
    for data in (b"", b"none", content[:40], content[:len(content) // 2]):
        with pytest.raises(tf.errors.InvalidArgumentError, match="decode_audio"):
            tf.audio.decode_audio(data)
    with pytest.raises(ValueError, match="-2"):
        tf.audio.decode_audio(content, desired_channels=-2)
    tf.config.set_load_limits(array_bytes=1000)
    try:
        with pytest.raises(ValueError, match="array_bytes"):
            tf.audio.decode_audio(content)
    finally:
        tf.config.set_load_limits()


def test_without_the_library(monkeypatch):
    monkeypatch.setattr(sounds, "_names", lambda: iter([None, "/no/such/library.so"]))
    sounds._library.cache_clear()
    with pytest.raises(tf.errors.UnimplementedError, match="libsndfile1"):
        tf.audio.decode_audio(b"data")
    sounds._library.cache_clear()
