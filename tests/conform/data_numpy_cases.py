"""Cases of numpy_dataset: the rows of the files in tests/golden/data/files/npy (make_npy_files.py), read here with Python alone."""
import ast
import os
import struct
import zlib

FOLDER = "files/npy/"
HERE = os.path.dirname(os.path.abspath(__file__))
KINDS = {"b1": ("bool", "?"), "u1": ("uint8", "B"), "i8": ("int64", "q"), "f4": ("float32", "f"), "f8": ("float64", "d")}


def rows(name):
    path = os.path.join(HERE, "..", "golden", "data", FOLDER, name)
    with open(path, "rb") as file:
        data = file.read()
    if name.endswith(".gz"):
        data = zlib.decompressobj(31).decompress(data)  # as far as it goes
    wide = data[6] > 1
    start = 12 if wide else 10
    end = start + struct.unpack("<I" if wide else "<H", data[8:start])[0]
    header = ast.literal_eval(data[start:end].decode().strip())
    dtype, letter = KINDS[header["descr"][1:]]
    order = ">" if header["descr"][0] == ">" else "<"
    count = 1
    for size in header["shape"][1:]:
        count *= size
    size = struct.calcsize(letter) * count
    out = []
    for i in range(header["shape"][0]):
        row = data[end + i * size:end + (i + 1) * size]
        if len(row) < size:
            return out
        values = struct.unpack("%s%d%s" % (order, count, letter), row)
        out.append({"dtype": dtype, "shape": list(header["shape"][1:]), "data": list(values)})
    return out


def add(case, node):
    int64, invalid = {"dtype": "int64", "shape": [3]}, {"error": "INVALID_ARGUMENT"}
    lost, unknown = {"error": "DATA_LOSS"}, {"error": "UNIMPLEMENTED"}

    def npy(name, files, expected, limits=(None,), filenames=None, **args):
        keys = ["elements", "elements_epoch2"][:len(limits)]
        plan = node("numpy_dataset", filenames=filenames or [FOLDER + f for f in files], **args)
        case(name, plan, limits, expect={k: expected for k in keys})

    def refused(name, code, python, **args):
        case("refused_" + name, node("numpy_dataset", **args),
             expect={"error": {"when": "build", "code": code, "python": python}})

    many = ["int64.npy", "more.npy", "empty.npy", "big_endian.npy", "askew.npy", "one.npy"]
    all_rows = [row for name in many for row in rows(name)]
    twice = (None, None)
    npy("zero", ["empty.npy"], [])
    npy("one", ["one.npy"], rows("one.npy"))
    npy("many", many, all_rows, twice)
    for size in (1, 50, 200):
        npy("buffer_%d" % size, many, all_rows, twice, buffer_size=size)
    for name in ("float32", "float64_big_endian", "uint8", "no_values"):
        npy(name, [name + ".npy"], rows(name + ".npy"), twice)
    npy("bool", ["bool.npy"], [{"dtype": "bool", "shape": [2], "data": d} for d in ([True, False], [False, True])])
    npy("complex", ["complex.npy"], [{"dtype": "complex128", "shape": [], "data": [[0.0, 1.0]]}], twice)
    npy("gzip", ["int64.npy.gz", "int64.npy.gz"], rows("int64.npy.gz") * 2, twice, compression_type="GZIP")
    names = node("from_tensor_slices", tensors={"dtype": "string", "shape": [2], "data": [FOLDER + "one.npy", FOLDER + "more.npy"]})
    npy("names_from_a_dataset", [], rows("one.npy") + rows("more.npy"), twice, filenames=names, output_signature=int64)
    npy("no_files", [], [], filenames=[], output_signature=int64)
    first = ["one.npy"]
    for name, outcome in (("wide", invalid), ("float32", invalid), ("fortran", invalid), ("scalar", invalid), ("object", unknown),
                          ("record", unknown), ("text", unknown), ("complex", invalid), ("cut_header", lost), ("damaged", lost),
                          ("no_header", lost)):
        npy("then_" + name, first + [name + ".npy"] + first, rows("one.npy") + [outcome] + rows("one.npy"), twice)
    npy("then_archive", first + ["archive.npz"] + first, rows("one.npy") + [unknown] + rows("one.npy"))
    npy("cut", ["cut.npy", "one.npy"], rows("int64.npy")[:2] + [lost] + rows("one.npy"), twice)
    npy("cut_gzip", ["cut.npy.gz", "int64.npy.gz"], rows("cut.npy.gz") + [lost] + rows("int64.npy"), compression_type="GZIP", output_signature=int64)
    npy("goes_on", ["goes_on.npy", "one.npy"], rows("int64.npy") + [lost] + rows("one.npy"), twice)
    npy("missing", ["one.npy", "nowhere.npy"], rows("one.npy") + [{"error": "NOT_FOUND"}] * 2, (3,))
    for name, code, python in (("object", "UNIMPLEMENTED", "UnimplementedError"), ("fortran", "INVALID_ARGUMENT", "InvalidArgumentError"),
                               ("damaged", "DATA_LOSS", "DataLossError"), ("nowhere", "NOT_FOUND", "NotFoundError")):
        refused(name, code, python, filenames=[FOLDER + name + ".npy"])
    refused("no_signature", "INVALID_ARGUMENT", "InvalidArgumentError", filenames=names)
    refused("unknown_shape", "INVALID_ARGUMENT", "InvalidArgumentError", filenames=[FOLDER + "one.npy"],
            output_signature={"dtype": "int64", "shape": [-1]})
    refused("of_strings", "INVALID_ARGUMENT", "InvalidArgumentError", filenames=[FOLDER + "one.npy"],
            output_signature={"dtype": "string", "shape": []})
