"""leat.summary and keras.callbacks.TensorBoard, against what TensorFlow 2.21 and Keras wrote."""

import contextlib
import json
import logging
import os
import pathlib

import numpy as np
import pytest

import event_files
import leat as tf
import summary_programs
from leat import keras
from leat.keras import layers

if len(tf.config.list_logical_devices("CPU")) < 4:
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                               [tf.config.LogicalDeviceConfiguration()] * 4)
RECORDED = json.loads((pathlib.Path(__file__).parent / "data" / "summaries.json").read_text())


@pytest.fixture(autouse=True)
def fresh_names():
    keras.backend.clear_session()


def same(found, expected, atol=1e-6):
    """A value read against one recorded."""
    if isinstance(found, dict):
        assert found["shape"] == expected["shape"]
        for one, other in zip(found["strings"], expected["strings"], strict=True):
            if isinstance(other, str):
                assert one.hex() == other
            else:  # a picture: a value between two bytes may go to either
                assert np.abs(tf.io.decode_png(one).numpy().astype(int) - np.array(other)).max(initial=0) <= 1
        return
    assert str(found.dtype) == expected["dtype"] and list(found.shape) == expected["shape"]
    np.testing.assert_allclose(found.reshape(-1), expected["data"], rtol=1e-5, atol=atol)


def test_all_kinds_as_tensorflow_writes_them(tmp_path):
    assert summary_programs.kinds(tf, str(tmp_path)) == RECORDED["told"]
    found = event_files.read(tmp_path)[0]
    for one, expected in zip(found, RECORDED["kinds"], strict=True):
        assert (one["tag"], one["step"]) == (expected["tag"], expected["step"])
        assert one["metadata"].hex() == expected["metadata"], one["tag"]
        same(one["value"], expected["value"])


def test_tensorboard_as_keras_writes_it(tmp_path):
    model = summary_programs.board(tf, str(tmp_path))
    for folder in ("train", "validation"):
        values, graphs = event_files.read(tmp_path / folder)
        found = {(one["tag"], one["step"]): one for one in values}
        for expected in RECORDED[f"board/{folder}"]:
            one = found[expected["tag"], expected["step"]]
            assert one["metadata"].hex() == expected["metadata"]
            if expected["value"] is not None and "histogram" not in one["tag"]:
                same(one["value"], expected["value"], 1e-4)
            elif expected["value"] is not None:
                same(one["value"][:, 0], {"dtype": "float64", "shape": [30], "data": expected["value"]["data"][::3]},
                     1e-4)
        assert {one["tag"] for one in values} == {one["tag"] for one in RECORDED[f"board/{folder}"]}
        assert [step for tag, step in found if tag == "epoch_loss"] == [0, 1, 2]  # Keras leaves out 0 and 1 here
        assert len(graphs) == (folder == "train")
    train = event_files.read(tmp_path / "train")
    text = next(one for one in train[0] if one["tag"] == "keras")["value"]["strings"][0]
    again = keras.models.model_from_json(text.decode())
    assert [layer.name for layer in again.layers] == [layer.name for layer in model.layers]
    assert train[1][0]["model/conv2d/kernel"] == "VarHandleOp" and "conv2d" in train[1][0].values()


