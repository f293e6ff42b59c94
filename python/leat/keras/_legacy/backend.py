"""The functions of ``keras.backend`` that stem from Keras 2, over operations of the package.

Dtypes are TensorFlow's: nothing is cast but truth values in means, and what is made without a dtype is float32.
"""

import builtins
import math

import numpy as np

import leat as tf
from leat.keras.backend import floatx

# ---- values and variables ----


def variable(value, dtype=None, name=None, constraint=None):
    """A variable of a value (``keras.backend.variable``), float32 where no dtype is given."""
    return tf.Variable(value, dtype=tf.as_dtype(dtype or floatx()), name=name, constraint=constraint)


def constant(value, dtype=None, shape=None, name=None):
    """A constant, float32 where no dtype is given (``keras.backend.constant``)."""
    return tf.constant(value, dtype=dtype or floatx(), shape=shape, name=name)


def zeros(shape, dtype=None, name=None):
    """A variable of zeros (``keras.backend.zeros``)."""
    return _filled(tf.zeros, shape, dtype, name)


def ones(shape, dtype=None, name=None):
    """A variable of ones (``keras.backend.ones``)."""
    return _filled(tf.ones, shape, dtype, name)


def _filled(make, shape, dtype, name):
    """As a variable; as a tensor where it has no values."""
    with tf.init_scope():
        value = make(shape, dtype=tf.as_dtype(dtype or floatx()))
        return variable(value, dtype, name) if builtins.all(value.shape.as_list()) else value


def eye(size, dtype=None, name=None):
    """A variable of the unit matrix (``keras.backend.eye``)."""
    return variable(tf.eye(size, dtype=tf.as_dtype(dtype or floatx())), dtype, name)


def zeros_like(x, dtype=None, name=None):
    """Zeros in the shape of a tensor (``keras.backend.zeros_like``)."""
    return tf.zeros_like(x, dtype=dtype)


def ones_like(x, dtype=None, name=None):
    """Ones in the shape of a tensor (``keras.backend.ones_like``)."""
    return tf.ones_like(x, dtype=dtype)


def arange(start, stop=None, step=1, dtype="int32"):
    """Numbers of a range (``keras.backend.arange``); one that ends below 0 is empty."""
    if stop is None:
        start, stop = 0, builtins.max(start, 0)
    found = tf.range(start, stop, step)
    return found if dtype == "int32" else tf.cast(found, dtype)


def random_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers; without a seed one of numpy's generator is drawn (``keras.backend.random_normal``)."""
    return tf.random.normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def random_uniform(shape, minval=0.0, maxval=1.0, dtype=None, seed=None):
    """Uniform numbers (``keras.backend.random_uniform``)."""
    return tf.random.uniform(shape, minval, maxval, dtype or floatx(), _seed(seed))


def random_bernoulli(shape, p=0.0, dtype=None, seed=None):
    """Ones with probability `p`, else zeros (``keras.backend.random_bernoulli``)."""
    dtype = dtype or floatx()
    drawn = tf.random.uniform(shape, dtype=dtype, seed=_seed(seed))
    return tf.where(drawn <= p, tf.ones(shape, dtype), tf.zeros(shape, dtype))


def truncated_normal(shape, mean=0.0, stddev=1.0, dtype=None, seed=None):
    """Normal numbers within two deviations (``keras.backend.truncated_normal``)."""
    return tf.random.truncated_normal(shape, mean, stddev, dtype or floatx(), _seed(seed))


def random_normal_variable(shape, mean, scale, dtype=None, name=None, seed=None):
    """A variable of normal numbers (``keras.backend.random_normal_variable``)."""
    return variable(random_normal(shape, mean, scale, dtype, _seed(seed, 10e8)), dtype, name)


def random_uniform_variable(shape, low, high, dtype=None, name=None, seed=None):
    """A variable of uniform numbers (``keras.backend.random_uniform_variable``)."""
    return variable(random_uniform(shape, low, high, dtype, _seed(seed, 10e8)), dtype, name)


def _seed(seed, most=10e6):
    return np.random.randint(most) if seed is None else seed


def dropout(x, level, noise_shape=None, seed=None):
    """The values with some set to 0 by chance (``keras.backend.dropout``)."""
    return tf.nn.dropout(x, level, noise_shape=noise_shape, seed=_seed(seed))


def get_value(x):
    """The array of a tensor; anything else as it is (``keras.backend.get_value``)."""
    return x.numpy() if isinstance(x, (tf.Tensor, tf.Variable)) else x


