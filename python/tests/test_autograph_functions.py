"""Functions, methods and calls in functions that are traced. Expected results are TensorFlow's 2.21, as their text."""

import collections
import functools

import numpy as np
import pytest

import leat as tf
from traced_programs import Programs, integer, shown

pytestmark = pytest.mark.usefixtures("traced")
PROGRAMS = Programs()
case = PROGRAMS.case


def helper(x):
    if x > 2:
        return x * 100
    return x


class Base:

    def go(self, x):
        if x > 0:
            return x + 1
        return x - 1


@case([integer(3)], [integer(1)], gives=["int32300", "int321"])
def other_function(x):
    return helper(x)


class C(Base):
    scale = 3

    def __init__(self):
        self.k = 5
        self.state = 0

    def go(self, x):
        y = super().go(x)
        if y > 3:
            y = y * self.k
        return y

    def __call__(self, x):
        if x > 0:
            return x * self.scale
        return x

    @property
    def p(self):
        return self.k

    @staticmethod
    def st(x):
        if x > 0:
            return x + 100
        return x

    @classmethod
    def cl(cls, x):
        if x > 0:
            return x + cls.scale
        return x

    @tf.function
    def method(self, x):
        if x > 0:
            return x * self.k
        return x

    def bump(self, x):
        if x > 0:
            self.state = x
        return self.state

    def count(self, n):
        self.total = 0
        for i in tf.range(n):
            self.total += i
        return self.total


@case([integer(3)], [integer(1)], gives=["int3220", "int322"])
def method(x):
    return C().go(x)


@case([integer(3)], [integer(-1)], gives=["int329", "int32-1"])
def callable_object(x):
    return C()(x)


@case([integer(3)], gives=["int3215"])
def prop(x):
    c = C()
    if x > 0:
        y = c.p * x
    else:
        y = x
    return y


@case([integer(3)], gives=["t(int32103, int326, int32103)"])
def static_class(x):
    return (C.st(x), C.cl(x), C().st(x))


@case([integer(3)], [integer(-3)], gives=["int323", "int320"])
def attribute_state(x):
    return C().bump(x)


@case([integer(4)], gives=["int326"])
def attribute_loop(x):
    return C().count(x)


@case([integer(3)], [integer(-1)], gives=["int3213", "int3210"])
def partial_(x):

    def g(a, b):
        if b > 0:
            return a + b
        return a
    return functools.partial(g, 10)(x)


def deco(f):

    @functools.wraps(f)
    def w(*a, **k):
        return f(*a, **k) * 2
    return w


@deco
def decorated_helper(x):
    if x > 0:
        return x
    return -x


@case([integer(-3)], gives=["int326"])
def decorated(x):
    return decorated_helper(x)


def fact(n):
    if n <= 1:
        return 1
    return n * fact(n - 1)


@case(gives=["int32120"])
def recursion_python():
    return fact(5)


@case([integer(3)], gives=["int323"])
def lambda_(x):
    return (lambda y: y if y > 2 else -y)(x)


@case([integer(3)], gives=["int3221"])
def closure(x):
    k = 7

    def inner(y):
        if y > 2:
            return y * k
        return y
    return inner(x)


@case([integer(3)], gives=["int3213"])
def kwargs_(x):

    def g(*a, b=2, **k):
        if a[0] > b:
            return a[0] + k["z"]
        return a[0]
    return g(x, z=10)


@case([integer(3)], gives=["int327"])
def default_(x, y=4):
    if x > y:
        return x
    return x + y


@case([integer(3)], gives=["int323"])
def try_(x):
    try:
        if x > 0:
            y = x
        else:
            y = -x
    finally:
        pass
    return y


@case([integer(3)], gives=["int323"])
def try_except(x):
    try:
        return {}["a"]
    except KeyError:
        return x


@case([integer(3)], gives=["int326"])
def with_(x):
    with tf.name_scope("a"):
        if x > 0:
            y = x * 2
        else:
            y = x
    return y


@case([integer(3)], gives=["int323"])
def tf_print(x):
    tf.print("x is", x, output_stream="file:///dev/null")
    return x


@case([integer(3)], gives=["int323"])
def py_print(x):
    n = len(str(x)) > 0
    return x


@case([integer(3)], gives=["int328"])
def global_(x):
    global G
    G = 5
    return x + G


@case([integer(3)], gives=["int323"])
def del_(x):
    y = x
    del y
    return x


@case([integer(3)], gives=["int322"])
def aug(x):
    y = x
    y += 1
    y *= 2
    y -= 1
    y //= 2
    y **= 2
    y %= 7
    return y


@case([integer(3)], gives=["int324"])
def match_(x):
    match x.shape.rank:
        case 0:
            return x + 1
        case _:
            return x


