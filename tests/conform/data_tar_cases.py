"""Cases of tar_dataset: what Python's tarfile reads of the shards, grouped here as WebDataset groups them."""
import io
import tarfile

import make_tar_files

FOLDER = "files/tar/"
ERROR = {"error": "INVALID_ARGUMENT"}
LOST = {"error": "DATA_LOSS"}


def members(name):
    data = make_tar_files.FILES[name]
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as tar:
        return [(m.name, tar.extractfile(m).read()) for m in tar if m.isfile()]


def groups(name):
    """[key, [(extension, data)]] in order."""
    out = []
    for path, data in members(name):
        folder, _, base = path.rpartition("/")
        stem, dot, extension = base.partition(".")
        if not dot or not stem or base.startswith("__"):
            continue
        key = folder + "/" + stem if folder else stem
        if not out or out[-1][0] != key:
            out.append((key, []))
        out[-1][1].append((extension.lower(), data))
    return out


def text(data):
    printable = all(32 <= b < 127 for b in data)
    return {"dtype": "string", "shape": [], "data": [data.decode() if printable else {"hex": data.hex()}]}


def samples(name, fields):
    out = []
    for key, parts in groups(name):
        found = {f: [d for e, d in parts if e in f.split(";")] for f in fields}
        if any(len(data) != 1 for data in found.values()):
            out.append(ERROR)
            continue
        element = {f.split(";")[0]: text(data[0]) for f, data in found.items()}
        element["__key__"] = text(key.encode())
        out.append({"dict": dict(sorted(element.items()))})
    return out


def add(case, node):
    def tar(name, files, fields, expected, limits=(None,), **args):
        keys = ["elements", "elements_epoch2"][:len(limits)]
        plan = node("tar_dataset", filenames=[FOLDER + f for f in files], fields=fields, **args)
        case(name, plan, limits, expect={k: expected for k in keys})

    both = ["jpg;png", "cls"]
    first, second = samples("first.tar", both), samples("second.tar", both)
    tar("zero", ["empty.tar"], both, [])
    tar("one", ["prefixed.tar"], both, samples("prefixed.tar", both))
    tar("many", ["first.tar", "empty.tar", "second.tar"], both, first + second, (None, None))
    for size in (1, 600, 5000):
        tar("buffer_%d" % size, ["second.tar", "first.tar"], both, second + first, buffer_size=size)
    tar("gzip", ["first.tar.gz", "first.tar.gz"], both, first * 2, compression_type="GZIP")
    tar("long_pax", ["long_pax.tar"], both, samples("long_pax.tar", both))
    tar("long_gnu", ["long_gnu.tar"], both, samples("long_gnu.tar", both), buffer_size=512)
    tar("key_only_of_one", ["second.tar"], ["cls"], samples("second.tar", ["cls"]))
    tar("mask", ["first.tar"], ["seg.png", "cls"], samples("first.tar", ["seg.png", "cls"]))
    tar("lacking", ["lacking.tar", "second.tar"], ["jpg", "cls"], samples("lacking.tar", ["jpg", "cls"]) + second, (None, None))
    tar("twice", ["twice.tar", "second.tar"], ["jpg", "cls"], samples("twice.tar", ["jpg", "cls"]) + second)
    tar("no_end", ["no_end.tar", "second.tar"], both, first + [LOST] + second, (None, None))
    tar("cut_data", ["cut_data.tar", "second.tar"], both, first[:1] + [LOST] + second)
    tar("cut_header", ["cut_header.tar", "second.tar"], ["jpg"], samples("second.tar", ["jpg"]) + [LOST] + samples("second.tar", ["jpg"]))
    tar("damaged", ["damaged.tar", "second.tar"], both, first[:1] + [LOST] + second)
    tar("no_tar", ["no_tar.tar", "zero_bytes.tar", "first.tar"], both, [LOST, LOST] + first)
    case("missing", node("tar_dataset", filenames=[FOLDER + "first.tar", FOLDER + "nowhere.tar"], fields=both), (5,),
         expect={"elements": first + [{"error": "NOT_FOUND"}] * 2})
    # The indexes come from make_index_files.py.
    indexed = ["first.tar", "empty.tar", "second.tar", "long_pax.tar", "lacking.tar", "prefixed.tar"]
    expected = [s for f in indexed for s in samples(f, both)]
    plan = node("tar_dataset", filenames=[FOLDER + f for f in indexed], fields=both, index="required")
    case("indexed", plan, (None, None), expect={"elements": expected, "elements_epoch2": expected, "cardinality": len(expected)})
    plan = node("tar_dataset", filenames=[FOLDER + f for f in ("first.tar", "damaged.tar")], fields=both, index="auto")
    case("not_all_indexed", plan, expect={"elements": first + first[:1] + [LOST], "cardinality": -2})
    case("index_missing", dict(plan, args=dict(plan["args"], index="required")),
         expect={"error": {"when": "build", "code": "NOT_FOUND", "python": "NotFoundError"}})
    case("index_of_compressed", node("tar_dataset", filenames=[FOLDER + "first.tar.gz"], fields=both, compression_type="GZIP", index="required"),
         expect={"error": {"when": "build", "code": "INVALID_ARGUMENT", "python": "InvalidArgumentError"}})
    many = ["first.tar", "empty.tar", "second.tar"] * 8
    expected = [s for f in many for s in samples(f, both)]
    plan = node("tar_dataset", filenames=[FOLDER + f for f in many], fields=both, index="required")
    for count in (5, 17, 33, 38, 40, 50):
        case("indexed_skip_%d" % count, node("skip", plan, count=count), (None, None), op="tar_dataset",
             expect={"elements": expected[count:], "elements_epoch2": expected[count:], "cardinality": max(40 - count, 0)})
    case("indexed_shard", node("shard", plan, num_shards=19, index=1), op="tar_dataset",
         expect={"elements": expected[1::19], "cardinality": len(expected[1::19])})
