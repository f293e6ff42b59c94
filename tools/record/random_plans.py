#!/usr/bin/env python3
"""Draw random plans in the form of tests/golden/data/README.md, for plans.py to record.

    random_plans.py SEED COUNT > CASES

Needs TensorFlow 2.21: it builds what is drawn so far, and its element_spec and cardinality say which operators fit next. Most
arguments are usual ones, some are at or beyond the edge of what the operator takes; a plan that cannot be built ends there.
"""
import json
import random
import sys
import tempfile

import plans_tensorflow as recorder
import tensorflow as tf

NUMBERS = ["int64"] * 6 + ["int32", "float32", "float64", "uint8", "int16"]
SEEDS = [0, 1, -1, 7, 42, 2 ** 31, 2 ** 31 - 1, 2 ** 40, -2 ** 35, 2 ** 62]
FORWARD = ["take", "skip", "shard", "repeat", "shuffle", "cache", "prefetch", "batch", "concatenate", "zip", "enumerate", "window_flat",
           "window", "with_options", "snapshot", "rebatch", "choose_from_datasets", "sample_from_datasets", "interleave_any",
           "padded_batch", "unbatch", "group_any", "ignore_errors", "assert_cardinality", "pad_to_cardinality",
           "shuffle_and_repeat", "map_any", "filter_any", "take_while_any", "unique", "scan_any"]
NUMBER = ["map", "map", "map", "filter", "filter", "take_while", "flat_map", "interleave", "scan", "group_by_window", "rejection_resample",
          "group_by_reducer", "map_and_batch", "parallel_interleave", "bucket", "unique", "global_shuffle", "map_fail"]
chance = random.random
pick = random.choice


def node(op, below=None, **args):
    out = {"op": op, "args": args}
    if isinstance(below, list):
        out["inputs"] = below
    elif below is not None:
        out["input"] = below
    return out


def seed():
    return pick(SEEDS) if chance() < 0.5 else random.randint(1, 1000)


def count(usual, edges):
    return random.randint(*usual) if chance() < 0.75 else pick(edges)


def maybe(args, name, value, odds=0.4):
    if chance() < odds:
        args[name] = value


# ---- sources ----

def tensor(dtype, shape):
    size = 1
    for d in shape:
        size *= d
    make = {"string": lambda: pick(["", "a", "bc", "def", "Zz9"]), "bool": lambda: chance() < 0.5,
            "float32": lambda: random.randint(-8, 40) / 4, "float64": lambda: pick([random.randint(-8, 40) / 4, "nan", 0.1]),
            "uint8": lambda: random.randint(0, 255), "int16": lambda: random.randint(-5, 9)}.get(dtype, lambda: random.randint(0, 8))
    return {"dtype": dtype, "shape": shape, "data": [make() for _ in range(size)]}


def literal(rows, depth=0):
    kind = chance()
    if kind < 0.65 or depth == 2:
        return tensor(pick(NUMBERS + ["string", "bool"]), rows + pick([[], [], [], [2], [0], [1, 3], [3]]))
    if kind < 0.85:
        return {"tuple": [literal(rows, depth + 1) for _ in range(pick([2, 2, 3]))]}
    return {"dict": {k: literal(rows, depth + 1) for k in pick([["a", "b"], ["a"], ["b", "a", "c"]])}}


def source():
    kind = chance()
    if kind < 0.5:
        args = {"stop": pick([0, 1, 5, 7, 10, 13, random.randint(0, 25)])}
        if chance() < 0.15:
            args.update(start=random.randint(-5, 8), step=pick([1, 2, 3, -1, -2]))
        maybe(args, "output_type", pick(["int32", "float32", "float64", "int16", "uint8"]), 0.08)
        return node("range", **args)
    if kind < 0.75:
        return node("from_tensor_slices", tensors=literal([pick([0, 1, 3, 4, 6, 9])]))
    if kind < 0.85:
        return node("from_tensors", tensors=literal([]))
    if kind < 0.9:
        args = {"seed": seed()}
        maybe(args, "rerandomize_each_iteration", chance() < 0.5)
        return node("take", node("random", **args), count=random.randint(0, 6))
    if kind < 0.95:
        dtype, shape = pick(["int64", "string", "float32"]), pick([[], [2]])
        return node("from_list", elements=[tensor(dtype, shape) for _ in range(random.randint(1, 5))])
    args = {}
    maybe(args, "start", random.randint(-3, 10))
    maybe(args, "step", pick([1, 2, -1, 5]))
    maybe(args, "dtype", pick(["int32", "float32"]), 0.2)
    return node("counter", **args)


