"""Values and gradients of operations on float16 and bfloat16, taken here and, to record them, under TensorFlow."""

import gradient_values
import numpy as np

DTYPES = ("float16", "bfloat16")


def cases(tf):
    """[(name, function, inputs)]: those of the gradients, and what has no case there."""
    out = [case for case in gradient_values.cases(tf) if case[0] != "random_brightness"  # that draws anew each time
           and not case[0].startswith("ssim")]  # that takes longest, and is made of others
    rng = np.random.RandomState(7)

    def numbers(*shape):
        return np.round(rng.randn(*shape), 2).tolist()

    for padding in ("SAME", "VALID"):
        out += [(f"conv2d {padding}", lambda x, w, p=padding: tf.nn.conv2d(x, w, 1, p),
                 (numbers(1, 4, 4, 2), numbers(2, 2, 2, 3))),
                (f"max_pool2d {padding}", lambda x, p=padding: tf.nn.max_pool2d(x, 2, 1, p), (numbers(1, 4, 4, 2),)),
                (f"avg_pool2d {padding}", lambda x, p=padding: tf.nn.avg_pool2d(x, 2, 2, p), (numbers(1, 4, 4, 2),))]
    out += [("gather rows twice", lambda x: tf.gather(x, [[0, 2], [2, 2]]), (numbers(3, 2),)),
            ("selu", tf.nn.selu, (numbers(2, 5),)),
            ("log_sigmoid", tf.math.log_sigmoid, (numbers(2, 5),)),
            ("xlogy", tf.math.xlogy, (numbers(6), np.abs(numbers(6)).tolist())),
            ("xlog1py", tf.math.xlog1py, (numbers(6), np.abs(numbers(6)).tolist())),
            ("einsum", lambda a, b: tf.einsum("ab,bc->ca", a, b), (numbers(2, 3), numbers(3, 2))),
            ("sparse cross entropy", lambda x: tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0], x),
             (numbers(2, 4),)),
            ("cross entropy",
             lambda x: tf.nn.softmax_cross_entropy_with_logits([[0., 1, 0], [0.5, 0.25, 0.25]], x), (numbers(2, 3),)),
            ("bias_add", tf.nn.bias_add, (numbers(2, 3), numbers(3))),
            ("inverse", tf.linalg.inv, (numbers(3, 3),)),
            ("avg_pool2d overlapping", lambda x: tf.nn.avg_pool2d(x, 3, 1, "SAME"), (numbers(1, 5, 6, 3),)),
            ("avg_pool2d of many", lambda x: tf.nn.avg_pool2d(x, [20, 15], [3, 2], "VALID"), (numbers(1, 23, 18, 1),))]
    return out


def bits(tf, tensor):
    """(dtype, numbers): of halves their bits; None where there is no tensor."""
    if tensor is None:
        return None
    tensor = tf.convert_to_tensor(tensor)
    half = tensor.dtype.name in DTYPES
    return [tensor.dtype.name, (tf.bitcast(tensor, tf.int16) if half else tensor).numpy().reshape(-1).tolist()]


def outcome(tf, function, inputs, dtype):
    """The bits of the results, then of the gradients of their sum for each input; the class of the error."""
    given = [tf.cast(tf.constant(value, tf.float32), dtype) for value in inputs]
    try:
        with tf.GradientTape() as tape:
            for value in given:
                tape.watch(value)
            found = tf.nest.flatten(function(*given))
        gradients = tape.gradient([one for one in found if one.dtype.is_floating], given)
    except (ValueError, TypeError, tf.errors.OpError):
        return "refused"
    return [bits(tf, one) for one in [*found, *gradients]]
