"""MDS shards beside MosaicML's own writer and reader."""

import io
import json
import os

import numpy as np
import PIL.Image
import pytest
from mosaic import MDSWriter, reader_from_json
from test_arrow import encoded, plain, values

import leat as tf

D = tf.data.Dataset
COUNT = 300
SCALARS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32", "float64"]


def theirs(folder):
    """All samples by their reader."""
    with open(folder / "index.json") as file:
        shards = json.load(file)["shards"]
    out = []
    for shard in shards:
        reader = reader_from_json(str(folder), None, shard)
        out.extend(reader.get_item(i) for i in range(reader.samples))
    return out


def written(folder, columns, samples, **more):
    """Samples by their writer."""
    with MDSWriter(columns=columns, out=str(folder), **more) as writer:
        for sample in samples:
            writer.write(sample)
    return folder


def picture(i, form):
    out = io.BytesIO()
    PIL.Image.fromarray(np.full((4 + i % 3, 5, 3), i, np.uint8)).save(out, form)
    return out.getvalue()


def sample(i):
    return {"id": i, "text": f"tä{i}" * (i % 4), "raw": b"\0\xff" * (i % 3),
            "tokens": np.arange(1 + i % 5, dtype=np.uint16),
            "any": np.arange(1 + i % 2, dtype=np.float32), "matrix": np.full((2, 3), i, np.float32),
            "digits": i - 5, "decimal": i / 7, "meta": {"k": [i]}}


COLUMNS = {"id": "int", "text": "str", "raw": "bytes", "tokens": "ndarray:uint16", "any": "ndarray",
           "matrix": "ndarray:float32:2,3", "digits": "str_int", "decimal": "str_float", "meta": "json"}


