"""Calls of a line each that once differed from TensorFlow, by TensorFlow or by leat: what `outcomes(tf)` says of each
is its dtype, shape and values."""

import numpy as np

DTYPES = "float16 bfloat16 float32 float64".split()
CALLS = """
tf.sign(tf.constant([-0.0, 0.0, nan, -2.5, inf], {float}))
tf.sin(tf.constant([-0.0, 0.0, nan, -2.0], {float}))
tf.keras.ops.sign(tf.constant([-0.0, 1.0], {float}))
tnp.bitwise_not(tf.constant([True, False]))
tnp.signbit(tf.constant([-0.0, -1.0], {float}))
tf.image.rgb_to_yiq(tf.constant([.3, .5, .7], {wide})) | tf.image.yiq_to_rgb(tf.constant([.3, .5, .7], {wide}))
tf.image.rgb_to_yuv(tf.constant([.3, .5, .7], {wide})) | tf.image.yuv_to_rgb(tf.constant([.3, .5, .7], {wide}))
tf.image.rgb_to_hsv(tf.constant([.3, .5, .7], {wide})) | tf.image.hsv_to_rgb(tf.constant([.3, .5, .7], {wide}))
tf.image.hsv_to_rgb(tf.constant([[nan, 1., 1.], [.5, nan, 1.], [.5, .5, nan], [inf, .5, .5]], {wide}))
tnp.{two}(tf.constant([2**40, 3, 2], tf.uint64), tf.constant([2, 3, 2**40], tf.uint64))
tnp.{two}(tf.constant([2**40, 3, 2], tf.uint64), 2)
tnp.{two}(tf.constant([True, False]), tf.constant([True, True]))
tnp.{one}(tf.constant([.5 + 1j, -1j, 2], tf.complex128))
tnp.divide(tf.constant([3, 1], "{whole}"), 2)
tnp.cumsum(tf.constant([3, 1], "{whole}")) | tnp.cumprod(tf.constant([3, 1], "{whole}"))
tnp.arange(3, dtype=tf.{whole})
tnp.vdot(tf.constant([.5 + 1j, -1j], tf.complex64), tf.constant([2 + 0j, 1j], tf.complex64))
tnp.isclose(tf.constant([1j, 2 + 0j], tf.complex64), tf.constant([1j, 2.1 + 0j], tf.complex64))
tnp.isclose([inf, nan], [inf, nan])
tnp.geomspace(0., 1) | tnp.geomspace(1, 1000, 4) | tnp.geomspace(-1, -1000, 4)
tnp.geomspace(1, 8, 4, dtype=tf.int32)
tnp.geomspace(tf.constant([1., 2.]), tf.constant([10., 8.]), 3, axis=1)
tnp.cbrt(tf.constant([-8., -0.0], {wide}))
tnp.stack(tf.ones([2, 3]), 1) | tnp.stack(tf.constant(1.)) | tnp.concatenate(tf.constant([1, 2]))
tnp.append(tf.constant([3], tf.int8), 2) | tnp.size(tf.ones([2, 3])) | tnp.rot90(tf.constant(2.), 0)
tnp.polyval(tf.constant(.5), tf.constant([1., 2.])) | tnp.polyval([.5], tf.constant([1., 2.]))
tf.keras.layers.LeakyReLU()(tf.constant([[-3, 2]], "{whole}"))
tf.keras.layers.GlobalAveragePooling1D()(tf.constant([[[1], [2]]], "{whole}"))
tf.keras.layers.GlobalAveragePooling2D()(tf.constant([[[[1], [2]]]], "{whole}"))
tf.keras.layers.GlobalAveragePooling3D()(tf.constant([[[[[1], [2]]]]], "{whole}"))
tf.keras.regularizers.OrthogonalRegularizer()(tf.constant([[1.]]))
tf.nn.approx_max_k(tf.constant([1., 3., 2.]), 2)._fields | tf.debugging.assert_scalar(1)
tf.keras.layers.CategoryEncoding(num_tokens=1).get_config().keys()
tf.keras.ops.lcm(tf.constant([0, 4], tf.uint8), tf.constant([4, 6], tf.uint8))
tf.keras.ops.sign(tf.constant([0, 3], tf.uint32))
tf.keras.ops.isclose(tf.constant([0j, 1j], tf.complex64), tf.constant([2 + 0j, 1j], tf.complex64))
tf.keras.ops.corrcoef(tf.constant(1.))
tf.nn.isotonic_regression(tf.constant(1.), decreasing=False, axis=-1)[1]
tf.constant(["a", "b"]) + tf.constant([["c"], ["d"]])
tf.function(lambda x, y: x + y)(tf.constant(["a", "b"]), tf.constant([["c"], ["d"]]))
gradients(tf.nn.softmax_cross_entropy_with_logits, [[0., 0., 0.]], [[.5, 1., 2.]])
gradients(tf.nn.softmax_cross_entropy_with_logits, [[1., 2., 0.]], [[.5, 1., 2.]])
gradients(lambda x, y: tf.keras.ops.categorical_crossentropy(x, y, True), [[0., 2., 0.]], [[.5, 1., 2.]])
tf.keras.ops.slice_update(tf.zeros([2, 3]), [1, 2], tf.ones([2, 2]))
tf.keras.ops.slice_update(tf.zeros([2, 3]), [-1, 1], tf.ones([1, 2]))
tf.keras.ops.segment_sum(tf.zeros([0, 2]), tf.zeros([0], tf.int32))
gradients(lambda x: tf.keras.layers.UnitNormalization()(x), [[0., 0.], [3., 4.]])
tf.keras.ops.view_as_complex(tf.constant([1 + 0j, 2 + 1j], tf.complex64))
tf.sparse.bincount(np.array([1, 1], np.int64)).values | tf.sparse.bincount(np.array([1, 1], np.int32)).values
tf.sparse.bincount(np.array([[1, 1]], np.int64), axis=-1, binary_output=True).values
tnp.result_type() | tnp.shape(tf.ones([2, 3]))
tf.keras.losses.{loss}(tf.constant([[0., 1., 0.]]), tf.constant([[.25, .5, .25]], {float}))
tf.constant([True, False]) * tf.constant([[True], [False]])
tf.constant([True, False]) * 0.5 | True * tf.constant(True)
tf.function(lambda x: x * [2, 1])(tf.constant([True, False])) | tf.constant([3, 0]) * tf.constant([True, True])
tf.math.floordiv(tf.constant([.714, 7.3, -2.5], {float}), tf.constant([.007, -.1, .1], {float}))
tf.truncatediv(tf.constant([.714, 7.3, -2.5, 300.], {float}), tf.constant([.007, -.1, .1, .7], {float}))
tf.reduce_sum(tf.constant([[-0.0], [-0.0]], {float}), {axis}) | tf.reduce_mean(tf.constant([-0.0, -0.0], {float}), [])
tf.keras.layers.{lookup}(output_mode="count").compute_output_shape((2, 3))
tf.keras.layers.{lookup}(max_tokens=5, output_mode="multi_hot")(tf.keras.Input((3,), dtype="{dtype}")).shape
tf.keras.layers.TextVectorization(output_mode="count").compute_output_shape((2, 1))
tf.keras.layers.TextVectorization(split=None).compute_output_shape((2,))
tf.keras.ops.{quantile}(tf.constant([1., 4., 2.]), tf.constant([[.25, .5]]), keepdims={truth})
tf.tuple(tf.constant([1, 2])) | tf.tuple((1, 2)) | tf.keras.ops.qr(tf.eye(2))._fields
tf.make_ndarray(tf.make_tensor_proto(tf.constant([1.5, 2]), dtype=tf.int32))
tnp.nanmean(tf.constant([1, 2]), dtype=tf.{float16}) | tnp.nanmean(tf.constant([1.5, nan]), dtype=tf.float64)
tnp.nanmean(tf.constant([1.5, 2]), dtype=tf.int32) | tnp.var(tf.constant([1.5, 2]), dtype=tf.int32)
tf.keras.utils.normalize(tf.constant(2.)) | tf.keras.ops.normalize(tf.constant(2.), order=1)
dict(tf.keras.utils.get_custom_objects())
tf.keras.layers.{noise}(.5)(tf.constant([[[1, 2]]])) | tf.keras.layers.Dropout(1.0)(tf.constant([1]), training=True)
tf.keras.layers.{noise}(.5, seed=1, dtype="{half}")(tf.reshape(tf.range(8.), [1, 4, 2]), training=True)
tf.keras.layers.{picture}(.5, seed=3, dtype="{half}")(tf.reshape(tf.range(24.), [2, 2, 2, 3]), training=True)
tf.keras.layers.Solarization(.5, seed=3, dtype="{half}")(tf.reshape(tf.range(24.), [2, 2, 2, 3]), training=True)
tf.function(lambda x: tf.gradients(tf.constant(2.), [x])[0])(tf.constant(1.))
gradient_of(lambda x: tf.keras.metrics.{accuracy}_accuracy(tf.constant([[0., 1.]]), x), [[.5, .5]])
tf.keras.losses.{wide_loss}(tf.ones([3, 1, 4]), tf.constant([.5]))
tf.keras.losses.{wide_loss}(tf.constant(1.), tf.fill([2, 3, 2], .5))
tf.convert_to_tensor(tf.TensorShape([])) | tf.function(lambda x: tnp.shape(x))(tf.constant(1.))
tnp.argsort(tf.constant(0), axis=5) | tnp.arange(-1) | tnp.arange(5., 0)
tf.keras.metrics.sparse_categorical_accuracy(tf.constant([0.5, 0., 1.]), tf.constant([[1., 0.]]))
tf.keras.metrics.sparse_categorical_accuracy(tf.constant([[1], [0]], tf.uint8), tf.constant([[1., 0.], [2., 0.]]))
tf.keras.ops.{segment}(tf.constant([1, 2, 3]), tf.constant([1, 2, 2]), sorted=True)
tf.math.unsorted_{segment}(tf.constant([0., nan, 1., 0., nan, 1., 0., -0.0], {wide}), [0, 0, 0, 1, 2, 2, 2, 1], 4)
tf.math.{segment}(tf.constant([0., 1., nan, nan, 0., 1., -0.0, 0.0], {wide}), [0, 0, 0, 1, 1, 1, 2, 2])
tf.keras.ops.deg2rad(tf.constant([0, 1], tf.int64)) | tf.keras.ops.rad2deg(tf.constant([1, 2], {float}))
tf.keras.layers.Conv1DTranspose(2, 1).compute_output_shape((2, 3, 1))
tf.keras.layers.UpSampling1D(2).compute_output_shape((2, 3, 1))
tf.keras.layers.RepeatVector(2).compute_output_shape((3, 2, 5))
tf.keras.layers.RandomCrop(1, 2).compute_output_shape((2, 3, 3, 1))
tf.keras.layers.CategoryEncoding(3).compute_output_shape((2, 3, 3, 1))
tf.keras.initializers.Orthogonal(seed=1)([1, 3], dtype="float64")
(lambda v: v.assign([1., 2., 3.]) * 2)(tf.Variable([1.], shape=[None]))
(lambda v: v.assign([[1.]]) + v[0])(tf.Variable([1.], shape=tf.TensorShape(None)))
(lambda v: [v.assign_add([1., 2.]), v.set_shape([2]), v.shape][2])(tf.Variable([0., 1.], shape=[None]))
"""
CHOICES = {
    "float": [f"tf.{one}" for one in DTYPES], "wide": ["tf.float32", "tf.float64"],
    "whole": "int8 int16 int32 int64 uint8 uint16 uint32 uint64".split(),
    "two": """add subtract multiply maximum minimum mod floor_divide bitwise_and bitwise_or bitwise_xor less equal dot
        inner outer kron""".split(),
    "one": """arccos arccosh arcsin arcsinh arctan arctanh cos cosh log log10 log1p log2 sin sinh sqrt tan
        tanh""".split(),
    "float16": ["float16", "float32"], "axis": ["None", "1", "[0, 1]"], "truth": ["False", "True"],
    "wide_loss": "categorical_hinge hinge huber poisson squared_hinge".split(),
    "accuracy": ["binary", "categorical", "top_k_categorical"], "segment": ["segment_max", "segment_min"],
    "lookup": ["IntegerLookup", "StringLookup"], "dtype": ["int64"], "quantile": ["quantile", "nanquantile"],
    "half": ["mixed_float16"], "noise": """AlphaDropout Dropout GaussianDropout GaussianNoise
        SpatialDropout1D""".split(), "picture": "RandomBrightness RandomContrast RandomInvert".split(),
    "loss": """mse mae mape msle
        binary_crossentropy binary_focal_crossentropy categorical_crossentropy categorical_hinge cosine_similarity dice
        hinge huber kld poisson squared_hinge tversky""".split()}


