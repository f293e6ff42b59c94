"""Variables with a copy on each replica: what may be assigned where, and what it does, as in TensorFlow 2.21."""

import copy

import pytest

import leat as tf
from devices import BOTH_WAYS, way  # noqa: F401

pytestmark = BOTH_WAYS

TWO = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
SINGLE = tf.distribute.MirroredStrategy(["/cpu:0"])
CENTRAL = tf.distribute.experimental.CentralStorageStrategy(["/cpu:0", "/cpu:1"])
AGGREGATION, SYNCHRONIZATION = tf.VariableAggregation, tf.VariableSynchronization


def number():
    return tf.distribute.get_replica_context().replica_id_in_sync_group


def make(strategy, initial, **options):
    with strategy.scope():
        return tf.Variable(initial, **options)


def copies(variable, strategy=TWO):
    return [one.numpy().tolist() for one in strategy.experimental_local_results(variable)]


def each(*numbers):
    return TWO.experimental_distribute_values_from_function(
        lambda context: tf.constant(numbers[context.replica_id_in_sync_group]))


@pytest.mark.parametrize("aggregation", list(AGGREGATION))
def test_a_value_for_each_copy(aggregation):
    variable = make(TWO, 2.0, aggregation=aggregation)
    variable.assign(each(5.0, 7.0))
    assert copies(variable) == [5.0, 7.0]
    variable.assign_add(each(1.0, 2.0))
    variable.assign_sub(each(0.5, 0.5))
    assert copies(variable) == [5.5, 8.5]


@pytest.mark.parametrize("strategy", [TWO, CENTRAL])
def test_one_value_cannot_be_summed(strategy):
    variable = make(strategy, 2.0, aggregation=AGGREGATION.SUM)
    outside = tf.constant(4.0)
    for given, text in ((3.0, "3.0"), (outside, "tf.Tensor")):
        with pytest.raises(ValueError, match=text):
            strategy.run(lambda given=given: variable.assign_add(given))
    strategy.run(lambda: variable.assign_add(tf.constant(3.0)))
    assert copies(variable, strategy)[0] == 8.0
    alone = make(SINGLE, 2.0, aggregation=AGGREGATION.SUM)
    SINGLE.run(lambda: alone.assign_add(3.0))
    assert alone.numpy() == 5.0


@pytest.mark.parametrize("strategy", [TWO, SINGLE])
def test_copies_without_aggregation_are_no_one_value(strategy):
    variable = make(strategy, 1.0, synchronization=SYNCHRONIZATION.ON_READ)
    strategy.run(lambda: variable.assign(4.0))
    for use in (variable.read_value, variable.numpy, lambda: variable.assign(2.0), lambda: variable.assign_add(2.0)):
        with pytest.raises(ValueError, match="NONE"):
            use()
    assert copies(variable, strategy) == [4.0] * strategy.num_replicas_in_sync


@pytest.mark.parametrize("aggregation, expected", [("SUM", 17.0), ("MEAN", 12.5), ("ONLY_FIRST_REPLICA", 12.0)])
def test_what_replicas_share_is_synchronised_always(aggregation, expected):
    variable = make(CENTRAL, 8.0, synchronization=SYNCHRONIZATION.ON_READ,
                    aggregation=AGGREGATION[aggregation])
    assert variable.numpy() == 8.0
    found = CENTRAL.run(lambda: (variable.assign_add(tf.cast(number(), tf.float32) + 4.0), variable.read_value())[1])
    assert copies(found, CENTRAL) == [expected] * 2 and variable.numpy() == expected


def test_properties():
    variable = make(TWO, [1.0], name="w")
    assert variable.synchronization is SYNCHRONIZATION.ON_WRITE
    assert variable.distribute_strategy is TWO
    assert [one.device[-5:] for one in variable.values] == ["CPU:0", "CPU:1"]
    assert TWO.extended.value_container(variable.values[1]) is variable
    assert tf.is_tensor(variable) and variable.is_initialized().numpy()
    with TWO.scope():
        inside = copy.deepcopy(variable)
    for made in (inside, copy.deepcopy(variable)):
        assert type(made) is type(variable) and copies(made) == [[1.0], [1.0]]


@pytest.mark.parametrize("options, text", [
    ({"synchronization": SYNCHRONIZATION.NONE}, "`NONE`"),
    ({"synchronization": "x"}, "synchronization"),
    ({"aggregation": "x"}, "aggregation"),
    ({"aggregation": AGGREGATION.MEAN}, "aggregation=MEAN")])
