"""tf.experimental.numpy beside numpy itself: the same calls give equal values and dtypes."""

import json
import subprocess
import sys
import warnings

import numpy as np
import pytest

import leat as tf

tnp = tf.experimental.numpy
A, B, T = [[1, 2, 3], [4, 5, 6]], [[1.5, -2., 0.], [3., .25, -1.]], [True, False, True]
EXPRESSIONS = """
asarray(1.5) | asarray([1, 2]) | array([[1, 2]]) | array(3, ndmin=2) | arange(3) | arange(3.) | arange(1, 5, 2)
zeros([2]) | ones((2, 1)) | eye(2) | eye(2, 3, 1) | identity(3) | full([2], 3) | linspace(0, 1, 5)
linspace(0, 1, 4, endpoint=False) | logspace(0, 2, 3) | geomspace(1, 100, 3) | tri(3) | tri(2, 3, 1)
vander([1, 2], 3) | zeros_like(A) | ones_like(B) | full_like(A, 3.) | empty([2]).shape | diag([1, 2]) | diag(A)
diagflat([1, 2]) | diagonal(A) | meshgrid([1, 2], [3]) | sin(A) | cos(B) | tan(B) | sinh(B) | cosh(B) | tanh(A)
arcsin([.5]) | arccos([.5]) | arctan(A) | arcsinh(A) | arccosh(A) | arctanh([.5]) | exp(B) | expm1(B) | exp2(A)
log(A) | log2(A) | log10([1., 100.]) | log1p(A) | sqrt(A) | cbrt([8., 27.]) | square(A) | abs(B) | absolute(B)
negative(A) | sign(B) | floor(B) | ceil(B) | fix(B) | around([2.567, -1.234], 2) | round(A) | deg2rad([180., 90.])
rad2deg([1.]) | sinc([0., .5, 1.]) | signbit(B) | reciprocal(2.) | positive(A) | bitwise_not(A) | isnan(B)
isinf(B) | isfinite(A) | isneginf(B) | isposinf(B) | logical_not(T) | conj(B) | real(B) | imag(B) | add(A, B)
add(1, 2.) | subtract(A, 1) | multiply(A, True) | divide(A, 2) | true_divide(1, 2) | floor_divide(A, 2) | mod(A, -4)
remainder(B, 2.) | power(A, 2) | maximum(A, 2.5) | minimum(A, B) | hypot(3, 4) | arctan2(A, B) | logaddexp(A, B)
logaddexp2(1, 2) | heaviside(B, .5) | gcd(A, 4) | lcm(A, 4) | bitwise_and(A, 3) | bitwise_or(A, 3)
bitwise_xor(A, 3) | equal(A, 2.) | not_equal(A, B) | less(A, B) | less_equal(A, 2) | greater(A, 2)
greater_equal(A, 2.) | divmod(7, 3) | logical_and(A, T) | logical_or(T, T) | logical_xor(T, A) | clip(A, 2, 4)
clip(A, 2.5, 4) | isclose(A, B) | nextafter(1., 2.) | sum(A) | sum(A, 0) | sum(B, 1, keepdims=True) | sum(T)
prod(A, 1) | mean(A) | mean(B, 0) | std(A) | var(A, 1) | var(A, ddof=1) | max(A) | min(B, 0) | amax(A, 1) | amin(A)
any(A) | all(B, 1) | argmax(A) | argmin(B, 1) | ptp(A, 0) | count_nonzero(B) | cumsum(A) | cumsum(A, 1)
cumprod(B, 0) | nansum([1., np.nan]) | nanmean([1., np.nan, 4.]) | nanprod([2., np.nan]) | average(A)
average([1, 2, 3], weights=[1, 1, 2]) | average(A, 1, weights=[1, 2, 3]) | reshape(A, [3, 2])
reshape(A, -1, order="F") | ravel(A) | squeeze([[1]]) | transpose(A) | transpose([[[1, 2]]], [1, 2, 0])
moveaxis([[[1, 2]]], 0, -1) | swapaxes(A, 0, 1) | expand_dims(A, 1) | flip(A) | flip(A, 1) | fliplr(A) | flipud(A)
rot90(A) | roll(A, 1) | roll(A, 1, 1) | repeat(A, 2) | repeat(A, 2, 1) | tile(A, 2) | tile(A, [2, 1]) | tril(A)
triu(A, 1) | diff(A) | broadcast_to([1, 2], [2, 2]) | broadcast_arrays([1], [[2], [3]]) | split(arange(4), 2)
hsplit(asarray(A), 3) | vsplit(asarray(A), 2) | concatenate([[1], [2.]]) | concatenate([A, B], 1)
stack([[1], [2.]]) | stack([A, A], 1) | hstack([[1], [2.]]) | vstack([[1], [2]]) | dstack([[1], [2]])
append([1], [2.]) | append(A, B, 0) | atleast_1d(1) | atleast_2d(1) | atleast_3d([1, 2]) | atleast_3d(A)
pad(A, [[1, 0], [0, 1]], "constant") | take(A, [0, 2], 1) | take([1, 2, 3], [0, 5], mode="clip")
take([1, 2, 3], [0, -1], mode="wrap") | compress([True, False], A, 0)
take_along_axis(asarray([[3, 1]]), asarray([[1, 0]]), 1) | where(T, [1, 2, 3], [4., 5., 6.]) | where(T)
nonzero([0, 1, 2]) | select([[True, False]], [[1, 2]], 0) | sort([3, 1, 2]) | sort(B, 0) | argsort([3, 1, 2])
ix_([0, 1], [2]) | dot(A, [1, 2, 3]) | dot(2, [1, 2]) | matmul(A, [[1.], [2.], [3.]]) | inner([1, 2], [3, 4])
outer([1, 2], [3, 4.]) | vdot([1, 2], [3, 4]) | kron([1, 2], [3, 4]) | tensordot(A, [1, 2, 3], 1)
einsum("i,i->", [1, 2], [3, 4.]) | trace(A) | cross([1, 0, 0], [0, 1, 0]) | polyval([1, 2], 3) | allclose(A, A)
array_equal(A, B) | isscalar(1) | ndim(A) | shape(A) | result_type(1, 2.) | promote_types("int8", "uint8")
iscomplexobj(A) | isrealobj(A) | isreal(B) | iscomplex(B)
"""