# ---- operators ----

class Drawn:
    def __init__(self, plan, global_seed):
        tf.random.set_seed(global_seed)
        self.plan, self.global_seed = plan, global_seed
        self.dataset = recorder.Builder(tempfile.gettempdir()).build(plan)
        self.spec, self.count = self.dataset.element_spec, int(self.dataset.cardinality())
        flat = tf.nest.flatten(self.spec)
        self.tensors = all(type(s) is tf.TensorSpec for s in flat)
        one = isinstance(self.spec, tf.TensorSpec)
        self.number = one and self.spec.dtype == tf.int64 and self.spec.shape.rank == 0
        self.vector = one and self.spec.dtype == tf.int64 and self.spec.shape.rank == 1
        self.string = one and self.spec.dtype == tf.string and self.spec.shape.rank == 0
        self.numeric = one and self.spec.dtype in (tf.int32, tf.float32, tf.float64, tf.int16)
        self.pair = isinstance(self.spec, tuple) and len(self.spec) == 2 and self.tensors and len(flat) == 2
        self.windows = isinstance(self.spec, tf.data.DatasetSpec)

    def random_seed(self, args, odds=0.85):
        if self.global_seed is None or chance() < odds:
            args["seed"] = seed()

    def functions(self):
        if self.number:
            return ["add_one", "double", "square", "negate", "half", "mod_2", "mod_3", "to_int32", "to_float32", "to_string", "to_bool",
                    "pair_with_square", "to_dict", "to_nested", "vec3", "iota_mod_4", "iota_pair", "fill_self", "iota", "zero", "identity",
                    "fail_on_odd", "fail_on_3", "fail_on_mod_4_is_3", "stop_on_3", "fill_rows", "fill_cols", "iota_string", "range_of"]
        if self.vector:
            return ["vec_sum", "vec_add_one", "size_of", "vec_size_int32", "identity"]
        if self.string:
            return ["exclaim", "upper", "string_length", "identity"]
        if self.numeric:
            return ["add_one", "double", "negate", "to_int64", "identity"]
        if self.pair:
            return ["swap", "first", "second", "identity"]
        return ["identity"] if not self.windows else ["batch_2", "same_dataset"]

    def predicates(self):
        if self.number:
            return ["is_even", "is_odd", "less_than_5", "not_multiple_of_3", "always_true", "always_false", "even_fail_on_3", "small_fail_on_3"]
        return ["not_empty"] if self.vector else ["string_not_empty", "always_true"] if self.string else ["always_true", "always_false"]

    def datasets(self):
        if self.number:
            return ["range_of", "range_from_ten", "repeat_3", "repeat_self", "empty_if_odd", "empty_of", "range_fail_on_3",
                    "range_map_fail_on_3", "shuffled_range", "pair_range"]
        if self.windows:
            return ["batch_2", "batch_3", "batch_3_drop", "same_dataset"]
        if isinstance(self.spec, tf.TensorSpec):
            return ["slices_of"] if self.spec.shape.rank else ["repeat_3"]
        return ["slices_of_pair", "zip_batch_3"] if isinstance(self.spec, tuple) and len(self.spec) == 2 else ["dict_batch_3"]


def batch_args():
    args = {"batch_size": count((1, 5), [0, -1, -5, 1, 1000, 2 ** 20])}
    maybe(args, "drop_remainder", chance() < 0.6)
    return args


