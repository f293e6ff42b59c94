"""tf.experimental.ExtensionType and dispatch: what TensorFlow 2.21 does with the same classes and calls."""

from typing import List, Mapping, Optional, Tuple, Union

import pytest

import leat as tf


class Masked(tf.experimental.ExtensionType):
    """Values and which of them count."""

    values: tf.Tensor
    mask: tf.Tensor

    @property
    def shape(self):
        return self.values.shape

    def with_default(self, default):
        return tf.where(self.mask, self.values, default)

    class Spec:
        def __init__(self, shape, dtype=tf.float32):
            self.values = tf.TensorSpec(shape, dtype)
            self.mask = tf.TensorSpec(shape, tf.bool)

        def __repr__(self):
            return f"Masked.Spec({self.values.shape})"


class Point(tf.experimental.ExtensionType):
    x: tf.Tensor
    y: tf.Tensor
    k: int = 3
    name: str = "a"

    def length(self):
        return tf.sqrt(self.x ** 2 + self.y ** 2)


class Whole(tf.experimental.ExtensionType):
    point: Point
    items: Tuple[tf.Tensor, ...]
    by_name: Mapping[str, tf.Tensor]
    perhaps: Optional[tf.Tensor] = None
    either: Union[int, str] = 1
    rows: tf.RaggedTensor = tf.ragged.constant([[1], [2, 3]])


class Row(tf.experimental.BatchableExtensionType):
    v: tf.Tensor
    w: tf.Tensor


@pytest.fixture
def masked():
    return Masked([1., 2.], [True, False])


def test_values_are_made_shown_and_compared():
    point = Point(1., 2.)
    assert repr(point) == ("Point(x=<tf.Tensor: shape=(), dtype=float32, numpy=1.0>, y=<tf.Tensor: shape=(), "
                           "dtype=float32, numpy=2.0>, k=3, name='a')")
    assert bool(point == Point(1., 2.)) and not bool(point == Point(1., 3.)) and not bool(point != Point(1., 2.))
    assert (point == Point(1., 2., k=9)) is False and (point == Point([1.], 2.)) is False and (point == 3) is False
    assert not tf.is_tensor(point) and list(tf.experimental.extension_type.as_dict(point)) == ["x", "y", "k", "name"]


@pytest.mark.parametrize("args, kwargs, word", [
    ((1.,), {}, "'y'"), ((1., 2.), {"zz": 3}, "'zz'"), ((1., 2.), {"k": "a"}, "k"), ((1., [[2.], [3., 4.]]), {}, "y"),
    ((1., 2.), {"x": 1.}, "x"), ((1, 2, 3, "a", 5), {}, "many")])
def test_constructors_refuse(args, kwargs, word):
    with pytest.raises(TypeError, match=word):
        Point(*args, **kwargs)


def test_values_do_not_change():
    point = Point(1., 2.)
    with pytest.raises(AttributeError, match="mutate"):
        point.x = 3.
    with pytest.raises(AttributeError, match="mutate"):
        del point.x
    with pytest.raises(TypeError):
        hash(point)
    with pytest.raises(AssertionError):
        tf.experimental.ExtensionType()


def test_classes_validate_construct_and_inherit():
    class Vector(tf.experimental.ExtensionType):
        x: tf.Tensor

        def __validate__(self):
            self.x.shape.assert_has_rank(1)
    Vector([1.])
    with pytest.raises(ValueError, match="rank"):
        Vector(1.)

    class Twice(tf.experimental.ExtensionType):
        x: tf.Tensor
        y: tf.Tensor

        def __init__(self, z):
            self.x, self.y = z, tf.constant(z) * 2
    assert float(Twice(3.).y) == 6.

    class Deep(Point):
        z: tf.Tensor = 1.
    deep = Deep(3., 4.)
    assert float(deep.z) == 1. and float(deep.length()) == 5. and isinstance(deep, Point)
    with pytest.raises(TypeError, match="list"):
        type("Bad", (tf.experimental.ExtensionType,), {"__annotations__": {"x": list}, "__module__": __name__})


def test_specs_describe_values(masked):
    assert repr(tf.type_spec_from_value(Point(1., 2.))) == (
        "Point.Spec(x=TensorSpec(shape=(), dtype=tf.float32, name=None), y=TensorSpec(shape=(), dtype=tf.float32, "
        "name=None), k=3, name='a')")
    assert repr(tf.type_spec_from_value(masked)) == "Masked.Spec((2,))"
    assert Masked.Spec([None]).is_compatible_with(masked) and not Masked.Spec([None, 1]).is_compatible_with(masked)
    spec = Point.Spec(tf.TensorSpec([]), tf.TensorSpec([]), 1, "a")
    assert spec == Point.Spec(x=tf.TensorSpec([]), y=tf.TensorSpec([]), k=1, name="a") and spec.value_type is Point
    assert hash(spec) == hash(Point.Spec(tf.TensorSpec([]), tf.TensorSpec([]), 1, "a"))


