"""The recorded cases of tests/golden/data/distribute that one process can have, through the Python package.

What does not apply: processes.json and tf_config.json (several processes), autoshard.json (several workers) and
batch_sizes.json (an inner table); all but the first two are asked in C.
"""

import json
import pathlib

import pytest

import devices  # noqa: F401, makes them
import leat as tf
from leat import nest
from leat.distribute.values import PerReplica

DATA = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/data/distribute"


def cases(name):
    return [pytest.param(case, id=f"{i}") for i, case in enumerate(json.loads((DATA / name).read_text())["cases"])]


_strategies = {}


def mirrored(replicas):
    if replicas not in _strategies:
        _strategies[replicas] = tf.distribute.MirroredStrategy([f"CPU:{i}" for i in range(replicas)])
    return _strategies[replicas]


# ---- pipelines ----

def records(counts, folder):
    names, number = [], len(list(folder.iterdir()))
    for f, count in enumerate(counts):
        names.append(str(folder / f"{number}_f{f}"))
        with tf.io.TFRecordWriter(names[-1]) as writer:
            for i in range(count):
                writer.write(str(100 * f + i).encode())
    return tf.data.TFRecordDataset(names).map(lambda x: tf.strings.to_number(x, tf.int64))


def to_batch(k, static):
    def function(x):
        out = tf.range(x * k, x * k + k)
        return tf.ensure_shape(out, [k]) if static else out
    return function


OPERATIONS = {
    "range": lambda ds, folder, n: tf.data.Dataset.range(n),
    "vectors": lambda ds, folder, n, k: tf.data.Dataset.from_tensor_slices(
        tf.reshape(tf.range(n * k, dtype=tf.int64), [n, k])),
    "records": lambda ds, folder, counts: records(counts, folder),
    "generator": lambda ds, folder, n: tf.data.Dataset.from_generator(
        lambda: iter(range(n)), output_signature=tf.TensorSpec([], tf.int64)),
    "map_add": lambda ds, folder, c: ds.map(lambda x: x + c),
    "map_and_batch": lambda ds, folder, c, **args: ds.apply(
        tf.data.experimental.map_and_batch(lambda x: x + c, **args)),
    "map_to_batch": lambda ds, folder, k, static: ds.map(to_batch(k, static)),
    "map_pair": lambda ds, folder: ds.map(lambda x: {"a": x, "b": tf.concat([x, x + 100], 0)}),
    "padded_batch": lambda ds, folder, width, **args: ds.map(lambda x: tf.fill([x % 3 + 1], x)).padded_batch(
        padded_shapes=[width], **args),
    "window_batch": lambda ds, folder, size: ds.window(size).flat_map(lambda w: w.batch(size)),
    "filter_even_first": lambda ds, folder: ds.filter(lambda x: tf.equal(x[0] % 2, 0)),
    "interleave_identity": lambda ds, folder: ds.interleave(tf.data.Dataset.from_tensors, cycle_length=2),
    "zip": lambda ds, folder, other: tf.data.Dataset.zip((ds, pipeline(other, folder))),
    "concatenate": lambda ds, folder, other: ds.concatenate(pipeline(other, folder)),
    "scan": lambda ds, folder: ds.scan(tf.constant(0, tf.int64), lambda state, x: (state + 1, x)),
    "assert_cardinality": lambda ds, folder, n: ds.apply(tf.data.experimental.assert_cardinality(n)),
}


def pipeline(operations, folder):
    dataset = None
    for operation in operations:
        arguments = dict(operation)
        name = arguments.pop("op")
        make = OPERATIONS.get(name)
        dataset = make(dataset, folder, **arguments) if make else getattr(dataset, name)(**arguments)
    return dataset


def rows(value, replicas):
    """One step as the files have it: the nested list of each replica."""
    return [nested(nest.map_structure(lambda leaf: leaf.values[r] if isinstance(leaf, PerReplica) else leaf, value))
            for r in range(replicas)]


def nested(value):
    if isinstance(value, dict):
        return {key: nested(one) for key, one in value.items()}
    return [nested(one) for one in value] if isinstance(value, tuple) else value.numpy().tolist()


