"""A module of functions with gradients of their own, and their gradients, for leat and for TensorFlow: what one of them
saves the other one loads (test_saved_model.py, tools/record/saved_models.py, python/interop/saved_models.py)."""


def module(tf):
    """The module, of the package that is given."""
    @tf.custom_gradient
    def tenfold(x):
        return x * 2.0, lambda upstream: upstream * 10.0

    @tf.custom_gradient
    def log_of_sum(x):  # its gradient takes what it computed
        e = tf.exp(x)
        return tf.math.log(1 + e), lambda upstream: upstream * (1 - 1 / (1 + e)) * 3.0

    @tf.custom_gradient
    def several(x, y):
        def gradient(first, second):
            return None, first * y + second * 7.0
        return (x * y, x + y), gradient

    @tf.custom_gradient
    def outer(x):
        y = tenfold(x) * x

        def gradient(upstream):
            return tenfold(upstream) * x
        return y, gradient

    class Module(tf.Module):
        def __init__(self):
            super().__init__()
            self.weight = tf.Variable([2.0, 3.0], name="weight")

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def plain(self, x):
            return tenfold(x) + x

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def captures(self, x):
            return log_of_sum(x * 2.0) * x

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def several(self, x):
            a, b = several(x, x * 3.0)
            return a + b * x

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def variables(self, x):
            @tf.custom_gradient
            def product(x):
                def gradient(upstream, variables=None):
                    return upstream * 5.0 * self.weight, [upstream * 100.0 for _ in variables]
                return x * self.weight, gradient
            return product(x) + self.weight

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def nested(self, x):
            return outer(x)

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def branch(self, x):
            return tf.cond(tf.reduce_sum(x) > 0, lambda: log_of_sum(x * 2.0) * x, lambda: tenfold(x))

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def loop(self, x):
            return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, tenfold(y) * x), (0, x))[1]

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def passed(self, x):
            return tf.grad_pass_through(tf.round)(x) * x

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def stopped(self, x):
            return tf.stop_gradient(x * x) * x

        @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
        def recomputed(self, x):
            def layer(x):  # TensorFlow writes its gradient as nodes
                y = tf.nn.elu(x) + tf.nn.selu(x) * tf.nn.softplus(x) - tf.nn.softsign(x) * tf.nn.relu6(x)
                y = y * self.weight[:, None] + tf.nn.leaky_relu(x) * tf.tanh(x) + tf.sigmoid(x) / (2.0 + x)
                return tf.reduce_sum(y * tf.math.rsqrt(x * x + 1.0) * tf.sqrt(x + 3.0), 0)
            return tf.recompute_grad(layer)(x)
    return Module()


# What TensorFlow 2.21 gives in `values`, the same eagerly and traced. It cannot differentiate a loaded `branch`.
EXPECTED = {
    "plain": [[3.75, -1.5], [11.0, 11.0], None],
    "captures": [[3.2236123, -0.15663084], [9.509953, -0.49356252], None],
    "several": [[10.9375, 1.75], [42.5, -17.0], None],
    "variables": [[4.5, 1.5], [10.0, 15.0], [101.0, 101.0]],
    "nested": [[3.125, 0.5], [2.5, -1.0], None],
    "branch": [[3.2236123, -0.15663084], [9.509953, -0.49356252], None],
    "loop": [[7.8125, -0.5], [193.75, 31.0], None],
    "passed": [[1.25, 0.0], [2.25, -0.5], None],
    "stopped": [[1.953125, -0.125], [1.5625, 0.25], None],
    "recomputed": [[19.626472, -4.2585773], [13.777710, 2.9462404], [2.2356257, 2.2356257]],
}


def differs(found, expected):
    """Do values differ from expected ones?"""
    pairs = list(zip(found, expected))
    return any((one is None) is not (other is None) for one, other in pairs) or any(
        abs(a - b) > 1e-5 * (1 + abs(b)) for one, other in pairs if one is not None for a, b in zip(one, other))


def values(tf, made, name, traced):
    """What a function gives of two numbers, and its gradients by them and by the weight, as lists; `traced`: asked for
    in a function."""
    def run(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = getattr(made, name)(x)
        return [y, *tape.gradient(y, [x, made.weight])]
    found = (tf.function(run) if traced else run)(tf.constant([1.25, -0.5]))
    return [None if one is None else one.numpy().tolist() for one in found]
