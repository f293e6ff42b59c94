#!/usr/bin/env python3
"""Write tests/golden/data/files/npy with numpy: what numpy_dataset is tested with. The files are kept; running it again is for changes."""
import gzip
import io
import os
import sys

import numpy as np

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden", "data", "files", "npy")


def npy(array, version=None):
    out = io.BytesIO()
    np.lib.format.write_array(out, np.asanyarray(array), version=version)
    return out.getvalue()


def askew(data):
    """The same array behind a header that ends at an odd byte, as writers other than numpy may do."""
    text = data[10:128].rstrip()
    text += b" \n" if len(text) % 2 else b"\n"
    return data[:8] + len(text).to_bytes(2, "little") + text + data[128:]


INT64 = npy(np.arange(12).reshape(4, 3))
FILES = {
    "int64.npy": INT64,
    "int64.npy.gz": gzip.compress(INT64, mtime=0),
    "more.npy": npy(-np.arange(6).reshape(2, 3), (2, 0)),
    "big_endian.npy": npy(np.array([[1, 2, 3], [2**40, -5, 6]], ">i8"), (3, 0)),
    "askew.npy": askew(INT64),
    "empty.npy": npy(np.zeros((0, 3), "<i8")),
    "one.npy": npy(np.array([[7, 8, 9]], "<i8")),
    "float32.npy": npy(np.array([0.5, -1.25, 3.0, 1e10, 0.0], "<f4")),
    "float64_big_endian.npy": npy(np.array([0.5, -1.25], ">f8")),
    "bool.npy": npy(np.array([[True, False], [False, True]]))[:-1] + b"\x07",
    "uint8.npy": npy(np.arange(24, dtype="u1").reshape(2, 3, 2, 2)),
    "no_values.npy": npy(np.zeros((3, 0), "<i8")),
    "wide.npy": npy(np.arange(10).reshape(2, 5)),
    "fortran.npy": npy(np.asfortranarray(np.arange(12).reshape(4, 3))),
    "scalar.npy": npy(np.int64(5)),
    "object.npy": npy(np.array([None, {}], dtype=object)),
    "record.npy": npy(np.array([(1, 2.0)], dtype=[("a", "<i4"), ("b", "<f4")])),
    "text.npy": npy(np.array(["abc"])),
    "complex.npy": npy(np.array([1j])),
    "cut.npy": INT64[:-30],
    "cut_header.npy": INT64[:60],
    "cut.npy.gz": gzip.compress(INT64, mtime=0)[:-20],
    "damaged.npy": INT64.replace(b"'shape'", b"'shap3'"),
    "goes_on.npy": INT64 + b"\x93NUM",
    "no_header.npy": b"first line of a text\n",
}


def main():
    os.makedirs(FOLDER, exist_ok=True)
    for name, data in FILES.items():
        with open(os.path.join(FOLDER, name), "wb") as file:
            file.write(data)
    archive = io.BytesIO()
    np.savez(archive, a=np.arange(3))
    with open(os.path.join(FOLDER, "archive.npz"), "wb") as file:
        file.write(archive.getvalue())


if __name__ == "__main__":
    sys.exit(main())
