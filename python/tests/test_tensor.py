"""Tensors against what TensorFlow 2.21 prints, computes and raises (recorded), and against numpy."""

import pickle

import hypothesis
import hypothesis.extra.numpy as hnp
import hypothesis.strategies as st
import numpy as np
import pytest

import leat as tf

PRINTED = [
    (1, "<tf.Tensor: shape=(), dtype=int32, numpy=1>", "tf.Tensor(1, shape=(), dtype=int32)"),
    ("a", "<tf.Tensor: shape=(), dtype=string, numpy=b'a'>", "tf.Tensor(b'a', shape=(), dtype=string)"),
    ([], "<tf.Tensor: shape=(0,), dtype=float32, numpy=array([], dtype=float32)>",
     "tf.Tensor([], shape=(0,), dtype=float32)"),
    ([1, 2, 3], "<tf.Tensor: shape=(3,), dtype=int32, numpy=array([1, 2, 3], dtype=int32)>",
     "tf.Tensor([1 2 3], shape=(3,), dtype=int32)"),
    ([[1., 2.], [3., 4.]],
     "<tf.Tensor: shape=(2, 2), dtype=float32, numpy=\narray([[1., 2.],\n       [3., 4.]], dtype=float32)>",
     "tf.Tensor(\n[[1. 2.]\n [3. 4.]], shape=(2, 2), dtype=float32)"),
    ([["a", "b"]], "<tf.Tensor: shape=(1, 2), dtype=string, numpy=array([[b'a', b'b']], dtype=object)>",
     "tf.Tensor([[b'a' b'b']], shape=(1, 2), dtype=string)"),
    ([True, False], "<tf.Tensor: shape=(2,), dtype=bool, numpy=array([ True, False])>",
     "tf.Tensor([ True False], shape=(2,), dtype=bool)"),
    (np.zeros([2, 1, 3], np.int64),
     "<tf.Tensor: shape=(2, 1, 3), dtype=int64, numpy=\narray([[[0, 0, 0]],\n\n       [[0, 0, 0]]])>",
     "tf.Tensor(\n[[[0 0 0]]\n\n [[0 0 0]]], shape=(2, 1, 3), dtype=int64)"),
    (np.float32(1e20), "<tf.Tensor: shape=(), dtype=float32, numpy=1.0000000200408773e+20>",
     "tf.Tensor(1e+20, shape=(), dtype=float32)"),
    (1e-7, "<tf.Tensor: shape=(), dtype=float32, numpy=1.0000000116860974e-07>",
     "tf.Tensor(1e-07, shape=(), dtype=float32)"),
    (100000000.0, "<tf.Tensor: shape=(), dtype=float32, numpy=100000000.0>",
     "tf.Tensor(1e+08, shape=(), dtype=float32)"),
    ([float("nan"), float("inf")], "<tf.Tensor: shape=(2,), dtype=float32, numpy=array([nan, inf], dtype=float32)>",
     "tf.Tensor([nan inf], shape=(2,), dtype=float32)"),
    (np.zeros((0, 3), np.float32),
     "<tf.Tensor: shape=(0, 3), dtype=float32, numpy=array([], shape=(0, 3), dtype=float32)>",
     "tf.Tensor([], shape=(0, 3), dtype=float32)"),
]


@pytest.mark.parametrize("value, is_repr, is_str", PRINTED)
def test_printing_is_tensorflows(value, is_repr, is_str):
    assert repr(tf.constant(value)) == is_repr
    assert str(tf.constant(value)) == is_str


def test_formats_print_values():
    assert f"{tf.constant(1.5):.2f}|{tf.constant(1.5)}|{tf.constant([1, 2])}" == "1.50|1.5|[1 2]"


@st.composite
def indexed(draw):
    """(array, basic index) as numpy takes it, within bounds."""
    array = draw(hnp.arrays(np.int32, hnp.array_shapes(min_dims=1, max_dims=4, max_side=4),
                            elements=st.integers(-9, 9)))
    return array, draw(hnp.basic_indices(array.shape, allow_newaxis=True, allow_ellipsis=True))


@hypothesis.given(indexed())
@hypothesis.settings(deadline=None, max_examples=200)
def test_indexing_is_numpys(pair):
    array, key = pair
    expected = array[key]
    found = tf.constant(array)[key].numpy()
    assert np.shape(found) == expected.shape
    np.testing.assert_array_equal(found, expected)
    value = tf.Variable(array.astype(np.float32))
    with tf.GradientTape() as tape:
        part = value[key]
    np.testing.assert_array_equal(part.numpy(), expected)
    gradient = np.zeros(array.shape, np.float32)
    gradient[key] = 1
    if expected.size:
        np.testing.assert_array_equal(tape.gradient(part, value).numpy(), gradient)