def parallel(args):
    maybe(args, "num_parallel_calls", pick([1, 2, 3, 4, "AUTOTUNE"]), 0.4)


def padding(args, drawn):
    def shape_of(s):
        return [pick([-1, d or 4, (d or 3) + pick([0, 1, 2])]) for d in s.shape]
    if isinstance(drawn.spec, tf.TensorSpec) and drawn.spec.shape.rank is not None:
        maybe(args, "padded_shapes", shape_of(drawn.spec), 0.3)
        maybe(args, "padding_values", tensor(drawn.spec.dtype.name, []), 0.3)


WINDOW_FUNCTIONS = ["window_batch_3", "window_batch_all", "window_same", "window_first", "window_with_key", "window_padded", "window_empty"]


def step(op, drawn):
    plan, args = drawn.plan, {}
    edge = [0, -1, -5, 1, 100, 2 ** 40, 2 ** 62, -2 ** 63, 2 ** 63 - 1]
    if op in ("take", "skip"):
        return node(op, plan, count=count((0, 9), edge))
    if op == "shard":
        shards = count((1, 4), [0, -1, -2, 5, 2 ** 40])
        return node(op, plan, num_shards=shards, index=count((0, max(shards - 1, 0) % 100), [-1, 0, 3, 5, shards]))
    if op == "repeat":
        maybe(args, "count", count((1, 3), [0, -1, -5, None, 2 ** 40]), 0.85)
        return node(op, plan, **args)
    if op == "shuffle":
        drawn.random_seed(args)
        maybe(args, "reshuffle_each_iteration", chance() < 0.5)
        return node(op, plan, buffer_size=count((1, 8), [1, 2, 30, 1000, 0, -1, -2]), **args)
    if op == "prefetch":
        return node(op, plan, buffer_size=count((0, 4), [0, -1, -2, None, 100, "AUTOTUNE"]))
    if op == "batch":
        args = batch_args()
        parallel(args)
        return node(op, plan, **args)
    if op in ("padded_batch", "ragged_batch"):
        args = batch_args()
        if op == "padded_batch":
            padding(args, drawn)
        return node(op, plan, **args)
    if op == "rebatch":
        args["batch_size"] = count((1, 5), [0, 100]) if chance() < 0.5 else [random.randint(0, 3) for _ in range(pick([1, 2, 3]))]
        maybe(args, "drop_remainder", chance() < 0.6)
        return node(op, plan, **args)
    if op == "concatenate":
        return node(op, [plan, pick([plan, node("take", plan, count=2), source()])])
    if op == "zip":
        other = pick([plan, source(), node("skip", plan, count=1)])
        return {"op": "zip", "args": {}, "inputs": pick([{"tuple": [plan, other]}, {"dict": {"a": other, "b": plan}}, {"tuple": [plan, {"dict": {"x": other}}]}])}
    if op == "enumerate":
        maybe(args, "start", pick([0, 1, 5, -2, 2 ** 40]))
        return node(op, plan, **args)
    if op in ("window", "window_flat"):
        args["size"] = count((1, 5), [0, -1, 1, 100, 2 ** 40])
        maybe(args, "shift", count((1, 5), [0, -1, 1, 100, None]))
        maybe(args, "stride", count((1, 3), [0, -1, 1, 100]), 0.3)
        maybe(args, "drop_remainder", chance() < 0.6)
        made = node("window", plan, **args)
        return made if op == "window" else node("flat_map", made, map_func=pick(["batch_2", "batch_3", "batch_3_drop", "same_dataset"]))
    if op == "with_options":
        args = pick([{"deterministic": True}, {"autotune.enabled": False}, {"experimental_optimization.shuffle_and_repeat_fusion": True},
                     {"experimental_optimization.apply_default_optimizations": False}])
        return node(op, plan, **args)
    if op == "snapshot":
        return node(op, plan, path="$TMP/snap%d" % random.randint(1, 10 ** 6), compression=pick(["AUTO", "GZIP", "SNAPPY"]))
    if op == "cache":
        return node(op, plan)
    if op == "choose_from_datasets":
        inputs = [plan, node("take", plan, count=2), node("skip", plan, count=1)][:random.randint(1, 3)]
        top = len(inputs) + (chance() < 0.1)
        choice = node("from_tensor_slices", tensors={"dtype": "int64", "shape": [9], "data": [random.randrange(top) for _ in range(9)]})
        maybe(args, "stop_on_empty_dataset", chance() < 0.5, 0.6)
        return node(op, inputs, choice_dataset=choice if chance() < 0.8 else node("map", node("range", stop=7), map_func="mod_2"), **args)
    if op == "sample_from_datasets":
        inputs = [plan, node("take", plan, count=3), node("skip", plan, count=1)][:random.randint(1, 3)]
        maybe(args, "weights", [pick([0.5, 0.25, 1.0, 2.0, 0.1]) for _ in inputs], 0.6)
        maybe(args, "stop_on_empty_dataset", chance() < 0.5, 0.6)
        maybe(args, "rerandomize_each_iteration", chance() < 0.5, 0.3)
        drawn.random_seed(args)
        return node(op, inputs, **args)
    if op in ("interleave", "interleave_any"):
        maybe(args, "cycle_length", count((1, 4), [0, -2, 1, 10]), 0.95)
        args.setdefault("cycle_length", 2)
        maybe(args, "block_length", count((1, 3), [0, -1, 10]))
        parallel(args)
        return node("interleave", plan, map_func=pick(drawn.datasets()), **args)
    if op == "flat_map":
        return node(op, plan, map_func=pick(drawn.datasets()))
    if op == "parallel_interleave":
        maybe(args, "block_length", count((1, 3), [0, 10]))
        return node(op, plan, map_func=pick(drawn.datasets()), cycle_length=count((1, 4), [0, 10]), **args)
    if op in ("map", "map_any", "map_fail"):
        parallel(args)
        return node("map", plan, map_func="fail_on_odd" if op == "map_fail" else pick(drawn.functions()), **args)
    if op in ("filter", "filter_any", "take_while", "take_while_any"):
        return node(op.replace("_any", ""), plan, predicate=pick(drawn.predicates()))
    if op in ("scan", "scan_any"):
        zero = {"dtype": "int64", "shape": [], "data": [pick([0, 3])]}
        names = ["running_sum", "running_count", "running_max", "previous", "pair_output", "running_sum_fail_on_3"]
        return node("scan", plan, initial_state=zero, scan_func=pick(names) if op == "scan" else "running_count")
    if op in ("group_by_window", "group_any"):
        maybe(args, "window_size", count((1, 4), [0, -1, 100]), 0.75)
        if "window_size" not in args:
            args["window_size_func"] = pick(["key_plus_1", "key_times_2_plus_2", "key_minus_1"])
        return node("group_by_window", plan, key_func="zero" if op == "group_any" else pick(["mod_2", "mod_3", "minus_mod_3", "fail_on_3", "half"]),
                    reduce_func=pick(WINDOW_FUNCTIONS), **args)
    if op == "group_by_reducer":
        return node(op, plan, key_func=pick(["mod_2", "mod_3", "zero", "half", "minus_mod_3"]), reducer=pick(["reducer_sum", "reducer_key_and_count"]))
    if op == "rejection_resample":
        maybe(args, "initial_dist", {"dtype": "float32", "shape": [2], "data": [0.5, 0.5]}, 0.5)
        return node(op, plan, class_func="mod_2_int32", target_dist={"dtype": "float32", "shape": [2], "data": pick([[0.5, 0.5], [0.75, 0.25], [1.0, 0.0]])},
                    seed=seed(), **args)
    if op == "map_and_batch":
        args = batch_args()
        maybe(args, "num_parallel_calls", pick([1, 2, 4]))
        return node(op, plan, map_func=pick(drawn.functions()), **args)
    if op == "bucket":
        args = {"element_length_func": "vec_size_int32" if drawn.vector else "to_int32",
                "bucket_boundaries": pick([[3], [2, 4], [4, 8]]), "bucket_batch_sizes": [random.randint(1, 3) for _ in range(3)]}
        args["bucket_batch_sizes"] = args["bucket_batch_sizes"][:len(args["bucket_boundaries"]) + 1]
        maybe(args, "drop_remainder", True, 0.2)
        maybe(args, "pad_to_bucket_boundary", True, 0.2)
        return node("bucket_by_sequence_length", plan, **args)
    if op == "global_shuffle":
        maybe(args, "reshuffle_each_iteration", chance() < 0.5)
        return node(op, plan, seed=seed(), **args)
    if op == "assert_cardinality":
        return node(op, plan, expected_cardinality=drawn.count if chance() < 0.9 else pick([-1, -2, 0, 3, 5]))
    if op == "pad_to_cardinality":
        return node(op, plan, cardinality=max(drawn.count, 0) + pick([0, 1, 3, -1]))
    if op == "apply":
        return node(op, plan, transformation_func="take_2")
    if op == "shuffle_and_repeat":
        drawn.random_seed(args)
        maybe(args, "count", pick([1, 2, -1]))
        return node(op, plan, buffer_size=random.randint(1, 6), **args)
    return node(op, plan)  # unbatch, unique, ignore_errors, without arguments


