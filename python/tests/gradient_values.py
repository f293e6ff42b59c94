"""Gradients of operations, taken here and, to record what to expect, under TensorFlow."""


def cases(tf):
    """[(name, function, inputs)]: the gradients of the function's weighted results for all inputs are recorded."""
    matrix = [[0.3, -1.2, 2.5], [1.7, 0.4, -0.6]]
    vector, other = [0.5, -1.5, 2.0], [1.5, 0.7, -2.2]
    positive = [[0.3, 1.2, 2.5], [1.7, 0.4, 0.6]]
    math, out = tf.math, []

    def add(name, function, *inputs):
        out.append((name, function, inputs))

    for name in ("abs atan cos cosh erf erfc exp expm1 negative reciprocal sigmoid sign sin sinh softplus square tan "
                 "tanh floor ceil round rint").split():
        add(name, getattr(math, name), matrix)
    for name in "log log1p rsqrt sqrt".split():
        add(name, getattr(math, name), positive)
    for name in "acos asin".split():
        add(name, getattr(math, name), [0.3, -0.7, 0.1])
    for name in ("add subtract multiply divide maximum minimum pow squared_difference floormod floordiv atan2 "
                 "divide_no_nan multiply_no_nan").split():
        add(name, getattr(math, name), positive, [0.7, 1.9, 0.4])
        add(name + " broadcast", getattr(math, name), positive, 1.3)
    for name in "relu relu6 elu softmax log_softmax".split():
        add(name, getattr(tf.nn, name), matrix)
    for name in "sum mean max min prod".split():
        reduce = getattr(tf, "reduce_" + name)
        add("reduce_" + name, reduce, matrix)
        add(f"reduce_{name} axis", lambda x, f=reduce: f(x, 1), matrix)
        add(f"reduce_{name} keepdims", lambda x, f=reduce: f(x, 0, keepdims=True), matrix)
    add("reduce_prod zeros", lambda x: tf.reduce_prod(x, [0, 1]), [[2., 0., 3.], [4., 5., 1.]])
    add("reduce_prod two zeros", lambda x: tf.reduce_prod(x, 1), [[2., 0., 0.], [4., 5., 1.]])
    add("cumsum", lambda x: math.cumsum(x, 1, exclusive=True), matrix)
    add("cumprod", lambda x: math.cumprod(x, 1), matrix)
    add("cumprod reverse", lambda x: math.cumprod(x, 0, exclusive=True, reverse=True), matrix)
    add("matmul", tf.matmul, matrix, [[1., 2.], [0.5, -1.], [0.1, 3.]])
    add("matmul transposed", lambda a, b: tf.matmul(a, b, transpose_b=True), matrix, matrix)
    add("reshape", lambda x: tf.reshape(x, [3, 2]), matrix)
    add("transpose", tf.transpose, matrix)
    add("concat", lambda a, b: tf.concat([a, b], 0), vector, other)
    add("stack", lambda a, b: tf.stack([a, b], 1), vector, other)
    add("unstack", lambda x: tf.unstack(x)[1], matrix)
    add("split", lambda x: tf.split(x, 3, 1)[1], matrix)
    add("slice", lambda x: tf.slice(x, [0, 1], [2, 2]), matrix)
    add("strided_slice", lambda x: x[::-1, ::2], matrix)
    add("gather", lambda x: tf.gather(x, [1, 0, 1]), matrix)
    add("gather axis", lambda x: tf.gather(x, [2, 0, 2], axis=1), matrix)
    add("gather_nd", lambda x: tf.gather_nd(x, [[0, 1], [1, 2], [0, 1]]), matrix)
    add("gather_nd rows", lambda x: tf.gather_nd(x, [[1], [1]]), matrix)
    add("boolean_mask", lambda x: tf.boolean_mask(x, [[True, False, True], [False, True, False]]), matrix)
    add("boolean_mask axis", lambda x: tf.boolean_mask(x, [True, False, True], axis=1), matrix)
    add("repeat", lambda x: tf.repeat(x, [2, 0, 3], axis=1), matrix)
    add("repeat flat", lambda x: tf.repeat(x, 2), matrix)
    add("tile", lambda x: tf.tile(x, [2, 3]), matrix)
    add("pad", lambda x: tf.pad(x, [[1, 0], [0, 2]]), matrix)
    add("reverse", lambda x: tf.reverse(x, [1]), matrix)
    add("roll", lambda x: tf.roll(x, 1, 1), matrix)
    add("sort", tf.sort, matrix)
    add("sort descending", lambda x: tf.sort(x, 0, "DESCENDING"), matrix)
    add("top_k", lambda x: math.top_k(x, 2)[0], matrix)
    add("top_k ties", lambda x: math.top_k(x, 2)[0], [[1., 2., 2., 2.], [0., 0., 0., 1.]])
    add("expand_dims", lambda x: tf.expand_dims(x, 1), vector)
    add("squeeze", tf.squeeze, [[[1.], [2.]]])
    add("broadcast_to", lambda x: tf.broadcast_to(x, [2, 3]), vector)
    add("where", lambda a, b: tf.where([True, False, True], a, b), vector, other)
    add("clip_by_value", lambda x: tf.clip_by_value(x, -1, 1), matrix)
    add("add_n", lambda a, b: tf.add_n([a, b, a]), vector, other)
    add("cast", lambda x: tf.cast(x, tf.float64), vector)
    add("bias_add", tf.nn.bias_add, matrix, vector)
    add("flip_left_right", tf.image.flip_left_right, [[[1.], [2.]], [[3.], [4.]]])
    _special(tf, add)
    _pictures(tf, add)
    return out


