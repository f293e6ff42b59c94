"""Variables of strings: values, functions, checkpoints and pipelines; what is expected is TensorFlow 2.21's."""

import copy
import os
import threading

import numpy as np
import pytest

import leat as tf

RECORDED = os.path.join(os.path.dirname(__file__), "..", "..", "tests", "checkpoints", "strings")


def test_values():
    v = tf.Variable("a")
    assert repr(v) == "<tf.Variable 'Variable:0' shape=() dtype=string, numpy=b'a'>"
    assert v.trainable and v.numpy() == b"a" and v.assign("cé").numpy() == "cé".encode()
    assert bool(v == "cé") and (v + "x").numpy() == "céx".encode()
    w = tf.Variable([b"x\x00y", b""])
    assert w.numpy().tolist() == [b"x\x00y", b""] and w.shape == (2,) and w.dtype == tf.string
    assert tf.Variable(np.zeros((0, 2), object)).numpy().shape == (0, 2)
    assert copy.deepcopy(w).numpy().tolist() == w.numpy().tolist()
    kept = w.value()
    w.assign(["1", "2"])
    assert kept.numpy().tolist() == [b"x\x00y", b""]  # a value is what it was when it was read


def test_parts_are_assigned():
    w = tf.Variable(["a", "b"])
    assert w.scatter_nd_update([[0]], ["zz"]).numpy().tolist() == [b"zz", b"b"]
    assert w.scatter_update(tf.IndexedSlices(["q"], [1])).numpy().tolist() == [b"zz", b"q"]
    w[0].assign("k")
    assert w.numpy().tolist() == [b"k", b"q"]


def test_refused():
    v = tf.Variable("a")
    with pytest.raises(tf.errors.InvalidArgumentError, match="strings"):
        v.assign_add("b")
    with pytest.raises(ValueError, match="shape"):
        v.assign(["b"])
    with pytest.raises(TypeError, match="string"):
        v.assign(1)
    with pytest.raises(TypeError):
        tf.Variable(1).assign("a")
    assert v.numpy() == b"a"


def test_in_functions():
    w = tf.Variable(["a", "b"])

    @tf.function
    def turned(x):
        w.assign([x, w[0]])
        return w + x
    assert turned("n").numpy().tolist() == [b"nn", b"an"] and w.numpy().tolist() == [b"n", b"a"]

    @tf.function
    def looped():
        for i in tf.range(3):
            w.assign(tf.strings.join([w, tf.strings.as_string(i)]))
        return w.read_value()
    assert looped().numpy().tolist() == [b"n012", b"a012"]

    @tf.function
    def chosen(c):
        if c:
            w.assign(["yes", ""])
        else:
            w.assign(["no", ""])
        return w[0]
    assert [chosen(tf.constant(c)).numpy() for c in (True, False)] == [b"yes", b"no"]


def test_in_pipelines():
    v = tf.Variable("")
    dataset = tf.data.Dataset.from_tensor_slices(["a", "b", "c"]).map(lambda x: v.assign(v + x))
    assert [x.numpy() for x in dataset] == [b"a", b"ab", b"abc"] and v.numpy() == b"abc"
    read = tf.data.Dataset.range(3).map(lambda i: v + tf.strings.as_string(i)).batch(3)
    assert next(iter(read)).numpy().tolist() == [b"abc0", b"abc1", b"abc2"]


def test_beside_gradients():
    x, s = tf.Variable(2.0), tf.Variable("abc")
    with tf.GradientTape() as tape:
        y = x * tf.cast(tf.strings.length(s), tf.float32)
    assert [g if g is None else g.numpy() for g in tape.gradient(y, [x, s])] == [3.0, None]


def test_in_a_scope():
    with tf.distribute.MirroredStrategy(["CPU:0"]).scope():
        v = tf.Variable("z")
    assert v.assign("k").numpy() == b"k"


def fresh():
    return {"v": tf.Variable(["", "", ""]), "w": tf.Variable(""), "e": tf.Variable(np.zeros((0, 2), object)),
            "n": tf.Variable(0.0)}


def of(values):
    return [value.numpy().tolist() if value.shape.rank else value.numpy() for value in values.values()]


def test_checkpoints(tmp_path):
    values, wanted = fresh(), [["a".encode(), "bé".encode(), b"x\x00"], b"x\x00y", [], 3.0]
    tf.train.Checkpoint(**values).read(RECORDED).assert_consumed()  # of TensorFlow's
    assert of(values) == wanted
    path, again = tf.train.Checkpoint(**values).save(str(tmp_path / "own")), fresh()
    tf.train.Checkpoint(**again).restore(path).assert_consumed()
    assert of(again) == wanted
    assert tf.train.load_variable(path, "w/.ATTRIBUTES/VARIABLE_VALUE") == b"x\x00y"
    with pytest.raises(ValueError, match="shape"):
        tf.train.Checkpoint(w=tf.Variable(["", ""])).restore(path)


def test_saved_models(tmp_path):
    module = tf.Module()
    module.s = tf.Variable("q")
    module.f = tf.function(lambda x: module.s.assign(module.s + x), input_signature=[tf.TensorSpec([], tf.string)])
    tf.saved_model.save(module, str(tmp_path / "model"))
    loaded = tf.saved_model.load(str(tmp_path / "model"))
    assert loaded.s.numpy() == b"q" and loaded.f("r").numpy() == b"qr" and loaded.s.numpy() == b"qr"


def test_threads():
    v, wrong = tf.Variable("a" * 10), []

    def write(letter):
        for _ in range(300):
            v.assign(letter * 10)

    def read():
        for _ in range(600):
            text = v.numpy()
            if len(text) != 10 or len(set(text)) != 1:
                wrong.append(text)
    threads = [threading.Thread(target=write, args=(letter,)) for letter in "bc"] + [
        threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
