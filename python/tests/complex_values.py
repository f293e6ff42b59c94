"""Programs over complex numbers, written against `tf`: what TensorFlow gives for them is recorded in
data/complex_values.json.

Each case is (name, function, inputs, does it have gradients?).
"""
import numpy as np

_draws = np.random.RandomState(7)


def _numbers(*shape, kind="complex64"):
    values = _draws.uniform(-1.5, 1.5, shape) + 1j * _draws.uniform(-1.5, 1.5, shape)
    return values.round(3).astype(kind)


def _edges():
    return np.array([0, 1, -1, 1j, -1j, 2 - 3j, -2.5 + 0.5j, 1e-4 + 1e-4j], "complex128")


UNARY = ("abs acos acosh angle asin asinh atan atanh conj cos cosh exp expm1 imag log log1p negative real reciprocal "
         "rsqrt sigmoid sign sin sinh sqrt square tan tanh")
BINARY = "add divide divide_no_nan equal multiply multiply_no_nan not_equal pow subtract xdivy"
REDUCED = "reduce_sum reduce_mean reduce_prod reduce_variance reduce_std reduce_euclidean_norm cumsum cumprod"


def _elementwise(tf):
    flat = {"equal", "not_equal"}
    for name in UNARY.split():
        function = getattr(tf.math, name)
        yield name, function, [_numbers(2, 3)], name != "sign"
        yield name + "_wide", function, [_numbers(4, kind="complex128")], name != "sign"
        if name not in ("acos acosh asin asinh atan atanh log rsqrt reciprocal expm1 log1p sqrt".split()):
            yield name + "_edges", function, [_edges()], False
        yield name + "_empty", function, [np.zeros((0, 2), "complex64")], False
    for name in BINARY.split():
        function = getattr(tf.math, name)
        a, b = _numbers(2, 3), _numbers(2, 3)
        if name in flat:
            b[0] = a[0]
        yield name, function, [a, b], name not in flat and name not in ("multiply_no_nan", "xdivy")
        yield name + "_broadcast", function, [_numbers(2, 1, kind="complex128"), _numbers(3, kind="complex128")], (
            name not in flat and name not in ("multiply_no_nan", "xdivy"))
    yield "squared_difference", tf.math.squared_difference, [_numbers(3), _numbers(2, 3)], True
    yield "l2_normalize", tf.math.l2_normalize, [_numbers(3)], False
    yield "norm", tf.norm, [_numbers(2, 3)], False
    yield "norm_of_columns", lambda x: tf.norm(x, 1, axis=0), [_numbers(2, 3)], False
    yield "normalize", lambda x: tf.linalg.normalize(x, axis=1)[0], [_numbers(2, 3)], False
    yield "linspace", lambda x, y: tf.linspace(x, y, 4), [_numbers(), _numbers()], False
    yield "moments", lambda x: tf.stack(tf.nn.moments(x, [0])), [_numbers(3, 2)], False
    yield "complex", tf.complex, [np.float32([1, 2]), np.float32([[3], [4]])], True
    yield "complex_wide", tf.complex, [np.float64(1.5), np.float64([3, 4])], True
    yield "divide_no_nan_zero", tf.math.divide_no_nan, [_numbers(3), np.complex64([0, 1j, 2])], False
    yield "operators", lambda a, b: (a + b) * 2 - a / b + (1 + 2j) - (-a) ** 2, [_numbers(3), _numbers(3)], True
    yield "operators_of_numbers", lambda a: 2j * a + 1 - a / 2, [_numbers(3)], True
    yield "abs_operator", abs, [_numbers(3)], True
    yield "add_n", lambda a, b: tf.add_n([a, b, a]), [_numbers(3), _numbers(3)], True
    for name in "float32 float64 complex64 complex128 int32 int64 uint8 bool".split():
        yield "cast_to_" + name, lambda x, kind=name: tf.cast(x, kind), [_numbers(5) * 3], name[0] in "fc"
    for name in "float32 float64 int32 uint8 bool float16".split():
        yield ("cast_from_" + name, lambda x: tf.cast(x, tf.complex64), [np.array([0, 1, 3]).astype(name)],
               name[:5] == "float")


