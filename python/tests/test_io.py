"""leat.io and leat.train's messages; expected values were recorded from TensorFlow 2.21."""

import copy
import os
import pathlib
import pickle
import threading

import numpy as np
import pytest

import leat as tf

F = tf.train.Feature


def ints(*values):
    return F(int64_list=tf.train.Int64List(value=values))


def floats(*values):
    return F(float_list=tf.train.FloatList(value=values))


def texts(*values):
    return F(bytes_list=tf.train.BytesList(value=values))


def example(**features):
    return tf.train.Example(features=tf.train.Features(feature=features))


def record(**features):
    return example(**features).SerializeToString()


FULL = {
    "b": texts(b"a\x00\xff\"'\n\t\\", b"x"), "a": ints(1, -2, 300),
    "f": floats(0.1, 1.0, 1e20, float("nan"), float("inf"), 1e-7, 3.0, 16777216., 123456.789), "e": F(), "z": ints()}
FULL_BYTES = (
    b"\nm\n\x16\n\x01a\x12\x11\x1a\x0f\n\r\x01\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01\xac\x02\n\x14\n\x01b\x12\x0f"
    b"\n\r\n\x08a\x00\xff\"'\n\t\\\n\x01x\n\x05\n\x01e\x12\x00\n-\n\x01f\x12(\x12&\n$\xcd\xcc\xcc=\x00\x00\x80?\xecx"
    b"\xad`\x00\x00\xc0\x7f\x00\x00\x80\x7f\x95\xbf\xd63\x00\x00@@\x00\x00\x80Ke \xf1G\n\x07\n\x01z\x12\x02\x1a\x00")


# ---- messages ----

def test_messages_have_protobufs_bytes():
    assert example(**FULL).SerializeToString(deterministic=True) == FULL_BYTES
    back = tf.train.Example()
    assert back.ParseFromString(FULL_BYTES) == 111
    assert sorted(back.features.feature) == ["a", "b", "e", "f", "z"]
    assert back.features.feature["a"].int64_list.value == [1, -2, 300]
    assert [back.features.feature[key].WhichOneof("kind") for key in "abefz"] == [
        "int64_list", "bytes_list", None, "float_list", "int64_list"]
    assert back.SerializeToString(deterministic=True) == FULL_BYTES
    assert pickle.loads(pickle.dumps(back)).SerializeToString(deterministic=True) == FULL_BYTES


def test_messages_print_as_protobufs():
    made = example(q=ints(1, 2), b=texts(b"a\x00\xff\"'\n\t\\"), f=floats(0.1, 1, 1e20, 1e-7, 16777216., 123456.789))
    assert str(made) == repr(made) == """features {
  feature {
    key: "b"
    value {
      bytes_list {
        value: "a\\000\\377\\"\\'\\n\\t\\\\"
      }
    }
  }
  feature {
    key: "f"
    value {
      float_list {
        value: 0.1
        value: 1
        value: 1e+20
        value: 1e-07
        value: 16777216
        value: 123456.789
      }
    }
  }
  feature {
    key: "q"
    value {
      int64_list {
        value: 1
        value: 2
      }
    }
  }
}
"""
    assert str(tf.train.Example()) == ""


@pytest.mark.parametrize("make, kind, word", [
    (lambda: tf.train.Int64List(value=[1.5]), TypeError, "'float'"),
    (lambda: tf.train.Int64List(value=[True]), TypeError, "boolean"),
    (lambda: tf.train.Int64List(value=[2**63]), ValueError, "9223372036854775808"),
    (lambda: tf.train.Int64List(value=5), TypeError, "iterable"),
    (lambda: tf.train.BytesList(value=["a"]), TypeError, "bytes"),
    (lambda: tf.train.FloatList(value=["1"]), TypeError, "number"),
    (lambda: tf.train.Example(foo=1), ValueError, '"foo"'),
    (lambda: setattr(tf.train.Example(), "features", 1), AttributeError, '"features"'),
    (lambda: tf.train.Features().feature.__setitem__("q", F()), ValueError, "assigned"),
    (lambda: hash(tf.train.Example()), TypeError, "unhashable"),
    (lambda: tf.train.Example.FromString(b"\xff\xff"), tf.train.DecodeError, "corrupt"),
])
def test_messages_refuse(make, kind, word):
    with pytest.raises(kind, match=word):
        make()


