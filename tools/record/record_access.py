#!/usr/bin/env python3
"""Record TensorFlow's random access and global shuffling: tests/golden/data/tfdata/access.json.

    record_access.py > tests/golden/data/tfdata/access.json

Needs TensorFlow 2.21; nothing else in the project does. Each plan below is run as tests/golden/data/README.md says; the answers
are TensorFlow's. Plans whose answer TensorFlow gives by mistake (docs of global_shuffle and at) are left out here.
"""
import json
import os
import tempfile

os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
import tensorflow as tf  # noqa: E402
from tensorflow.python.data.experimental.ops import global_shuffle_op  # noqa: E402

tf.autograph.set_verbosity(0)
plain = tf.autograph.experimental.do_not_convert


def fail_on_3(x):
    with tf.control_dependencies([tf.debugging.Assert(tf.not_equal(x, 3), ["the function failed by order"])]):
        return tf.identity(x)


CLOSED = tf.queue.FIFOQueue(1, [tf.int64], shapes=[[]])
CLOSED.close()


def stop_on_3(x):
    return tf.cond(tf.equal(x, 3), CLOSED.dequeue, lambda: x)


FUNCTIONS = {"square": lambda x: x * x, "is_even": lambda x: x % 2 == 0, "fail_on_3": fail_on_3, "stop_on_3": stop_on_3,
             "range_of": tf.data.Dataset.range, "iota": tf.range}
CODES = {"InvalidArgumentError": "INVALID_ARGUMENT", "OutOfRangeError": "OUT_OF_RANGE",
         "FailedPreconditionError": "FAILED_PRECONDITION", "UnimplementedError": "UNIMPLEMENTED"}


# ---- plans ----

def node(op, *inputs, **args):
    out = {"op": op, "args": args}
    if op == "zip":
        out["inputs"] = {"tuple": list(inputs)}
    elif len(inputs) == 1:
        out["input"] = inputs[0]
    elif inputs:
        out["inputs"] = list(inputs)
    return out


def rng(n, start=0):
    return node("range", stop=n, start=start) if start else node("range", stop=n)


def build(plan):
    op, args = plan["op"], dict(plan["args"])
    for name in ("map_func", "predicate"):
        if name in args:
            args[name] = plain(FUNCTIONS[args[name]])
    if "filename" in args:
        args["filename"] = args["filename"].replace("$TMP", tempfile.mkdtemp())
    if op == "range":
        return tf.data.Dataset.range(args.get("start", 0), args["stop"])
    if op == "from_tensor_slices":
        literal = args["tensors"]
        return tf.data.Dataset.from_tensor_slices(tf.reshape(tf.constant(literal["data"], literal["dtype"]), literal["shape"]))
    if op == "random":
        return tf.data.Dataset.random(**args)
    if op == "zip":
        return tf.data.Dataset.zip(*[build(i) for i in plan["inputs"]["tuple"]])
    if op == "concatenate":
        first, second = [build(i) for i in plan["inputs"]]
        return first.concatenate(second)
    below = build(plan["input"])
    if op == "global_shuffle":
        return global_shuffle_op._global_shuffle(below, **args)
    if op == "assert_cardinality":
        return below.apply(tf.data.experimental.assert_cardinality(**args))
    if op == "map_and_batch":
        return below.apply(tf.data.experimental.map_and_batch(**args))
    if op == "with_options":
        options = tf.data.Options()
        for name, value in args.items():
            *path, last = name.split(".")
            at = options
            for part in path:
                at = getattr(at, part)
            setattr(at, last, value)
        return below.with_options(options)
    return getattr(below, op)(**args)


# ---- answers ----

def value_json(value):
    if isinstance(value, tuple):
        return {"tuple": [value_json(v) for v in value]}
    return {"dtype": value.dtype.name, "shape": list(value.shape), "data": value.numpy().reshape(-1).tolist()}


def spec_json(spec):
    if isinstance(spec, tuple):
        return {"tuple": [spec_json(s) for s in spec]}
    if isinstance(spec, tf.data.DatasetSpec):
        return {"dataset": spec_json(spec.element_spec)}
    shape = None if spec.shape.rank is None else [-1 if d is None else d for d in spec.shape]
    return {"dtype": spec.dtype.name, "shape": shape}


def error_json(error, when):
    return {"when": when, "code": CODES[type(error).__name__], "python": type(error).__name__}


def iterate(iterator):
    out = []
    while True:
        try:
            out.append(value_json(next(iterator)))
        except StopIteration:
            return out
        except tf.errors.OpError as error:
            out.append({"error": CODES[type(error).__name__]})


def answer(plan, case):
    try:
        dataset = build(plan)
    except tf.errors.OpError as error:
        return {"error": error_json(error, "build")}
    expect = {"element_spec": spec_json(dataset.element_spec), "cardinality": int(dataset.cardinality())}
    if "terminal" not in case:
        for key in ("elements", "elements_epoch2")[:len(case.get("iterate", [None]))]:
            try:
                iterator = iter(dataset)
            except tf.errors.OpError as error:
                return {"error": error_json(error, "open")}
            expect[key] = iterate(iterator)
        return expect
    try:
        expect["value"] = value_json(tf.data.experimental.at(dataset, case["terminal"]["args"]["index"]))
    except tf.errors.OpError as error:
        expect["error"] = error_json(error, "terminal")
    return expect


