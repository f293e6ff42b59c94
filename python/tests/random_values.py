"""Calls of random functions by name, run here and, to record what to expect, under TensorFlow."""


def calls(tf):
    """{name: function}: what each gives, or the exception that it raises, is recorded."""
    return {**_of_seeds(tf), **_one_by_one(tf), **_of_generators(tf), **_refused(tf)}


def _of_seeds(tf):
    random = tf.random
    out = {}
    for seed in ([1, 2], [-1, 2**31 - 1], [2**40, -(2**50)]):
        for dtype in ("float16", "bfloat16", "float32", "float64"):
            for name in ("uniform", "normal", "truncated_normal"):
                function = getattr(random, "stateless_" + name)
                out[f"stateless_{name} {seed} {dtype}"] = lambda f=function, s=seed, d=dtype: f([11], s, dtype=d)
        for dtype in ("int32", "int64"):
            out[f"bounds {seed} {dtype}"] = lambda s=seed, d=dtype: random.stateless_uniform([7], s, -5, 17, d)
        for dtype in ("int32", "int64", "uint32", "uint64"):
            out[f"bits {seed} {dtype}"] = lambda s=seed, d=dtype: random.stateless_uniform([7], s, None, None, d)
        out[f"split {seed}"] = lambda s=seed: random.split(s, 5)
        out[f"fold_in {seed}"] = lambda s=seed: random.fold_in(s, 5)
        out[f"fold_in int64 {seed}"] = lambda s=seed: random.fold_in(s, tf.constant(5, tf.int64))
        out[f"shuffle {seed}"] = lambda s=seed: random.experimental.stateless_shuffle(tf.range(10), s)
        out[f"shuffle rows {seed}"] = lambda s=seed: random.experimental.stateless_shuffle(
            tf.reshape(tf.range(12), [4, 3]), s)
        out[f"categorical {seed}"] = lambda s=seed: random.stateless_categorical([[0.1, 2, -1], [3, 0, 0.5]], 6, s)
    out["far bounds"] = lambda: random.stateless_uniform([5], [3, 4], 0, tf.int64.max, tf.int64)
    out["stretched"] = lambda: random.stateless_uniform([5], [3, 4], -3.5, 12.25)
    out["stretched half"] = lambda: random.stateless_uniform([5], [3, 4], -3.3, 12.7, tf.float16)
    out["tensor bounds"] = lambda: random.stateless_uniform([2, 3], [3, 4], tf.constant([0., 1, 2]), [5., 6, 7])
    out["moved"] = lambda: random.stateless_normal([5], [3, 4], 2, 0.5)
    out["tensor mean"] = lambda: random.stateless_normal([2, 3], [3, 4], tf.constant([0., 10, 20]), 2.)
    out["moved truncated"] = lambda: random.stateless_truncated_normal([9], [3, 4], 2, 0.5, tf.float64)
    out["algorithms"] = lambda: random.stateless_uniform([3], [3, 4], alg="philox") - random.stateless_uniform(
        [3], [3, 4], alg=random.Algorithm.AUTO_SELECT)
    out["split twice"] = lambda: random.split(random.split([7, 7])[1], tf.constant(3))
    out["categorical int32"] = lambda: random.stateless_categorical([[1., float("-inf"), 2]], 9, [5, 5], tf.int32)
    out["scalar shape"] = lambda: random.stateless_uniform([], [3, 4])
    out["empty"] = lambda: random.stateless_normal([0, 3], [3, 4])
    out["empty shuffle"] = lambda: random.experimental.stateless_shuffle(tf.zeros([0, 2]), [3, 4])
    return out