def test_functions_take_and_give_values(masked):
    traced = []

    @tf.function
    def moved(point, by=1.):
        traced.append(1)
        return Point(point.x * 2, point.y + by, point.k + 1)
    assert float(moved(Point(1., 2.)).x) == 2. and float(moved(Point(3., 4.)).y) == 5. and len(traced) == 1
    assert moved(Point(3., 4., k=7)).k == 8 and len(traced) == 2

    @tf.function(input_signature=[Masked.Spec([None])])
    def filled(one):
        return one.with_default(0.)
    assert filled(masked).numpy().tolist() == [1., 0.]
    assert filled(Masked([1., 2., 3.], [True, False, True])).numpy().tolist() == [1., 0., 3.]
    assert filled.experimental_get_tracing_count() == 1
    concrete = tf.function(lambda point: point.x).get_concrete_function(
        Point.Spec(tf.TensorSpec([None]), tf.TensorSpec([]), 1, "a"))
    assert concrete(Point([1., 2.], 2., 1, "a")).numpy().tolist() == [1., 2.]


def test_conditions_loops_and_gradients():
    @tf.function
    def stepped(point, up):
        if up:
            point = Point(point.x + 1., point.y)
        else:
            point = Point(point.x - 1., point.y)
        for _ in tf.range(3):
            point = Point(point.x, point.y * 2.)
        return point
    assert float(stepped(Point(1., 2.), tf.constant(True)).x) == 2.
    assert float(stepped(Point(1., 2.), tf.constant(False)).y) == 16.
    v = tf.Variable(3.)
    with tf.GradientTape() as tape:
        length = Point(v * 2, v).length()
    assert abs(float(tape.gradient(length, v)) - 5 ** .5) < 1e-6


def test_fields_are_structures():
    whole = Whole(Point(1., 2.), [1, 2.], {"a": [1, 2]}, perhaps=5., either="z")

    @tf.function
    def same(one):
        return Whole(one.point, one.items, one.by_name, one.perhaps, one.either, one.rows)
    for one in (whole, same(whole)):
        assert [item.dtype for item in one.items] == [tf.int32, tf.float32]
        assert one.by_name["a"].numpy().tolist() == [1, 2] and float(one.perhaps) == 5. and one.either == "z"
        assert one.rows.to_list() == [[1], [2, 3]] and float(one.point.y) == 2.
    assert Whole(Point(1., 2.), [], {}).perhaps is None
    assert len(tf.nest.flatten(whole)) == 1
    parts = tf.nest.flatten(whole, expand_composites=True)
    again = tf.nest.pack_sequence_as(whole, parts, expand_composites=True)
    assert bool(again == whole)


def test_datasets_hold_values():
    rows = tf.data.Dataset.from_tensor_slices(Row([1., 2., 3.], [4, 5, 6]))
    assert repr(rows.element_spec) == ("Row.Spec(v=TensorSpec(shape=(), dtype=tf.float32, name=None), "
                                       "w=TensorSpec(shape=(), dtype=tf.int32, name=None))")
    batches = rows.map(lambda row: Row(row.v * 2, row.w)).batch(2)
    assert [one.v.numpy().tolist() for one in batches] == [[2., 4.], [6.]]
    assert [int(one.w) for one in batches.unbatch()] == [4, 5, 6]
    points = tf.data.Dataset.from_tensors(Point(1., 2.)).repeat(2).map(lambda p: Point(p.x, p.y, k=5))
    assert [one.k for one in points] == [5, 5]
    nested = tf.data.Dataset.range(3).map(lambda i: {"a": Row(i, i), "b": i}).batch(3)
    assert next(iter(nested))["a"].w.numpy().tolist() == [0, 1, 2]


# ---- dispatch ----

@pytest.fixture
def handlers():
    made = []

    def keep(decorator):
        def decorate(function):
            made.append(function)
            return decorator(function)
        return decorate
    yield keep
    for function in made:
        tf.experimental.unregister_dispatch_for(function)