def _reductions(tf):
    for name in REDUCED.split():
        function = getattr(tf.math, name)
        yield name, lambda x, f=function: f(x, 1), [_numbers(2, 3, 2)], name not in ("reduce_std", "cumprod")
        if not name.startswith("cum"):
            yield name + "_all", function, [_numbers(2, 3)], name not in ("reduce_std",)
            yield name + "_first", lambda x, f=function: f(x, [0], True), [_numbers(3, 4, kind="complex128")], False
    yield "reduce_sum_none", lambda x: tf.reduce_sum(x, 0), [np.zeros((0, 3), "complex64")], False
    yield "reduce_prod_none", lambda x: tf.reduce_prod(x, 0), [np.zeros((0, 3), "complex64")], False
    yield "cumsum_reverse", lambda x: tf.cumsum(x, 0, exclusive=True, reverse=True), [_numbers(4)], True
    ids = np.int32([0, 0, 2])
    yield "segment_sum", lambda x: tf.math.segment_sum(x, ids), [_numbers(3, 2)], True
    yield "unsorted_segment_sum", lambda x: tf.math.unsorted_segment_sum(x, ids, 4), [_numbers(3, 2)], True
    yield "segment_prod", lambda x: tf.math.segment_prod(x, ids), [_numbers(3, 2)], False
    yield "count_nonzero_axis", lambda x: tf.math.count_nonzero(x, 0), [np.complex128([[0, 1j], [2, 0]])], False
    yield "count_nonzero", tf.math.count_nonzero, [np.complex64([0, 1j, 2, 0])], False


def _matrices(tf):
    a, b = _numbers(2, 3), _numbers(3, 4)
    yield "matmul", tf.linalg.matmul, [a, b], True
    yield "matmul_adjoint_a", lambda x, y: tf.linalg.matmul(x, y, adjoint_a=True), [_numbers(3, 2), b], True
    yield "matmul_adjoint_b", lambda x, y: tf.linalg.matmul(x, y, adjoint_b=True), [a, _numbers(4, 3)], True
    yield "matmul_transpose", lambda x, y: tf.linalg.matmul(x, y, True, True), [_numbers(3, 2), _numbers(4, 3)], True
    stacks = [_numbers(2, 2, 3, kind="complex128"), _numbers(2, 3, 2, kind="complex128")]
    yield "matmul_stack", tf.linalg.matmul, stacks, True
    yield "matmul_operator", lambda x, y: x @ y, [a, b], True
    yield "matvec", lambda x, y: tf.linalg.matvec(x, y, adjoint_a=True), [_numbers(3, 2), _numbers(3)], True
    yield "einsum", lambda x, y: tf.einsum("ij,kj->ik", x, y), [a, _numbers(4, 3)], True
    yield "einsum_alone", lambda x: tf.einsum("ij->j", x), [a], True
    yield "tensordot", lambda x, y: tf.tensordot(x, y, 1), [a, b], True
    yield "adjoint", tf.linalg.adjoint, [a], True
    yield "transpose_conjugate", lambda x: tf.transpose(x, conjugate=True), [a], True
    yield "matrix_transpose", lambda x: tf.linalg.matrix_transpose(x, conjugate=True), [a], True
    yield "diag", tf.linalg.diag, [_numbers(3)], True
    yield "diag_part", tf.linalg.diag_part, [_numbers(3, 3)], True
    yield "band_part", lambda x: tf.linalg.band_part(x, 1, 0), [_numbers(3, 3)], True
    yield "trace", tf.linalg.trace, [_numbers(3, 3)], True
    yield "eye", lambda: tf.eye(2, dtype=tf.complex64), [], False