ENDLESS_HANGS = ("filter", "take_while", "unique", "group", "bucket", "rejection", "skip", "window", "batch", "flat_map", "interleave",
                 "shuffle", "pad", "scan", "rebatch", "ragged")


def chain():
    global_seed = random.randint(1, 99) if chance() < 0.25 else None
    drawn = Drawn(source(), global_seed)
    for _ in range(random.randint(1, 6)):
        op = pick(NUMBER if (drawn.number and chance() < 0.5) else FORWARD)
        if op == "global_shuffle" and chance() < 0.7:
            continue
        if drawn.count == -1 and (op.startswith(ENDLESS_HANGS) or chance() < 0.5):
            op = "take"
        if drawn.windows and op in ("batch", "padded_batch", "rebatch", "snapshot", "unique", "cache"):
            continue  # TensorFlow batches windows into what cannot be iterated, and hangs or aborts
        if op == "ignore_errors" and "assert_cardinality" in json.dumps(drawn.plan):
            continue  # an error at every call
        if op == "bucket" and not (drawn.number or drawn.vector):
            continue
        plan = step(op, drawn)
        if drawn.count == -1 and op == "take" and chance() < 0.9:
            plan["args"]["count"] = random.randint(0, 14)
        try:
            drawn = Drawn(plan, global_seed)
        except Exception:
            if chance() < 0.25:
                return plan, global_seed
    if drawn.count == -1 and chance() < 0.8:
        return node("take", drawn.plan, count=12), global_seed
    return drawn.plan, global_seed


def case(name):
    plan, global_seed = chain()
    out = {"name": name, "op": "composed", "pipeline": plan}
    if global_seed is not None:
        out["global_seed"] = global_seed
    kind = chance()
    if kind < 0.5:
        out["iterate"] = [pick([None, None, random.randint(0, 6)]) for _ in range(pick([2, 2, 3]))]
    elif kind < 0.62:
        out["terminal"] = pick([{"op": "cardinality"}, {"op": "length"}, {"op": "get_single_element"},
                                {"op": "at", "args": {"index": pick([0, 1, 3, -1, 100])}},
                                {"op": "reduce", "args": {"initial_state": {"dtype": "int64", "shape": [], "data": [0]}, "reduce_func": "count"}}])
    return out


def main(args):
    random.seed(int(args[0]))
    made = []
    while len(made) < int(args[1]):
        try:
            made.append(case("r%s_%d" % (args[0], len(made))))
        except Exception as error:
            print(repr(error)[:200], file=sys.stderr)
    print("[\n" + ",\n".join(json.dumps(c) for c in made) + "\n]")


if __name__ == "__main__":
    main(sys.argv[1:])