def set_value(x, value):
    """Gives a variable a value (``keras.backend.set_value``)."""
    x.assign(np.asarray(value, dtype=x.dtype.name))


def batch_get_value(tensors):
    """The arrays of several (``keras.backend.batch_get_value``)."""
    return [x.numpy() for x in tensors]


def batch_set_value(tuples):
    """Gives each of (variable, value) pairs its value (``keras.backend.batch_set_value``)."""
    for x, value in tuples:
        set_value(x, value)


def eval(x):
    """The array of a tensor, of a sparse one with its zeros (``keras.backend.eval``)."""
    return get_value(to_dense(x))


def update(x, new_x):
    """Gives a variable a value, which it returns (``keras.backend.update``)."""
    return x.assign(new_x)


def update_add(x, increment):
    """Adds to a variable (``keras.backend.update_add``)."""
    return x.assign_add(increment)


def update_sub(x, decrement):
    """Takes from a variable (``keras.backend.update_sub``)."""
    return x.assign_sub(decrement)


def moving_average_update(x, value, momentum):
    """Moves a variable towards a value (``keras.backend.moving_average_update``)."""
    momentum, value = tf.cast(momentum, x.dtype), tf.cast(value, x.dtype)
    return x.assign_sub((x - value) * (1 - momentum))


# ---- what tensors are ----

def is_sparse(tensor):
    """Is it a SparseTensor (``keras.backend.is_sparse``)?"""
    return isinstance(tensor, tf.SparseTensor)


def to_dense(tensor):
    """A sparse tensor with its zeros; others as they are (``keras.backend.to_dense``)."""
    return tf.sparse.to_dense(tensor) if is_sparse(tensor) else tensor


def shape(x):
    """The shape as a tensor (``keras.backend.shape``)."""
    return tf.shape(x)


def int_shape(x):
    """The shape as a tuple, None where a size is unknown (``keras.backend.int_shape``); None: its rank is."""
    try:
        return tuple(x.shape)
    except ValueError:
        return None


def ndim(x):
    """The number of dimensions (``keras.backend.ndim``)."""
    return x.shape.rank


def dtype(x):
    """The name of the dtype (``keras.backend.dtype``)."""
    return x.dtype.name


def count_params(x):
    """How many values there are (``keras.backend.count_params``)."""
    return math.prod(x.shape.as_list())


def cast(x, dtype):
    """In another dtype (``keras.backend.cast``)."""
    return tf.cast(x, dtype)


def cast_to_floatx(x):
    """As float32: a tensor, or an array of what is none (``keras.backend.cast_to_floatx``)."""
    if isinstance(x, (tf.Tensor, tf.Variable, tf.SparseTensor)):
        return tf.cast(x, floatx())
    return np.asarray(x, dtype=floatx())


# ---- element by element ----

def _unary(name, function, text):
    """A function of one tensor."""
    def call(x):
        return function(x)
    _named(call, name, text)


def _binary(name, function, text):
    """A function of two."""
    def call(x, y):
        return function(x, y)
    _named(call, name, text)


def _named(call, name, text):
    call.__name__ = call.__qualname__ = name
    call.__doc__ = f"{text} (``keras.backend.{name}``)."
    globals()[name] = call


for _name, _function, _text in (
        ("abs", tf.abs, "The value without its sign"), ("cos", tf.cos, "The cosine"), ("exp", tf.exp, "e to a power"),
        ("log", tf.math.log, "The natural logarithm"), ("round", tf.round, "The next whole number, the even of two"),
        ("sigmoid", tf.sigmoid, "1 / (1 + exp(-x))"), ("sign", tf.sign, "-1, 0 or 1"), ("sin", tf.sin, "The sine"),
        ("softplus", tf.nn.softplus, "log(1 + exp(x))"), ("softsign", tf.nn.softsign, "x / (1 + |x|)"),
        ("square", tf.square, "x * x"), ("tanh", tf.tanh, "The hyperbolic tangent"),
        ("transpose", tf.transpose, "With its dimensions in reverse order")):
    _unary(_name, _function, _text)
for _name, _function, _text in (
        ("equal", tf.equal, "x = y"), ("not_equal", tf.not_equal, "x != y"), ("less", tf.less, "x < y"),
        ("less_equal", tf.less_equal, "x <= y"), ("greater", tf.greater, "x > y"),
        ("greater_equal", tf.greater_equal, "x >= y"), ("maximum", tf.maximum, "The larger of two"),
        ("minimum", tf.minimum, "The smaller of two")):
    _binary(_name, _function, _text)