def _same(found, wanted):
    if isinstance(wanted, (tuple, list)) and not isinstance(found, (int, bool)):
        assert len(found) == len(wanted)
        for one, other in zip(found, wanted):
            _same(one, other)
        return
    if isinstance(wanted, np.dtype):
        assert tf.as_dtype(found) is tf.as_dtype(wanted)
        return
    value = found.numpy() if isinstance(found, tf.Tensor) else found
    if isinstance(wanted, (np.ndarray, np.generic)):
        assert np.asarray(value).dtype == wanted.dtype
    np.testing.assert_allclose(np.asarray(value), np.asarray(wanted), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("expression", [one.strip() for line in EXPRESSIONS.strip().split("\n")
                                        for one in line.split("|")])
def test_numpy_gives_the_same(expression):
    places = [{**vars(module), "A": A, "B": B, "T": T, "np": np} for module in (tnp, np)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _same(*(eval(expression, place) for place in places))


F, I, H, I8 = tf.constant([1., 2.]), tf.constant([1, 2]), tf.constant([1.], tf.float16), tf.constant([1], tf.int8)


@pytest.mark.parametrize("one, other, dtype", [
    (F, 2., "float32"), (F, 2, "float32"), (I, 2, "int32"), (I, 2., "float64"), (I, F, "float64"), (I8, F, "float32"),
    (H, F, "float32"), (H, I, "float64"), (I8, 1, "int8"), (F, np.float64(1), "float64"), (F, [1., 2.], "float32"),
    (True, I8, "int8"), (1, 2., "float64")])
def test_dtypes_meet_as_in_tensorflow(one, other, dtype):
    assert tnp.add(one, other).dtype.name == dtype == tnp.result_type(one, other).name


def test_random_numbers_have_their_shapes():
    for made, dtype, shape in ((tnp.random.rand(2, 3), "float64", [2, 3]), (tnp.random.randn(2), "float64", [2]),
                               (tnp.random.randint(0, 5, [4]), "int64", [4]), (tnp.random.random(3), "float64", [3]),
                               (tnp.random.uniform(1., 2., [2]), "float64", [2])):
        assert made.dtype.name == dtype and made.shape == shape
    tnp.random.seed(1)
    first = tnp.random.standard_normal([2]).numpy()
    tnp.random.seed(1)
    assert first.tolist() == tnp.random.standard_normal([2]).numpy().tolist()


def test_refusals():
    with pytest.raises(ValueError, match="edge"):
        tnp.pad([1, 2], [[1, 1]], "edge")
    with pytest.raises(tf.errors.UnimplementedError, match="all"):
        tnp.experimental_enable_numpy_behavior(dtype_conversion_mode="all")
    with pytest.raises(AttributeError):
        tf.constant([1]).T


# What TensorFlow answers: value, dtype.
ENABLED = {
    "i + 1.5": ([2.5, 3.5], "float64"), "1.5 + i": ([2.5, 3.5], "float64"), "f + 1": ([2., 3.], "float32"),
    "i + f": ([2., 4.], "float64"), "i / 2": ([.5, 1.], "float64"), "i // 2": ([0, 1], "int32"),
    "i > 1.5": ([False, True], "bool"), "f == [1., 3.]": ([True, False], "bool"), "f @ f": (5., "float32"),
    "m.T": ([[1, 3], [2, 4]], "int32"), "f.astype(tf.int32)": ([1, 2], "int32"),
    "f.reshape(2, 1)": ([[1.], [2.]], "float32"), "m.reshape([4])": ([1, 2, 3, 4], "int32"),
    "m.transpose(1, 0)": ([[1, 3], [2, 4]], "int32"), "f.max()": (2., "float32"), "i.mean()": (1.5, "float64"),
    "f.clip(1., 1.5)": ([1., 1.5], "float32"), "m[[0, 1], [1, 0]]": ([2, 3], "int32"), "f[f > 1.]": ([2.], "float32"),
    "m[:, [1, 0]]": ([[2, 1], [4, 3]], "int32"), "m[[1]]": ([[3, 4]], "int32"),
    "f[tf.constant([0, 1, 0])]": ([1., 2., 1.], "float32"), "m[0, 1:]": ([2], "int32"), "m[-1]": ([3, 4], "int32"),
    "tf.Variable([1, 2]) + 1.5": ([2.5, 3.5], "float64"), "f + np.float64(1)": ([2., 3.], "float64"),
    "m[[-1]]": ([[3, 4]], "int32"), "tf.constant([[[1], [2]]])[:, [1, 0]]": ([[[2], [1]]], "int32"),
    "c[:, (True, False)]": ([[[0, 1]], [[4, 5]]], "int32"), "c[1, (0, 0, 1), [0, 1, 1]]": ([4, 5, 7], "int32"),
    "c[[0, 1], :, [1, 0]]": ([[1, 3], [4, 6]], "int32"), "c[[0, 1], None, [1, 0]]": ([[[2, 3]], [[4, 5]]], "int32"),
    "c[0, :, [1, 1, 0]]": ([[1, 1, 0], [3, 3, 2]], "int32"),  # numpy's own gives this the other way around
    "c[..., np.array(1), [1, 0]]": ([[3, 2], [7, 6]], "int32")}
PROGRAM = """
import json, sys
import numpy as np
import leat as tf
tnp = tf.experimental.numpy
tnp.experimental_enable_numpy_behavior()
f, i, m = tf.constant([1., 2.]), tf.constant([1, 2]), tf.constant([[1, 2], [3, 4]])
c = tf.reshape(tf.range(8), [2, 2, 2])
found = {}
for text in json.load(sys.stdin):
    value = eval(text)
    found[text] = [value.numpy().tolist(), value.dtype.name]
assert (f.size, f.ndim, f.tolist(), f.data is f) == (2, 1, [1., 2.], True)
assert (tf.constant("a") == tf.constant("a")).numpy()
grown = tf.function(lambda x: (x + 1.5).T[[0, 0]])(m)
assert grown.dtype == tf.float64 and grown.numpy().tolist() == [[2.5, 4.5], [2.5, 4.5]]
tnp.experimental_enable_numpy_behavior(prefer_float32=True)
assert tnp.asarray(1.5).dtype == tf.float32 and tnp.arange(3.).dtype == tf.float32 and tnp.ones([2]).dtype == tf.float64
print(json.dumps(found))
"""


def test_tensors_behave_as_arrays_once_that_is_enabled():
    done = subprocess.run([sys.executable, "-c", PROGRAM], input=json.dumps(list(ENABLED)), text=True,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {text: list(answer) for text, answer in ENABLED.items()}


def test_tile_and_broadcast_arrays():
    for reps in (2.5, [2.0], 2, np.float32(2)):
        found = tnp.tile([1., 2.], reps)
        assert found.dtype == tf.float64 and found.numpy().tolist() == [1, 2, 1, 2]
    assert tnp.tile([[1.]], tf.constant([1.5, 2.9])).numpy().tolist() == [[1, 1]]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tnp.tile([1.], -1.5)
    assert tnp.broadcast_arrays() == ()
    assert [one.numpy().tolist() for one in tnp.broadcast_arrays([1], [2, 3])] == [[1, 1], [2, 3]]


@pytest.mark.parametrize("name", ["concatenate", "stack", "hstack", "vstack", "dstack"])
def test_joined_uint64_keep_their_bits(name):
    x = np.array([[2**40 + 1, 3], [5, 2**64 - 1]], np.uint64)
    found = getattr(tnp, name)([tf.constant(x), tf.constant(x[::-1])])
    expected = getattr(np, name)([x, x[::-1]])
    assert found.dtype is tf.uint64 and (found.numpy() == expected).all()


def test_cross_products_of_uint64():
    a, b = np.array([[2**33, 1, 5]], np.uint64), np.array([[2, 2**31, 7]], np.uint64)
    found = tnp.cross(a, b)
    assert found.dtype is tf.uint64 and (found.numpy() == np.cross(a, b)).all()