CASES = []


def record(name, plan, case):
    case = {"name": name, "op": case.get("op", "at"), **case, "pipeline": plan}
    case["expect"] = answer(plan, case)
    CASES.append(case)


def at(name, plan, *indices):
    for index in indices:
        record("%s_%d" % (name, index), plan, {"terminal": {"op": "at", "args": {"index": index}}})


def shuffled(name, below, epochs=1, **args):
    args.setdefault("seed", 3)
    record("global_shuffle_" + name, node("global_shuffle", below, **args),
           {"op": "global_shuffle", **({"iterate": [None] * epochs} if epochs > 1 else {})})


# ---- what is below: of unknown, infinite, unsupported and zero ----

FILTERED = node("filter", rng(6), predicate="is_even")
ENDLESS = node("repeat", rng(6))
PADDED = node("padded_batch", rng(6), batch_size=2)
BATCHED = node("batch", rng(6), batch_size=2, drop_remainder=True)
FAULTY = node("map", rng(6), map_func="fail_on_3")
BELOW = {"filter": FILTERED, "endless": ENDLESS, "padded": PADDED, "empty": rng(0)}
ABOVE = {
    "take": lambda d: node("take", d, count=4), "take_all": lambda d: node("take", d, count=-1),
    "skip": lambda d: node("skip", d, count=1), "skip_all": lambda d: node("skip", d, count=-1),
    "shard": lambda d: node("shard", d, num_shards=2, index=0), "prefetch": lambda d: node("prefetch", d, buffer_size=2),
    "cache": lambda d: node("cache", d), "zip": lambda d: node("zip", rng(3), d), "zip_first": lambda d: node("zip", d, rng(3)),
    "claimed": lambda d: node("assert_cardinality", d, expected_cardinality=3),
    "batch": lambda d: node("batch", d, batch_size=1), "batch_drop": lambda d: node("batch", d, batch_size=1, drop_remainder=True),
    "repeat": lambda d: node("repeat", d, count=2), "enumerate": lambda d: node("enumerate", d),
    "deterministic": lambda d: node("with_options", d, deterministic=True),
    "shuffle": lambda d: node("shuffle", d, buffer_size=3, seed=5),
}
for below, plan in BELOW.items():
    for above, over in ABOVE.items():
        at("%s_of_%s" % (above, below), over(plan), 0, 3)
    at(below, plan, 0, 1)

at("map_of_filter", node("map", FILTERED, map_func="square"), 0, -1)
at("map_of_endless", node("map", ENDLESS, map_func="square"), 0)
at("take_of_endless", node("take", ENDLESS, count=4), 3, 4)
at("batch_fails", node("batch", node("prefetch", FAULTY, buffer_size=1), batch_size=2), 0, 1, 2, 3, -1)
at("batch_unequal", node("batch", node("prefetch", node("map", rng(6), map_func="iota"), buffer_size=1), batch_size=2), 0, 1)
at("batch_parallel", node("batch", rng(6), batch_size=2, num_parallel_calls=2), 1, 7)
at("batch_fused", node("batch", node("map", rng(6), map_func="square"), batch_size=2), 1, 7)
at("batch_fused_take", node("take", node("batch", node("map", rng(6), map_func="square"), batch_size=2), count=2), 1, 2)
at("batch_not_fused", node("with_options", node("batch", node("map", rng(6), map_func="square"), batch_size=2),
                           **{"experimental_optimization.map_and_batch_fusion": False}), 1, 7)