def _circulant(tf):
    for rank, name in enumerate(("", "2D", "3D"), 1):
        kind = getattr(tf.linalg, "LinearOperatorCirculant" + name)
        block = (3, 2, 1)[:rank]
        size = int(np.prod(block))
        real, wide = np.abs(_numbers(*block)) + np.float32(0.5), _numbers(2, *block, kind="complex128") + 3
        whole = np.fft.fftn(_draws.uniform(-1, 1, block).round(3) + 2 * (np.arange(size).reshape(block) == 0))
        x, numbers = _numbers(size, 2), _numbers(size, 2, kind="complex128")
        flat = numbers.T.copy()
        made = {
            "product": (lambda x, k=kind, s=real: k(s).matmul(x), x),
            "of_vector": (lambda x, k=kind, s=real: k(s).matvec(x[:, 0]), x),
            "stack": (lambda x, k=kind, s=wide: k(s, "complex128").matmul(x), numbers),
            "adjoint": (lambda x, k=kind, s=wide: k(s, "complex128").matmul(x, adjoint=True), numbers),
            "adjoint_arg": (lambda x, k=kind, s=wide: k(s, "complex128").matmul(x, adjoint_arg=True), flat),
            "solve": (lambda x, k=kind, s=wide: k(s, "complex128").solve(x), numbers),
            "solve_adjoint": (lambda x, k=kind, s=wide: k(s, "complex128").solve(x, True, True), flat),
            "real": (lambda x, k=kind, s=whole: k(s, "float64").matmul(tf.math.real(x)), numbers)}
        for what, (call, given) in made.items():
            yield f"circulant{name}_{what}", call, [given], what != "adjoint_arg"
        for what in "to_dense convolution_kernel determinant log_abs_determinant trace diag_part cond eigvals".split():
            spectrum = real if what == "eigvals" else wide
            call = lambda k=kind, s=spectrum, w=what: getattr(k(s, "complex128"), w)()  # noqa: E731
            yield f"circulant{name}_{what}", call, [], False
        undo = lambda k=kind, s=wide: k(s, "complex128").inverse().to_dense()  # noqa: E731
        yield f"circulant{name}_inverse", undo, [], False
        yield f"circulant{name}_H", lambda k=kind, s=wide: k(s.astype("complex64")).H.to_dense(), [], False


def _arrays(tf):
    x, y = _numbers(2, 3), _numbers(2, 3)
    one = {
        "reshape": lambda x: tf.reshape(x, [3, 2]), "transpose": tf.transpose, "tile": lambda x: tf.tile(x, [1, 2]),
        "pad": lambda x: tf.pad(x, [[1, 0], [0, 2]]),
        "pad_value": lambda x: tf.pad(x, [[1, 0], [0, 2]], constant_values=2.5),
        "gather": lambda x: tf.gather(x, [2, 0, 2], axis=1), "gather_nd": lambda x: tf.gather_nd(x, [[1, 2], [0, 1]]),
        "slice": lambda x: x[:, 1:], "strided": lambda x: x[::-1, ::2], "reverse": lambda x: tf.reverse(x, [1]),
        "roll": lambda x: tf.roll(x, 1, 1), "broadcast_to": lambda x: tf.broadcast_to(x, [2, 2, 3]),
        "expand_dims": lambda x: tf.expand_dims(x, 1), "unstack": lambda x: tf.unstack(x)[1],
        "split": lambda x: tf.split(x, 3, 1)[2], "repeat": lambda x: tf.repeat(x, 2, 0), "identity": tf.identity,
        "zeros_like": tf.zeros_like, "ones_like": tf.ones_like, "stop_gradient": lambda x: x + tf.stop_gradient(x * x),
        "boolean_mask": lambda x: tf.boolean_mask(x, [True, False]),
        "scatter": lambda x: tf.scatter_nd([[1], [3]], x, [5, 3]), "fill": lambda x: tf.fill([2, 2], x[0, 0]),
        "cond": lambda x: tf.cond(tf.reduce_sum(tf.math.real(x)) > 0, lambda: x * x, lambda: 3 * x),
        "while_loop": lambda x: tf.while_loop(lambda i, v: i < 3, lambda i, v: (i + 1, v * (1 + 1j)), (0, x))[1],
        "map_fn": lambda x: tf.map_fn(lambda v: v * v, x),
    }
    for name, function in one.items():
        yield name, function, [x], name not in ("zeros_like", "ones_like")
    yield "concat", lambda x, y: tf.concat([x, y], 1), [x, y], True
    yield "stack", lambda x, y: tf.stack([x, y], 1), [x, y], True
    yield "where", lambda x, y: tf.where([True, False, True], x, y), [x, y], True
    yield "scatter_add", lambda x, y: tf.tensor_scatter_nd_add(x, [[1], [1]], y), [x, y], True
    yield "scatter_update", lambda x, y: tf.tensor_scatter_nd_update(x, [[1], [0]], y), [x, y], True
    yield "scatter_sub", lambda x, y: tf.tensor_scatter_nd_sub(x, [[1], [1]], y), [x, y], True
    yield "bias_add", tf.nn.bias_add, [x, y[0]], True
    yield "dynamic_partition", lambda x: tf.dynamic_partition(x, [1, 0], 2)[1], [x], False
    yield "reverse_sequence", lambda x: tf.reverse_sequence(x, [2, 3], seq_axis=1), [x], True
    yield "set_diag", lambda x, y: tf.linalg.set_diag(x, y), [x, _numbers(2)], True
    yield "tensor_diag", tf.linalg.tensor_diag, [_numbers(2)], True
    yield "zeros", lambda: tf.zeros([2], tf.complex128), [], False
    yield "ones", lambda: tf.ones([2], tf.complex64), [], False
    yield "constant", lambda: tf.constant([1 + 0j, 2.5 + 0j, 3 - 1j]), [], False
    yield "constant_narrow", lambda: tf.constant([[1, 2], [3, 4]], tf.complex64), [], False
    yield "serialized", lambda x: tf.io.parse_tensor(tf.io.serialize_tensor(x), tf.complex64), [x], False