def _special(tf, add):
    math = tf.math
    add("linspace", lambda a, b: tf.linspace(a, b, 5), 1.0, 3.0)
    add("linspace one", lambda a, b: tf.linspace(a, b, 1), 1.0, 3.0)
    add("nextafter", math.nextafter, [1.0, -2.0], [[3.0], [-5.0]])
    add("digamma", math.digamma, [0.3, 1.7, 12.0, -0.4])
    add("polygamma", lambda x: math.polygamma([1.0, 2.0, 3.0], x), [0.7, 1.9, 5.5])
    add("zeta", lambda q: math.zeta([2.0, 3.5, 1.5], q), [0.7, 1.9, 5.5])
    table = [[1.5, 0.0], [2.0, 3.0], [0.5, 0.0], [1.0, 4.0], [3.0, 0.0]]
    add("segment_prod", lambda x: math.segment_prod(x, [0, 0, 2, 2, 2]), table)
    add("unsorted_segment_prod", lambda x: math.unsorted_segment_prod(x, [2, 2, 0, 0, -1], 3), table)
    add("saturate_cast", lambda x: tf.saturate_cast(x, tf.float16), [1.5, -7e4, 7e4, 100.0])
    _matrices(tf, add)


def _matrices(tf, add):
    linalg = tf.linalg
    square = [[2.0, -1.0, 0.5], [0.25, 3.0, 1.0], [-1.0, 0.5, 2.5]]
    positive = [[4.0, 1.0, 0.5], [1.0, 3.0, -0.25], [0.5, -0.25, 2.0]]
    tall, right = [[1.0, 2.0], [0.5, -1.0], [-2.0, 0.75]], [[1.0], [0.5], [-2.0]]
    add("inv", linalg.inv, square)
    add("inv adjoint", lambda x: linalg.inv(x, adjoint=True), [square, positive])
    add("det", linalg.det, [square, positive])
    add("slogdet", lambda x: linalg.slogdet(x)[1], [square, positive])
    add("logdet", linalg.logdet, positive)
    add("solve", linalg.solve, square, right)
    add("solve adjoint", lambda a, b: linalg.solve(a, b, adjoint=True), square, right)
    add("triangular_solve", linalg.triangular_solve, square, right)
    add("triangular_solve upper", lambda a, b: linalg.triangular_solve(a, b, lower=False, adjoint=True), square, right)
    add("triangular_solve broadcast", linalg.triangular_solve, square, [right, right])
    add("cholesky", linalg.cholesky, positive)
    add("cholesky stack", linalg.cholesky, [positive, [[2.0, 0.0, 0.0], [0.5, 2.0, 0.0], [1.0, 0.0, 3.0]]])
    for name, function in (("q", lambda x: linalg.qr(x)[0]), ("r", lambda x: linalg.qr(x)[1])):
        add("qr " + name, function, tall)
        add("qr square " + name, function, square)
    add("eigvalsh", linalg.eigvalsh, positive)
    add("eigh", lambda x: linalg.eigh(x)[1] ** 2, positive)
    add("svd values", lambda x: linalg.svd(x, compute_uv=False), [tall, right_of(tall)])
    for name, x in (("tall", tall), ("wide", [list(column) for column in zip(*tall)]), ("square", square)):
        add(f"svd {name} u", lambda x: linalg.svd(x)[1] ** 4, x)
        add(f"svd {name} v", lambda x: linalg.svd(x)[2] ** 4, x)
    add("pinv", linalg.pinv, tall)
    add("lstsq", linalg.lstsq, tall, right)
    add("expm", linalg.expm, square)


def right_of(rows):
    return [[-2.0 * x + 0.5 for x in row] for row in rows[::-1]]


