"""Arrays in numpy's files, read from any number of threads."""

import threading

import numpy as np

_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
_lock = threading.Lock()


def read_array(file):
    """The array of an `.npy` file that is open. ValueError for what is none; nothing is unpickled.

    numpy takes a header for an expression of Python, and Python's parser fails where two threads are in it at a time
    (SystemError: AST constructor recursion depth mismatch), so one goes after the other.
    """
    with _lock:
        version = np.lib.format.read_magic(file)
        if version in _HEADERS:
            shape, is_fortran, dtype = _HEADERS[version](file)
    if version not in _HEADERS:  # names of fields in UTF-8, or none that numpy knows
        raise ValueError(f"a header of version {version}; expected 1.0 or 2.0")
    if dtype.hasobject:
        raise ValueError("Object arrays cannot be loaded: they are made by pickle")
    count = int(np.prod(shape, dtype=np.int64))
    data = file.read(count * dtype.itemsize)
    if len(data) != count * dtype.itemsize:
        raise ValueError(f"{len(data)} bytes of an array; expected {count * dtype.itemsize}")
    array = np.frombuffer(bytearray(data), dtype)
    return array.reshape(shape[::-1]).transpose() if is_fortran else array.reshape(shape)