def calls():
    """Every call as text: the lines with each of the choices that they name."""
    for text in (one.strip() for line in CALLS.strip().split("\n") for one in line.split(" | ")):
        found = [text]
        for name, choices in CHOICES.items():
            found = [one.replace("{%s}" % name, choice) for one in found for choice in (
                choices if "{%s}" % name in text else [""])]
        yield from found


def plain(value):
    """A tensor's dtype, shape and values as JSON, complex numbers by their parts; other values as text."""
    if not hasattr(value, "dtype") or not hasattr(value, "shape"):
        return str(value)
    array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
    dtype = getattr(value.dtype, "name", str(value.dtype))
    array = array.astype(np.float32) if dtype == "bfloat16" else array
    numbers = array.reshape(-1)
    numbers = np.stack([numbers.real, numbers.imag], -1).reshape(-1) if array.dtype.kind == "c" else numbers
    return [dtype, list(array.shape), [repr(one) for one in numbers.tolist()]]


def outcomes(tf):
    """{call: what it gives} of all calls; "error" of what fails."""
    def gradients(function, *values):
        values = [tf.constant(value) for value in values]
        with tf.GradientTape() as tape:
            tape.watch(values)
            y = function(*values)
        return tf.stack(tape.gradient(y, values))

    def gradient_of(function, value):
        value = tf.constant(value)
        with tf.GradientTape() as tape:
            tape.watch(value)
            y = function(value)
        return tape.gradient(y, value)

    names = {"tf": tf, "tnp": tf.experimental.numpy, "np": np, "nan": np.nan, "inf": np.inf, "gradients": gradients,
             "gradient_of": gradient_of}
    found = {}
    for text in calls():
        try:
            found[text] = plain(eval(text, names))  # noqa: S307 - the text above
        except Exception:
            found[text] = "error"
    return found