def _measures(tf, add):
    """Two batches of pictures that resemble each other, without randomness."""
    image = tf.image

    def picture(batch, height, width, channels, step):
        values = [(i * i * step % 97) / 97 for i in range(batch * height * width * channels)]
        return tf.reshape(tf.constant(values), [batch, height, width, channels])

    one, other = picture(2, 5, 4, 2, 13), picture(2, 5, 4, 2, 31)
    add("psnr", lambda a, b: image.psnr(a, b, 1.0), one, other)
    add("psnr broadcast", lambda a, b: image.psnr(a, b, 1.0), one, other[:1])
    add("psnr itself", lambda a: image.psnr(a, a[..., ::-1], 1.0), one)
    add("ssim", lambda a, b: image.ssim(a, b, 1.0, filter_size=3), one, other)
    add("ssim picture", lambda a, b: image.ssim(a, b, 0.9, filter_size=4, k1=0.1, k2=0.2), one[0], other[0])
    add("ssim broadcast", lambda a, b: image.ssim(a, b, 1.0, filter_size=3, filter_sigma=0.8), one, other[0])
    add("ssim map", lambda a, b: image.ssim(a, b, 1.0, filter_size=3, return_index_map=True), one, other)
    large, blurred = picture(1, 13, 10, 1, 17), picture(1, 13, 10, 1, 17) * 0.8 + 0.1
    add("ssim_multiscale", lambda a, b: image.ssim_multiscale(a, b, 1.0, [0.3, 0.4, 0.3], filter_size=3),
        large, blurred)
    add("total_variation", image.total_variation, one)
    add("total_variation picture", image.total_variation, one[0])
    add("image_gradients down", lambda x: image.image_gradients(x)[0], one)
    add("image_gradients right", lambda x: image.image_gradients(x)[1], one)
    add("sobel_edges", image.sobel_edges, one)
    add("extract_patches", lambda x: image.extract_patches(x, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"), one)


def _pictures(tf, add):
    _measures(tf, add)
    image = tf.image
    picture = [[[0.1, 0.5, 0.9], [0.3, 0.2, 0.7], [0.8, 0.85, 0.15]],
               [[0.6, 0.4, 0.8], [0.25, 0.75, 0.5], [0.9, 0.05, 0.45]]]
    edges = [[0.0, 0.0, 0.0], [0.5, 0.5, 0.5], [0.7, 0.7, 0.2], [0.0, 0.4, 0.4], [0.3, 0.6, 0.3], [1.0, 0.0, 0.5]]
    add("rgb_to_hsv", image.rgb_to_hsv, picture)
    add("rgb_to_hsv edges", image.rgb_to_hsv, edges)
    add("per_image_standardization", image.per_image_standardization, picture)
    add("per_image_standardization batch", image.per_image_standardization, [picture, [row[::-1] for row in picture]])
    for method in ("bilinear", "nearest", "lanczos3"):
        add("resize_with_pad " + method, lambda x, m=method: image.resize_with_pad(x, 6, 4, method=m), picture)
    add("resize_with_pad antialias", lambda x: image.resize_with_pad(x, 2, 2, antialias=True), [picture, picture])
    boxes = [[0.1, 0.2, 0.8, 0.9], [-0.2, 0.0, 1.1, 1.0], [0.9, 0.9, 0.1, 0.1]]
    for method in ("bilinear", "nearest"):
        add("crop_and_resize " + method,
            lambda x, b, m=method: image.crop_and_resize(x, b, [0, 1, 1], [3, 2], method=m),
            [picture, [row[::-1] for row in picture]], boxes)
    add("crop_and_resize one", lambda x, b: image.crop_and_resize(x, b, [0], [1, 1]), [picture], [[0.1, 0.2, 0.8, 0.7]])
    forms = {"random_brightness": [0.2], "random_flip_left_right": [], "random_flip_up_down": [],
             "random_crop": [[1, 2, 2]]}
    for seed in ([0, 1], [2, 3], [5, 8]):
        for name, arguments in forms.items():
            function = getattr(image, "stateless_" + name)
            value = [picture] * 3 if name == "random_flip_up_down" else picture
            add(f"stateless_{name} {seed}", lambda x, f=function, a=arguments, s=seed: f(x, *a, seed=s), value)
    add("random_brightness", lambda x: image.random_brightness(x, 0.2), picture)

    def second(function):
        def slope(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(function(x) ** 3)
            return tape.gradient(y, x)
        return slope
    add("max_pool2d twice", second(lambda x: tf.nn.max_pool2d(x, 2, 1, "VALID")), [picture])
    add("max_pool2d same twice", second(lambda x: tf.nn.max_pool2d(x, 2, 2, "SAME")), [picture])


def gradients(tf, function, inputs):
    """The gradients for the inputs of the sum of the results, weighted by 1, 2, 3 and so on."""
    tensors = [tf.constant(value, tf.float32) for value in inputs]
    with tf.GradientTape() as tape:
        for tensor in tensors:
            tape.watch(tensor)
        result = function(*tensors)
        flat = tf.reshape(tf.cast(result, tf.float32), [-1])
        total = tf.reduce_sum(flat * tf.range(1., float(flat.shape[0]) + 1))
    found = tape.gradient(total, tensors)
    return [None if g is None else tf.convert_to_tensor(g).numpy().reshape(-1).tolist() for g in found]
