"""Attributes, items and loops in functions that are traced. Expected results are TensorFlow's 2.21, as their text."""

import pytest

import leat as tf
from traced_programs import Programs, integer, shown

pytestmark = pytest.mark.usefixtures("traced")
PROGRAMS = Programs()
case = PROGRAMS.case


class O:
    pass


@case([integer(3)], [integer(-3)], gives=["int323", "int323"])
def attr_if_else(x):
    o = O()
    if x > 0:
        o.a = x
    else:
        o.a = -x
    return o.a


@case([integer(3)], gives=["int323"])
def attr_nested(x):
    o = O()
    o.p = O()
    o.p.v = 0
    for i in tf.range(x):
        if i > 0:
            o.p.v += i
    return o.p.v


@case([integer(3)], gives=["{'n': 'int323', 's': 'int328'}"])
def dict_loop(x):
    d = {"n": 0, "s": 1}
    for i in tf.range(x):
        d["n"] += 1
        d["s"] *= 2
    return d


@case([integer(3)], gives=["l(int323, int321)"])
def list_item(x):
    l = [0, 1]
    if x > 0:
        l[0] = x
    return l


@case([integer(3)], gives=["l(int320, int324)"])
def list_item_loop(x):
    l = [0, 1]
    for i in tf.range(x):
        l[1] = l[1] + i
    return l


@case([integer(3)], gives=["int324"])
def attr_in_while_test(x):
    o = O()
    o.n = tf.constant(0)
    while o.n < x:
        o.n += 2
    return o.n


@case([integer(3)], gives=["int3230"])
def attr_aliased(x):
    o = O()
    o.n = tf.constant(1)
    p = o
    if x > 0:
        p.n = x * 10
    return o.n


@case([integer(3)], gives=["int323"])
def attr_python_branch(x):
    o = O()
    if True:
        o.a = x
    return o.a


@case([integer(3)], gives=["int326"])
def attr_local_object(x):
    s = 0
    for i in tf.range(x):
        o = O()
        o.v = i * 2
        s += o.v
    return s


@case([integer(3)], gives=["int323"])
def dict_local(x):
    s = 0
    for i in tf.range(x):
        d = {}
        d["v"] = i
        s += d["v"]
    return s


@case([integer(3)], gives=["int326"])
def dict_rebuilt(x):
    d = {"v": 0}
    for i in tf.range(x):
        d = {"v": d["v"] + i}
        d["v"] += 1
    return d["v"]


@case([integer(3)], gives=["float326.0"])
def with_target(x):
    s = 0.0
    for i in tf.range(x):
        with tf.GradientTape() as t:
            c = tf.cast(i, tf.float32)
            t.watch(c)
            y = c * c
        s += t.gradient(y, c)
    return s


@case([integer(3)], gives=["int329"])
def nested_loop_vars(x):
    total = 0
    for i in tf.range(x):
        row = 0
        for j in tf.range(x):
            cell = i * j
            row += cell
        total += row
    return total


@case([integer(5)], gives=["int32440"])
def loop_continue_nested(n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(n):
            if j == i:
                continue
            s += j
        if i == 1:
            continue
        s += 100
    return s


@case([integer(5)], gives=["int323"])
def early_returns(n):
    if n > 10:
        return 1
    if n > 4:
        if n > 7:
            return 2
        return 3
    return 4


@case([integer(5)], gives=["int327"])
def return_in_else(n):
    if n > 10:
        y = 1
    else:
        return 7
    return y


@case([integer(2)], gives=["int3220"])
def tensor_step(n):
    s = 0
    for i in tf.range(0, 10, n):
        s += i
    return s


@case([integer(2)], gives=["int326"])
def for_python_over_tensor_if(n):
    s = 0
    for k in [1, 2, 3]:
        if n > 1:
            s += k
        else:
            s -= k
    return s


@case([integer(2)], gives=["int3210"])
def python_while_tensor_if(n):
    k = 0
    s = 0
    while k < 3:
        if n == k:
            s += 10
        k += 1
    return s


@case([tf.constant([3, 1, 2])], gives=["int32[1, 2, 3]"])
def sort_bubble(x):
    n = tf.shape(x)[0]
    for i in tf.range(n):
        for j in tf.range(n - 1):
            if x[j] > x[j + 1]:
                x = tf.tensor_scatter_nd_update(x, [[j], [j + 1]], [x[j + 1], x[j]])
    return x


@case([integer(27)], gives=["int32111"])
def collatz(n):
    c = 0
    while n != 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        c += 1
    return c


@case([integer(10)], gives=["int32[0, 1, 1, 2, 3, 5, 8, 13, 21, 34]"])
def fib_array(n):
    ta = tf.TensorArray(tf.int32, size=n)
    a, b = (0, 1)
    for i in tf.range(n):
        ta = ta.write(i, a)
        a, b = (b, a + b)
    return ta.stack()


@case([integer(10)], gives=["int32[0, 3, 6, 9]"])
def array_in_if(n):
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[])
    k = 0
    for i in tf.range(n):
        if i % 3 == 0:
            ta = ta.write(k, i)
            k += 1
    return ta.stack()


@case([tf.constant([[1.0, 2.0], [3.0, 4.0]])], gives=["float3210.0"])
def ragged_loop(x):
    r = tf.RaggedTensor.from_tensor(x)
    s = 0.0
    for row in r:
        s += tf.reduce_sum(row)
    return s


@case([integer(3)], gives=["int326"])
def enumerate_python(x):
    s = 0
    for i, v in enumerate([x, x * 2]):
        s += i * v
    return s


@case([integer(3)], gives=["int329"])
def zip_python(x):
    s = 0
    for a, b in zip([x, x], (1, 2)):
        s += a * b
    return s


@case([integer(3)], gives=["int329"])
def dict_items_tensor(x):
    d = {"a": x, "b": x * 2}
    s = 0
    for k in d:
        s += d[k]
    return s


@case([integer(3)], gives=["int323"])
def default_args_mutable(x, l=[]):
    return x + len(l)


@case([integer(3)], gives=["int326"])
def star_call(x):

    def f(a, b, c):
        return a * b if a > c else b
    return f(*[x, 2], **{"c": 1})


@case([integer(3)], gives=["int329"])
def conditional_call(x):
    f = tf.square if True else tf.negative
    return f(x) if x > 2 else tf.negative(x)


@case([integer(3)], gives=["boolTrue"])
def not_chain(x):
    return not (x > 1 and (not x > 2))


@case([integer(3)], gives=["boolTrue"])
def short_circuit(x):
    return x > 0 and 10 // x > 2


@case([integer(0)], gives=["boolFalse"])
def short_circuit_guard(x):
    return x > 0 and 10 // x > 2


@case([integer(3)], gives=["int323"])
def or_default(x):
    y = None
    z = y or x
    return z


@case([integer(3)], gives=["int323"])
def compare_none(x):
    y = x if x is not None else 0
    return y


@pytest.mark.parametrize("function, arguments, gives", PROGRAMS, ids=PROGRAMS.names())
def test_programs(function, arguments, gives):
    traced = tf.function(function)
    assert [shown(traced(*values)) for values in arguments] == gives
