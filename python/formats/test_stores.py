"""LMDB, Avro and ArrayRecord beside their own packages, and ``leat.data.convert`` between all formats."""
import datetime
import itertools
import os

import fastavro
import lmdb
import numpy as np
import pyarrow.parquet
import pytest
from array_record.python import array_record_module

import leat as tf

D = tf.data
N = 3000


def records():
    return [b"record %d" % i * (i % 5) for i in range(N)]


def pairs(path, count=N, subdir=True):
    with lmdb.open(str(path), subdir=subdir, map_size=1 << 26) as database:
        with database.begin(write=True) as transaction:
            for i in range(count):
                transaction.put(b"%06d" % i, b"value %d" % i)


def test_lmdb(tmp_path):
    pairs(tmp_path / "folder")
    pairs(tmp_path / "file", 5, subdir=False)
    wanted = [{"key": b"%06d" % i, "value": b"value %d" % i} for i in range(N)]
    assert list(D.from_lmdb(tmp_path / "folder").as_numpy_iterator()) == wanted
    both = D.from_lmdb([tmp_path / "file", tmp_path / "folder"])
    assert list(both.as_numpy_iterator()) == wanted[:5] + wanted
    orders = [[one["key"] for one in D.from_lmdb(tmp_path / "folder", shuffle=True, seed=seed).as_numpy_iterator()]
              for seed in range(8)]
    assert any(order != sorted(order) for order in orders) and all(len(set(order)) == N for order in orders)
    assert D.to_lmdb(D.from_lmdb(tmp_path / "folder"), tmp_path / "copy") == N
    with lmdb.open(str(tmp_path / "copy"), readonly=True) as database, database.begin() as transaction:
        assert transaction.get(b"000017") == b"value 17" and transaction.stat()["entries"] == N
    with pytest.raises(tf.errors.AlreadyExistsError):
        D.to_lmdb(both, tmp_path / "copy")
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        D.from_lmdb(tmp_path / "none")
    (tmp_path / "bad").write_bytes(bytes(8192))
    with pytest.raises(tf.errors.DataLossError, match="bad"):
        D.from_lmdb(tmp_path / "bad")
    with pytest.raises(TypeError, match="key"):
        D.to_lmdb(D.Dataset.range(3).map(lambda i: {"key": i}), tmp_path / "other")


SCHEMA = {"type": "record", "name": "r", "fields": [
    {"name": "i", "type": "int"}, {"name": "l", "type": "long"}, {"name": "f", "type": "float"},
    {"name": "d", "type": "double"}, {"name": "t", "type": "boolean"}, {"name": "s", "type": "string"},
    {"name": "b", "type": "bytes"}, {"name": "n", "type": ["null", "long"]},
    {"name": "e", "type": {"type": "enum", "name": "en", "symbols": ["A", "B"]}},
    {"name": "many", "type": {"type": "array", "items": "long"}}]}
NAMES = ["i", "l", "f", "d", "t", "s", "b", "n", "e"]


def avro_records(nulls=False):
    return [{"i": i, "l": i << 40, "f": i / 4, "d": i / 3, "t": i % 2 == 0, "s": f"text {i}", "b": b"\xff%d" % i,
             "n": None if nulls and i % 2 else i, "e": "AB"[i % 2], "many": [i]} for i in range(50)]


@pytest.mark.parametrize("codec", ["null", "deflate"])
def test_avro(tmp_path, codec):
    with open(tmp_path / "a.avro", "wb") as file:
        fastavro.writer(file, SCHEMA, avro_records(), codec)
    found = D.from_avro(tmp_path, columns=NAMES)
    assert found.element_spec["i"] == tf.TensorSpec([], tf.int32)
    for one, other in zip(found.as_numpy_iterator(), avro_records(), strict=True):
        for name in NAMES:
            value = other[name].encode() if isinstance(other[name], str) else other[name]
            assert one[name] == value, name
    lists = D.from_avro(tmp_path / "a.avro", columns=["many"], batch_size=50)
    assert next(iter(lists))["many"].to_list() == [[i] for i in range(50)]
    with open(tmp_path / "b.avro", "wb") as file:
        fastavro.writer(file, SCHEMA, avro_records(nulls=True), codec)
    with pytest.raises(tf.errors.InvalidArgumentError, match="record"):
        list(D.from_avro(tmp_path / "b.avro", columns=["n"]))
    zeros = D.from_avro(tmp_path / "b.avro", columns=["n"], nulls="zero")
    assert [int(one["n"]) for one in zeros][:4] == [0, 0, 2, 0]
    assert D.to_avro(found, tmp_path / "c.avro", codec=codec) == 50
    with open(tmp_path / "c.avro", "rb") as file:
        assert [one["s"] for one in fastavro.reader(file)] == [b"text %d" % i for i in range(50)]
    content = (tmp_path / "a.avro").read_bytes()
    (tmp_path / "d.avro").write_bytes(content[:-20])
    with pytest.raises(tf.errors.DataLossError, match="d.avro"):
        list(D.from_avro(tmp_path / "d.avro", columns=["i"]))