def test_messages_become_present_when_they_change():
    made = tf.train.Example()
    assert not made.HasField("features") and made.ByteSize() == 0
    values = made.features.feature["q"].int64_list.value
    values.extend([1, 2])
    values.append(3)
    assert made.HasField("features")
    assert made.SerializeToString() == b"\n\x0e\n\x0c\n\x01q\x12\x07\x1a\x05\n\x03\x01\x02\x03"
    made.features.feature["q"].float_list.value.extend([])  # the other member of the group goes
    assert made.features.feature["q"].WhichOneof("kind") == "float_list"
    twin = copy.deepcopy(made)
    twin.features.feature["q"].bytes_list.value.append(b"x")
    assert made.features.feature["q"].WhichOneof("kind") == "float_list" and twin != made


def test_messages_read_what_others_write():
    unpacked = tf.train.Int64List.FromString(b"\x08\x01\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01\x0a\x01\x05")
    assert unpacked.value == [1, -1, 5]
    assert tf.train.FloatList.FromString(b"\x0d\x00\x00\x80?\x0a\x04\x00\x00\x00@").value == [1.0, 2.0]
    strange = tf.train.Example.FromString(b"\x9a\x01\x02hi\x0a\x00\x30\x07\x2b\x08\x01\x2c")
    assert strange.HasField("features")
    assert strange.SerializeToString() == b"\x0a\x00\x9a\x01\x02hi\x30\x07\x2b\x08\x01\x2c"  # kept, behind the known
    for cut in range(1, len(FULL_BYTES)):
        with pytest.raises(tf.train.DecodeError):
            tf.train.Example.FromString(FULL_BYTES[:cut])


def test_sequence_examples():
    made = tf.train.SequenceExample(context=tf.train.Features(feature={"z": ints()}), feature_lists=(
        tf.train.FeatureLists(feature_list={"l": tf.train.FeatureList(feature=[ints(1), F()])})))
    assert made.SerializeToString() == (b"\n\t\n\x07\n\x01z\x12\x02\x1a\x00"
                                        b"\x12\x10\n\x0e\n\x01l\x12\t\n\x05\x1a\x03\n\x01\x01\n\x00")
    assert tf.train.SequenceExample.FromString(made.SerializeToString()) == made
    assert "feature_list {\n    key: \"l\"\n    value {\n      feature {\n        int64_list {\n" in str(made)


# ---- record files ----

@pytest.mark.parametrize("options", [None, "GZIP", "ZLIB", tf.io.TFRecordOptions("GZIP", compression_level=9)])
def test_what_is_written_is_read(tmp_path, options):
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(path, options) as writer:
        for value in (b"one", "two", tf.constant(b"three"), np.frombuffer(b"four", np.uint8), b""):
            writer.write(value)
        writer.flush()
        assert not path.exists()
    kind = tf.io.TFRecordOptions.get_compression_type_string(options)
    found = list(tf.data.TFRecordDataset(str(path), kind).as_numpy_iterator())
    assert found == [b"one", b"two", b"three", b"four", b""]
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        writer.write(b"more")


def test_writers_refuse(tmp_path):
    with pytest.raises(ValueError, match="compression_type"):
        tf.io.TFRecordWriter(tmp_path / "a", "FOO")
    with pytest.raises(tf.errors.NotFoundError):
        tf.io.TFRecordWriter(tmp_path / "missing" / "a")
    kept = tf.io.TFRecordWriter(tmp_path / "dropped")
    kept.write(b"x")
    del kept  # closes the file
    assert (tmp_path / "dropped").stat().st_size == 17
    given_up = tf.io.TFRecordWriter(tmp_path / "given_up")
    given_up.discard()
    assert not (tmp_path / "given_up").exists()


def test_files_by_name(tmp_path):
    for name in ("gf_b", "gf_a"):
        (tmp_path / name).write_text(name)
    names = [str(tmp_path / name) for name in ("gf_a", "gf_b")]
    assert tf.io.matching_files(f"{tmp_path}/gf_*").numpy().tolist() == [name.encode() for name in names]
    assert tf.io.matching_files([names[1], names[0], "/nope"]).numpy().tolist() == [name.encode() for name in names]
    assert tf.io.gfile.glob(f"{tmp_path}/gf_*") == names
    assert tf.io.gfile.exists(names[0]) and tf.io.gfile.isdir(tmp_path) and not tf.io.gfile.isdir(names[0])
    tf.io.gfile.makedirs(f"{tmp_path}/x/y")
    assert sorted(tf.io.gfile.listdir(tmp_path)) == ["gf_a", "gf_b", "x"]
    with pytest.raises(tf.errors.NotFoundError, match="/nodir"):
        tf.io.gfile.listdir("/nodir")
    with tf.io.gfile.GFile(names[0], "rb") as file:
        assert file.read() == b"gf_a"
    with pytest.raises(tf.errors.AlreadyExistsError):
        tf.io.gfile.copy(names[0], names[1])