def test_what_no_variable_can_be(options, text):
    with pytest.raises(ValueError, match=text):
        make(TWO, 1, name="v", **options)


def test_no_aggregation_is_none():
    assert make(TWO, 1.0, aggregation=None).aggregation is AGGREGATION.NONE
    assert tf.Variable(1.0, synchronization=SYNCHRONIZATION.NONE).numpy() == 1.0


def slices(values, indices):
    return tf.IndexedSlices(tf.constant(values), tf.constant(indices), tf.constant([3]))


@pytest.mark.parametrize("method, sum_, mean", [
    ("scatter_add", [7.0, 11.0, 4.0], [4.5, 8.5, 4.0]), ("scatter_sub", [-3.0, 1.0, 4.0], [-0.5, 3.5, 4.0]),
    ("scatter_mul", [10.0, 30.0, 4.0], [5.0, 15.0, 4.0]), ("scatter_div", [0.4, 1.2, 4.0], [0.8, 2.4, 4.0])])
def test_slices_of_all_replicas(method, sum_, mean):
    for aggregation, expected in ((AGGREGATION.SUM, sum_), (AGGREGATION.MEAN, mean)):
        variable = make(TWO, [2.0, 6.0, 4.0], aggregation=aggregation)

        def step():
            return getattr(variable, method)(tf.IndexedSlices(tf.constant([5.0]), tf.reshape(number(), [1]),
                                                              tf.constant([3])))
        TWO.run(step)
        assert copies(variable) == [pytest.approx(expected)] * 2
    own = make(TWO, [2.0, 6.0, 4.0])
    TWO.run(lambda: getattr(own, method)(tf.IndexedSlices(tf.constant([5.0]), tf.reshape(number(), [1]),
                                                          tf.constant([3]))))
    first, second = copies(own)
    assert first[1:] == [6.0, 4.0] and second[0] == 2.0 and first[0] != 2.0 and second[1] != 6.0


@pytest.mark.parametrize("method", ["scatter_min", "scatter_max", "scatter_update"])
@pytest.mark.parametrize("aggregation", [AGGREGATION.SUM, AGGREGATION.MEAN])
def test_slices_that_cannot_be_aggregated(method, aggregation):
    variable = make(TWO, [2.0, 6.0, 4.0], aggregation=aggregation)
    for call in (lambda: TWO.run(lambda: getattr(variable, method)(slices([3.0], [1]))),
                 lambda: getattr(variable, method)(slices([3.0], [1]))):
        with pytest.raises(NotImplementedError, match=method) as found:
            call()
        assert aggregation.name in str(found.value)
    first = make(TWO, [2.0, 6.0, 4.0], aggregation=AGGREGATION.ONLY_FIRST_REPLICA)
    TWO.run(lambda: getattr(first, method)(slices([3.0], [1])))
    assert copies(first) == [[2.0, 6.0 if method == "scatter_max" else 3.0, 4.0]] * 2


def test_slices_of_what_is_combined_when_it_is_read():
    variable = make(TWO, [2.0], synchronization=SYNCHRONIZATION.ON_READ, aggregation=AGGREGATION.SUM)
    with pytest.raises(NotImplementedError, match="ON_READ"):
        TWO.run(lambda: variable.scatter_add(tf.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([1]))))


def test_scattered_products():
    variable = tf.Variable([7, -7, 12])
    variable.scatter_mul(slices([2, 5, 3], [0, 2, 0]))
    assert variable.numpy().tolist() == [42, -7, 60]
    variable.scatter_div(slices([4, 2, 7], [1, 1, 2]))
    assert variable.numpy().tolist() == [42, 0, 8]