def shape_of(spec):
    if isinstance(spec, dict):
        return {key: shape_of(one) for key, one in spec.items()}
    if isinstance(spec, tuple):
        return [shape_of(one) for one in spec]
    spec = spec._value_specs[0] if hasattr(spec, "_value_specs") else spec
    return spec.shape.as_list()


def next_step(iterator, iteration):
    if iteration != "optional":
        return next(iterator, None)
    found = iterator.get_next_as_optional()
    return found.get_value() if found.has_value() else None


@pytest.mark.parametrize("case", cases("rebatch.json"))
def test_rebatch(case, tmp_path):
    strategy, replicas = mirrored(case["replicas"]), case["replicas"]
    options = tf.data.Options()
    options.experimental_distribute.auto_shard_policy = tf.data.experimental.AutoShardPolicy[case["policy"]]
    dataset = pipeline(case["pipeline"], tmp_path).with_options(options)
    if "error" in case:
        # TensorFlow's IndexError is an accident; a scalar is a bad argument here.
        kind = {"IndexError": tf.errors.InvalidArgumentError}.get(case["error"]["type"]) or getattr(
            tf.errors, case["error"]["type"])
        with pytest.raises(kind):
            list(strategy.experimental_distribute_dataset(dataset))
        return
    distributed = strategy.experimental_distribute_dataset(dataset)
    assert shape_of(distributed.element_spec) == case["replica_spec"]
    assert int(distributed.cardinality()) == case["cardinality"]
    iterator = iter(distributed)
    for expected in case["steps"]:
        assert rows(next_step(iterator, case.get("iteration")), replicas) == expected
    if case.get("ended", True):
        assert next_step(iterator, case.get("iteration")) is None


@pytest.mark.parametrize("case", [param for param in cases("rebatch_kernels.json")
                                  if param.values[0]["kernel"] == "rebatch"])
def test_rebatch_kernel(case, tmp_path):
    def dataset():
        return pipeline(case["pipeline"], tmp_path).rebatch(case["batch_sizes"], case["drop_remainder"])
    if "error" in case:
        with pytest.raises((getattr(tf.errors, case["error"]["type"], ValueError), tf.errors.InvalidArgumentError)):
            list(dataset())
        return
    made = dataset()
    if "spec" in case:
        assert shape_of(made.element_spec) == case["spec"]
    assert [nested(element) for element in made] == case["elements"]


@pytest.mark.parametrize("case", cases("from_function.json"))
def test_from_function(case, tmp_path):
    contexts = []

    def make(context):
        contexts.append([context.num_input_pipelines, context.input_pipeline_id, context.num_replicas_in_sync])
        return pipeline(case["pipeline"], tmp_path)
    distributed = mirrored(case["replicas"]).distribute_datasets_from_function(make)
    assert [rows(step, case["replicas"]) for step in distributed] == case["steps"]
    assert contexts == [case["context"]]


# ---- reduce ----

def near(found, expected, dtype):
    """Equal, in the precision of the result; nan is nan."""
    def flat(value):
        return [x for one in value for x in flat(one)] if isinstance(value, list) else [value]
    tolerance = {"float16": 1e-3, "bfloat16": 1e-2, "float32": 1e-6}.get(dtype, 1e-12)
    for a, b in zip(flat(found), flat(expected), strict=True):
        b = float(b) if isinstance(b, str) else b
        if not (a == b or a != a and b != b):
            assert a == pytest.approx(b, rel=tolerance)


PLAIN = {"python float 0.0": 0.0, "python float 2.0": 2.0, "python int 3": 3}


