"""Arrays in `.npz` and HDF5 files, and ``leat.data.convert`` between formats that take no other package; the others are
in python/formats."""
import os
import subprocess
import sys

import h5py
import numpy as np
import pytest

import leat as tf
from leat.data.formats import convert

N = 300


def table():
    random = np.random.default_rng(1)
    return {"x": random.normal(size=(N, 3)).astype("float32"), "y": np.arange(N),
            "s": [b"text %d" % i for i in range(N)]}


def dataset():
    return tf.data.Dataset.from_tensor_slices(table())


def rows(data):
    return [{name: value.tolist() if hasattr(value, "tolist") else value for name, value in one.items()}
            for one in data.as_numpy_iterator()]


WANTED = rows(dataset())


def test_npz(tmp_path):
    np.savez(tmp_path / "a.npz", **table())
    np.savez_compressed(tmp_path / "b.npz", **table())
    found = tf.data.from_npz(tmp_path)
    assert found.element_spec["x"] == tf.TensorSpec([3], tf.float32) and rows(found) == WANTED * 2
    assert rows(tf.data.from_npz(str(tmp_path / "a.npz"), columns=["y"])) == [{"y": i} for i in range(N)]
    assert next(iter(tf.data.from_npz(tmp_path, batch_size=7)))["x"].shape == (7, 3)
    assert tf.data.to_npz(dataset(), tmp_path / "c.npz", compressed=True) == N
    with np.load(tmp_path / "c.npz") as written:
        assert np.array_equal(written["x"], table()["x"]) and written["s"].tolist() == table()["s"]
    np.savez(tmp_path / "d.npz", x=np.zeros((3, 4)), y=np.zeros(5))
    with pytest.raises(tf.errors.InvalidArgumentError, match="rows"):
        tf.data.from_npz(tmp_path / "d.npz")
    np.savez(tmp_path / "e.npz", x=np.array([object()]))
    with pytest.raises(tf.errors.InvalidArgumentError, match="pickle"):
        tf.data.from_npz(tmp_path / "e.npz")
    (tmp_path / "f.npz").write_bytes(b"none")
    with pytest.raises(tf.errors.DataLossError, match="f.npz"):
        tf.data.from_npz(tmp_path / "f.npz")
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.data.from_npz(tmp_path / "none.npz")
    with pytest.raises(tf.errors.InvalidArgumentError, match="several"):
        tf.data.to_npz(tf.data.Dataset.range(3).map(lambda i: {"x": tf.range(i)}), tmp_path / "g.npz")
    assert sorted(os.listdir(tmp_path)) == [f"{c}.npz" for c in "abcdef"]