def test_nothing_without_a_writer_and_an_error_without_a_step(tmp_path):
    for write in (lambda: tf.summary.scalar("a", 1), lambda: tf.summary.image("a", np.zeros((1, 2, 2, 1))),
                  lambda: tf.summary.histogram("a", [1]), lambda: tf.summary.text("a", "b"),
                  lambda: tf.summary.audio("a", np.zeros((1, 2, 1)), 8000), lambda: tf.summary.graph(None),
                  lambda: tf.summary.write("a", lambda: 1 / 0), lambda: tf.summary.experimental.write_raw_pb(b"")):
        assert not write()
    writer = tf.summary.create_file_writer(tmp_path)
    with writer.as_default():
        with pytest.raises(ValueError, match="`step`"):
            tf.summary.scalar("a", 1)
        with pytest.raises(ValueError, match=r"\(1,\)"):
            tf.summary.scalar("a", [1], step=0)
        with pytest.raises(ValueError, match="rank"):
            tf.summary.image("a", np.zeros((2, 2, 1)), step=0)
        with pytest.raises(TypeError, match="int32"):
            tf.summary.text("a", 3, step=0)
        with pytest.raises(ValueError, match="'mp3'"):
            tf.summary.audio("a", np.zeros((1, 2, 1)), 8000, step=0, encoding="mp3")
        with pytest.raises(ValueError, match="'graph_data'"):
            tf.summary.graph("graph")
    with pytest.raises(ValueError, match="`logdir`"):
        tf.summary.create_file_writer(None)
    assert event_files.read(tmp_path) == ([], [])


def test_writers_steps_and_blocks(tmp_path):
    first, second = (tf.summary.create_file_writer(str(tmp_path / name)) for name in "ab")
    with first.as_default(step=10):
        tf.summary.scalar("x", 1)
        with second.as_default(step=tf.Variable(20, dtype=tf.int64)):
            tf.summary.scalar("x", 2)
        assert event_files.tags(tmp_path / "b") == {"x": [(20, 2.0)]}  # a block's end flushes
        tf.summary.scalar("x", 3)
        assert tf.summary.experimental.get_step() == 10
    assert tf.summary.experimental.get_step() is None
    assert event_files.tags(tmp_path / "a") == {"x": [(10, 1.0), (10, 3.0)]}
    with tf.summary.create_noop_writer().as_default():
        assert not tf.summary.scalar("x", 1, step=1)
    first.set_as_default(step=4)
    tf.summary.scalar("y", 1)
    tf.summary.flush()
    assert event_files.tags(tmp_path / "a")["y"] == [(4, 1.0)]
    tf.summary.create_noop_writer().set_as_default()
    first.close()
    first.close()
    first.flush()
    with pytest.raises(RuntimeError, match="closed"):
        first.as_default()
    tf.summary.experimental.set_step(None)
    from leat.summary import state
    state._state.writer = None


def test_waiting_summaries(tmp_path):
    for name, options, seen in (("now", {"max_queue": 0}, 1), ("later", {}, 0), ("ms", {"flush_millis": 0}, 1)):
        writer = tf.summary.create_file_writer(str(tmp_path / name), filename_suffix=".mine", **options)
        around = writer.as_default()
        around.__enter__()
        tf.summary.scalar("x", 1, step=1)
        if name == "ms":
            tf.summary.scalar("x", 1, step=1)
        assert len(event_files.read(tmp_path / name)[0]) >= seen and name != "later" or (
            event_files.read(tmp_path / name)[0] == [])
        around.__exit__()
        assert os.listdir(tmp_path / name)[0].endswith(".mine")


def test_the_first_replica_writes(tmp_path):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    writer = tf.summary.create_file_writer(str(tmp_path))

    def step(x):
        tf.summary.scalar("replica", tf.distribute.get_replica_context().replica_id_in_sync_group, step=x)
        return x + 1
    with writer.as_default():
        for number in range(3):
            strategy.run(step, (tf.constant(number, tf.int64),))
    assert event_files.tags(tmp_path) == {"replica": [(0, 0.0), (1, 0.0), (2, 0.0)]}


def test_a_closed_writer_in_a_function(tmp_path):
    writer = tf.summary.create_file_writer(str(tmp_path))

    @tf.function
    def step(x):
        tf.summary.scalar("x", x, step=1)
    with writer.as_default():
        step(tf.constant(1.))
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="closed"):
        step(tf.constant(1.))


