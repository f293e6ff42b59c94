"""tf.test, messages of tensors, moving averages, coordinators, what tf.config says of a CPU: as in TensorFlow 2.21."""

import threading

import numpy as np
import pytest

import leat as tf


class Cases(tf.test.TestCase):
    """The assertions, each where it holds."""

    def runTest(self):
        """Runs none."""


@pytest.fixture
def case():
    return Cases()


HOLD = {
    "assertAllEqual": ([[1., np.nan]], [[1., np.nan]]), "assertNotAllEqual": ([1, 2], [1, 3]),
    "assertAllClose": ([1., 2.], [1.0000001, 2.]), "assertNotAllClose": ([1.], [1.1]),
    "assertAllCloseAccordingToType": (np.float16([1.]), np.float16([1.0005])), "assertNear": (1., 1.5, 0.5),
    "assertArrayNear": ([1., 2.], [1.1, 2.1], 0.2), "assertNDArrayNear": (np.ones(2), np.ones(2) + .1, 0.2),
    "assertAllGreater": ([2, 3], 1), "assertAllGreaterEqual": ([2, 3], 2), "assertAllLess": ([2, 3], 4),
    "assertAllLessEqual": ([2, 3], 3), "assertAllInRange": ([2, 3], 2, 3), "assertAllInSet": ([2, 3], {2, 3}),
    "assertShapeEqual": (np.ones(2), np.zeros(2)), "assertDTypeEqual": (np.float32(1), tf.float32),
    "assertStartsWith": ("abc", "ab"), "assertEmpty": ([],), "assertNotEmpty": ([1],), "assertLen": ([1], 1),
    "assertDeviceEqual": ("/device:CPU:0", "/cpu:0")}
FAIL = {
    "assertAllEqual": ([1], [2]), "assertNotAllEqual": ([1, 2], [1, 2]), "assertAllClose": ([1.], [1.1]),
    "assertNotAllClose": ([1.], [1.]), "assertAllCloseAccordingToType": ([1.], [1.0005]), "assertNear": (1., 1.6, 0.5),
    "assertArrayNear": ([1.], [2.], 0.2), "assertNDArrayNear": (np.ones(2), np.zeros(2), 0.2),
    "assertAllGreater": ([2, 3], 2), "assertAllGreaterEqual": ([2, 3], 3), "assertAllLess": ([2, 3], 3),
    "assertAllLessEqual": ([2, 3], 2), "assertAllInRange": ([2, 4], 2, 3), "assertAllInSet": ([2, 4], {2, 3}),
    "assertShapeEqual": (np.ones(2), np.zeros(3)), "assertDTypeEqual": (np.float64(1), tf.float32),
    "assertStartsWith": ("abc", "b"), "assertEmpty": ([1],), "assertNotEmpty": ([],), "assertLen": ([1], 2),
    "assertDeviceEqual": ("/device:CPU:0", "/cpu:1")}


@pytest.mark.parametrize("name", HOLD)
def test_an_assertion_holds_or_fails(case, name):
    getattr(case, name)(*HOLD[name])
    if name.startswith("assertAll") and name != "assertAllInSet":
        getattr(case, name)(tf.constant(HOLD[name][0]), *HOLD[name][1:])
    with pytest.raises(AssertionError):
        getattr(case, name)(*FAIL[name])


def test_structures_and_errors(case):
    case.assertAllClose({"a": [tf.constant([1.]), 2.]}, {"a": [[1.], 2.]})
    case.assertAllEqual(tf.ragged.constant([[1, 2], [3]]), [[1, 2], [3]])
    assert case.evaluate({"a": tf.constant([1])})["a"].tolist() == [1]
    with case.assertRaisesOpError("inv|shape|dim|mat"):
        tf.linalg.inv(tf.ones([2, 3]))
    with pytest.raises(AssertionError):
        with case.assertRaisesOpError("nothing of this kind"):
            tf.linalg.inv(tf.ones([2, 3]))
    case.setUp()
    first = tf.random.uniform([2]).numpy()
    case.setUp()
    case.assertAllEqual(first, tf.random.uniform([2]))


def test_gradients_are_computed_in_two_ways():
    for found in tf.test.compute_gradient(lambda x, y: tf.matmul(x, y), [tf.constant([[3., 2.]]),
                                                                         tf.constant([[1.], [2.]])]):
        assert [one.tolist() for one in found] == [[[1., 2.]], [[3., 2.]]]
    with pytest.raises(ValueError, match="list"):
        tf.test.compute_gradient(lambda x: x, tf.constant(1.))


def test_the_machine():
    assert not tf.test.is_gpu_available() and tf.test.gpu_device_name() == "" and not tf.test.is_built_with_cuda()
    config, cpu = tf.config.experimental, tf.config.list_physical_devices("CPU")[0]
    assert config.get_memory_info("CPU:0") == {"current": 0, "peak": 0} and config.reset_memory_stats("/CPU:0") is None
    for device in ("CPU:999", "cpu:0", "GPU:0", "x"):
        with pytest.raises(ValueError, match=device):
            config.get_memory_info(device)
    with pytest.raises(KeyError):
        config.get_memory_growth(cpu)
    assert config.get_device_details(cpu) == {} and config.get_device_policy() == "silent"
    config.set_device_policy("warn")
    assert config.get_device_policy() == "warn"
    config.set_device_policy(None)
    with pytest.raises(ValueError, match="bad"):
        config.set_device_policy("bad")
    assert config.get_synchronous_execution() and config.tensor_float_32_execution_enabled()
    config.enable_op_determinism()


