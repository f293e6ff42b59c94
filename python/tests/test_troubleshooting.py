"""docs/guides/troubleshooting.md: every message that it explains is one that leat says, in the order of the page."""

import logging
import pathlib
import re

import numpy as np
import pytest

import leat as tf

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/guides/troubleshooting.md").read_text()
HEADINGS = re.findall(r"(?m)^### (.*)$", PAGE)
SHARDS = "are not enough for the required 2 shards/workers"  # of several processes: the guide first_cluster has both

# A program for each heading: its last expression fails with the message, or warns with it.
PROGRAMS = """
list(ranges(1, 4).batch(2))
list(ranges(3, 6).padded_batch(2, padded_shapes=[3]))
tf.constant(1) + tf.constant(1.0)
tf.constant([1, 2]) + tf.constant([1, 2, 3])
tf.matmul(tf.ones([2, 3]), tf.ones([2, 3]))
tf.reshape([1, 2, 3], [2, 2])
D.from_tensor_slices([[1], [2, 3]])
D.from_tensor_slices(([1, 2], [3, 4, 5]))
list(D.range(3).map(lambda x: np.sqrt(x.numpy())))
D.from_tensor_slices(([1, 2], [3, 4])).map(lambda x: x + 1)
len(D.range(3).filter(lambda x: x > 1))
len(D.range(3).repeat())
D.range(3)[0]
D.range(4).filter(lambda x: x > 0).global_shuffle()
tf.constant([1, 2]).__class__ and set_item(tf.constant([1, 2]))
list(D.from_generator(lambda: iter([[1, 2]]), output_signature=tf.TensorSpec([], tf.int32)))
list(tf.data.TFRecordDataset("gone.tfrecord"))
list(D.list_files("nothing/*.jpg"))
list(tf.data.TFRecordDataset("text.txt"))
list(tf.data.TFRecordDataset("cut.tfrecord"))
list(records.map(lambda r: tf.io.parse_single_example(r, {"y": tf.io.FixedLenFeature([], tf.int64)})))
list(records.map(lambda r: tf.io.parse_single_example(r, {"x": tf.io.FixedLenFeature([], tf.float32)})))
list(D.from_tensors("text.txt").map(tf.io.read_file).map(tf.io.decode_jpeg))
list(tf.data.experimental.CsvDataset("c.csv", [tf.int32, tf.int32], header=True))
list(tf.data.TextLineDataset("hdfs://host/file"))
model("mse").fit(D.from_tensor_slices((np.ones((2, 3)), np.ones((2, 2)))), verbose=0)
model("mse").fit(np.ones((2, 4)), np.ones((2, 2)), verbose=0)
keras.Sequential([keras.Input((None,)), keras.layers.Dense(1)])
model("categorical_crossentropy").fit(np.ones((2, 3)), np.array([0, 1]), verbose=0)
model("sparse_categorical_crossentropy").fit(np.ones((2, 3)), np.eye(2), verbose=0)
model(keras.losses.SparseCategoricalCrossentropy(True)).fit(np.ones((2, 3)), np.array([0, 7]), verbose=0)
model("mse").fit(np.ones((2, 3)), np.ones((3, 2)), verbose=0)
keras.optimizers.SGD(0.1).apply_gradients([(None, tf.Variable(1.0))])
ask_twice()
check_numerics()
load_own_class()
load_other_model()
model("mse").save("model")
tf.distribute.MirroredStrategy(["GPU:0", "GPU:1"])
split_late()
SHARDS
iter(D.range(4)).restore(iter(D.range(3)).save())
tf.raw_ops
tf.Session
""".strip().split("\n")


def ranges(start, stop):
    return tf.data.Dataset.range(start, stop).map(lambda n: tf.range(n))


def set_item(tensor):
    tensor[0] = 3


def model(loss, outputs=2):
    made = tf.keras.Sequential([tf.keras.Input((3,)), tf.keras.layers.Dense(outputs)])
    made.compile("sgd", loss)
    return made


def ask_twice():
    v = tf.Variable(1.0)
    with tf.GradientTape() as tape:
        y = v * 3
    tape.gradient(y, v)
    tape.gradient(y, v)


def check_numerics():
    tf.debugging.enable_check_numerics()
    try:
        model("mse").fit(np.full((2, 3), np.nan), np.ones((2, 2)), verbose=0)
    finally:
        tf.debugging.disable_check_numerics()


def load_own_class():
    class Mine(tf.keras.layers.Layer):
        def call(self, x):
            return x

    tf.keras.Sequential([tf.keras.Input((3,)), Mine()]).save("own.keras")
    tf.keras.models.load_model("own.keras")


def load_other_model():
    model("mse").save_weights("w.weights.h5")
    model("mse", 5).load_weights("w.weights.h5")


def split_late():
    tf.distribute.MirroredStrategy()
    cpu = tf.config.list_physical_devices("CPU")[0]
    tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 2)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.txt").write_text("hello\n" * 9)
    (tmp_path / "c.csv").write_text("a,b\n1,2\nx,3\n")
    value = tf.train.Feature(int64_list=tf.train.Int64List(value=[1]))
    example = tf.train.Example(features=tf.train.Features(feature={"x": value})).SerializeToString()
    with tf.io.TFRecordWriter("a.tfrecord") as writer:
        writer.write(example)
    (tmp_path / "cut.tfrecord").write_bytes((tmp_path / "a.tfrecord").read_bytes()[:-5])


def test_there_are_as_many_programs_as_headings():
    assert len(PROGRAMS) == len(HEADINGS) >= 30


@pytest.mark.parametrize("heading, program", list(zip(HEADINGS, PROGRAMS)))
def test_message(heading, program, folder, caplog):
    if program == "SHARDS":
        assert heading == SHARDS
        source = (ROOT / "src/dist").rglob("*.c"), (ROOT / "src/data").rglob("*.c")
        wanted = "for the required"
        assert any(wanted in path.read_text() for paths in source for path in paths)
        return
    scope = {"D": tf.data.Dataset, "keras": tf.keras, "records": tf.data.TFRecordDataset("a.tfrecord")}
    with caplog.at_level(logging.WARNING, "leat"):
        try:
            eval(program, {**globals(), **scope})
            said = caplog.text
        except Exception as error:
            said = str(error)
    assert re.sub("`", "", heading) in re.sub("`", "", said)