@case([integer(3)], gives=["NoneType:None"])
def none_return(x):
    pass


@case([integer(3)], gives=["t(int323, NoneType:None)"])
def none_in_tuple(x):
    return (x, None)


NT = collections.namedtuple("NT", "a b")


@case([integer(3)], gives=["N(int323, int326)"])
def namedtuple_(x):
    return NT(x, x * 2)


@case([NT(integer(3), integer(4))], gives=["int3212"])
def namedtuple_arg(n):
    return n.a * n.b


@case([{"a": integer(3), "b": [integer(1), integer(2)]}], gives=["int325"])
def dict_arg(d):
    return d["a"] + d["b"][1]


@case([integer(3)], gives=["l(int323, t(int323, {'k': 'int323'}))"])
def list_return(x):
    return [x, (x, {"k": x})]


@case([integer(3)], gives=["int325"])
def python_return(x):
    return 5


@case([integer(3)], gives=["t(float322.5, boolTrue)"])
def float_return(x):
    return (2.5, True)


@case([3], [4], gives=["int326", "int328"])
def python_arg(n):
    return n * 2


@case([integer(3), "s"], gives=["int323"])
def str_arg(x, s):
    return x if s == "s" else -x


@case([integer(3)], gives=["l(int320, int323, int326)"])
def generator(x):

    def g():
        for i in range(3):
            yield (x * i)
    return list(g())


@case([integer(3)], gives=["{0: 'int320', 1: 'int323'}"])
def dict_comp(x):
    return {k: x * k for k in range(2)}


@case([integer(3)], gives=["int3218"])
def nested_tf_function(x):

    @tf.function
    def g(y):
        if y > 0:
            return y * 2
        return y
    return g(x) + g(x * 2)


@case([integer(3)], gives=["int329"])
def functools_reduce(x):
    return functools.reduce(lambda a, b: a + b, [x, x, x])


@case([integer(3)], gives=["int323"])
def while_with_function(x):

    def step(i, s):
        return (i + 1, s + i)
    i, s = (0, 0)
    while i < x:
        i, s = step(i, s)
    return s


@case([integer(3)], gives=["t(NoneType:None, int323, int321)"])
def tensor_methods(x):
    y = tf.fill([x], 2)
    return (y.shape[0], tf.shape(y)[0], len(y.shape))


@case([tf.constant([1.0, 2.0, 3.0])], gives=["float32[2.0, 3.0]"])
def boolean_index(x):
    return x[x > 1.5]


@case([tf.constant([1.0, 2.0, 3.0]), integer(1)],
      gives=["t(float322.0, float32[2.0, 3.0], float32[1.0], float32[2.0])"])
def index_tensor(x, i):
    return (x[i], x[i:], x[:i], x[i:i + 1])


@case([integer(3)], gives=["int321"])
def unused_side_effect(x):
    l = []
    if x > 0:
        l.append(1)
    return len(l)


@case([integer(3)], gives=["int324"])
def do_not_convert(x):

    @tf.autograph.experimental.do_not_convert
    def g(y):
        return y + 1
    return g(x)


@case([integer(3)], gives=["int326"])
def cond_lambda(x):
    return tf.cond(x > 2, lambda: x * 2, lambda: x)


@case([integer(3)], gives=["int329"])
def cond_if_inside(x):

    def t():
        if x > 5:
            return x * 2
        return x * 3
    return tf.cond(x > 2, t, lambda: x)


@case([integer(5)], gives=["t(int325, int3210)"])
def while_loop_api(n):
    return tf.while_loop(lambda i, s: i < n, lambda i, s: (i + 1, s + i), (tf.constant(0), tf.constant(0)))


@case([integer(5)], gives=["l(int325, int3210)"])
def while_loop_list(n):
    return tf.while_loop(lambda i, s: i < n, lambda i, s: [i + 1, s + i], [0, 0])


@case([integer(5)], gives=["t(int322)"])
def while_loop_max(n):
    return tf.while_loop(lambda i: i < n, lambda i: (i + 1,), (0,), maximum_iterations=2)


@case([integer(5)], gives=["float32" + str([0.0] * 32)])
def while_loop_invariant(n):
    return tf.while_loop(lambda i, x: i < n, lambda i, x: (i + 1, tf.concat([x, x], 0)), (0, tf.zeros([1])),
                         shape_invariants=(tf.TensorShape([]), tf.TensorShape([None])))[1]


@case([integer(1)], [integer(0)], [integer(7)], gives=["int3220", "int3210", "int3230"])
def switch_case(x):
    return tf.switch_case(x, [lambda: 10, lambda: 20, lambda: 30])