def _reals(*shape):
    return _draws.uniform(-1, 1, shape).round(3).astype("float32")


def _transforms(tf):
    signal = tf.signal
    for name in "fft ifft fft2d ifft2d fft3d ifft3d".split():
        yield name, getattr(signal, name), [_numbers(2, 2, 3, 4)], True
        yield name + "_wide", getattr(signal, name), [_numbers(2, 1, 7, kind="complex128")], True
    for name in "rfft rfft2d".split():
        yield name, getattr(signal, name), [_reals(2, 3, 5)], True
        yield "i" + name, getattr(signal, "i" + name), [_numbers(2, 3, 4)], True
    # Where the length is another one, or there are three dimensions, TensorFlow has no gradient.
    for rank, name in enumerate("rfft rfft2d rfft3d".split(), 1):
        for which, lengths in (("longer", [4, 5, 8]), ("shorter", [2, 2, 4])):
            call = lambda x, f=name, n=lengths[-rank:]: getattr(signal, f)(x, n)  # noqa: E731
            back = lambda x, f=name, n=lengths[-rank:]: getattr(signal, "i" + f)(x, n)  # noqa: E731
            yield f"{name}_{which}", call, [_reals(3, 3, 6)], False
            yield f"i{name}_{which}", back, [_numbers(3, 3, 4)], False
    for name in "fftshift ifftshift".split():
        yield name, getattr(signal, name), [_reals(3, 4)], True
        yield name + "_axis", lambda x, f=name: getattr(signal, f)(x, [1]), [_numbers(2, 5)], True
    for kind in (1, 2, 3, 4):
        for n, norm in ((None, None), (3, None), (5, "ortho")):
            for name in ("dct", "idct"):
                call = lambda x, *a, f=name: getattr(signal, f)(x, *a[:2], norm=a[2])  # noqa: E731
                if (kind, norm) != (1, "ortho"):
                    yield f"{name}_{kind}_{n}", lambda x, a=(kind, n, norm), f=call: f(x, *a), [_reals(2, 4)], True