NESTED = {"type": "record", "name": "r", "fields": [
    {"name": "a", "type": {"type": "array", "items": {"type": "array", "items": "string"}}},
    {"name": "m", "type": {"type": "map", "values": "double"}},
    {"name": "p", "type": {"type": "record", "name": "point", "namespace": "n", "fields": [
        {"name": "x", "type": "int"}, {"name": "y", "type": ["null", {"type": "array", "items": "int"}]}]}},
    {"name": "q", "type": {"type": "array", "items": "n.point"}},
    {"name": "t", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {"name": "day", "type": {"type": "int", "logicalType": "date"}},
    {"name": "clock", "type": {"type": "int", "logicalType": "time-millis"}}]}


def test_nested_avro(tmp_path):
    utc = datetime.timezone.utc
    rows = [{"a": [["ab"] * j for j in range(i)], "m": {f"k{j}": j / 2 for j in range(i)},
             "p": {"x": i, "y": [i] if i else None}, "q": [{"x": j, "y": [j] * j} for j in range(i)],
             "t": datetime.datetime(1969, 12, 31, 23, 59, 59, 999999 - i, utc),
             "day": datetime.date(1970, 1, 1 + i), "clock": datetime.time(1, 2, 3, 4000 * i)} for i in range(5)]
    with open(tmp_path / "a.avro", "wb") as file:
        fastavro.writer(file, NESTED, rows)
    with pytest.raises(tf.errors.InvalidArgumentError, match="p.y"):
        list(D.from_avro(tmp_path / "a.avro"))
    found = D.from_avro(tmp_path / "a.avro", nulls="zero")
    batch = next(iter(D.from_avro(tmp_path / "a.avro", nulls="zero", batch_size=5)))
    assert batch["a"].to_list() == [[[b"ab"] * j for j in range(i)] for i in range(5)]
    assert batch["m"]["key"].to_list() == [[b"k%d" % j for j in range(i)] for i in range(5)]
    assert batch["m"]["value"].to_list() == [[j / 2 for j in range(i)] for i in range(5)]
    assert batch["p"]["x"].numpy().tolist() == list(range(5)) and batch["p"]["y"].to_list()[:2] == [[], [1]]
    assert batch["q"]["y"].to_list() == [[[j] * j for j in range(i)] for i in range(5)]
    assert batch["t"].numpy().tolist() == [-1 - i for i in range(5)] and batch["day"].numpy().tolist() == list(range(5))
    assert batch["clock"].numpy().tolist() == [3723000 + 4 * i for i in range(5)]
    assert D.to_avro(found, tmp_path / "b.avro") == 5
    with open(tmp_path / "b.avro", "rb") as file:
        back = list(fastavro.reader(file))
    assert [row["q"] for row in back] == [{"x": list(range(i)), "y": [[j] * j for j in range(i)]} for i in range(5)]
    assert back[2]["m"] == {"key": [b"k0", b"k1"], "value": [0.0, 0.5]} and back[3]["a"] == [[], [b"ab"], [b"ab"] * 2]
    with pytest.raises(TypeError, match="'p.x'"):
        D.to_avro(found.map(lambda row: {"p": {"x": tf.cast(row["p"]["x"], tf.float16)}}), tmp_path / "none")
    decimal = {"type": "bytes", "logicalType": "decimal", "precision": 4}
    within = {"type": "record", "name": "s", "fields": [{"name": "s", "type": ["null", "s"]}]}
    for kind, word in ((["int", "string"], "string"), (decimal, "decimal"), (within, "within")):
        with open(tmp_path / "c.avro", "wb") as file:
            fastavro.writer(file, {"type": "record", "name": "r", "fields": [{"name": "f", "type": kind}]}, [])
        with pytest.raises(tf.errors.UnimplementedError, match=word):
            D.from_avro(tmp_path / "c.avro")


def test_array_record(tmp_path):
    for name, options in (("a", "group_size:1"), ("b", "group_size:64,zstd")):
        writer = array_record_module.ArrayRecordWriter(str(tmp_path / f"{name}.array_record"), options)
        for record in records():
            writer.write(record)
        writer.close()
    assert list(D.from_array_record(tmp_path / "b.array_record").as_numpy_iterator()) == records()
    assert list(D.from_array_record(tmp_path).as_numpy_iterator()) == records() * 2
    assert next(iter(D.from_array_record(tmp_path, batch_size=11))).shape == (11,)
    rows = D.Dataset.from_tensor_slices(records())
    for options in ({}, {"group_size": 64, "options": "zstd:5"}):
        assert D.to_array_record(rows, tmp_path / "own", **options) == N
        reader = array_record_module.ArrayRecordReader(str(tmp_path / "own"))
        assert reader.read(0, N) == records() and reader.writer_options_string().startswith(
            f"group_size:{options.get('group_size', 1)},")
        reader.close()
    with pytest.raises(TypeError, match="strings"):
        D.to_array_record(D.Dataset.range(3), tmp_path / "none")
    with pytest.raises(tf.errors.OpError, match="bad"):
        D.to_array_record(rows, tmp_path / "none", options="bad")
    assert not list(tmp_path.glob("none*"))
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        D.from_array_record(tmp_path / "none.array_record")
    (tmp_path / "c.array_record").write_bytes(b"nothing of the kind" * 10000)
    with pytest.raises(tf.errors.DataLossError, match="c.array_record"):
        list(D.from_array_record(tmp_path / "c.array_record"))


TARGETS = {"tfrecord": "a.tfrecord", "parquet": "a.parquet", "arrow": "a.arrow", "mds": "mds", "csv": "a.csv",
           "webdataset": "a-%03d.tar", "jsonl": "a.jsonl", "npz": "a.npz", "hdf5": "a.h5", "lmdb": "db",
           "avro": "a.avro", "array_record": "a.array_record"}


@pytest.mark.parametrize("kind", TARGETS)
def test_convert_there_and_back(tmp_path, kind):
    table = {"i": np.arange(300), "f": np.arange(300, dtype="float32") / 4, "s": [f"t{i}" for i in range(300)]}
    pyarrow.parquet.write_table(pyarrow.table(table), tmp_path / "source.parquet")
    target = str(tmp_path / TARGETS[kind])
    named = kind if kind in ("mds", "webdataset", "lmdb") else None
    assert D.convert(tmp_path / "source.parquet", target, target_format=named, progress=False) == 300
    back = tmp_path / "back.parquet"
    assert D.convert(target.replace("%03d", "*"), back, source_format=named, progress=False) == 300
    found = {name.partition(".")[0]: column for name, column in pyarrow.parquet.read_table(back).to_pydict().items()}
    assert found["i"] == list(range(300)) and found["f"] == table["f"].tolist()
    assert [one.decode() if isinstance(one, bytes) else one for one in found["s"]] == table["s"]
    assert not [name for name in os.listdir(tmp_path) if "partial" in name]


def test_progress_and_missing_packages(tmp_path, capsys, monkeypatch):
    np.savez(tmp_path / "a.npz", x=np.arange(1000))
    assert D.convert(tmp_path / "a.npz", tmp_path / "a.parquet") == 1000
    assert "1000" in capsys.readouterr().out
    monkeypatch.setitem(__import__("sys").modules, "fastavro", None)
    with pytest.raises(ImportError, match="fastavro"):
        D.convert(tmp_path / "a.npz", tmp_path / "a.avro", progress=False)
    assert list(itertools.chain(tmp_path.glob("*.avro*"))) == []