def test_graphs(tmp_path):
    @tf.function
    def cube(x):
        return x * x * x
    writer = tf.summary.create_file_writer(str(tmp_path))
    with writer.as_default():
        assert tf.summary.graph(cube.get_concrete_function(tf.constant(1.)).graph)
        tf.summary.trace_on()
        tf.summary.trace_on()  # says that it is on
        cube(tf.constant(2.))
        tf.summary.trace_export("trace", step=3)
        with pytest.raises(ValueError, match="trace_on"):
            tf.summary.trace_export("trace", step=3)
    writer.close()
    values, graphs = event_files.read(tmp_path)
    assert sorted(graphs[0].values()) == ["Placeholder", "multiply", "multiply"]
    assert (values[0]["tag"], values[0]["step"]) == ("trace", 3)
    metadata = event_files.message(event_files.message(values[0]["metadata"])[1])
    assert metadata == {1: b"graph_run_metadata_graph", 2: b"1"}
    kept = event_files.message(values[0]["value"]["strings"][0])
    nodes = [event_files.message(node)[2] for n, node in event_files.fields(event_files.message(kept[4])[2]) if n == 1]
    assert sorted(nodes) == [b"Placeholder", b"multiply", b"multiply"]


class Telling(keras.Model):
    """A model that writes a summary of its own in each step."""

    def __init__(self):
        super().__init__()
        self.dense = layers.Dense(1)

    def call(self, x):
        tf.summary.histogram("inputs", x, buckets=2)
        return self.dense(x)


@pytest.mark.parametrize("replicas", [1, 2])
def test_summaries_of_the_models_own(tmp_path, replicas):
    scope = contextlib.nullcontext()
    if replicas == 2:
        scope = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]).scope()
    with scope:
        model = Telling()
        model.compile("sgd", "mse")
    x, y = np.ones((8, 2), np.float32), np.ones((8, 1), np.float32)
    for name in ("one", "two"):  # a second fit has a writer of its own
        model.fit(x, y, batch_size=2, epochs=2, verbose=0, validation_data=(x, y),
                  callbacks=[keras.callbacks.TensorBoard(tmp_path / name, update_freq=2)])
        found = event_files.tags(tmp_path / name / "train")
        assert [step for step, _ in found["inputs"]] == [2, 4, 6, 8]
        assert [step for step, _ in found["batch_loss"]] == [2, 4, 6, 8]
        assert [step for step, _ in event_files.tags(tmp_path / name / "validation")["inputs"]] == [2, 4, 6, 8]


def test_rates_and_projector(tmp_path, caplog):
    model = keras.Sequential([keras.Input((4,)), layers.Embedding(10, 2, name="words"), layers.Flatten(),
                              layers.Dense(1)])
    model.compile("sgd", "mse")
    with caplog.at_level(logging.WARNING, logger="leat"):
        callback = keras.callbacks.TensorBoard(tmp_path, write_steps_per_second=True, update_freq="batch",
                                               write_graph=False, profile_batch=(2, 3), embeddings_freq=1,
                                               embeddings_metadata={"words": "words.tsv"})
    assert "profile_batch=(2, 3)" in caplog.text
    model.fit(np.ones((8, 4), np.int32), np.ones((8, 1)), batch_size=4, verbose=0, callbacks=[callback])
    found = event_files.tags(tmp_path / "train")
    assert set(found) == {"batch_loss", "batch_steps_per_second", "epoch_loss", "epoch_learning_rate",
                          "epoch_steps_per_second"}
    assert all(value > 0 for _, value in found["batch_steps_per_second"]) and found["epoch_steps_per_second"][0][1] > 0
    assert (tmp_path / "projector_config.pbtxt").read_text() == (
        'embeddings {\n  tensor_name: "layer_with_weights-0/embeddings/.ATTRIBUTES/VARIABLE_VALUE"\n'
        '  metadata_path: "words.tsv"\n}\n')
    assert (tmp_path / "train" / "keras_embedding.ckpt-0.weights.h5").exists()
    with pytest.raises(ValueError, match="update_freq"):
        keras.callbacks.TensorBoard(tmp_path, update_freq=0)
    with pytest.raises(ValueError, match="`Embedding`"):
        keras.callbacks.TensorBoard(tmp_path, embeddings_freq=1, embeddings_metadata={"x": "y"}).set_model(model)