def _one_by_one(tf):
    random = tf.random
    out = {}

    def twice(function):
        random.set_seed(11)
        return tf.stack([function(), function(), function()])
    out["eager uniform"] = lambda: twice(lambda: random.uniform([3], 2, 5, seed=4))
    out["eager integers"] = lambda: twice(lambda: random.uniform([3], 0, 1000, tf.int32, seed=4))
    out["eager int64"] = lambda: twice(lambda: random.uniform([3], 0, tf.int64.max, tf.int64, seed=4))
    out["eager normal"] = lambda: twice(lambda: random.normal([3], 2, 5, seed=4))
    out["eager half"] = lambda: twice(lambda: random.normal([5], dtype=tf.float16, seed=4))
    out["eager bfloat16"] = lambda: twice(lambda: random.uniform([5], dtype=tf.bfloat16, seed=4))
    out["eager truncated"] = lambda: twice(lambda: random.truncated_normal([7], seed=4))
    out["eager truncated moved"] = lambda: twice(lambda: random.truncated_normal([7], 1, 3, tf.float64, seed=4))
    out["eager without seed"] = lambda: twice(lambda: random.truncated_normal([2]))
    out["eager shuffle"] = lambda: twice(lambda: random.shuffle(tf.range(9), seed=4))
    out["eager shuffle rows"] = lambda: twice(lambda: random.shuffle(tf.reshape(tf.range(12), [6, 2]), seed=4))
    out["eager shuffle one"] = lambda: twice(lambda: random.shuffle([3], seed=4))
    out["eager shuffle scalar"] = lambda: twice(lambda: random.shuffle(3, seed=4))
    out["eager categorical"] = lambda: twice(lambda: random.categorical([[0.1, 2, -1], [3, 0, 0.5]], 5, seed=4))
    out["eager categorical half"] = lambda: twice(lambda: random.categorical(
        tf.constant([[0.1, 2, -1]], tf.float16), 7, tf.int32, seed=4))
    out["function shuffle"] = lambda: twice(tf.function(lambda: random.shuffle(tf.range(9))))
    out["function categorical"] = lambda: twice(tf.function(lambda: random.categorical([[0., 1, 2]], 4)))
    out["function tensor bounds"] = lambda: tf.function(lambda low: random.stateless_uniform([4], [1, 2], low, 10))(
        tf.constant(5.))

    def below(high):
        return random.stateless_uniform([4], [1, 2], 0, high, tf.int32)
    out["function integer bounds"] = lambda: tf.function(below)(tf.constant(50))
    out["function seed"] = lambda: tf.function(lambda seed: random.stateless_normal([4], seed))(tf.constant([1, 2]))
    return out


def _of_generators(tf):
    random, generator = tf.random, tf.random.Generator
    out = {}

    def draws(g):
        return [g.uniform([3]), g.normal([5], 1, 2), g.truncated_normal([2, 2]), g.uniform([2], 3, 9, tf.int32),
                g.uniform([2], None, None, tf.int64), g.uniform_full_int([2]), g.uniform([2], tf.constant(1.), 3),
                g.make_seeds(2), tf.stack([one.state.read_value() for one in g.split(2)]), g.state.read_value()]
    out["generator"] = lambda: draws(generator.from_seed(7))
    out["generator long seed"] = lambda: draws(generator.from_seed(2**70 + 5))
    out["generator state"] = lambda: draws(generator.from_state([2**63 - 1, -1, 3], "philox"))
    out["generator key"] = lambda: draws(generator.from_key_counter(3, [1, 2], random.Algorithm.PHILOX))
    out["generator copy"] = lambda: draws(generator(copy_from=generator.from_seed([1, 2, 3, 4])))

    def resets():
        g = generator.from_seed(1)
        before = [g.skip(3), g.key, g.state.read_value()]
        g.reset([1, 2, 3])
        before.append(g.uniform([2]))
        g.reset_from_seed(5)
        before.append(g.uniform([2]))
        g.reset_from_key_counter(5, [6, 7])
        return [*before, g.uniform([]), g.state.read_value()]
    out["generator resets"] = resets

    def in_function():
        g = generator.from_seed(9)
        drawn = tf.function(lambda n: g.normal([n]))
        return [drawn(tf.constant(2)), drawn(tf.constant(3)), g.state.read_value()]
    out["generator in a function"] = in_function
    out["states"] = lambda: [random.create_rng_state(5, "philox"), random.create_rng_state([5, 6], "threefry")]
    return out


def _refused(tf):
    random, generator = tf.random, tf.random.Generator
    out = {}
    for name, call in {
            "no maxval": lambda: random.uniform([2], dtype=tf.int32),
            "one bound": lambda: random.stateless_uniform([2], [1, 2], dtype=tf.int32),
            "unsigned bounds": lambda: random.stateless_uniform([2], [1, 2], 0, 5, tf.uint32),
            "three seeds": lambda: random.stateless_uniform([2], [1, 2, 3]),
            "matrix seed": lambda: random.stateless_normal([2], [[1, 2]]),
            "float seed": lambda: random.stateless_uniform([2], [1., 2]),
            "empty range": lambda: random.stateless_uniform([2], [1, 2], 5, 5, tf.int32),
            "eager empty range": lambda: random.uniform([2], 5, 5, tf.int32),
            "int8": lambda: random.uniform([2], 0, 5, tf.int8),
            "algorithm": lambda: random.stateless_uniform([2], [1, 2], alg="x"),
            "threefry": lambda: random.stateless_uniform([2], [1, 2], alg="threefry"),
            "integer normal": lambda: random.normal([2], dtype=tf.int32),
            "vector logits": lambda: random.categorical([0.1, 0.2], 3),
            "scalar as shape": lambda: random.uniform(3),
            "generator one bound": lambda: generator.from_seed(1).uniform([2], 0, dtype=tf.int64),
            "generator threefry": lambda: generator.from_seed(1, "threefry").uniform([2]),
            "generator short state": lambda: generator.from_state([1, 2], "philox")}.items():
        out["error: " + name] = call
    return out