def test_functions_are_handled(handlers, masked):
    dispatch = tf.experimental.dispatch_for_api

    @handlers(dispatch(tf.add, {"x": Masked, "y": Masked}))
    def add(x, y, name=None):
        return Masked(x.values + y.values, x.mask & y.mask)

    @handlers(dispatch(tf.stack))
    def stack(values: List[Masked], axis=0):
        return Masked(tf.stack([one.values for one in values], axis), tf.stack([one.mask for one in values], axis))

    @handlers(dispatch(tf.concat, {"values": List[Masked]}))
    def concat(values, axis):
        return Masked(tf.concat([one.values for one in values], axis), tf.concat([one.mask for one in values], axis))

    @handlers(dispatch(tf.shape))
    def shape(input: Masked, out_type=tf.int32):  # noqa: A002
        return tf.shape(input.values, out_type)
    assert tf.math.add(masked, masked).values.numpy().tolist() == [2., 4.]
    assert tf.stack([masked, masked]).values.shape == [2, 2] and tf.stack([1, 2]).numpy().tolist() == [1, 2]
    assert tf.concat([masked, masked], 0).mask.numpy().tolist() == [True, False, True, False]
    assert tf.shape(masked).numpy().tolist() == [2] and tf.shape(masked, tf.int64).dtype is tf.int64
    with pytest.raises(ValueError, match="signature"):
        dispatch(tf.add, {"x": Masked})(lambda a, b: a)
    with pytest.raises(ValueError, match="own"):
        dispatch(tf.add, {"x": tf.Tensor})(add)


def test_elementwise_functions_are_handled(handlers, masked):
    @handlers(tf.experimental.dispatch_for_unary_elementwise_apis(Masked))
    def unary(api, x):
        return Masked(api(x.values), x.mask)

    @handlers(tf.experimental.dispatch_for_binary_elementwise_apis(Masked, Masked))
    def binary(api, x, y):
        return Masked(api(x.values, y.values), x.mask & y.mask)

    @handlers(tf.experimental.dispatch_for_binary_elementwise_assert_apis(Masked, Masked))
    def check(api, x, y):
        return api(x.with_default(0.), y.with_default(0.))
    assert tf.abs(-1. * tf.nn.relu(masked).values).numpy().tolist() == [1., 2.]
    assert tf.cast(masked, tf.int32).values.dtype is tf.int32
    assert tf.multiply(masked, masked).values.numpy().tolist() == [1., 4.]
    assert tf.maximum(masked, masked).mask.numpy().tolist() == [True, False]
    tf.debugging.assert_equal(masked, masked)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.debugging.assert_less(masked, masked)


def test_what_nobody_handles_is_refused(masked):
    for call in (lambda: tf.matmul(masked, [[1.]]), lambda: tf.reduce_sum(masked), lambda: tf.abs(masked)):
        with pytest.raises(ValueError, match="unsupported"):
            call()
    with pytest.raises(TypeError):
        masked + masked
    with pytest.raises(ValueError, match="registered"):
        tf.experimental.unregister_dispatch_for(abs)


def test_classes_name_themselves_before_they_are_there():
    class Node(tf.experimental.ExtensionType):
        value: tf.Tensor
        children: Tuple["Node", ...] = ()
    assert Node(3, [Node(5), Node(2)]).children[1].value.numpy() == 2


def test_rows_come_and_go_in_fields_of_shapes():
    class Network(tf.experimental.BatchableExtensionType):
        shape: tf.TensorShape
        work: tf.Tensor

        def __init__(self, work):
            self.work = tf.convert_to_tensor(work)
            self.shape = self.work.shape[:-1]
    two = Network([[5.0, 3.0], [1.0, 2.0]])
    assert [one.shape.as_list() for one in tf.data.Dataset.from_tensor_slices(two)] == [[], []]
    batched = tf.data.Dataset.from_tensors(Network([5.0, 3.0])).repeat(3).batch(3, drop_remainder=True)
    assert [one.shape.as_list() for one in batched] == [[3]] and batched.element_spec.shape == [3]
    mapped = tf.map_fn(lambda one: Network(one.work + tf.cast(tf.size(one.work), tf.float32)), two)
    assert mapped.work.numpy().tolist() == [[7.0, 5.0], [3.0, 4.0]] and mapped.shape == [2]


def test_handlers_are_not_asked_about_tensors_alone():
    def stack(values: List[Union[Masked, tf.Tensor]], axis=0):
        values = [one if isinstance(one, Masked) else Masked(one, tf.ones_like(one, tf.bool)) for one in values]
        return Masked(tf.stack([one.values for one in values], axis), tf.stack([one.mask for one in values], axis))
    tf.experimental.dispatch_for_api(tf.stack)(stack)
    try:
        made = tf.stack([Masked([1, 2], [True, False]), tf.constant([3, 4])])
        assert made.mask.numpy().tolist() == [[True, False], [True, True]]
        assert isinstance(tf.stack([tf.constant(1), tf.constant(2)]), tf.Tensor)
    finally:
        tf.experimental.unregister_dispatch_for(stack)
