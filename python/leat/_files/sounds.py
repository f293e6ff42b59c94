"""Sounds of FLAC, Ogg Vorbis, Opus, MP3, AIFF and WAV files of every width, by libsndfile where that is installed.

The library is loaded by the first call (`libsndfile1` in Debian, or the package soundfile). It reads from memory, and
takes no more of that than `leat.config.set_load_limits(array_bytes=...)` lets the samples have.
"""

import contextlib
import ctypes
import ctypes.util
import functools
import importlib.util
import os

import numpy as np

from leat import errors
from leat._files import limits

_READ, _BLOCK = 0x10, 1 << 16  # SFM_READ; frames
_COUNT = ctypes.c_int64


class _Info(ctypes.Structure):
    _fields_ = [("frames", _COUNT), ("samplerate", ctypes.c_int), ("channels", ctypes.c_int),
                ("format", ctypes.c_int), ("sections", ctypes.c_int), ("seekable", ctypes.c_int)]


_LENGTH = ctypes.CFUNCTYPE(_COUNT, ctypes.c_void_p)
_SEEK = ctypes.CFUNCTYPE(_COUNT, _COUNT, ctypes.c_int, ctypes.c_void_p)
_MOVE = ctypes.CFUNCTYPE(_COUNT, ctypes.c_void_p, _COUNT, ctypes.c_void_p)


class _Calls(ctypes.Structure):
    _fields_ = [("length", _LENGTH), ("seek", _SEEK), ("read", _MOVE), ("write", _MOVE), ("tell", _LENGTH)]


def _names():
    """Where the library may be: the system's, and the one that the package soundfile brings."""
    yield ctypes.util.find_library("sndfile")
    with contextlib.suppress(ImportError, ValueError):
        found = importlib.util.find_spec("_soundfile_data")
        for folder in found.submodule_search_locations if found is not None else ():
            yield from (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if "libsndfile" in name)


@functools.cache
def _library():
    for name in filter(None, _names()):
        with contextlib.suppress(OSError):
            library = ctypes.CDLL(name)
            library.sf_open_virtual.restype = ctypes.c_void_p
            library.sf_open_virtual.argtypes = [ctypes.POINTER(_Calls), ctypes.c_int, ctypes.POINTER(_Info),
                                                ctypes.c_void_p]
            library.sf_readf_float.restype = _COUNT
            library.sf_readf_float.argtypes = [ctypes.c_void_p, ctypes.c_void_p, _COUNT]
            library.sf_close.argtypes = [ctypes.c_void_p]
            library.sf_strerror.restype = ctypes.c_char_p
            library.sf_strerror.argtypes = [ctypes.c_void_p]
            return library
    raise errors.UnimplementedError(None, None, "decode_audio needs libsndfile, which is not installed: apt install "
                                    "libsndfile1, or pip install soundfile; decode_wav takes WAV files of 16 bits "
                                    "without it")


class _Memory:
    """Bytes that the library reads by its own calls."""

    def __init__(self, data):
        self._data, self._at = data, 0
        self.calls = _Calls(_LENGTH(lambda user: len(self._data)), _SEEK(self._seek), _MOVE(self._read),
                            _MOVE(lambda data, count, user: 0), _LENGTH(lambda user: self._at))

    def _seek(self, offset, whence, user):
        at = offset + (0, self._at, len(self._data))[whence] if 0 <= whence < 3 else -1
        if not 0 <= at <= len(self._data):
            return -1
        self._at = at
        return at

    def _read(self, to, count, user):
        count = max(0, min(count, len(self._data) - self._at))
        ctypes.memmove(to, self._data[self._at:self._at + count], count)
        self._at += count
        return count


def decode(data):
    """(float32 samples [samples, channels], samples a second) of a file's bytes."""
    library, memory, info = _library(), _Memory(data), _Info()
    handle = library.sf_open_virtual(ctypes.byref(memory.calls), _READ, ctypes.byref(info), None)
    if not handle:
        text = library.sf_strerror(None).decode(errors="replace")
        raise errors.InvalidArgumentError(None, None, "decode_audio: the data are no sound that libsndfile reads: "
                                          f"{text}")
    try:
        blocks, total = [], 0
        while True:
            block = np.empty((_BLOCK, info.channels), np.float32)
            count = library.sf_readf_float(handle, block.ctypes.data, _BLOCK)
            total += max(count, 0)
            limits.check("array_bytes", total * info.channels * 4, "decode_audio", "bytes of samples")
            if count <= 0:
                break
            blocks.append(block[:count])
        if total < info.frames < 1 << 60:
            raise errors.InvalidArgumentError(None, None, f"decode_audio: the data have {total} samples, and say that "
                                              f"there are {info.frames}; the file was cut off")
        return np.concatenate([*blocks, np.empty((0, info.channels), np.float32)]), info.samplerate
    finally:
        library.sf_close(handle)


def fitted(samples, channels, count):
    """Samples with so many channels, of which the last repeats, and so many of them, behind which there is silence; -1:
    as there are."""
    if channels >= 0:
        samples = samples[:, [min(i, samples.shape[1] - 1) for i in range(channels)]]
    if count >= 0:
        samples = np.concatenate([samples[:count], np.zeros((max(0, count - len(samples)), samples.shape[1]),
                                                            np.float32)])
    return np.ascontiguousarray(samples)