def _signals(tf):
    signal = tf.signal
    for name in "hann hamming kaiser kaiser_bessel_derived vorbis".split():
        for length in (1, 5, 8):
            yield f"{name}_{length}", lambda f=f"{name}_window", n=length: getattr(signal, f)(n), [], False
    yield "hann_whole", lambda: signal.hann_window(8, False, tf.float64), [], False
    yield "kaiser_beta", lambda: signal.kaiser_window(6, 2.5), [], False
    for end in (False, True):
        yield f"frame_{end}", lambda x, e=end: signal.frame(x, 4, 3, e, 0.5), [_reals(2, 9)], True
        yield f"frame_axis_{end}", lambda x, e=end: signal.frame(x, 3, 2, e, axis=0), [_reals(6, 2)], True
        yield f"frame_short_{end}", lambda x, e=end: signal.frame(x, 6, 2, e), [_reals(4)], False
        yield f"stft_{end}", lambda x, e=end: signal.stft(x, 6, 3, pad_end=e), [_reals(2, 14)], True
        yield f"stft_of_{end}", lambda x, e=end: signal.stft(x, 5, 2, 7, None, e), [_reals(11)], True
        yield f"mdct_{end}", lambda x, e=end: signal.mdct(x, 4, pad_end=e), [_reals(2, 9)], True
    yield "mdct_ortho", lambda x: signal.mdct(x, 8, norm="ortho"), [_reals(16)], True
    yield "mdct_plain", lambda x: signal.mdct(x, 4, None), [_reals(8)], True
    yield "inverse_mdct", signal.inverse_mdct, [_reals(2, 3, 4)], True
    yield "inverse_mdct_ortho", lambda x: signal.inverse_mdct(x, None, "ortho"), [_reals(3, 2)], True
    yield "inverse_stft", lambda x: signal.inverse_stft(x, 8, 3), [_numbers(2, 3, 5)], True
    yield "inverse_stft_longer", lambda x: signal.inverse_stft(x, 10, 4, 6), [_numbers(3, 4)], False
    undo = signal.inverse_stft_window_fn(3)
    yield "inverse_stft_undone", lambda x: signal.inverse_stft(x, 6, 3, 8, undo), [_numbers(3, 5)], True
    yield "inverse_window", lambda: undo(8, tf.float32), [], False
    yield "overlap_and_add", lambda x: signal.overlap_and_add(x, 2), [_reals(2, 3, 5)], True
    yield "overlap_apart", lambda x: signal.overlap_and_add(x, 4), [_reals(3, 3)], True
    yield "mel", lambda: signal.linear_to_mel_weight_matrix(4, 9), [], False
    yield "mel_wide", lambda: signal.linear_to_mel_weight_matrix(3, 9, 16000, 20, 8000, tf.float64), [], False
    yield "mfccs", signal.mfccs_from_log_mel_spectrograms, [_reals(2, 6)], True


