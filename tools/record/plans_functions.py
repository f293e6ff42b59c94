"""The named functions of tests/golden/data/README.md in TensorFlow."""
import tensorflow as tf

Dataset = tf.data.Dataset
CLOSED = tf.queue.FIFOQueue(1, [tf.int64], shapes=[[]])
CLOSED.close()


def fail_if(condition, value):
    with tf.control_dependencies([tf.debugging.Assert(tf.logical_not(condition), ["the function failed by order"])]):
        return tf.identity(value)


def fail_on_3(x):
    return fail_if(tf.equal(x, 3), x)


def arguments(*args):
    return args[0] if len(args) == 1 else args


def with_shape(value, shape):
    value.set_shape(shape)
    return value


def ints(x):
    return tf.cast(x, tf.int64)


def filled(x, shape, static):
    return with_shape(tf.fill(shape, x), static)


def appended(s, x):
    return with_shape(tf.concat([s, tf.reshape(x, [1])], 0), [None])


def repeated(x, count=None):
    return Dataset.from_tensors(x).repeat(count)


def zeros(x):
    return tf.zeros_like(x)


FUNCTIONS = {
    "identity": arguments,
    "add_one": lambda x: x + 1, "add_ten": lambda x: x + 10, "double": lambda x: 2 * x, "square": lambda x: x * x,
    "negate": lambda x: -x, "half": lambda x: x // 2, "mod_2": lambda x: x % 2, "mod_3": lambda x: x % 3,
    "minus_mod_3": lambda x: -(x % 3), "zero": lambda *x: tf.constant(0, tf.int64),
    "mod_2_int32": lambda x: tf.cast(x % 2, tf.int32),
    "to_int32": lambda x: tf.cast(x, tf.int32), "to_int64": lambda x: tf.cast(x, tf.int64),
    "to_uint8": lambda x: tf.cast(x, tf.uint8), "to_float32": lambda x: tf.cast(x, tf.float32),
    "to_float64": lambda x: tf.cast(x, tf.float64), "to_bool": lambda x: tf.not_equal(x, 0), "to_string": tf.as_string,
    "exclaim": lambda s: s + "!", "upper": tf.strings.upper, "string_length": tf.strings.length,
    "pair_with_square": lambda x: (x, x * x), "to_dict": lambda x: {"a": x, "b": 10 * x},
    "to_nested": lambda x: (x, {"a": x + 1, "b": (2 * x, 3 * x)}),
    "swap": lambda a, b: (b, a), "first": lambda a, b: a, "second": lambda a, b: b, "add_pair": lambda a, b: a + b,
    "dict_sum": lambda d: d["a"] + d["b"], "vec3": lambda x: tf.stack([x, x + 1, x + 2]),
    "fill_self": lambda x: filled(x, [x], [None]), "iota": lambda x: with_shape(tf.range(x), [None]),
    "iota_mod_4": lambda x: with_shape(tf.range(x % 4), [None]),
    "fill_rows": lambda x: filled(x, tf.stack([x, tf.constant(2, x.dtype)]), [None, 2]),
    "fill_cols": lambda x: filled(x, tf.stack([tf.constant(2, x.dtype), x]), [2, None]),
    "iota_pair": lambda x: (with_shape(tf.range(x), [None]), x),
    "iota_string": lambda x: with_shape(tf.as_string(tf.range(x)), [None]),
    "vec_sum": tf.reduce_sum, "vec_add_one": lambda v: v + 1, "size_of": lambda v: tf.size(v, tf.int64),
    "vec_size_int32": lambda v: tf.size(v, tf.int32),
    "fail_on_3": fail_on_3, "fail_on_odd": lambda x: fail_if(tf.equal(x % 2, 1), x),
    "fail_on_mod_4_is_3": lambda x: fail_if(tf.equal(x % 4, 3), x),
    "fail_always": lambda x: fail_if(tf.equal(x, x), x),
    "stop_on_3": lambda x: tf.cond(tf.equal(x, 3), CLOSED.dequeue, lambda: x),
    # Predicates.
    "is_even": lambda x: tf.equal(x % 2, 0), "is_odd": lambda x: tf.equal(x % 2, 1), "less_than_5": lambda x: x < 5,
    "not_multiple_of_3": lambda x: tf.not_equal(x % 3, 0), "always_true": lambda *x: tf.constant(True),
    "always_false": lambda *x: tf.constant(False), "first_is_even": lambda a, b: tf.equal(a % 2, 0),
    "dict_a_is_even": lambda d: tf.equal(d["a"] % 2, 0), "not_empty": lambda v: tf.size(v) > 0,
    "string_not_empty": lambda s: tf.strings.length(s) > 0, "even_fail_on_3": lambda x: tf.equal(fail_on_3(x) % 2, 0),
    "small_fail_on_3": lambda x: fail_on_3(x) < 5, "not_scalar": lambda x: tf.constant([True, True]), "not_bool": lambda x: x,
    # Functions that return a dataset.
    "range_of": Dataset.range, "range_from_ten": lambda x: Dataset.range(10 * x, 10 * x + 3),
    "repeat_3": lambda x: repeated(x, 3), "repeat_self": lambda x: repeated(x, x), "repeat_forever": lambda x: repeated(x),
    "empty_if_odd": lambda x: repeated(x, 2).take(tf.where(tf.equal(x % 2, 1), ints(0), ints(-1))),
    "empty_of": lambda *x: Dataset.from_tensors(arguments(*x)).take(0), "slices_of": Dataset.from_tensor_slices,
    "slices_of_pair": lambda a, b: Dataset.from_tensor_slices((a, b)), "range_fail_on_3": lambda x: Dataset.range(fail_on_3(x)),
    "range_map_fail_on_3": lambda x: Dataset.range(x, x + 3).map(fail_on_3),
    "shuffled_range": lambda x: Dataset.range(x).shuffle(4, seed=7),
    "pair_range": lambda x: Dataset.range(x).map(lambda y: (y, y * y)), "lines_of": tf.data.TextLineDataset,
    "batch_2": lambda w: w.batch(2), "batch_3": lambda w: w.batch(3), "batch_3_drop": lambda w: w.batch(3, drop_remainder=True),
    "same_dataset": lambda w: w, "zip_batch_3": lambda v, w: Dataset.zip((v, w)).batch(3),
    "dict_batch_3": lambda d: Dataset.zip({"a": d["a"], "b": d["b"]}).batch(3), "not_a_dataset": lambda x: x,
    # Group functions.
    "window_batch_3": lambda key, w: w.batch(3), "window_batch_all": lambda key, w: w.batch(100), "window_same": lambda key, w: w,
    "window_first": lambda key, w: w.take(1), "window_with_key": lambda key, w: Dataset.zip((repeated(key), w)),
    "window_padded": lambda key, w: w.padded_batch(100), "window_empty": lambda key, w: w.take(0),
    "window_forever": lambda key, w: w.repeat(), "window_not_dataset": lambda key, w: key,
    "key_plus_1": lambda key: key + 1, "key_times_2_plus_2": lambda key: 2 * key + 2, "key_minus_1": lambda key: key - 1,
    # Folds and scans.
    "sum": lambda s, x: s + x, "max": tf.maximum, "count": lambda s, *x: s + 1, "last": lambda s, x: x,
    "sum_and_count": lambda s, x: (s[0] + x, s[1] + 1), "sum_pair": lambda s, x: s + x[0] * x[1], "append": appended,
    "join": lambda s, x: s + x, "sum_fail_on_3": lambda s, x: s + fail_on_3(x), "change_dtype": lambda s, x: tf.cast(s, tf.float32),
    "change_structure": lambda s, x: (s, x),
    "running_sum": lambda s, x: (s + x, s + x), "running_count": lambda s, *x: (s + 1, s),
    "running_max": lambda s, x: (tf.maximum(s, x), tf.maximum(s, x)), "previous": lambda s, x: (x, s),
    "pair_output": lambda s, x: (s + x, (s, x)), "pair_state": lambda s, x: ((s[1], s[0] + x), s[0]),
    "growing": lambda s, x: (appended(s, x),) * 2, "running_sum_fail_on_3": lambda s, x: (s + fail_on_3(x),) * 2,
    "scan_not_pair": lambda s, x: s + x, "scan_change_dtype": lambda s, x: (tf.cast(s, tf.float32), x),
    "square_and_keep_even": lambda ds: ds.map(lambda x: x * x).filter(lambda x: tf.equal(x % 2, 0)),
    "take_2": lambda ds: ds.take(2), "return_none": lambda ds: None,
}
REDUCERS = {
    "reducer_sum": (lambda key: tf.constant(0, tf.int64), lambda s, x: s + x, lambda s: s),
    "reducer_key_and_count": (lambda key: (key, tf.constant(0, tf.int64)), lambda s, x: (s[0], s[1] + 1),
                              lambda k, c: (k, c)),
}