@pytest.mark.parametrize("case", cases("reduce.json"))
def test_reduce(case):
    if "value" in case:
        strategy = mirrored(case["strategy_replicas"])
        text = case["value"]
        value = PLAIN[text] if text in PLAIN else tf.constant(json.loads(text.removeprefix("tensor, not per replica ")),
                                                              tf.float32)
    else:
        strategy = mirrored(len(case["replicas"]))
        value = PerReplica([tf.constant(one, tf.as_dtype(case["dtype"])) for one in case["replicas"]])
    if "error" in case:
        kind = case["error"]["type"]
        kinds = (getattr(tf.errors, kind),) if hasattr(tf.errors, kind) else (getattr(__builtins__, kind, None) or {
            "ValueError": ValueError, "AttributeError": AttributeError, "TypeError": TypeError}[kind],
            tf.errors.InvalidArgumentError)
        with pytest.raises(kinds):
            strategy.reduce(case["op"], value, axis=case["axis"])
        return
    result = strategy.reduce(case["op"], value, axis=case["axis"])
    if "result_dtype" in case:
        assert result.dtype.name == case["result_dtype"]
    found = result.numpy().astype("float64").tolist() if hasattr(result, "numpy") else result
    near(found, case["result"], case.get("result_dtype"))


# ---- strategy.json ----

ID = {"replica": lambda: tf.distribute.get_replica_context().replica_id_in_sync_group}


def replica_id(dtype=tf.int32):
    return tf.cast(ID["replica"](), dtype)


def all_reduce(op, value):
    return tf.distribute.get_replica_context().all_reduce(op, value)


def shown(strategy, value):
    return [repr(one) if type(one) in (int, str) else one for one in strategy.experimental_local_results(value)]


def numbers(strategy, value):
    return [one.numpy().tolist() for one in strategy.experimental_local_results(value)]


def merge(strategy):
    seen = []

    def step():
        tf.distribute.get_replica_context().merge_call(
            lambda s: seen.append(s is strategy and tf.distribute.in_cross_replica_context()))
    strategy.run(step)
    return str(seen == [True])


def alone(strategy, text):
    return text[0] if strategy.num_replicas_in_sync == 1 else text


def batch_size(strategy, size):
    found = []

    def make(context):
        found.append(context.get_per_replica_batch_size(size))
        return tf.data.Dataset.range(2)
    strategy.distribute_datasets_from_function(make)
    return found[0]


def uneven(strategy):
    return strategy.gather(strategy.experimental_distribute_values_from_function(
        lambda context: tf.range(context.replica_id_in_sync_group + 1)), axis=0).numpy().tolist()


def of_context(strategy, name):
    values = strategy.experimental_distribute_values_from_function(lambda context: getattr(context, name))
    return list(strategy.experimental_local_results(values))


def tuple_and_dict(strategy):
    result = strategy.run(lambda: (replica_id(), {"a": 2}))
    if strategy.num_replicas_in_sync > 1:
        result = strategy.run(lambda: (replica_id(), {"a": tf.constant(2)}))
    return [type(result).__name__, *map(int, strategy.experimental_local_results(result[1]["a"]))]


OF_REPLICAS = {
    "run returns the replica id": lambda s: numbers(s, s.run(replica_id)),
    "run returns id*2 as float tensor": lambda s: numbers(s, s.run(lambda: replica_id(tf.float32) * 2)),
    "run returns a tuple and a dict": tuple_and_dict,
    "type of a run result": lambda s: type(s.run(replica_id)).__name__,
    "run returns None": lambda s: str(s.run(lambda: None)),
    "run returns python int 5": lambda s: alone(s, shown(s, s.run(lambda: 5))),
    "run returns one string": lambda s: alone(s, shown(s, s.run(lambda: "a"))),
    "all_reduce SUM of id+1": lambda s: numbers(s, s.run(lambda: all_reduce("SUM", replica_id(tf.float32) + 1))),
    "all_reduce MEAN of id+1": lambda s: numbers(s, s.run(lambda: all_reduce("MEAN", replica_id(tf.float32) + 1))),
    "all_reduce MEAN of int32 id+1": lambda s: numbers(s, s.run(lambda: all_reduce("MEAN", replica_id() + 1))),
    "merge_call sees": merge,
    "num_replicas_in_sync": lambda s: s.num_replicas_in_sync,
    "experimental_local_results of a plain value": lambda s: str(s.experimental_local_results(7)),
    "gather axis 0 of uneven rows": uneven,
    "values_from_function ids": lambda s: of_context(s, "replica_id_in_sync_group"),
    "values_from_function context size": lambda s: of_context(s, "num_replicas_in_sync"),
}