def sqrt(x):
    """The square root; 0 of what is below 0 (``keras.backend.sqrt``)."""
    return tf.sqrt(tf.maximum(x, tf.convert_to_tensor(0.0, x.dtype)))


def pow(x, a):
    """x to a power (``keras.backend.pow``)."""
    return tf.pow(x, a)


def clip(x, min_value, max_value):
    """Within two bounds; None is no bound (``keras.backend.clip``)."""
    if isinstance(min_value, (int, float)) and isinstance(max_value, (int, float)):
        max_value = builtins.max(min_value, max_value)
    return tf.clip_by_value(x, -np.inf if min_value is None else min_value, np.inf if max_value is None else max_value)


# ---- along dimensions ----

def all(x, axis=None, keepdims=False):
    """Are all true (``keras.backend.all``)?"""
    return tf.reduce_all(tf.cast(x, "bool"), axis, keepdims)


def any(x, axis=None, keepdims=False):
    """Is one true (``keras.backend.any``)?"""
    return tf.reduce_any(tf.cast(x, "bool"), axis, keepdims)


def argmax(x, axis=-1):
    """Where the largest is (``keras.backend.argmax``)."""
    return tf.argmax(x, axis)


def argmin(x, axis=-1):
    """Where the smallest is (``keras.backend.argmin``)."""
    return tf.argmin(x, axis)


def max(x, axis=None, keepdims=False):
    """The largest (``keras.backend.max``)."""
    return tf.reduce_max(x, axis, keepdims)


def min(x, axis=None, keepdims=False):
    """The smallest (``keras.backend.min``)."""
    return tf.reduce_min(x, axis, keepdims)


def sum(x, axis=None, keepdims=False):
    """The sum (``keras.backend.sum``)."""
    return tf.reduce_sum(x, axis, keepdims)


def prod(x, axis=None, keepdims=False):
    """The product (``keras.backend.prod``)."""
    return tf.reduce_prod(x, axis, keepdims)


def _numbers(x):
    return tf.cast(x, floatx()) if x.dtype == tf.bool else x


def mean(x, axis=None, keepdims=False):
    """The mean (``keras.backend.mean``)."""
    return tf.reduce_mean(_numbers(x), axis, keepdims)


def std(x, axis=None, keepdims=False):
    """The standard deviation (``keras.backend.std``)."""
    return tf.math.reduce_std(_numbers(x), axis, keepdims)


def var(x, axis=None, keepdims=False):
    """The variance (``keras.backend.var``)."""
    return tf.math.reduce_variance(_numbers(x), axis, keepdims)


def cumsum(x, axis=0):
    """The sums so far (``keras.backend.cumsum``)."""
    return tf.cumsum(x, axis)


def cumprod(x, axis=0):
    """The products so far (``keras.backend.cumprod``)."""
    return tf.math.cumprod(x, axis)


def l2_normalize(x, axis=None):
    """With norm 1 (``keras.backend.l2_normalize``)."""
    return tf.nn.l2_normalize(x, axis)


# ---- shapes and places ----

def reshape(x, shape):
    """In another shape (``keras.backend.reshape``)."""
    return tf.reshape(x, shape)


def flatten(x):
    """As a vector (``keras.backend.flatten``)."""
    return tf.reshape(x, [-1])


def batch_flatten(x):
    """As a matrix whose rows are the first dimension's (``keras.backend.batch_flatten``)."""
    return tf.reshape(x, tf.stack([-1, tf.reduce_prod(tf.shape(x)[1:])]))


def expand_dims(x, axis=-1):
    """With a dimension of 1 more (``keras.backend.expand_dims``)."""
    return tf.expand_dims(x, axis)


def squeeze(x, axis):
    """Without a dimension of 1 (``keras.backend.squeeze``)."""
    return tf.squeeze(x, [axis])


def permute_dimensions(x, pattern):
    """With its dimensions in another order (``keras.backend.permute_dimensions``)."""
    return tf.transpose(x, pattern)


def reverse(x, axes):
    """Backwards along dimensions (``keras.backend.reverse``)."""
    return tf.reverse(x, [axes] if isinstance(axes, int) else axes)