def _factors(tf):
    """Equations and factors; what is self-adjoint and positive definite is made of any matrix."""
    def positive(x):
        return tf.matmul(x, x, adjoint_b=True) + 2 * tf.eye(x.shape[-1], dtype=x.dtype)

    def square(*shape, kind="complex64"):
        return _numbers(*shape, shape[-1], kind=kind) + 3 * np.eye(shape[-1], dtype=kind)
    linalg = tf.linalg
    one, stack, large = square(3), square(2, 2, kind="complex128"), square(19, kind="complex128")
    for name in "inv det lu sqrtm expm".split():
        function = getattr(linalg, name)
        first = (lambda x, f=function: f(x)[0]) if name == "lu" else function
        for kind, x in (("", one), ("_stack", stack)):
            yield name + kind, first, [x], name != "lu"
        yield name + "_large", first, [large], False
    yield "lu_order", lambda x: linalg.lu(x)[1], [_numbers(4, 4)], False
    for name in ("logm",):
        far = _numbers(4, 4, kind="complex128") * 9
        for kind, x in (("", one), ("_stack", stack), ("_large", large), ("_far", far)):
            yield name + kind, linalg.logm, [x], False
    yield "inv_adjoint", lambda x: linalg.inv(x, adjoint=True), [one], True
    yield "slogdet_sign", lambda x: linalg.slogdet(x)[0], [stack], False
    yield "slogdet", lambda x: linalg.slogdet(x)[1], [stack], True
    yield "slogdet_singular", lambda x: tf.stack(linalg.slogdet(x)), [np.zeros((2, 2), "complex64")], False
    yield "det_singular", linalg.det, [np.ones((2, 2), "complex64")], False
    for name in "cholesky logdet".split():
        yield name, lambda x, f=getattr(linalg, name): f(positive(x)), [_numbers(3, 3)], True
        yield (name + "_stack", lambda x, f=getattr(linalg, name): f(positive(x)),
               [_numbers(2, 2, 2, kind="complex128")], True)
    for adjoint in (False, True):
        word = "_adjoint" if adjoint else ""
        yield "solve" + word, lambda x, y, a=adjoint: linalg.solve(x, y, adjoint=a), [one, _numbers(3, 2)], True
        yield "solve_stack" + word, lambda x, y, a=adjoint: linalg.solve(x, y, adjoint=a), [
            stack, _numbers(2, 2, 1, kind="complex128")], True
        for lower in (False, True):
            yield f"triangular_solve_{lower}" + word, lambda x, y, a=adjoint, low=lower: linalg.triangular_solve(
                x, y, low, a), [one, _numbers(3, 2)], True
    yield "triangular_solve_broadcast", linalg.triangular_solve, [one, _numbers(2, 3, 1)], True
    yield ("cholesky_solve", lambda x, y: linalg.cholesky_solve(linalg.cholesky(positive(x)), y),
           [_numbers(3, 3), _numbers(3, 2)], True)
    yield "lu_solve", lambda x, y: linalg.lu_solve(*linalg.lu(x), y), [one, _numbers(3, 2)], False
    yield "lu_matrix_inverse", lambda x: linalg.lu_matrix_inverse(*linalg.lu(x)), [one], False
    yield "lu_reconstruct", lambda x: linalg.lu_reconstruct(*linalg.lu(x)), [one], False
    for name, shape in (("square", (3, 3)), ("tall", (4, 2)), ("wide", (2, 4)), ("stack", (2, 3, 2))):
        for full in (False, True):
            word = "_full" if full else ""
            has_gradients = not (full and shape[-2] > shape[-1])
            for place, part in enumerate("qr"):
                yield f"qr_{part}_{name}{word}", lambda x, i=place, f=full: linalg.qr(x, f)[i], [
                    _numbers(*shape, kind="complex128")], has_gradients
    for fast in (True, False):
        for name, shape in (("tall", (4, 2)), ("wide", (2, 4))):
            yield f"lstsq_{name}_{fast}", lambda x, y, f=fast: linalg.lstsq(x, y, fast=f), [
                _numbers(*shape), _numbers(shape[0], 1)], fast
    yield ("lstsq_regularized", lambda x, y: linalg.lstsq(x, y, l2_regularizer=.5),
           [_numbers(4, 2), _numbers(4, 1)], True)


def _spectra(tf):
    """Eigenvalues and singular values; what depends on their order, or the direction of vectors, is summed up."""
    linalg = tf.linalg

    def weighted(values, vectors):
        sizes = tf.cast(tf.abs(vectors) ** 2, vectors.dtype)
        return tf.reduce_sum(sizes * tf.cast(values, vectors.dtype)[..., None, :], -1)

    def rebuilt(values, vectors):
        return tf.matmul(vectors * values[..., None, :] ** 2, linalg.inv(vectors))
    matrices = {"": _numbers(3, 3), "_stack": _numbers(2, 2, 2, kind="complex128"),
                "_large": _numbers(17, 17, kind="complex128"),
                "_real": _numbers(4, 4).real, "_real_wide": _numbers(2, 3, 3, kind="complex128").real}
    for name, x in matrices.items():
        has_gradients = name != "_large"
        yield ("eigvals" + name, lambda x: tf.stack([tf.reduce_sum(linalg.eigvals(x) ** k, -1) for k in (1, 2, 3)]),
               [x], has_gradients)
        yield "eig_rebuilt" + name, lambda x: rebuilt(*linalg.eig(x)), [x], has_gradients
        yield "eig_weighted" + name, lambda x: weighted(*linalg.eig(x)), [x], has_gradients
        if "real" not in name:
            yield "eigvalsh" + name, linalg.eigvalsh, [x], has_gradients
            yield "eigh_weighted" + name, lambda x: weighted(*linalg.eigh(x)), [x], has_gradients
            yield "sqrtm_of" + name, linalg.sqrtm, [x], False
    yield "sqrtm_of_real", linalg.sqrtm, [np.float64([[1, 2, 0], [-3, 1, 1], [0, .5, 2]])], True
    yield "sqrtm_of_negative", linalg.sqrtm, [np.float32([[-1, 0], [0, 1]])], False
    yield "sqrtm_of_zeros", linalg.sqrtm, [np.zeros((2, 2), "float32")], False
    for name, shape in (("square", (3, 3)), ("tall", (4, 2)), ("wide", (2, 4)), ("stack", (2, 3, 2))):
        x = _numbers(*shape, kind="complex128")
        yield "svd_values_" + name, lambda x: linalg.svd(x, compute_uv=False), [x], True
        yield "svd_left_" + name, lambda x: weighted(*linalg.svd(x)[:2]), [x], True
        yield "svd_right_" + name, lambda x: weighted(*linalg.svd(x)[::2]), [x], True
        yield "svd_turn_" + name, lambda x: tf.matmul(*linalg.svd(x)[1:], adjoint_b=True), [x], True
        yield ("svd_full_" + name,
               lambda x: tf.matmul(*[linalg.svd(x, full_matrices=True)[2]] * 2, adjoint_b=True), [x], False)