def in_scope():
    strategy = mirrored(2)
    with strategy.scope():
        return [tf.distribute.in_cross_replica_context(), tf.distribute.has_strategy(),
                tf.distribute.get_replica_context() is None, tf.distribute.get_strategy() is strategy]


def scopes(inner, outer):
    with outer.scope(), inner.scope():
        return "ok"


def boom():
    raise ValueError("boom")


def average(losses, **arguments):
    strategy = mirrored(2)
    values = PerReplica([tf.constant(one, tf.float32) for one in losses])
    return numbers(strategy, strategy.run(lambda x: tf.nn.compute_average_loss(x, **arguments), (values,)))


def out_of_replica():
    with mirrored(2).scope():
        tf.nn.compute_average_loss(tf.constant([1.0]))


def per_replica_mode():
    contexts, strategy = [], mirrored(2)

    def make(context):
        number = context.input_pipeline_id
        contexts.append([context.num_input_pipelines, number, context.num_replicas_in_sync])
        return tf.data.Dataset.range(100 * number, 100 * number + 6).batch(2)
    options = tf.distribute.InputOptions(
        experimental_replication_mode=tf.distribute.InputReplicationMode.PER_REPLICA)
    return {"steps": [rows(step, 2) for step in strategy.distribute_datasets_from_function(make, options)],
            "contexts": contexts}


def exhausted():
    strategy = mirrored(2)
    iterator = iter(strategy.experimental_distribute_dataset(tf.data.Dataset.range(2).batch(2)))
    found = [rows(next(iterator), 2)]
    for ask in (lambda: next(iterator), lambda: next(iterator), iterator.get_next):
        try:
            found.append(ask())
        except (StopIteration, tf.errors.OutOfRangeError) as error:
            found.append(type(error).__name__)
    return found


def with_options(**arguments):
    return mirrored(2).experimental_distribute_dataset(tf.data.Dataset.range(4).batch(2),
                                                       tf.distribute.InputOptions(**arguments))


PER_REPLICA = tf.distribute.InputReplicationMode.PER_REPLICA
QUESTIONS = {
    "InputContext defaults": lambda: [getattr(tf.distribute.InputContext(), name) for name in (
        "num_input_pipelines", "input_pipeline_id", "num_replicas_in_sync")],
    "InputContext text": lambda: str(tf.distribute.InputContext(2, 1, 4)),
    "in_cross_replica_context at top level": tf.distribute.in_cross_replica_context,
    "has_strategy at top level": tf.distribute.has_strategy,
    "in scope: cross-replica, has_strategy, no replica context, strategy is this one": in_scope,
    "scope of another strategy inside a scope": lambda: scopes(mirrored(1), mirrored(2)),
    "same scope twice": lambda: scopes(mirrored(2), mirrored(2)),
    "run inside run": lambda: mirrored(2).run(lambda: mirrored(2).run(replica_id)),
    "reduce inside run": lambda: mirrored(2).run(lambda: mirrored(2).reduce("SUM", replica_id(), axis=None)),
    "reduce without axis": lambda: mirrored(2).reduce("SUM", 1.0),
    "reduce with unknown op": lambda: mirrored(2).reduce("MAX", 1.0, axis=None),
    "reduce MEAN with lower case": lambda: float(mirrored(2).reduce("mean", tf.constant(1.0), axis=None)),
    "run with something not callable": lambda: mirrored(2).run(3),
    "an exception in the function": lambda: mirrored(2).run(boom),
    "distribute a dataset that is not a dataset": lambda: mirrored(2).experimental_distribute_dataset([1, 2]),
    "dataset function that returns no dataset": lambda: mirrored(2).distribute_datasets_from_function(lambda c: 3),
    "iterate a distributed dataset in PER_REPLICA mode": lambda: with_options(
        experimental_replication_mode=PER_REPLICA),
    "place dataset on device with fetch to device": lambda: with_options(
        experimental_place_dataset_on_device=True, experimental_fetch_to_device=True),
    "PER_REPLICA mode of a dataset function": per_replica_mode,
    "empty device list": lambda: tf.distribute.MirroredStrategy([]).num_replicas_in_sync,
    "same device twice": lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:0"]),
    "logical devices after start": lambda: tf.config.set_logical_device_configuration(
        tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * 7),
    "CommunicationOptions(bytes_per_pack=-1)": lambda: tf.distribute.experimental.CommunicationOptions(-1),
    "CommunicationOptions timeout 0": lambda: tf.distribute.experimental.CommunicationOptions(
        timeout_seconds=0).timeout_seconds,
    "NcclAllReduce(-1)": lambda: tf.distribute.NcclAllReduce(-1),
    "number of elements in an exhausted iterator: next again": exhausted,
    "compute_average_loss [1,2,3] and [4], default size": lambda: average([[1, 2, 3], [4]]),
    "compute_average_loss [1,2,3] and [4], size 4": lambda: average([[1, 2, 3], [4]], global_batch_size=4),
    "compute_average_loss [1,2,3] and [], default size": lambda: average([[1, 2, 3], []]),
    "compute_average_loss [1,2,3] and [], size 0": lambda: average([[1, 2, 3], []], global_batch_size=0),
    "compute_average_loss [1,2] and [3,4], weight 0.5": lambda: average([[1, 2], [3, 4]], sample_weight=0.5),
    "compute_average_loss size 2.5": lambda: average([[1], [2]], global_batch_size=2.5),
    "compute_average_loss size -1": lambda: average([[1], [2]], global_batch_size=-1),
    "compute_average_loss out of replica, no size": out_of_replica,
    "scale_regularization_loss 3.0 in replica": lambda: numbers(
        mirrored(2), mirrored(2).run(lambda: tf.nn.scale_regularization_loss(tf.constant(3.0)))),
}