def repeat(x, n):
    """A matrix n times, [rows, n, columns] (``keras.backend.repeat``)."""
    return tf.tile(tf.expand_dims(x, 1), tf.stack([1, n, 1]))


def repeat_elements(x, rep, axis):
    """Each part of a dimension several times (``keras.backend.repeat_elements``)."""
    return tf.repeat(x, rep, axis)


def tile(x, n):
    """Several times along dimensions (``keras.backend.tile``)."""
    return tf.tile(x, [n] if isinstance(n, int) else n)


def stack(x, axis=0):
    """Tensors as one of a rank more (``keras.backend.stack``)."""
    return tf.stack(x, axis)


def concatenate(tensors, axis=-1):
    """Tensors one behind the other (``keras.backend.concatenate``); sparse ones stay so if all are."""
    if builtins.all(is_sparse(one) for one in tensors):
        return tf.sparse.concat(axis, tensors)
    return tf.concat([to_dense(one) for one in tensors], axis)


def gather(reference, indices):
    """Parts of the first dimension (``keras.backend.gather``)."""
    return tf.gather(reference, indices)


def one_hot(indices, num_classes):
    """Class numbers as vectors (``keras.backend.one_hot``)."""
    return tf.one_hot(indices, num_classes, axis=-1)


def temporal_padding(x, padding=(1, 1)):
    """With zeros before and behind the middle dimension of three (``keras.backend.temporal_padding``)."""
    return _padded(x, (padding,), "channels_last")


def spatial_2d_padding(x, padding=((1, 1), (1, 1)), data_format=None):
    """With zeros around pictures (``keras.backend.spatial_2d_padding``)."""
    return _padded(x, padding, data_format, 2)


def spatial_3d_padding(x, padding=((1, 1), (1, 1), (1, 1)), data_format=None):
    """With zeros around volumes (``keras.backend.spatial_3d_padding``)."""
    return _padded(x, padding, data_format, 3)


def _padded(x, padding, data_format, count=1):
    if len(padding) != count or builtins.any(len(pair) != 2 for pair in padding):
        raise ValueError(f"Expected `padding` to be {count} pairs of integers. Received: padding={padding}")
    pairs = [list(pair) for pair in padding]
    first = format_of(data_format) == "channels_first"
    return tf.pad(x, [[0, 0], [0, 0], *pairs] if first else [[0, 0], *pairs, [0, 0]])


def format_of(data_format):
    """The data format, or the one that was set where it is None. ValueError for others."""
    found = tf.keras.backend.image_data_format() if data_format is None else data_format
    if found not in ("channels_first", "channels_last"):
        raise ValueError(f"Unknown data_format: {data_format}")
    return found


def resize_images(x, height_factor, width_factor, data_format, interpolation="nearest"):
    """Pictures by whole factors larger (``keras.backend.resize_images``)."""
    if interpolation not in ("nearest", "bilinear", "area", "bicubic", "gaussian", "lanczos3", "lanczos5",
                             "mitchellcubic"):
        raise ValueError(f"Unexpected value for `interpolation`: {interpolation}")
    first = format_of(data_format) == "channels_first"
    x = tf.transpose(x, [0, 2, 3, 1]) if first else x
    sizes = [size if size is not None else tf.shape(x)[place] for place, size in zip((1, 2), x.shape[1:3])]
    x = tf.image.resize(x, tf.stack([sizes[0] * height_factor, sizes[1] * width_factor]), method=interpolation)
    return tf.transpose(x, [0, 3, 1, 2]) if first else x


def resize_volumes(x, depth_factor, height_factor, width_factor, data_format):
    """Volumes by whole factors larger (``keras.backend.resize_volumes``)."""
    begin = 2 if format_of(data_format) == "channels_first" else 1
    for place, factor in enumerate((depth_factor, height_factor, width_factor), begin):
        x = tf.repeat(x, factor, place)
    return x


# ---- products ----

def dot(x, y):
    """The product over the last dimension of one and the last but one of the other (``keras.backend.dot``)."""
    if is_sparse(x):
        return tf.sparse.sparse_dense_matmul(x, y)
    if x.shape.rank is None or x.shape.rank <= 2 and y.shape.rank <= 2:
        return tf.matmul(x, y)
    return tf.tensordot(x, y, [[x.shape.rank - 1], [y.shape.rank - 2]])