# ---- parsing ----

A = record(a=ints(1, 2, 3), b=texts(b"x"), c=floats(1.5, 2.5))
Z = record(a=ints(4), b=texts(b"yy"))
S = record(i=ints(1, 5), v=floats(1.5, 2.5), rl=ints(2, 0, 1), vals=ints(7, 8, 9))


INT, VAR = tf.io.FixedLenFeature([], tf.int64), tf.io.VarLenFeature(tf.int64)


def test_one_example_is_parsed():
    found = tf.io.parse_single_example(A, {
        "a": tf.io.FixedLenFeature([3], tf.int64), "b": tf.io.FixedLenFeature([], tf.string),
        "q": tf.io.FixedLenFeature([2], tf.float32, default_value=[1., 2.]),
        "c": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True)})
    assert list(found) == ["a", "b", "c", "q"]
    assert found["a"].numpy().tolist() == [1, 2, 3] and found["b"].numpy() == b"x"
    assert found["q"].numpy().tolist() == [1, 2] and found["c"].numpy().tolist() == [1.5, 2.5]
    found = tf.io.parse_single_example(A, {"a": tf.io.VarLenFeature(tf.int64), "r": tf.io.RaggedFeature(tf.int64)})
    assert found["a"].indices.numpy().tolist() == [[0], [1], [2]] and found["a"].dense_shape.numpy().tolist() == [3]
    assert found["r"].numpy().tolist() == []


@pytest.mark.parametrize("features, expected", [
    ({"z": INT, "a": INT}, ["a", "z"]), ({"z": VAR, "a": INT, "m": VAR}, ["m", "z", "a"]),
    ({"z": INT, "m": VAR, "k": tf.io.RaggedFeature(tf.float32), "a": INT}, ["m", "a", "z", "k"]),
    ({"z": INT, "s": tf.io.SparseFeature("i", "k", tf.float32, 3), "a": VAR}, ["a", "z", "s"]),
    ({"z": INT, "k": tf.io.SparseFeature("i", "k", tf.float32, 3), "a": VAR}, ["a", "k", "z"]),
    ({"zz": tf.io.RaggedFeature(tf.int64, "m"), "b": tf.io.RaggedFeature(tf.int64, "a"), "z": INT}, ["z", "b", "zz"])])
def test_the_order_of_what_is_parsed_is_tensorflows(features, expected):
    example = record(z=ints(1), a=ints(2), m=ints(1, 2), k=floats(1.5), i=ints(0))
    assert list(tf.io.parse_single_example(example, features)) == expected
    assert list(tf.io.parse_example([example], features)) == expected
    spec = tf.data.Dataset.from_tensors(example).map(lambda x: tf.io.parse_single_example(x, features)).element_spec
    assert list(spec) == expected


def test_the_order_of_a_dataset_that_is_parsed():
    features = {"z": INT, "m": VAR, "k": tf.io.RaggedFeature(tf.float32), "a": INT}
    parsed = tf.data.Dataset.from_tensors([A]).apply(tf.data.experimental.parse_example_dataset(features))
    assert list(parsed.element_spec) == ["m", "a", "z", "k"]


def test_a_batch_is_parsed():
    features = {"a": tf.io.VarLenFeature(tf.int64), "b": tf.io.FixedLenFeature([], tf.string),
                "c": tf.io.FixedLenSequenceFeature([], tf.float32, allow_missing=True, default_value=-1.)}
    found = tf.io.parse_example([A, Z], features)
    assert found["a"].indices.numpy().tolist() == [[0, 0], [0, 1], [0, 2], [1, 0]]
    assert found["a"].values.numpy().tolist() == [1, 2, 3, 4] and found["a"].dense_shape.numpy().tolist() == [2, 3]
    assert found["b"].numpy().tolist() == [b"x", b"yy"]
    assert found["c"].numpy().tolist() == [[1.5, 2.5], [-1, -1]]
    rows = tf.io.parse_example([A, Z], {"a": tf.io.RaggedFeature(tf.int64)})["a"]
    assert rows.to_list() == [[1, 2, 3], [4]] and rows.row_splits.dtype == tf.int32