# leat refuses a device that is not there, which TensorFlow counts and fails with later; replicas of a traced function
# have one structure of results.
OTHERWISE = {"device that does not exist": lambda: tf.distribute.MirroredStrategy(["CPU:0", "CPU:99"]),
             "OneDeviceStrategy on a missing device": lambda: tf.distribute.OneDeviceStrategy("/cpu:99"),
             "different structures from replicas": None}


def variable_question(what):
    _, synchronization, aggregation = what.split(":")[0].split(", ")
    action, strategy = what.split(": ")[1], mirrored(2)
    with strategy.scope():
        variable = tf.Variable(1.0, synchronization=tf.VariableSynchronization[synchronization],
                               aggregation=tf.VariableAggregation[aggregation])
        if action.endswith("cross-replica"):
            getattr(variable, action.split("(")[0])(6.0)
    if action.endswith("in replica"):
        strategy.run(lambda: variable.assign_add(10 * replica_id(tf.float32) + 1))
    local = [float(copy) for copy in variable.values]
    return local if aggregation == "NONE" else {"local": local, "read": float(variable)}


def answer(what):
    if what.startswith("R="):
        strategy, question = mirrored(int(what[2])), what[4:]
        if question.startswith("get_per_replica_batch_size"):
            return batch_size(strategy, int(question[27:-1]))
        return OF_REPLICAS[question](strategy)
    return variable_question(what) if what.startswith("variable 1.0") else QUESTIONS[what]()


# TensorFlow's devices had met in a group of another size before; the answer follows from the question.
SUMS = {"R=4 all_reduce SUM of id+1": [10.0] * 4, "R=4 all_reduce MEAN of id+1": [2.5] * 4}
ERRORS = {kind.__name__: kind for kind in (ValueError, TypeError, RuntimeError, AttributeError, NotImplementedError,
                                           AssertionError, tf.errors.InvalidArgumentError)}


@pytest.mark.parametrize("case", cases("strategy.json"))
def test_strategy(case):
    what = case["what"]
    if what in OTHERWISE:
        if OTHERWISE[what] is not None:
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"\b99\b"):
                OTHERWISE[what]()
        return
    if what in SUMS or "error" not in case:
        assert answer(what) == SUMS.get(what, case.get("result"))
        return
    with pytest.raises(ERRORS[case["error"]["type"]]) as found:
        answer(what)
    if case["error"]["type"] != "ValueError" or "ReduceOp" not in case["error"]["text"]:
        assert case["error"]["text"].replace("StrategyBase", "Strategy").strip()[:30] in str(found.value)