at("map_and_batch", node("map_and_batch", rng(6), map_func="square", batch_size=2), 1, 7)
STOPPING = node("map", rng(6), map_func="stop_on_3")
at("map_stops", STOPPING, 2, 3)
at("claim_of_stopping", node("assert_cardinality", STOPPING, expected_cardinality=6), 3)
at("shard_fails", node("shard", FAULTY, num_shards=2, index=1), 0, 1, 2)
at("skip_fails", node("skip", FAULTY, count=2), 0, 1, 2)
at("zip_fails", node("zip", rng(6), FAULTY), 2, 3, 4, 6)
at("cache_fails", node("cache", FAULTY), 2, 5)
at("cache_outside", node("cache", rng(4)), -1, 3, 4)
at("cache_to_file", node("cache", rng(4), filename="$TMP/cache"), 1)
at("cache_of_batches", node("cache", node("batch", rng(5), batch_size=2)), 2, 3)
at("cache_of_interleave", node("cache", node("flat_map", rng(4), map_func="range_of")), 3, 5, 6)
at("take_of_cache_of_filter", node("take", node("cache", FILTERED), count=2), 1)
at("batch_of_cache_of_filter", node("batch", node("cache", FILTERED), batch_size=2), 0)
at("claim_low", node("assert_cardinality", rng(6), expected_cardinality=4), 3, 4, -1)
at("claim_high", node("assert_cardinality", rng(6), expected_cardinality=9), 5, 6, 9)
at("claim_of_endless", node("assert_cardinality", ENDLESS, expected_cardinality=9), 5)
at("claim_of_batch_of_filter", node("assert_cardinality", node("batch", FILTERED, batch_size=2), expected_cardinality=3), 1)
at("claim_of_cache_of_filter", node("assert_cardinality", node("cache", FILTERED), expected_cardinality=3), 2)
at("concatenate_padded", node("concatenate", node("batch", rng(6), batch_size=2), PADDED), 1, 4, 6)
at("concatenate_endless", node("concatenate", rng(2), ENDLESS), 1)
at("concatenate_filter", node("concatenate", rng(2), FILTERED), 1)
at("unbatch_drop", node("unbatch", BATCHED), 0, 5, 6, -1)
at("unbatch_remainder", node("unbatch", node("batch", rng(5), batch_size=2)), 3)
at("unbatch_slices", node("unbatch", node("from_tensor_slices", tensors={"dtype": "int64", "shape": [2, 3], "data": list(range(6))})), 4)
at("unbatch_pairs", node("unbatch", node("batch", node("zip", rng(4), rng(9, 5)), batch_size=2, drop_remainder=True)), 1, 2)
at("unbatch_endless", node("unbatch", node("repeat", BATCHED)), 1)
at("unbatch_padded", node("unbatch", node("padded_batch", rng(6), batch_size=2, drop_remainder=True)), 3)
at("shuffle_whole", node("shuffle", rng(7), buffer_size=2, seed=5), *range(7))
at("shuffle_fixed", node("shuffle", rng(7), buffer_size=100, seed=6, reshuffle_each_iteration=False), *range(7))
at("shuffle_repeated", node("repeat", node("shuffle", rng(4), buffer_size=3, seed=1), count=2), *range(-1, 9))
at("shuffle_then_repeat", node("repeat", node("prefetch", node("shuffle", rng(4), buffer_size=3, seed=1), buffer_size=2), count=2),
   *range(-1, 9))
at("shuffle_of_map", node("shuffle", FAULTY, buffer_size=3, seed=42), *range(6))
at("shuffle_of_shuffle", node("shuffle", node("shuffle", rng(5), buffer_size=3, seed=1), buffer_size=3, seed=2), *range(5))

# ---- global shuffling ----

# Over take TensorFlow does not look further down and gives elements that are wrong; a claim about nothing never ends there.
MISTAKES = [("take", "endless"), ("take", "padded"), ("claimed", "empty")]
for below, plan in BELOW.items():
    for above, over in ABOVE.items():
        if (above, below) not in MISTAKES:
            shuffled("%s_of_%s" % (above, below), over(plan))
shuffled("shuffle", node("shuffle", rng(6), buffer_size=3, seed=1))
shuffled("unbatch", node("unbatch", BATCHED))
shuffled("cache_to_file", node("cache", rng(4), filename="$TMP/cache"))
shuffled("cache", node("cache", rng(6)), 2)
shuffled("batch_parallel", node("batch", rng(6), batch_size=2, drop_remainder=True, num_parallel_calls=2))
shuffled("map_and_batch", node("map_and_batch", rng(6), map_func="square", batch_size=2, drop_remainder=True))
shuffled("batch_of_map", node("batch", node("prefetch", node("map", rng(9), map_func="square"), buffer_size=1), batch_size=2,
                              drop_remainder=True), 2)
shuffled("faulty", FAULTY, 2)
shuffled("stopping", STOPPING)
shuffled("zip_faulty", node("zip", rng(6), FAULTY))
shuffled("batch_faulty", node("batch", node("prefetch", FAULTY, buffer_size=1), batch_size=2, drop_remainder=True))
shuffled("claim_low", node("assert_cardinality", rng(6), expected_cardinality=4))
shuffled("window", node("window", rng(6), size=2))
shuffled("flat_map", node("flat_map", rng(6), map_func="range_of"))
shuffled("enumerate", node("enumerate", rng(4)))
shuffled("concatenate_empty", node("concatenate", rng(6), rng(0)))
shuffled("zip_uneven", node("zip", rng(3), rng(9)))
for count in (2, 3, 100):
    shuffled("range_%d" % count, rng(count), 2, seed=count)
    shuffled("range_%d_fixed" % count, rng(count), 2, seed=count, reshuffle_each_iteration=False)
record("global_shuffle_chain", node("map", node("batch", node("global_shuffle", node("skip", node("shard", rng(40), num_shards=3, index=1),
       count=2), seed=8), batch_size=4), map_func="square"), {"op": "global_shuffle", "iterate": [None, None]})
record("global_shuffle_repeat", node("repeat", node("global_shuffle", rng(5), seed=8), count=3), {"op": "global_shuffle", "iterate": [None, None]})
record("global_shuffle_at", node("global_shuffle", rng(5), seed=8), {"terminal": {"op": "at", "args": {"index": 1}}})

print("[\n" + ",\n".join(json.dumps(case) for case in CASES) + "\n]")