def check(found, i):
    want = sample(i)
    want["meta"] = json.dumps(want["meta"])
    assert plain(found) == encoded({key: value.tolist() if isinstance(value, np.ndarray) else value
                                    for key, value in want.items()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return written(tmp_path_factory.mktemp("mds") / "a", COLUMNS, map(sample, range(COUNT)), size_limit=1 << 13)


def test_samples(folder):
    dataset = tf.data.from_mds(folder)
    assert len(dataset) == COUNT and len(os.listdir(folder)) > 4
    for i, found in enumerate(values(dataset)):
        check(found, i)
    assert dataset.element_spec["matrix"] == tf.TensorSpec([2, 3], tf.float32)
    assert [int(row["id"]) for row in values(tf.data.from_mds([folder, str(folder)], ["id"]))] == 2 * list(range(COUNT))
    assert [list(row) for row in values(tf.data.from_mds(folder, ["text", "id"]).take(1))] == [["text", "id"]]
    batches = values(tf.data.from_mds(folder, batch_size=128))
    assert [len(batch["id"]) for batch in batches] == [128, 128, 44]


@pytest.mark.parametrize("kind", SCALARS)
def test_scalars(tmp_path, kind):
    samples = [{"x": np.dtype(kind).type(i)} for i in range(10)]
    written(tmp_path / "a", {"x": kind}, samples)
    found = values(tf.data.from_mds(tmp_path / "a"))
    assert [row["x"] for row in found] == list(range(10)) and found[0]["x"].dtype == kind
    dataset = D.from_tensor_slices({"x": np.arange(10).astype(kind)})
    assert tf.data.to_mds(dataset, tmp_path / "b") == 10
    same_files(tmp_path / "a", tmp_path / "b")


def same_files(one, other):
    """Byte for byte."""
    assert sorted(os.listdir(one)) == sorted(os.listdir(other))
    for name in os.listdir(one):
        assert (one / name).read_bytes() == (other / name).read_bytes(), name


@pytest.mark.parametrize("size_limit", [None, 1 << 26, 1 << 12, 600])
@pytest.mark.parametrize("hashes", [[], ["md5", "sha1"]])
def test_written_as_theirs(tmp_path, size_limit, hashes):
    columns = {"id": "int64", "text": "str", "tokens": "ndarray:uint16",
               "matrix": "ndarray:float32:2,3", "n": "str_int"}
    rows = [{"id": i, "text": f"tä{i}", "tokens": np.arange(1 + i % 300, dtype=np.uint16),
             "matrix": np.full((2, 3), i, np.float32), "n": i} for i in range(COUNT)]
    written(tmp_path / "theirs", {**columns}, [{**row, "id": np.int64(row["id"])} for row in rows], hashes=hashes,
            size_limit=size_limit)
    spec = {"id": tf.TensorSpec([], tf.int64), "text": tf.TensorSpec([], tf.string), "n": tf.TensorSpec([], tf.int64),
            "tokens": tf.TensorSpec([None], tf.uint16), "matrix": tf.TensorSpec([2, 3], tf.float32)}
    dataset = D.from_generator(lambda: iter(rows), output_signature=spec)
    ours = tmp_path / "ours"
    assert tf.data.to_mds(dataset, ours, {"text": "str", "n": "str_int"}, hashes=hashes, size_limit=size_limit) == COUNT
    same_files(tmp_path / "theirs", ours)
    for found, row in zip(theirs(ours), rows):
        assert found["text"] == row["text"] and (found["tokens"] == row["tokens"]).all() and found["n"] == row["n"]


def test_a_sample_larger_than_a_shard(tmp_path):
    rows = [{"x": b"a" * 1000}, {"x": b"b"}]
    written(tmp_path / "theirs", {"x": "bytes"}, rows, size_limit=300)
    tf.data.to_mds(D.from_tensor_slices({"x": [row["x"] for row in rows]}), tmp_path / "ours", size_limit=300)
    same_files(tmp_path / "theirs", tmp_path / "ours")
    assert [row["x"] for row in values(tf.data.from_mds(tmp_path / "ours"))] == [row["x"] for row in rows]


@pytest.mark.parametrize("compression", ["zstd", "zstd:7", "gz", "bz2:1"])
def test_compressed(tmp_path, compression):
    written(tmp_path / "theirs", COLUMNS, map(sample, range(COUNT)), size_limit=1 << 13, compression=compression)
    for i, found in enumerate(values(tf.data.from_mds(tmp_path / "theirs"))):
        check(found, i)
    dataset = D.range(COUNT).map(lambda i: {"x": i, "s": tf.strings.as_string(i)})
    tf.data.to_mds(dataset, tmp_path / "ours", {"s": "str"}, compression, size_limit=1 << 12)
    assert [(row["x"], row["s"]) for row in values(tf.data.from_mds(tmp_path / "ours"))] == [
        (i, b"%d" % i) for i in range(COUNT)]
    index = json.loads((tmp_path / "ours" / "index.json").read_text())
    assert len(index["shards"]) > 1 and index["shards"][0]["zip_data"]["bytes"] == os.path.getsize(
        tmp_path / "ours" / index["shards"][0]["zip_data"]["basename"])
    from streaming.base.compression import decompress  # made by the import of mosaic
    for shard in index["shards"]:
        packed = (tmp_path / "ours" / shard["zip_data"]["basename"]).read_bytes()
        assert len(decompress(compression, packed)) == shard["raw_data"]["bytes"]


def test_other_compressions_are_refused(tmp_path):
    written(tmp_path / "a", {"x": "int"}, [{"x": 1}], compression="br")
    with pytest.raises(tf.errors.UnimplementedError, match="br"):
        values(tf.data.from_mds(tmp_path / "a"))
    with pytest.raises(ValueError, match="zstd"):
        tf.data.to_mds(D.from_tensors({"x": 1}), tmp_path / "b", compression="br")


def test_pictures(tmp_path):
    rows = [{"jpg": picture(i, "JPEG"), "png": picture(i, "PNG"),
             "many": [picture(k, "JPEG") for k in range(i % 3 + 1)]} for i in range(9)]
    opened = [{**row, "png": PIL.Image.open(io.BytesIO(row["png"]))} for row in rows]
    written(tmp_path / "a", {"jpg": "jpeg", "png": "png", "many": "jpeg_array"}, opened)
    found = values(tf.data.from_mds(tmp_path / "a"))
    assert [row["jpg"] for row in found] == [row["jpg"] for row in rows]
    assert [row["many"].tolist() for row in found] == [row["many"] for row in rows]
    dataset = tf.data.from_mds(tmp_path / "a").map(lambda row: tf.io.decode_png(row["png"]))
    assert [(x == i).all() for i, x in enumerate(values(dataset))] == [True] * 9
    lists = [{"x": [PIL.Image.open(io.BytesIO(picture(k, "PNG"))) for k in range(i)]} for i in range(3)]
    written(tmp_path / "l", {"x": "list[png]"}, lists)
    assert [len(row["x"]) for row in values(tf.data.from_mds(tmp_path / "l"))] == [0, 1, 2]


@pytest.mark.parametrize("arguments", [{}, {"shuffle": True, "seed": 4}, {"batch_size": 7}], ids=str)
def test_iterators_are_restored(folder, arguments):
    dataset = tf.data.from_mds(folder, ["id", "text"], **arguments)
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(11):
        next(iterator)
    state = iterator.save()
    other.restore(state)
    rest = [np.asarray(row["id"]).tolist() for row in iterator]
    assert len(state) < 2000 and [np.asarray(row["id"]).tolist() for row in other] == rest and rest


def test_shards_are_shuffled_and_dealt_out(folder):
    dataset = tf.data.from_mds(folder, ["id"], shuffle=True, seed=9)
    first, second = ([int(row["id"]) for row in values(dataset)] for _ in range(2))
    assert sorted(first) == sorted(second) == list(range(COUNT)) and first != second
    strategy = tf.distribute.MirroredStrategy()
    assert "policy FILE" in str(strategy.experimental_distribute_dataset(dataset.batch(8)).explain())


def test_refusals(tmp_path, folder):
    written(tmp_path / "pkl", {"x": "pkl", "y": "int"}, [{"x": {1, 2}, "y": 3}])
    with pytest.raises(tf.errors.UnimplementedError, match="code"):
        tf.data.from_mds(tmp_path / "pkl")
    assert [int(row["y"]) for row in values(tf.data.from_mds(tmp_path / "pkl", ["y"]))] == [3]
    written(tmp_path / "m", {"x": "ndarray:int32"}, [{"x": np.ones((2, 2), np.int32)}])
    with pytest.raises(tf.errors.UnimplementedError, match="ranks"):
        values(tf.data.from_mds(tmp_path / "m"))
    with pytest.raises(ValueError, match="'z'"):
        tf.data.from_mds(folder, ["z"])
    with pytest.raises(tf.errors.NotFoundError, match="index.json"):
        tf.data.from_mds(tmp_path / "nowhere")
    with pytest.raises(tf.errors.AlreadyExistsError, match="empty"):
        tf.data.to_mds(D.from_tensors({"x": 1}), folder)
    for dataset, word in ((D.range(3), "dictionaries"), (D.from_tensors({"x": 1j}), "complex")):
        with pytest.raises(TypeError, match=word):
            tf.data.to_mds(dataset, tmp_path / "new")
    with pytest.raises(ValueError, match="'y'"):
        tf.data.to_mds(D.from_tensors({"x": 1}), tmp_path / "new", {"y": "int"})
    with pytest.raises(tf.errors.InvalidArgumentError, match="'x'"):
        tf.data.to_mds(D.from_generator(lambda: iter([{"x": np.zeros(0, np.int32)}]), output_signature={
            "x": tf.TensorSpec([None], tf.int32)}), tmp_path / "new")
    fails = D.range(50).map(lambda i: {"x": 8 // (40 - i)})
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.data.to_mds(fails, tmp_path / "new", size_limit=400)
    assert os.listdir(tmp_path / "new") == []


def test_random_damage_ends_in_an_exception_of_its_own(tmp_path):
    rng = np.random.default_rng(5)
    columns = {key: one for key, one in COLUMNS.items() if key != "meta"}
    samples = [{key: sample(i)[key] for key in columns} for i in range(40)]
    data = (written(tmp_path / "a", columns, samples) / "shard.00000.mds").read_bytes()
    index = (tmp_path / "a" / "index.json").read_text()
    failed = 0
    for number in range(200):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), 3):
            changed[place] = rng.integers(0, 256)
        folder = tmp_path / str(number)
        os.mkdir(folder)
        (folder / "index.json").write_text(index)
        (folder / "shard.00000.mds").write_bytes(changed)
        try:
            values(tf.data.from_mds(folder))
        except (tf.errors.OpError, ValueError):
            failed += 1
    assert failed > 10


@pytest.mark.parametrize("damage", ["cut", "count", "offsets", "sizes", "index", "name", "gone", "columns"])
def test_damaged_shards(tmp_path, damage):
    rows = [{"x": "abc", "y": i} for i in range(100)]
    folder = written(tmp_path / "a", {"x": "str", "y": "int"}, rows, size_limit=1000)
    shard = folder / "shard.00001.mds"
    data = bytearray(shard.read_bytes())
    index = json.loads((folder / "index.json").read_text())
    if damage == "cut":
        del data[-5:]
    elif damage == "count":
        data[0] += 1
    elif damage == "offsets":
        data[8:12] = b"\xff\xff\xff\x7f"
    elif damage == "sizes":
        begin = int.from_bytes(data[4:8], "little")
        data[begin] = 77
    elif damage == "index":
        index = {"shards": [{"format": "mds"}]}
    elif damage == "columns":
        index["shards"][1]["column_sizes"][1] = 4096
    elif damage == "name":
        index["shards"][1]["raw_data"]["basename"] = "../a/shard.00001.mds"
    shard.write_bytes(data)
    (folder / "index.json").write_text(json.dumps(index))
    if damage in ("index", "name"):
        with pytest.raises((tf.errors.DataLossError, tf.errors.UnimplementedError), match="index.json"):
            tf.data.from_mds(folder)
        return
    if damage == "gone":
        os.unlink(shard)
    iterator, found, lost = iter(tf.data.from_mds(folder)), [], []
    for _ in range(200):
        try:
            found.append(int(next(iterator)["y"]))
        except (tf.errors.DataLossError, tf.errors.NotFoundError) as error:
            lost.append(error)
        except (StopIteration, tf.errors.OpError):
            break
    assert len(lost) == 1 and "shard.00001.mds" in str(lost[0])
    first, second = (shard["samples"] for shard in index["shards"][:2])
    assert found == [*range(first), *range(first + second, 100)]
