"""Statements over tensors in functions that are traced. Expected results are TensorFlow's 2.21, as their text."""

import pytest

import leat as tf
from traced_programs import Programs, integer, number, shown

pytestmark = pytest.mark.usefixtures("traced")
PROGRAMS = Programs()
case = PROGRAMS.case


@case([integer(1)], [integer(-1)], gives=["int322", "int321"])
def if_else(x):
    if x > 0:
        y = x * 2
    else:
        y = -x
    return y


@case([integer(1)], [integer(-1)], gives=["int322", "int32-1"])
def if_only(x):
    y = x
    if x > 0:
        y = x * 2
    return y


@case([integer(1)], [integer(-1)], gives=["int322", "int321"])
def if_return(x):
    if x > 0:
        return x * 2
    return -x


@case([integer(1)], [integer(0)], [integer(-4)], gives=["int321", "int320", "int32-1"])
def if_elif(x):
    if x > 0:
        r = 1
    elif x < 0:
        r = -1
    else:
        r = 0
    return r


@case([integer(1)], [integer(-1)], gives=["t(int321, int322)", "t(int321, int32-1)"])
def if_tuple(x):
    if x > 0:
        a, b = (x, x * 2)
    else:
        a, b = (-x, x)
    return (a, b)


@case([integer(1)], [integer(-1)], gives=["int325", "int32-1"])
def if_dict(x):
    d = {"a": x}
    if x > 0:
        d["a"] = x * 5
    return d["a"]


@case([integer(1)], [integer(-1)], gives=["{'a': 'int321', 'b': 'int321'}", "{'a': 'int321', 'b': 'int322'}"])
def if_dict_new(x):
    if x > 0:
        d = {"a": x, "b": 1}
    else:
        d = {"a": -x, "b": 2}
    return d


@case([integer(1)], [integer(-1)], gives=["float32[0.0, 0.0]", "float32[0.0, 0.0, 0.0]"])
def if_shapes(x):
    if x > 0:
        y = tf.zeros([2])
    else:
        y = tf.zeros([3])
    return y


@case([integer(1)], [integer(-1)], gives=["float32[0.0, 0.0]", "float320.0"])
def if_rank(x):
    if x > 0:
        y = tf.zeros([2])
    else:
        y = tf.zeros([])
    return y


@case([integer(3)], [integer(9)], [integer(12)], gives=["int321", "int3210", "int32100"])
def if_nested(x):
    if x > 5:
        if x > 10:
            y = 100
        else:
            y = 10
    else:
        y = 1
    return y


@case([integer(3), integer(4)], [integer(-3), integer(4)],
      gives=["t(boolTrue, boolTrue, boolFalse)", "t(boolFalse, boolFalse, boolTrue)"])
def and_or(x, y):
    return (x > 0 and y > 0, x > 0 or y < 0, not x > 0)


@case([integer(3)], [integer(11)], [integer(-1)], gives=["boolTrue", "boolFalse", "boolFalse"])
def chained(x):
    return 0 < x < 10


@case([integer(3)], [integer(11)], gives=["boolTrue", "boolFalse"])
def chained3(x):
    return 0 < x <= 5 < 10


@case([integer(3)], [integer(-3)], gives=["int323", "int323"])
def ternary(x):
    return x if x > 0 else -x


@case([integer(3)], [integer(7)], gives=["t(boolTrue, boolFalse)", "t(boolFalse, boolTrue)"])
def eq_ne(x):
    return (x == 3, x != 3)


@case([integer(3)], gives=["int322"])
def is_none(x):
    return 1 if x is None else 2


@case([integer(3), number(2)], gives=["boolTrue"])
def and_mixed(x, y):
    return x > 2 and y > 1.0


@case([integer(5)], gives=["int3210"])
def while_sum(n):
    s, i = (0, 0)
    while i < n:
        s += i
        i += 1
    return s


@case([integer(7)], gives=["int3216"])
def while_continue(n):
    s, i = (0, 0)
    while i < n:
        i += 1
        if i % 2 == 0:
            continue
        s += i
    return s


@case([integer(5)], gives=["int324"])
def while_undefined(n):
    i = 0
    while i < n:
        y = i
        i += 1
    return y


@case([integer(5)], gives=["int3220"])
def while_local(n):
    i = 0
    s = 0
    while i < n:
        t = i * 2
        s += t
        i += 1
    return s


@case([integer(5)], gives=["int324"])
def while_none(n):
    x = None
    i = 0
    while i < n:
        x = i
        i += 1
    return x


@case([integer(5)], gives=["t(NoneType:None, int325)"])
def while_none_kept(n):
    x = None
    i = 0
    while i < n:
        i += 1
    return (x, i)


@case([integer(5)], gives=["int325"])
def while_list(n):
    l = []
    i = 0
    while i < n:
        l.append(i)
        i += 1
    return tf.convert_to_tensor(i)


@case([integer(5)], gives=["t(int325, int328)"])
def while_tuple_state(n):
    s = (0, 1)
    i = 0
    while i < n:
        s = (s[1], s[0] + s[1])
        i += 1
    return s


