"""tf.queue; the expected values are TensorFlow 2.21's."""

import threading

import numpy as np
import pytest

import leat as tf


def numbers(value):
    if hasattr(value, "numpy"):
        found = value.numpy()
        return found if isinstance(found, bytes) else found.tolist()
    return [numbers(one) for one in value]


def test_elements_come_out_as_they_went_in():
    queue = tf.queue.FIFOQueue(3, [tf.int64], shapes=[[]])
    queue.enqueue(1)
    queue.enqueue_many([np.array([2, 3])])
    assert numbers(queue.size()) == 3 and numbers(queue.dequeue()) == 1 and numbers(queue.dequeue_many(2)) == [2, 3]
    assert (queue.dtypes, queue.shapes, queue.names) == ([tf.int64], [tf.TensorShape([])], None)
    named = tf.queue.FIFOQueue(3, [tf.float32, tf.string], names=["a", "b"])
    named.enqueue({"a": 1.0, "b": "x"})
    found = named.dequeue()
    assert list(found) == ["a", "b"] and numbers(found["b"]) == b"x"
    with pytest.raises(ValueError, match="dictionary"):
        named.enqueue((1.0, "x"))


def test_what_a_closed_queue_has_is_taken_and_no_more():
    queue = tf.queue.FIFOQueue(3, tf.int32, shapes=[()])
    queue.enqueue(1)
    queue.enqueue(2)
    queue.close()
    assert numbers(queue.is_closed()) is True
    with pytest.raises(tf.errors.CancelledError, match="closed"):
        queue.enqueue(3)
    with pytest.raises(tf.errors.OutOfRangeError, match="insufficient"):
        queue.dequeue_many(5)
    assert numbers(queue.dequeue_up_to(5)) == [1, 2]


def test_other_orders():
    first = tf.queue.PriorityQueue(10, [tf.string], shapes=[[]])
    for priority, text in [(3, "c"), (1, "a"), (2, "b"), (1, "a2")]:
        first.enqueue((priority, text))
    assert [numbers(first.dequeue())[1] for _ in range(4)] == [b"a", b"a2", b"b", b"c"]
    padded = tf.queue.PaddingFIFOQueue(10, [tf.int32], shapes=[[None]])
    padded.enqueue([[1]])
    padded.enqueue([[1, 2, 3]])
    assert numbers(padded.dequeue_many(2)) == [[1, 0, 0], [1, 2, 3]]
    shuffled = tf.queue.RandomShuffleQueue(10, 0, tf.int32, shapes=[[]], seed=1)
    shuffled.enqueue_many([np.arange(5, dtype=np.int32)])
    assert sorted(numbers(shuffled.dequeue()) for _ in range(5)) == [0, 1, 2, 3, 4]


def test_functions_use_queues():
    queue = tf.queue.FIFOQueue(10, tf.int64, shapes=[])

    @tf.function
    def fill(iterator):
        for x in iterator:
            queue.enqueue(x)

    @tf.function
    def take():
        return queue.dequeue(), queue.size()
    fill(iter(tf.data.Dataset.range(4)))
    assert [numbers(take()) for _ in range(4)] == [[0, 3], [1, 2], [2, 1], [3, 0]]


def test_threads_wait_for_each_other():
    queue, found = tf.queue.FIFOQueue(1, tf.int32, shapes=[[]]), []
    consumer = threading.Thread(target=lambda: found.extend(numbers(queue.dequeue()) for _ in range(3)))
    consumer.start()
    for i in range(3):
        queue.enqueue(i)
    consumer.join()
    assert found == [0, 1, 2]


def test_names_of_devices():
    spec = tf.DeviceSpec.from_string("/job:worker/replica:1/task:2/device:cpu:3")
    assert spec.to_string() == "/job:worker/replica:1/task:2/device:CPU:3"
    assert [tf.DeviceSpec.from_string(text).to_string() for text in ["cpu:0", "gpu", "/device:GPU:*", "/job:x", ""]] \
        == ["/device:CPU:0", "/device:GPU:*", "/device:GPU:*", "/job:x", ""]
    merged = tf.DeviceSpec("a", device_type="GPU", device_index=1)
    assert merged.make_merged_spec(tf.DeviceSpec(device_type="CPU")).to_string() == "/job:a/device:CPU:1"
    with pytest.raises(ValueError, match="Multiple"):
        tf.DeviceSpec.from_string("/cpu:0/gpu:1")
    with pytest.raises(ValueError, match="Unknown"):
        tf.device("/bad")


def test_gradients_stop():
    @tf.function
    def stopped(x):
        y = x * x
        z = y * x
        return [tf.gradients(target, sources, stop_gradients=stops) for target, sources, stops in [
            (z, x, [y]), (y, x, [y]), (z, [x, y], [y]), (z, [x, y], [x]), ([z, y], x, y), (z, x, [z])]]
    found = tf.nest.map_structure(lambda one: None if one is None else float(one), stopped(tf.constant(3.0)))
    assert found == [[9.0], [None], [9.0, 3.0], [27.0, 3.0], [9.0], [None]]


def test_gradients_in_functions():
    @tf.function
    def both(x):
        y = x * x
        other = tf.constant(2.0) * 3.0
        return (tf.gradients([y, y], [x, y], grad_ys=[tf.ones_like(y), 2 * tf.ones_like(y)]),
                tf.gradients(other, [x], unconnected_gradients="zero"), tf.hessians(tf.reduce_sum(x ** 3), x)[0])
    assert numbers(both(tf.constant([1.0, 2.0]))) == [[[6, 12], [3, 3]], [[0, 0]], [[6, 0], [0, 12]]]

    with pytest.raises(RuntimeError, match="eager"):
        tf.gradients(tf.constant(1.0), [tf.constant(1.0)])