def test_batches_are_parsed_by_an_operator(caplog):
    features = {"b": tf.io.FixedLenFeature([], tf.string), "v": tf.io.VarLenFeature(tf.int64),
                "q": tf.io.FixedLenFeature([2], tf.float32, default_value=[1., 2.])}
    parse = tf.data.experimental.parse_example_dataset
    batches = tf.data.Dataset.from_tensor_slices([A, Z, A]).batch(2).apply(parse(features, num_parallel_calls=2))
    assert [batch["b"].numpy().tolist() for batch in batches] == [[b"x", b"yy"], [b"x"]]
    assert [batch["q"].numpy().tolist() for batch in batches] == [[[1, 2], [1, 2]], [[1, 2]]]
    assert not caplog.records
    ragged = {"r": tf.io.RaggedFeature(tf.int64, "vals", partitions=[tf.io.RaggedFeature.RowLengths("rl")])}
    rows = tf.data.Dataset.from_tensors([S, S]).apply(parse(ragged))
    assert next(iter(rows))["r"].to_list() == [[[7, 8], [], [9]]] * 2


def test_sparse_and_ragged_features():
    sparse = {"s": tf.io.SparseFeature("i", "v", tf.float32, 10)}
    one = tf.io.parse_single_example(S, sparse)["s"]
    assert one.indices.numpy().tolist() == [[1], [5]] and one.dense_shape.numpy().tolist() == [10]
    two = tf.io.parse_example([S, S], sparse)["s"]
    assert two.indices.numpy().tolist() == [[0, 1], [0, 5], [1, 1], [1, 5]]
    assert two.values.numpy().tolist() == [1.5, 2.5, 1.5, 2.5] and two.dense_shape.numpy().tolist() == [2, 10]
    ragged = {"r": tf.io.RaggedFeature(tf.int64, "vals", partitions=[tf.io.RaggedFeature.RowLengths("rl")])}
    assert tf.io.parse_single_example(S, ragged)["r"].to_list() == [[7, 8], [], [9]]
    assert tf.io.parse_example([S, S], ragged)["r"].to_list() == [[[7, 8], [], [9]]] * 2
    uniform = {"r": tf.io.RaggedFeature(tf.int64, "vals", partitions=[tf.io.RaggedFeature.UniformRowLength(3)])}
    assert tf.io.parse_single_example(S, uniform)["r"].numpy().tolist() == [[7, 8, 9]]


def test_parsing_within_map(caplog):
    features = {"a": tf.io.VarLenFeature(tf.int64), "b": tf.io.FixedLenFeature([], tf.string)}
    dataset = tf.data.Dataset.from_tensor_slices([A, Z]).map(lambda one: tf.io.parse_single_example(one, features))
    assert not caplog.records  # traced: no call of Python for each element
    assert isinstance(dataset.element_spec["a"], tf.SparseTensorSpec)
    assert [(e["a"].values.numpy().tolist(), e["a"].indices.numpy().tolist(), e["b"].numpy()) for e in dataset] == [
        ([1, 2, 3], [[0], [1], [2]], b"x"), ([4], [[0]], b"yy")]
    dense = {"b": tf.io.FixedLenFeature([], tf.string)}
    batches = tf.data.Dataset.from_tensor_slices([A, Z]).batch(2).map(lambda many: tf.io.parse_example(many, dense))
    assert [batch["b"].numpy().tolist() for batch in batches] == [[b"x", b"yy"]]


@pytest.mark.parametrize("features, kind, text", [
    ({}, ValueError, "features"),
    ({"c": tf.io.FixedLenSequenceFeature([], tf.float32)}, ValueError, "allow_missing"),
    ({"a": 5}, ValueError, r"\b5\b"),
    ({"zz": tf.io.FixedLenFeature([], tf.int64)}, tf.errors.InvalidArgumentError, "zz"),
    ({"a": tf.io.FixedLenFeature([], tf.int64)}, tf.errors.InvalidArgumentError, r"\b3\b"),
    ({"a": tf.io.FixedLenFeature([3], tf.string)}, tf.errors.InvalidArgumentError, "bytes"),
    ({"a": tf.io.FixedLenFeature([3], tf.int32)}, tf.errors.InvalidArgumentError, "int32"),
    ({"a": tf.io.VarLenFeature(tf.int64), "r": tf.io.RaggedFeature(tf.int64, "a")}, ValueError, "intersect"),
    ({"s": tf.io.SparseFeature("a", "c", tf.float32, 10)}, ValueError, "'c'"),
])
def test_parsing_refuses(features, kind, text):
    with pytest.raises(kind, match=text):
        tf.io.parse_single_example(A, features)


def test_pipes_are_read_once(tmp_path):
    for number in range(20):
        path = str(tmp_path / str(number))
        os.mkfifo(path)
        writer = threading.Thread(target=pathlib.Path(path).write_bytes, args=[b"through a pipe"])
        writer.start()
        assert tf.io.read_file(path).numpy() == b"through a pipe"
        writer.join()