def batch_dot(x, y, axes=None):
    """Products row of a batch by row, over a dimension of each (``keras.backend.batch_dot``)."""
    ranks = [len(x.shape), len(y.shape)]
    if builtins.min(ranks) < 2:
        raise ValueError(f"Cannot do batch_dot on inputs with rank < 2. Received inputs with shapes {x.shape} and "
                         f"{y.shape}.")
    if None not in (x.shape[0], y.shape[0]) and x.shape[0] != y.shape[0]:
        raise ValueError("Cannot do batch_dot on inputs with different batch sizes. Received inputs with shapes "
                         f"{x.shape} and {y.shape}.")
    if axes is None:
        axes = [ranks[0] - 1, ranks[1] - 1 if ranks[1] == 2 else ranks[1] - 2]
    axes = [axes, axes] if isinstance(axes, int) else list(axes)
    if builtins.any(isinstance(axis, (list, tuple)) for axis in axes):
        raise ValueError("Multiple target dimensions are not supported. Expected: None, int, (int, int), Provided: "
                         f"{axes}")
    axes = [axis + rank if axis < 0 else axis for axis, rank in zip(axes, ranks)]
    if 0 in axes:
        raise ValueError("Cannot perform batch_dot over axis 0. If your inputs are not batched, add a dummy batch "
                         "dimension to your inputs using K.expand_dims(x, 0)")
    sizes = x.shape[axes[0]], y.shape[axes[1]]
    if None not in sizes and sizes[0] != sizes[1]:
        raise ValueError(f"Cannot do batch_dot on inputs with shapes {x.shape} and {y.shape} with axes={axes}. "
                         f"x.shape[{axes[0]}] != y.shape[{axes[1]}] ({sizes[0]} != {sizes[1]}).")
    letters = iter("cdefghijklmnopqrstuvwxyz")
    left, right = (["a", *(next(letters) for _ in range(rank - 1))] for rank in ranks)
    for word, axis in ((left, axes[0]), (right, axes[1])):
        word[axis] = "b"
    kept = [letter for letter in (*left, *right[1:]) if letter != "b"]
    out = tf.einsum(f"{''.join(left)},{''.join(right)}->{''.join(kept)}", x, y)
    return tf.expand_dims(out, -1) if ranks == [2, 2] else out


# ---- functions of functions ----

def switch(condition, then_expression, else_expression):
    """One of two by a condition, or value by value (``keras.backend.switch``); functions are called."""
    condition = condition if condition.dtype == tf.bool else tf.cast(condition, "bool")
    if not condition.shape.rank:
        return tf.cond(condition, *(one if callable(one) else lambda one=one: one
                                    for one in (then_expression, else_expression)))
    first, second = (one() if callable(one) else one for one in (then_expression, else_expression))
    ranks = condition.shape.rank, first.shape.rank
    if ranks[0] > ranks[1]:
        raise ValueError("Rank of `condition` should be less than or equal to rank of `then_expression` and "
                         f"`else_expression`. ndim(condition)={ranks[0]}, ndim(then_expression)={ranks[1]}")
    if ranks[0] > 1:
        condition = tf.reshape(condition, tf.concat([tf.shape(condition), [1] * (ranks[1] - ranks[0])], 0))
    return tf.where(condition, first, second)


def stop_gradient(variables):
    """The values, through which no gradient goes (``keras.backend.stop_gradient``)."""
    if isinstance(variables, (list, tuple)):
        return map(tf.stop_gradient, variables)
    return tf.stop_gradient(variables)


def gradients(loss, variables):
    """Refused while a program runs at once, as in Keras: use ``tf.GradientTape`` (``keras.backend.gradients``)."""
    if tf.executing_eagerly():
        raise RuntimeError("keras.backend.gradients is not supported when eager execution is enabled: use "
                           "tf.GradientTape instead.")
    return tf.gradients(loss, variables)


def map_fn(fn, elems, name=None, dtype=None):
    """What a function gives for each part (``keras.backend.map_fn``)."""
    return tf.map_fn(fn, elems, dtype=dtype)


def foldl(fn, elems, initializer=None, name=None):
    """Parts folded from the first on (``keras.backend.foldl``)."""
    return tf.foldl(fn, elems, initializer=initializer)


def foldr(fn, elems, initializer=None, name=None):
    """Parts folded from the last on (``keras.backend.foldr``)."""
    return tf.foldr(fn, elems, initializer=initializer)


def name_scope(name):
    """Names of operations begin with it (``keras.backend.name_scope``)."""
    return tf.name_scope(name)