def test_hdf5(tmp_path):
    with h5py.File(tmp_path / "a.h5", "w") as file:
        for name, values in table().items():
            file["data/" + name] = values
        file["other"] = 3
    found = tf.data.from_hdf5(tmp_path / "a.h5", rows=1000)
    assert rows(found) == [{f"data/{name}": row[name] for name in ("s", "x", "y")} for row in WANTED]
    assert tf.data.to_hdf5(dataset(), tmp_path / "b.h5", compression="gzip") == N
    with h5py.File(tmp_path / "b.h5") as file:
        assert np.array_equal(file["x"][:], table()["x"]) and file["s"][7] == b"text 7"
    assert rows(tf.data.from_hdf5(tmp_path / "b.h5", batch_size=100).unbatch()) == WANTED
    assert len(set(one["y"] for one in rows(tf.data.from_hdf5(tmp_path / "b.h5", shuffle=True, seed=1)))) == N
    content = bytearray((tmp_path / "b.h5").read_bytes())
    (tmp_path / "c.h5").write_bytes(content[:len(content) // 2])
    with pytest.raises(tf.errors.DataLossError, match="c.h5"):
        rows(tf.data.from_hdf5(tmp_path / "c.h5"))
    with pytest.raises(tf.errors.InvalidArgumentError, match="zero"):
        tf.data.to_hdf5(tf.data.Dataset.from_tensor_slices({"s": [b"a\0b"]}), tmp_path / "d.h5")
    assert sorted(os.listdir(tmp_path)) == ["a.h5", "b.h5", "c.h5"]


FORMATS = {"tfrecord": "a.tfrecord", "packed": "b.tfrecord.gz", "jsonl": "a.jsonl", "npz": "a.npz", "hdf5": "a.h5",
           "mds": "mds", "webdataset": "a-%03d.tar"}


@pytest.mark.parametrize("kind", FORMATS)
def test_convert(tmp_path, kind):
    np.savez(tmp_path / "source.npz", **table())
    target, back = str(tmp_path / FORMATS[kind]), str(tmp_path / "back.npz")
    target_format = kind if kind in ("mds", "webdataset") else None
    assert tf.data.convert(tmp_path / "source.npz", target, target_format=target_format, progress=False) == N
    source = target.replace("%03d", "*")
    assert tf.data.convert(source, back, source_format=target_format, progress=False) == N
    names = {"x.npy": "x", "y.cls": "y", "__key__": None}
    with np.load(back) as found:
        arrays = {names.get(name, name): found[name] for name in found.files}
    assert np.allclose(arrays["x"], table()["x"]) and arrays["y"].tolist() == list(range(N))
    assert [one if isinstance(one, bytes) else one.encode() for one in arrays["s"].tolist()] == table()["s"]


def test_convert_csv_and_features(tmp_path):
    scalars = tf.data.Dataset.range(5).map(
        lambda i: {"i": i, "f": tf.cast(i, tf.float32) / 4, "s": tf.strings.as_string(i)})
    tf.data.to_npz(scalars, tmp_path / "a.npz")
    assert tf.data.convert(tmp_path / "a.npz", tmp_path / "a.csv", progress=False) == 5
    assert (tmp_path / "a.csv").read_text() == "i,f,s\n0,0.0,0\n1,0.25,1\n2,0.5,2\n3,0.75,3\n4,1.0,4\n"
    assert tf.data.convert(tmp_path / "a.csv", tmp_path / "b.jsonl", progress=False) == 5
    assert '"f": 0.25' in (tmp_path / "b.jsonl").read_text().splitlines()[1]
    # Lists of several lengths, and records that are no examples.
    examples = [tf.train.Example(features=tf.train.Features(feature={"v": tf.train.Feature(
        int64_list=tf.train.Int64List(value=list(range(n))))})).SerializeToString() for n in (1, 3, 0)]
    for name, records in (("c", examples), ("d", [b"\xff\xff", b"plain"])):
        with tf.io.TFRecordWriter(str(tmp_path / f"{name}.tfrecord")) as writer:
            for record in records:
                writer.write(record)
    assert tf.data.convert(tmp_path / "c.tfrecord", tmp_path / "c.jsonl", progress=False) == 3
    assert (tmp_path / "c.jsonl").read_text() == '{"v": [0]}\n{"v": [0, 1, 2]}\n{"v": []}\n'
    assert tf.data.convert(tmp_path / "d.tfrecord", tmp_path / "e.tfrecord", progress=False) == 2
    assert (tmp_path / "e.tfrecord").read_bytes() == (tmp_path / "d.tfrecord").read_bytes()
    with pytest.raises(tf.errors.InvalidArgumentError, match="UTF-8"):
        tf.data.convert(tmp_path / "d.tfrecord", tmp_path / "e.jsonl", progress=False)
    for source, target, word in (("a.npz", "a.what", "--to"), ("what", "a.npz", "--from")):
        with pytest.raises(ValueError, match=word):
            tf.data.convert(tmp_path / source, tmp_path / target, progress=False)
    with pytest.raises(ImportError, match="array_record"):
        tf.data.convert(tmp_path / "a.npz", tmp_path / "a.array_record", progress=False)
    assert not list(tmp_path.glob("*.partial")) and not (tmp_path / "e.jsonl").exists()


def test_the_tool(tmp_path, capsys):
    np.savez(tmp_path / "a.npz", **table())
    program = "import sys, _leat_tool; sys.exit(_leat_tool.main())"
    tool = [sys.executable, "-B", "-c", program, "convert"]
    done = subprocess.run([*tool, tmp_path / "a.npz", tmp_path / "mds", "--to", "mds", "--target-option",
                           "size_limit=2000"], capture_output=True, text=True, check=True)
    assert f"{N} elements" in done.stdout and len(list((tmp_path / "mds").glob("shard.*"))) > 2
    assert convert.main([str(tmp_path / "none.npz"), str(tmp_path / "b.tfrecord"), "--to", "tfrecord", "--quiet"]) == 1
    assert "none.npz" in capsys.readouterr().err and not (tmp_path / "b.tfrecord").exists()


KILLED = """
import os, signal, sys
import leat as tf
def stop(i):
    if i == 40:
        os.kill(os.getpid(), signal.SIGKILL)
    return i
data = tf.data.Dataset.range(100).map(lambda i: {"y.cls": tf.py_function(stop, [i], tf.int64)})
data = data.map(lambda one: {"y.cls": tf.ensure_shape(one["y.cls"], [])})
tf.data.to_webdataset(data, sys.argv[1] + "/a-%02d.tar", maxcount=10)
"""


def test_kills_leave_nothing_half_seen(tmp_path):
    process = subprocess.run([sys.executable, "-B", "-c", KILLED, tmp_path], check=False)
    assert process.returncode == -9 and not list(tmp_path.glob("*.tar")) and list(tmp_path.glob("*.partial"))
    for left in tmp_path.glob("*.partial"):
        os.utime(left, (0, 0))
    data = tf.data.Dataset.range(35).map(lambda i: {"y.cls": i})
    assert tf.data.to_webdataset(data, str(tmp_path / "a-%02d.tar"), maxcount=10) == 35
    assert sorted(os.listdir(tmp_path)) == [f"a-0{i}.tar" for i in range(4)]