# ---- messages of tensors: bytes and texts are TensorFlow's ----

def test_a_tensor_becomes_a_message():
    made = tf.make_tensor_proto([1., 2.])
    assert made.SerializeToString() == b'\x08\x01\x12\x04\x12\x02\x08\x02"\x08\x00\x00\x80?\x00\x00\x00@'
    assert str(made) == ('dtype: DT_FLOAT\ntensor_shape {\n  dim {\n    size: 2\n  }\n}\n'
                         'tensor_content: "\\000\\000\\200?\\000\\000\\000@"\n')
    assert tf.make_tensor_proto(["a", "b"]).SerializeToString() == b"\x08\x07\x12\x04\x12\x02\x08\x02B\x01aB\x01b"
    assert str(tf.make_tensor_proto(True)) == "dtype: DT_BOOL\ntensor_shape {\n}\nbool_val: true\n"
    assert str(tf.make_tensor_proto(np.float64(1))) == "dtype: DT_DOUBLE\ntensor_shape {\n}\ndouble_val: 1\n"
    assert list(tf.make_tensor_proto(np.float16([1.5])).half_val) == [15872]
    assert list(tf.make_tensor_proto(5, dtype=tf.int64, shape=[2, 2]).int64_val) == [5]
    with pytest.raises(ValueError, match="3"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    with pytest.raises(TypeError, match="2.5"):
        tf.make_tensor_proto(2.5, dtype=tf.int32)
    with pytest.raises(TypeError, match="3"):
        tf.make_tensor_proto([1, 1], verify_shape=True, shape=[3])


@pytest.mark.parametrize("value, dtype", [
    ([[1, 2], [3, 4]], tf.int32), ([[1, 2], [3, 4]], tf.int64), (1.5, tf.float16), ([1.5, -2.], tf.float64),
    ([True, False], tf.bool), ([1.5, 3.], tf.bfloat16), ([0, 255], tf.uint8), ([], tf.float32), (7, tf.uint64)])
def test_a_message_becomes_an_array_again(value, dtype):
    made = tf.make_tensor_proto(value, dtype=dtype)
    again = tf.make_ndarray(type(made).FromString(made.SerializeToString()))
    assert again.dtype == dtype.as_numpy_dtype and again.tolist() == tf.constant(value, dtype).numpy().tolist()


def test_values_that_are_left_out_are_the_last_one():
    assert tf.make_ndarray(tf.make_tensor_proto(5, dtype=tf.int64, shape=[2, 2])).tolist() == [[5, 5], [5, 5]]
    assert tf.make_ndarray(tf.make_tensor_proto(["a", "b"])).tolist() == [b"a", b"b"]
    assert tf.as_dtype(1) is tf.float32 and tf.as_dtype(9) is tf.int64
    with pytest.raises(TypeError):
        tf.as_dtype(99)


# ---- averages and threads ----

def test_averages_follow_variables():
    v, w = tf.Variable(1.), tf.Variable([1., 2.])
    average = tf.train.ExponentialMovingAverage(0.9)
    average.apply([v, w])
    v.assign(2.)
    average.apply([v, w])
    np.testing.assert_allclose(average.average(v).numpy(), 1.1, rtol=1e-6)
    assert average.average(w).numpy().tolist() == [1., 2.] and average.average(tf.Variable(0.)) is None
    assert average.average(v).name == "Variable/ExponentialMovingAverage:0"
    few = tf.train.ExponentialMovingAverage(0.9, num_updates=3)
    few.apply([v])
    v.assign(5.)
    few.apply([v])
    np.testing.assert_allclose(few.average(v).numpy(), 4.0769234, rtol=1e-6)
    with pytest.raises(TypeError, match="half"):
        average.apply([tf.Variable(1)])


def test_averages_are_moved_in_functions():
    v, average = tf.Variable(1.), tf.train.ExponentialMovingAverage(0.5)

    @tf.function
    def step():
        v.assign_add(1.)
        average.apply([v])
    step()
    step()
    assert v.numpy() == 3. and average.average(v).numpy() == 2.25


def test_threads_end_together():
    coordinator = tf.train.Coordinator()
    seen = []

    def work(number):
        with coordinator.stop_on_exception():
            while not coordinator.should_stop():
                seen.append(number)
                if len(seen) > 50:
                    raise KeyError("enough")
    threads = [threading.Thread(target=work, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    with pytest.raises(KeyError, match="enough"):
        coordinator.join(threads)
    assert coordinator.joined and not any(thread.is_alive() for thread in threads)
    coordinator.clear_stop()
    coordinator.request_stop(tf.errors.OutOfRangeError(None, None, "the end"))
    coordinator.join([])
    assert coordinator.should_stop() and coordinator.wait_for_stop(0)