@hypothesis.given(indexed())
@hypothesis.settings(deadline=None, max_examples=60)
def test_indexing_is_numpys_while_tracing(pair):
    array, key = pair
    dataset = tf.data.Dataset.from_tensors(array).map(lambda x: x[key])
    np.testing.assert_array_equal(next(dataset.as_numpy_iterator()), array[key])


def test_new_axes_come_after_the_indices_that_take_axes_away():
    x = np.arange(2, dtype=np.int32).reshape(1, 1, 2, 1)
    dataset = tf.data.Dataset.from_tensors(x).map(lambda x: x[(None,) * 5 + (0, 0, 1, 0)])
    assert next(dataset.as_numpy_iterator()).tolist() == [[[[[1]]]]]


def test_bfloat16_is_no_uint16_to_numpy():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    made = tf.constant([[1.5, 2], [0, -1]], tf.bfloat16)
    assert np.asarray(made).dtype == ml_dtypes.bfloat16 and np.asarray(made).tolist() == [[1.5, 2], [0, -1]]
    assert made[1].numpy().tolist() == [0, -1] and np.asarray(tf.zeros([0, 2], tf.bfloat16)).shape == (0, 2)
    with pytest.raises(BufferError, match="bfloat16"):
        memoryview(made)


def test_memory_of_others_is_copied():
    class Owner:
        def __init__(self):
            self.array = np.ones(2)

        def __array__(self, dtype=None, copy=None):
            return self.array
    owner, lent = Owner(), bytearray(b"ab")
    made = tf.constant(owner), tf.constant(memoryview(lent)), next(iter(tf.data.Dataset.from_tensors(owner)))
    owner.array[0], lent[0] = 5, 0
    assert [x.numpy().tolist() for x in made] == [[1, 1], [97, 98], [1, 1]]


def test_parts_of_unknown_length():
    dataset = tf.data.Dataset.from_generator(lambda: iter([[1, 2, 3], [4, 5]]),
                                             output_signature=tf.TensorSpec([None], tf.int32))
    found = list(dataset.map(lambda x: (x[::-1], x[-1], x[1:], x[:-1], x[:, None])).as_numpy_iterator())
    assert [[part.tolist() for part in row] for row in found] == [
        [[3, 2, 1], 3, [2, 3], [1, 2], [[1], [2], [3]]], [[5, 4], 5, [5], [4], [[4], [5]]]]


def test_indices_that_are_refused():
    x = tf.constant([[1., 2., 3.], [4., 5., 6.]])
    for key, word in [(5, r"\b0\b"),
                      ((0, 5), r"\b1\b"),
                      ((0, 0, 0), "dims"),
                      ((..., ...), "ellipses"),
                      (slice(None, None, 0), "strides")]:
        with pytest.raises(tf.errors.InvalidArgumentError, match=word):
            x[key]
    for key in ("a", 1.0, tf.constant([0, 1])):
        with pytest.raises(TypeError, match="indices"):
            x[key]
    with pytest.raises(tf.errors.InvalidArgumentError, match="scalar"):
        tf.constant(5)[0]


def test_masks_and_tensors_as_indices():
    x = tf.constant([[1., 2., 3.], [4., 5., 6.]])
    assert x[x > 2].numpy().tolist() == [3, 4, 5, 6]
    assert x[tf.constant(1)].numpy().tolist() == [4, 5, 6]
    assert x[tf.constant(0):tf.constant(1)].numpy().tolist() == [[1, 2, 3]]