@case([integer(5)], gives=["{'a': 'int325', 'b': 'int328'}"])
def while_dict_state(n):
    s = {"a": 0, "b": 1}
    i = 0
    while i < n:
        s = {"a": s["b"], "b": s["a"] + s["b"]}
        i += 1
    return s


@case([integer(5)], gives=["int3210"])
def while_dict_item(n):
    s = {"a": 0}
    i = 0
    while i < n:
        s["a"] = s["a"] + i
        i += 1
    return s["a"]


@case([integer(3)], gives=["int321"])
def while_nested(n):
    s = 0
    i = 0
    while i < n:
        j = 0
        while j < i:
            s += j
            j += 1
        i += 1
    return s


@case([integer(3)], gives=["int324"])
def while_tensor_true(n):
    i = tf.constant(0)
    while tf.constant(True):
        i += 1
        if i > n:
            break
    return i


@case([integer(5)], gives=["int3210"])
def for_range(n):
    s = 0
    for i in tf.range(n):
        s += i
    return s


@case([integer(5)], gives=["int3210"])
def for_pyrange(n):
    s = 0
    for i in range(n):
        s += i
    return s


@case([integer(5)], gives=["int321086"])
def for_pyrange_step(n):
    s = 0
    for i in range(10, n, -2):
        s = s * 10 + i
    return s


@case([tf.constant([[1, 2], [3, 4]])], gives=["int32[13, 24]"])
def for_rows(x):
    s = tf.zeros([2], tf.int32)
    for r in x:
        s = s * 10 + r
    return s


@case([tf.constant([1, 2, 3])], gives=["int321"])
def for_break(x):
    s = 0
    for v in x:
        if v == 2:
            break
        s += v
    return s


@case([tf.constant([1, 2, 3])], gives=["int324"])
def for_continue(x):
    s = 0
    for v in x:
        if v == 2:
            continue
        s += v
    return s


@case([tf.constant([1, 2, 3])], gives=["int323"])
def for_target_after(x):
    for v in x:
        pass
    return v


@case([tf.constant([1, 2, 3])], gives=["int32[2, 4, 6]"])
def for_array(x):
    ta = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
    for i in tf.range(3):
        ta = ta.write(i, x[i] * 2)
    return ta.stack()


@case([tf.constant([1, 2, 3])], gives=["int32[1, 2, 3]"])
def for_list_append(x):
    l = []
    for v in range(3):
        l.append(x[v])
    return tf.stack(l)


@case([tf.constant([1, 2, 3])], gives=["l(int322, int324, int326)"])
def comprehension(x):
    return [v * 2 for v in tf.unstack(x)]


@case([tf.constant([1, 2, 3])], gives=["t(int321, l(int322, int323))"])
def star(x):
    a, *b = tf.unstack(x)
    return (a, b)


@case([tf.constant([1, 2, 3])], gives=["int323"])
def for_dict_python(x):
    s = 0
    for k, v in {"a": 1, "b": 2}.items():
        s += v * x[0]
    return s


@case([tf.constant([1, 2, 3])], gives=["int32321"])
def for_reversed(x):
    s = 0
    for v in tf.reverse(x, [0]):
        s = s * 10 + v
    return s


@case([tf.constant([1, 2, 3])], gives=["int323"])
def py_len(x):
    return len(x)


@case([tf.constant([-1, 2])], gives=["int32[1, 2]"])
def py_abs(x):
    return abs(x)


@case([integer(3)], gives=["t(float323.0, int323)"])
def py_float(x):
    return (float(x), int(x))


@case([tf.constant([1, 2, 3])], gives=["l(int322, int324, int326)"])
def py_map(x):
    return list(map(lambda v: v * 2, tf.unstack(x)))


@case([tf.constant([1, 2, 3])], gives=["int3218"])
def for_over_list_of_tensors(x):
    s = 0
    for v in [x, x * 2]:
        s += tf.reduce_sum(v)
    return s


@case([tf.constant([1, 2, 3])], gives=["int32[1, 2, 3]"])
def shape_change_options(x):
    s = tf.zeros([0], tf.int32)
    for v in x:
        tf.autograph.experimental.set_loop_options(shape_invariants=[(s, tf.TensorShape([None]))])
        s = tf.concat([s, [v]], 0)
    return s


@case([integer(3)], gives=["int322"])
def for_range_limits(n):
    s = 0
    for i in tf.range(0, n, delta=2):
        s = s * 10 + i
    return s


@case([number(3)], gives=["float323.0"])
def for_float_range(n):
    s = 0.0
    for i in tf.range(n):
        s += i
    return s


@case([integer(4)], gives=["int324"])
def for_nested_break(n):
    s = 0
    for i in tf.range(n):
        for j in tf.range(n):
            if j > i:
                break
            s += j
        if i == 2:
            break
    return s


@pytest.mark.parametrize("function, arguments, gives", PROGRAMS, ids=PROGRAMS.names())
def test_programs(function, arguments, gives):
    traced = tf.function(function)
    assert [shown(traced(*values)) for values in arguments] == gives