NUMBERS = ["complex64", "complex128", "float16", "bfloat16", "float32", "float64", "int8", "uint8", "int16", "uint16",
           "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_copies_of_any_numbers_are_combined(dtype):
    scale, means = (1 - 2j, ()) if "complex" in dtype else (1, ("MEAN",) if "float" in dtype else ())
    for aggregation, read, left in [("SUM", 9, 3), *(("MEAN", 4.5, 6) for _ in means)]:
        variable = make(TWO, tf.cast(3 * scale, dtype), synchronization=SYNCHRONIZATION.ON_READ,
                        aggregation=AGGREGATION[aggregation])
        TWO.run(lambda: variable.assign(tf.cast(number() + 1, dtype) * tf.cast(3 * scale, dtype)))  # noqa: B023
        assert variable.numpy() == read * scale and variable.dtype == dtype
        variable.assign(tf.cast(6 * scale, dtype))
        assert variable.numpy() == 6 * scale and copies(variable) == [left * scale] * 2


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_values_are_reduced(dtype):
    values = TWO.run(lambda: tf.cast(number() + 1, dtype) * tf.constant([[1 + 2j, 3], [-1j, 0]], dtype))
    for kind, axis, expected in [("SUM", None, [[3 + 6j, 9], [-3j, 0]]), ("MEAN", None, [[1.5 + 3j, 4.5], [-1.5j, 0]]),
                                 ("SUM", 0, [3 + 3j, 9]), ("MEAN", 0, [0.75 + 0.75j, 2.25])]:
        found = TWO.reduce(kind, values, axis)
        assert found.dtype == dtype and found.numpy().tolist() == expected


@pytest.mark.parametrize("read, sums", [("ON_WRITE", [1, 9]), ("ON_READ", [3, 18])])
def test_one_copy_is_assigned_by_itself(read, sums):
    variable = make(TWO, [1.0, 2.0], synchronization=SYNCHRONIZATION[read], aggregation=AGGREGATION.SUM)
    for number, copy_ in enumerate(TWO.experimental_local_results(variable)):
        copy_.assign([float(number), 3.0])
        copy_.assign_add([1.0, 1.0])
        copy_.scatter_update(tf.IndexedSlices([9.0], [1]))
    assert copies(variable) == [[1, 9], [2, 9]] and variable.numpy().tolist() == sums

    @tf.function
    def assign():
        TWO.experimental_local_results(variable)[1].assign_add([5.0, 5.0])
    assign()
    assert copies(variable) == [[1, 9], [7, 14]]


@pytest.mark.parametrize("name", ["assign_add", "assign_sub"])
def test_sums_refuse_by_the_name_of_the_method(name):
    variable = make(TWO, 1.0, synchronization=SYNCHRONIZATION.ON_READ, aggregation=AGGREGATION.SUM)
    with TWO.scope(), pytest.raises(ValueError, match=name):
        getattr(variable, name)(1.0)


def test_a_copy_keeps_what_each_replica_has():
    for aggregation, read in ((AGGREGATION.SUM, 3.0), (AGGREGATION.MEAN, 1.5), (AGGREGATION.ONLY_FIRST_REPLICA, 1.0)):
        variable = make(TWO, 0.0, synchronization=SYNCHRONIZATION.ON_READ, aggregation=aggregation)
        TWO.run(lambda: variable.assign(1.0 + tf.cast(number(), tf.float32)))
        made = copy.deepcopy(variable)
        assert copies(made) == [1.0, 2.0] and made.numpy() == read
        TWO.run(lambda: made.assign(5.0))
        assert copies(variable) == [1.0, 2.0]


def test_what_an_update_gives_is_one_value():
    variable = make(TWO, 1.0)
    each = TWO.experimental_distribute_values_from_function(lambda context: 1.0 + context.replica_id_in_sync_group)
    found = TWO.extended.update(variable, lambda copy, more: copy + more, (each,))
    assert type(found).__name__ == "Mirrored" and (found + 1).numpy() == 3.0
    assert [one.numpy() for one in found.values] == [2.0, 3.0]
    alone, extended = tf.Variable(1.0), tf.distribute.get_strategy().extended
    assert extended.variable_created_in_scope(alone) and not extended.variable_created_in_scope(variable)
    with extended.colocate_vars_with(alone):
        assert extended.update(alone, lambda copy: copy + 1).numpy() == 2.0


def test_one_value_of_all_replicas_is_computed_with():
    seven = TWO.extended.update(make(TWO, 7.0), lambda copy: copy + 0.0)
    whole = TWO.extended.update(make(TWO, 7.0), lambda copy: tf.cast(copy, tf.int32))
    found = [3 + seven, seven - 2, 13 - seven, seven * seven, 10.5 / seven, seven // 2, 16.0 % seven, seven**3, -seven]
    assert [one.numpy() for one in found] == [10, 5, 6, 49, 1.5, 3, 2, 343, -7]
    assert [one.numpy() for one in (whole & 3, 8 | whole, whole ^ 3, ~whole)] == [3, 15, 4, -8]
    assert seven < 12 and not 12 <= seven