def _bands(tf):
    """Matrices of few diagonals."""
    linalg = tf.linalg
    three, right = _numbers(2, 3, 4, kind="complex128") + [[0], [4], [0]], _numbers(2, 4, 2, kind="complex128")
    yield "tridiagonal_solve", linalg.tridiagonal_solve, [three, right], True
    yield "tridiagonal_solve_pivots", linalg.tridiagonal_solve, [_numbers(3, 5), _numbers(5, 1)], True
    yield ("tridiagonal_solve_turned",
           lambda x, y: linalg.tridiagonal_solve(x, y, transpose_rhs=True, conjugate_rhs=True),
           [three, _numbers(2, 2, 4, kind="complex128")], True)
    for lower in (False, True):
        for adjoint in (False, True):
            bands = _numbers(2, 3, 4) + np.complex64([[4], [0], [0]] if lower else [[0], [0], [4]])
            yield f"banded_{lower}_{adjoint}", lambda x, y, low=lower, a=adjoint: linalg.banded_triangular_solve(
                x, y, low, a), [bands, _numbers(4, 2)], True


def cases(tf):
    """All of them."""
    _draws.seed(7)
    for part in (_elementwise, _reductions, _matrices, _arrays, _circulant, _transforms, _signals, _factors, _spectra,
                 _bands):
        yield from part(tf)


def _listed(values):
    """The numbers of an array as JSON: those of complex ones as [real, imaginary]."""
    values = np.asarray(values)
    flat = values.reshape(-1)

    def short(numbers):
        return [float(str(one)) for one in numbers] if numbers.dtype.kind == "f" else numbers.tolist()
    data = [*map(list, zip(short(flat.real), short(flat.imag)))] if values.dtype.kind == "c" else short(flat)
    return {"dtype": values.dtype.name, "shape": list(values.shape), "data": data}


def values_of(recorded):
    """The array of what `_listed` gave."""
    data = recorded["data"]
    if recorded["dtype"].startswith("complex"):
        data = [complex(*pair) for pair in data]
    return np.array(data, recorded["dtype"]).reshape(recorded["shape"])


def results(tf, function, inputs, has_gradients, wrap=lambda f: f):
    """What a case gives: its value and the gradients of its inputs, where 1 - 0.5i times a ramp flows back."""
    tensors = [tf.constant(value) for value in inputs]

    def run(*tensors):
        out = function(*tensors)
        if not has_gradients:
            return (out,)
        with tf.GradientTape() as tape:
            tape.watch(list(tensors))
            out = function(*tensors)
        ramp = tf.reshape(tf.cast(tf.range(tf.size(out)), tf.float64) / 4 + 1, tf.shape(out))
        ramp = tf.cast(ramp, out.dtype) * (tf.cast(1 - 0.5j, out.dtype))
        return (out, *tape.gradient(out, list(tensors), ramp))
    return [_listed(value.numpy()) for value in wrap(run)(*tensors)]
