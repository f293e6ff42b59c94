"""Programs that draw random numbers one after the other, run here and, to record what to expect, under TensorFlow."""


def sequences(tf):
    """What random operations give one after the other, eagerly and in functions."""
    out = {}

    def note(name, value):
        out.setdefault(name, []).append([float(v) for v in tf.reshape(tf.cast(value, tf.float64), [-1]).numpy()])

    tf.random.set_seed(3)
    for shape in ([], [2], [1]):
        note("eager", tf.random.uniform(shape, seed=5))
    note("eager_other_dtype", tf.random.uniform([], seed=5, dtype=tf.float64))
    note("eager_other_operation", tf.random.normal([3], seed=5))
    note("eager", tf.random.uniform([], seed=5))
    for _ in range(2):
        note("eager_without_seed", tf.random.uniform([]))

    @tf.function
    def four():
        return tf.stack([tf.random.uniform([]), tf.random.normal([]), tf.random.uniform([], seed=5),
                         tf.random.uniform([], seed=5)])
    for _ in range(3):
        note("function", four())
    tf.random.set_seed(3)
    note("function_after_set_seed", four())
    tf.random.set_seed(4)
    note("function_after_other_seed", four())

    tf.random.set_seed(3)
    x = tf.Variable(1.0)

    @tf.function
    def times():
        return x * tf.random.uniform([])
    note("plain", times())
    for _ in range(2):
        with tf.GradientTape() as tape:
            y = times()
        note("taped", y)
        note("taped", tape.gradient(y, x))
    note("plain", times())

    @tf.function
    def inner():
        return tf.random.uniform([])

    @tf.function
    def outer():
        return tf.stack([inner(), tf.random.uniform([]), inner(), tf.random.uniform([])])
    note("nested", outer())
    note("nested", outer())

    @tf.function
    def loop(n):
        total = tf.zeros([4])
        for i in tf.range(n):
            total += tf.one_hot(i, 4) * tf.random.uniform([])
        return total
    for n in (3, 4):  # TensorFlow may run iterations in any order
        note("loop", tf.sort(loop(tf.constant(n))))

    @tf.function
    def branch(which):
        if which:
            return tf.random.uniform([])
        return tf.random.uniform([]) + 10
    for which in (True, False, True, False):
        note("branches", branch(tf.constant(which)))

    @tf.function
    def grows(n):
        return tf.random.uniform([n])
    for n in (1, 2, 3):
        note("shapes", grows(tf.constant(n)))
    @tf.function
    def noisy(v, n, which):
        for _ in tf.range(n):
            v = v * tf.random.uniform([], 0.5, 1.5)
        if which:
            v = v * tf.random.normal([])
        return v
    v = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(v)
        results = [noisy(v, tf.constant(3), tf.constant(True)) for _ in range(2)]
    for result in results:
        note("gradients", result)
        note("gradients", tape.gradient(result, v))

    @tf.function
    def step(v, n):
        with tf.GradientTape() as tape:
            tape.watch(v)
            y = v
            for _ in tf.range(n):
                y = y * tf.random.uniform([], 0.5, 1.5)
        return tf.stack([y, tape.gradient(y, v)])
    for _ in range(2):
        note("gradient_inside", step(v, tf.constant(3)))
    _pictures(tf, note)
    return out


def _pictures(tf, note):
    tf.random.set_seed(6)
    picture = tf.reshape(tf.range(5 * 4 * 3), [5, 4, 3])
    floats = tf.cast(picture, tf.float32) / 60.0
    several = tf.stack([floats, 1 - floats, floats[::-1]])
    for _ in range(3):  # they share the streams of random.uniform
        note("pictures", tf.image.random_brightness(floats, 0.3, seed=8))
        note("pictures", tf.image.random_flip_left_right(several, seed=8))
        note("pictures", tf.random.uniform([], seed=8))
        note("pictures", tf.image.random_crop(picture, [2, 2, 3], seed=8))
        note("pictures", tf.random.uniform([], maxval=9, dtype=tf.int32, seed=8))
    note("pictures_without_seed", tf.image.random_contrast(floats, 0.5, 1.5))
    note("pictures_without_seed", tf.random.uniform([]))

    @tf.function
    def distorted(x):
        x = tf.image.random_flip_up_down(tf.image.random_hue(x, 0.2))
        return tf.image.random_saturation(x, 0.5, 1.5, seed=4)
    for _ in range(3):
        note("pictures_function", distorted(floats))
    for _ in range(2):
        boxes = tf.constant([[[0.1, 0.2, 0.7, 0.9]]])
        for part in tf.image.sample_distorted_bounding_box([40, 50, 3], boxes, seed=3):
            note("boxes", part)