def test_operators_follow_the_dtype_of_the_tensor():
    i = tf.constant([1, 2, 3])
    assert (i / 2).dtype == tf.float64 and (i / 2).numpy().tolist() == [0.5, 1, 1.5]
    assert (np.array([1, 2, 3]) + i).dtype == tf.int32
    assert (i + np.float32(1)).dtype == tf.int32
    assert (tf.constant(7, tf.uint8) - 8).numpy() == 255
    assert (tf.constant("a") + "b").numpy() == b"ab"
    assert (i == [1, 2, 4]).numpy().tolist() == [True, True, False]
    assert (i == tf.constant([1, 2])).numpy() is np.False_
    assert (i != None) is True  # noqa: E711
    for wrong in (lambda: i + 1.5, lambda: i + tf.constant(1.0), lambda: i + "a", lambda: i // 0):
        with pytest.raises(tf.errors.InvalidArgumentError):
            wrong()
    with pytest.raises(ValueError, match="unsupported"):
        i + None


@pytest.mark.parametrize("value, dtype, error", [
    ([1, [2]], None, ValueError), ({}, None, ValueError), (None, None, ValueError), (1.5, "int32", TypeError),
    ("a", "int32", TypeError), (1, "string", TypeError), (2**63, None, ValueError), ([1, "a"], None, ValueError),
    ([True, 1], None, ValueError), (1, "bool", TypeError)])
def test_what_is_no_tensor(value, dtype, error):
    with pytest.raises(error):
        tf.constant(value, dtype)


def test_constants_convert_as_tensorflows():
    assert tf.constant(300, tf.uint8).numpy() == 44
    assert tf.constant(2**31).dtype == tf.int64
    assert tf.constant([1, True]).dtype == tf.int32
    assert tf.constant(np.array([1.5]), tf.int32).numpy().tolist() == [1]
    assert tf.constant(1, shape=[2, 2]).numpy().tolist() == [[1, 1], [1, 1]]


def test_python_needs_one_value():
    with pytest.raises(ValueError, match="ambiguous"):
        bool(tf.constant([1, 2]))
    with pytest.raises(TypeError, match="0-dimensional"):
        int(tf.constant([1, 2]))
    with pytest.raises(TypeError, match="unhashable"):
        hash(tf.constant(1))
    assert [5, 6][tf.constant(1)] == 6


def test_values_go_out_without_a_copy():
    t = tf.constant(np.arange(6, dtype=np.float32).reshape(2, 3))
    assert np.shares_memory(np.asarray(t), np.asarray(memoryview(t))) and not np.asarray(t).flags.writeable
    assert np.shares_memory(np.from_dlpack(t), np.asarray(t))
    assert t.__dlpack_device__() == (1, 0)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "bool", "string"])
def test_arrays_are_the_callers_to_write(dtype):
    values = tf.constant(["a", "b"]) if dtype == "string" else tf.cast([1, 0], dtype)
    for tensor in (values, tf.identity(values), values[:1]):
        before = np.array(tensor)
        array = tensor.numpy()
        assert array.flags.writeable
        array[0] = array[-1] if dtype == "string" else 0
        np.testing.assert_array_equal(np.asarray(tensor), before)
    given = np.ones([100, 100], np.float32)
    tensor = tf.constant(given)
    tensor.numpy()[:] = 7
    assert given.sum() == np.asarray(tensor).sum() == 10000
    variable = tf.Variable([1.0, 2.0])
    array = variable.numpy()
    array[:] = 7
    assert variable.numpy().tolist() == [1.0, 2.0]


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
                                   "float16", "float32", "float64"])
def test_dlpack_both_ways(dtype):
    array = np.arange(6).reshape(2, 3).astype(dtype)
    capsule = tf.experimental.dlpack.to_dlpack(tf.constant(array))
    back = tf.experimental.dlpack.from_dlpack(capsule)
    assert back.dtype == dtype
    np.testing.assert_array_equal(back.numpy(), array)
    np.testing.assert_array_equal(np.from_dlpack(tf.constant(array)), array)
    shared = tf.experimental.dlpack.from_dlpack(array.__dlpack__())
    assert np.shares_memory(np.asarray(shared), array)
    with pytest.raises(ValueError, match="DLPack"):
        tf.experimental.dlpack.from_dlpack(capsule)


def test_dlpack_refuses_gaps_and_strings():
    with pytest.raises(BufferError, match="contiguous"):
        tf.experimental.dlpack.from_dlpack(np.arange(10)[::2].__dlpack__())
    with pytest.raises(TypeError, match="string"):
        tf.constant("a").__dlpack__()


@pytest.mark.parametrize("value", [1.5, [1, 2], ["a", "b"], [[True]], np.zeros((0, 2), np.int64)])
def test_pickling(value):
    t = tf.constant(value)
    again = pickle.loads(pickle.dumps(t))
    assert again.dtype == t.dtype and again.shape == t.shape
    np.testing.assert_array_equal(again.numpy(), t.numpy())


def test_making_tensors():
    assert tf.zeros([2, 3], tf.int32).numpy().tolist() == [[0, 0, 0], [0, 0, 0]]
    assert tf.zeros([], tf.string).numpy() == b""
    assert tf.ones(3).numpy().tolist() == [1, 1, 1]
    assert tf.eye(2, 3, batch_shape=[2]).numpy().tolist() == [[[1, 0, 0], [0, 1, 0]]] * 2
    assert tf.linspace(0, 1, 3).numpy().tolist() == [0, 0.5, 1] and tf.linspace(0, 1, 3).dtype == tf.float64
    assert tf.rank(tf.zeros([1, 2])).numpy() == 2
    assert tf.group(tf.constant(1)) is None and tf.no_op() is None