@case([integer(1)], [integer(5)], gives=["int321", "int323"])
def case_(x):
    return tf.case([(x < 2, lambda: 1), (x < 4, lambda: 2)], default=lambda: 3)


@case([tf.constant([1.0, 2.0])], gives=["float32[1.0, 4.0]"])
def map_fn(x):
    return tf.map_fn(lambda v: v * 2 if v > 1.5 else v, x)


@case([tf.constant([1.0, 2.0])], gives=["float32[2.0, 4.0]"])
def grad_if(x):
    with tf.GradientTape() as t:
        t.watch(x)
        if x[0] > 0:
            y = x * x
        else:
            y = x
    return t.gradient(y, x)


@case([tf.constant(2.0)], gives=["float3232.0"])
def grad_while(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x
        for _ in tf.range(3):
            y = y * x
    return t.gradient(y, x)


@case([tf.constant(2.0)], gives=["t(float3232.0, float3216.0)"])
def grad_while_break(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = x
        for i in tf.range(10):
            y = y * x
            if y > 10.0:
                break
    return (t.gradient(y, x), y)


@case([tf.constant(2.0)], gives=["float3220.0"])
def grad_array(x):
    with tf.GradientTape() as t:
        t.watch(x)
        ta = tf.TensorArray(tf.float32, 3)
        for i in tf.range(3):
            ta = ta.write(i, x * tf.cast(i, tf.float32))
        y = tf.reduce_sum(ta.stack() ** 2)
    return t.gradient(y, x)


@case([tf.constant(2.0)], gives=["t(float324.0, NoneType:None)"])
def grad_stop(x):
    with tf.GradientTape(persistent=True) as t:
        t.watch(x)
        y = x * x
        with t.stop_recording():
            z = y * x
    return (t.gradient(y, x), t.gradient(z, x))


@case([tf.constant(2.0)], gives=["float32100.0"])
def custom_gradient(x):

    @tf.custom_gradient
    def f(v):

        def g(d):
            return d * 100.0
        return (v * v, g)
    with tf.GradientTape() as t:
        t.watch(x)
        y = f(x)
    return t.gradient(y, x)


@case([tf.constant(2.0)], gives=["NoneType:None"])
def tf_gradients_none(x):
    with tf.GradientTape() as t:
        t.watch(x)
        y = tf.constant(1.0)
    return t.gradient(y, x)


@case([integer(3)], gives=["boolTrue"])
def tuple_compare(x):
    return (x, x) == (x, x)


@case([integer(3)], gives=["t(int321, boolTrue)"])
def isinstance_(x):
    return (1 if isinstance(x, tf.Tensor) else 2, tf.is_tensor(x))


@case([integer(3)], gives=["int323"])
def shape_branch(x):
    return x if x.shape == () else -x


@case([integer(3)], gives=["int323"])
def type_call(x):
    return tf.cast(x, x.dtype)


@case([integer(3)], gives=["t(boolFalse, boolTrue)"])
def executing(x):
    return (tf.executing_eagerly(), tf.inside_function())


@case([integer(3)], gives=["boolTrue"])
def init_scope(x):
    with tf.init_scope():
        return tf.executing_eagerly()


@case([integer(3)], gives=["int324"])
def int_call(x):
    y = int(x)
    return y + 1


@case([integer(3)], gives=["int321"])
def ref_(x):
    return {x.ref(): 1}[x.ref()]


@case([integer(3)], gives=["int324"])
def py_function(x):
    return tf.py_function(lambda v: v.numpy() + 1, [x], tf.int32)


@case([integer(3)], gives=["int324"])
def numpy_function(x):
    return tf.numpy_function(lambda v: v + 1, [x], tf.int32)


@pytest.mark.parametrize("function, arguments, gives", PROGRAMS, ids=PROGRAMS.names())
def test_programs(function, arguments, gives):
    traced = tf.function(function)
    assert [shown(traced(*values)) for values in arguments] == gives


@pytest.mark.parametrize("value, dtype, expected", [
    (np.float64(1.5), "float32", 1.5), (np.array([1.5, 2.5]), "int32", [1, 2]), (np.array([3]), "float64", [3.0]),
    (np.array([True]), "int64", [1]), (np.array([3], np.int8), "bool", [True]), (np.float16(1.5), "bfloat16", 1.5)])
def test_numbers_of_py_function(value, dtype, expected):
    """As TensorFlow 2.21 converts what a py_function inside of a tf.function returns."""
    result = tf.function(lambda: tf.py_function(lambda: value, [], dtype))()
    assert result.dtype == dtype and result.numpy().tolist() == expected


def test_texts_of_py_function_are_no_numbers():
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.function(lambda: tf.py_function(lambda: np.array(["a"]), [], "float32"))()
