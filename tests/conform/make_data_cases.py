#!/usr/bin/env python3
"""Write tests/conform/data/<operator>.json and compositions.json from the model in data_case_model.py.

    make_data_cases.py [FOLDER]                       all files
    make_data_cases.py --compositions SEED COUNT      only that many random compositions, to stdout

A case has the form of tests/golden/data/README.md. What needs files is written out by hand below. Expected values come from the
model, which knows TensorFlow's documentation and agrees with the recorded cases; never from the library.
"""
import json
import os
import sys

import data_case_access
import data_case_groups  # noqa: F401, adds to the tables of the model
import data_case_files  # noqa: F401
import data_case_mixes  # noqa: F401
import data_case_ragged  # noqa: F401
import data_case_pack
import data_case_resample  # noqa: F401
import data_case_saves
import data_file_cases
import data_group_cases
import data_mix_cases
import data_numpy_cases
import data_ragged_cases
import data_resample_cases
import data_tar_cases
import data_composed_cases
from data_composed_cases import KEYS, TWICE, expectation, faulty, literal, mapped, node, rng

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
CASES = {}


def case(name, plan, limits=(None,), op=None, expect=None, **more):
    out = {"name": name, "op": op or plan["op"], "pipeline": plan}
    if list(limits) != [None]:
        out["iterate"] = list(limits)
    out.update(more)
    out["expect"] = expect if expect is not None else expectation(plan, limits)
    CASES.setdefault(out["op"], []).append(out)


# ---- sources ----

case("zero", rng(0))
case("one", rng(1))
case("many", rng(3, 40, 4), TWICE)
case("downwards", rng(5, -4, -3))
case("ends_of_int64", rng(2**63 - 4, 2**63 - 1))

case("zero_rows", node("from_tensor_slices", tensors=literal("int64", [0, 2], [])))
case("one_row", node("from_tensor_slices", tensors=literal("int64", [1, 2], [7, 8])), TWICE)
case("many_rows", node("from_tensor_slices", tensors=literal("int64", [5, 2], list(range(10)))))
case("floats", node("from_tensor_slices", tensors=literal("float32", [3], [0.5, -1.25, 3.0])))
case("texts", node("from_tensor_slices", tensors=literal("string", [3], ["a", "", "ccc"])))
case(
    "structure",
    node(
        "from_tensor_slices",
        tensors={"dict": {"a": literal("int64", [3], [1, 2, 3]), "b": {"tuple": [literal("bool", [3], [True, False, True])]}}},
    ),
)
case("one", node("from_tensors", tensors=literal("int64", [2, 3], list(range(6)))), TWICE)
case("structure", node("from_tensors", tensors={"tuple": [literal("int64", [], [4]), literal("string", [2], ["x", "yy"])]}))
case("no_values", node("from_tensors", tensors=literal("float32", [0], [])))

# ---- one to one ----

for name, args in (("", {}), ("_parallel", {"num_parallel_calls": 3}), ("_autotune", {"num_parallel_calls": "AUTOTUNE"})):
    case("zero" + name, mapped("add_one", rng(0), **args))
    case("one" + name, mapped("square", rng(3, 4), **args))
    case("many" + name, mapped("square", rng(25), **args), TWICE)
    case("child_error" + name, mapped("add_one", faulty(), **args))
    case("own_error" + name, mapped("fail_on_mod_4_is_3", rng(10), **args))
    case("error_of_both" + name, mapped("fail_on_odd", faulty(), **args))
    case("only_errors" + name, mapped("fail_always", rng(4), **args))
    case("shapes" + name, mapped("iota_mod_4", rng(7), **args))
case("structure", mapped("swap", mapped("pair_with_square", rng(5))))
case("dict", mapped("to_dict", rng(5)))
case("text", mapped("to_string", rng(9, 12)))
case("chain", mapped("double", mapped("add_one", mapped("negate", rng(9)))))

case("zero", node("enumerate", rng(0)))
case("one", node("enumerate", rng(4, 5), start=10))
case("many", node("enumerate", rng(20)), TWICE)
case("child_error", node("enumerate", faulty()))
case("last_numbers", node("enumerate", rng(9), start=2**63 - 4))

for size in (0, 1, 3, 50, "AUTOTUNE"):
    case("zero_size_%s" % size, node("prefetch", rng(0), buffer_size=size))
    case("many_size_%s" % size, node("prefetch", rng(12), buffer_size=size), TWICE)
    case("child_error_size_%s" % size, node("prefetch", faulty(), buffer_size=size))
case("one", node("prefetch", rng(1), buffer_size=2))
case("over_parallel_map", node("prefetch", mapped("square", rng(12), num_parallel_calls=2), buffer_size=2))

case("zero", node("cache", rng(0)), TWICE)
case("one", node("cache", rng(1)), TWICE)
case("many", node("cache", node("shuffle", rng(12), buffer_size=5, seed=3)), (None, None, None))
case("repeated", node("repeat", node("cache", rng(4)), count=3), op="cache")
case("broken_off", node("cache", node("shuffle", rng(9), buffer_size=5, seed=3)), (3, None, None))
case("child_error", node("cache", faulty()), TWICE)

# ---- fewer ----

for count in (0, 1, 5, 30, -1):
    case("count_%d" % count, node("take", rng(12), count=count))
    case("count_%d" % count, node("skip", rng(12), count=count))
    case("child_error_count_%d" % count, node("take", faulty(), count=count))
    case("child_error_count_%d" % count, node("skip", faulty(), count=count))
for op in ("take", "skip"):
    case("zero", node(op, rng(0), count=3))
    case("one", node(op, rng(3), count=1 if op == "take" else 2))
    case("many", node(op, rng(40), count=17), TWICE)
    case("below_another", node(op, node("skip", node("take", rng(30), count=20), count=4), count=7))

# What is read ahead is saved as positions, and errors are outcomes: restoring must tell them from elements.
FAILS_FIRST = mapped("fail_on_3", rng(3, 9))
case("error_before_prefetch", node("prefetch", node("take", FAILS_FIRST, count=1), buffer_size=3), op="take")
case("error_before_prefetch", node("prefetch", node("skip", FAILS_FIRST, count=2), buffer_size=3), op="skip")

case("zero", node("filter", rng(0), predicate="is_even"))
case("one", node("filter", rng(1), predicate="is_even"))
case("many", node("filter", rng(30), predicate="not_multiple_of_3"), TWICE)
case("none_pass", node("filter", rng(9), predicate="always_false"))
case("all_pass", node("filter", rng(9), predicate="always_true"))
case("child_error", node("filter", faulty(9), predicate="is_odd"))
case("own_error", node("filter", rng(9), predicate="even_fail_on_3"))
case("pairs", node("filter", mapped("pair_with_square", rng(9)), predicate="first_is_even"))

for shards in ((1, 0), (2, 1), (3, 0), (5, 4)):
    case("shard_%d_%d" % shards, node("shard", rng(13), num_shards=shards[0], index=shards[1]), TWICE)
case("zero", node("shard", rng(0), num_shards=2, index=0))
case("one", node("shard", rng(1), num_shards=2, index=0))
case("one_of_others", node("shard", rng(1), num_shards=2, index=1))
case(
    "child_error",
    node("shard", faulty(), num_shards=1, index=0),
    expect={"elements": [literal("int64", [], [0]), literal("int64", [], [1]), literal("int64", [], [2]),
                         {"error": "INVALID_ARGUMENT"}, literal("int64", [], [4]), literal("int64", [], [5])]},
)

# ---- more ----

for count in (0, 1, 3):
    case("count_%d" % count, node("repeat", rng(5), count=count), TWICE)
    case("child_error_count_%d" % count, node("repeat", faulty(5), count=count))
case("forever", node("repeat", rng(3), count=-1), (8,))
case("forever_of_nothing", node("repeat", rng(0)))
case("zero", node("repeat", rng(0), count=4))
case("one", node("repeat", rng(1), count=1))
case("one_again", node("repeat", rng(1), count=4))
case("of_shuffle", node("repeat", node("shuffle", rng(7), buffer_size=3, seed=5), count=3), TWICE)
case("of_mapped_shuffle", node("repeat", mapped("square", node("shuffle", rng(5), buffer_size=3, seed=5)), count=2), TWICE)

case("zero", node("flat_map", rng(0), map_func="range_of"))
case("one", node("flat_map", rng(3, 4), map_func="range_of"))
case("many", node("flat_map", rng(6), map_func="range_of"), TWICE)
case("one_of_one", node("flat_map", rng(1, 2), map_func="range_of"))
case("empty_inside", node("flat_map", rng(6), map_func="empty_if_odd"))
case("nothing_inside", node("flat_map", rng(6), map_func="empty_of"))
case("child_error", node("flat_map", faulty(), map_func="repeat_3"))
case("own_error", node("flat_map", rng(6), map_func="range_fail_on_3"))
case("error_inside", node("flat_map", rng(4), map_func="range_map_fail_on_3"))
case("shuffled_inside", node("flat_map", rng(2, 7), map_func="shuffled_range"), TWICE)
case("slices", node("flat_map", mapped("vec3", rng(4)), map_func="slices_of"))

# ---- batches ----

for size in (1, 3, 4, 20):
    for drop in (False, True):
        name = "size_%d%s" % (size, "_drop" if drop else "")
        case(name, node("batch", rng(12), batch_size=size, drop_remainder=drop))
        case("child_error_" + name, node("batch", node("take", faulty(11), count=30), batch_size=size, drop_remainder=drop))
case("zero", node("batch", rng(0), batch_size=3))
case("one", node("batch", rng(1), batch_size=3))
case("many", node("batch", rng(50), batch_size=7), TWICE)
case("of_batches", node("batch", node("batch", rng(13), batch_size=2), batch_size=3))
case("of_texts", node("batch", mapped("to_string", rng(98, 103)), batch_size=2))
case("of_pairs", node("batch", mapped("pair_with_square", rng(7)), batch_size=3))
case("of_dicts", node("batch", node("skip", mapped("to_dict", rng(7)), count=1), batch_size=3))
case("unequal_shapes", node("batch", node("skip", mapped("iota_mod_4", rng(9)), count=0), batch_size=2))
case("of_parallel_map", node("batch", mapped("square", rng(11), num_parallel_calls=3), batch_size=4))
case("of_failing_map", node("batch", mapped("fail_on_3", rng(12)), batch_size=3))
case("of_shuffle", node("batch", node("shuffle", rng(11), buffer_size=4, seed=8), batch_size=3), TWICE)

BATCHES = node("batch", rng(11), batch_size=4)
for sizes in (1, 3, 4, 20, [2, 1], [5, 0, 1]):
    for drop in (False, True):
        name = "sizes_%s%s" % (str(sizes).replace(", ", "_").strip("[]"), "_drop" if drop else "")
        case(name, node("rebatch", BATCHES, batch_size=sizes, drop_remainder=drop), TWICE)
case("zero", node("rebatch", node("batch", rng(0), batch_size=3), batch_size=2))
case("one", node("rebatch", node("batch", rng(1), batch_size=3), batch_size=2))
case(
    "child_error",
    node("rebatch", node("batch", mapped("fail_on_3", rng(8)), batch_size=2), batch_size=2),
    expect={"elements": [literal("int64", [2], [0, 1]), {"error": "INVALID_ARGUMENT"}, literal("int64", [2], [4, 5]),
                         literal("int64", [2], [6, 7])]},
)
for replicas in (1, 2, 3, 5):
    case("replicas_%d" % replicas, node("legacy_rebatch", BATCHES, num_replicas=replicas), TWICE)
case("zero", node("legacy_rebatch", node("batch", rng(0), batch_size=3), num_replicas=2))
case("one", node("legacy_rebatch", node("batch", rng(1), batch_size=3), num_replicas=1))
case("one_row", node("legacy_rebatch", node("batch", rng(1), batch_size=3), num_replicas=2))
case(
    "child_error",
    node("legacy_rebatch", node("batch", mapped("fail_on_3", rng(6)), batch_size=2), num_replicas=2),
    expect={"elements": [literal("int64", [1], [0]), literal("int64", [1], [1]), {"error": "INVALID_ARGUMENT"},
                         literal("int64", [1], [4]), literal("int64", [1], [5])]},
)

for size in (1, 3, 20):
    case("of_size_%d" % size, node("unbatch", node("batch", rng(11), batch_size=size)), TWICE)
case("zero", node("unbatch", node("batch", rng(0), batch_size=3)))
case("one", node("unbatch", node("batch", rng(1), batch_size=3)))
case("child_error", node("unbatch", node("batch", faulty(9), batch_size=2)))
case("unequal_lengths", node("unbatch", mapped("iota_mod_4", rng(9))))
case("of_pairs", node("unbatch", node("batch", mapped("pair_with_square", rng(7)), batch_size=3)))
case("of_texts", node("unbatch", node("batch", mapped("to_string", rng(98, 103)), batch_size=2)))
case("of_matrices", node("unbatch", node("batch", node("batch", rng(12), batch_size=2), batch_size=4)))
case("unequal_components", node("unbatch", node("zip", mapped("iota", rng(1, 6)), mapped("iota_mod_4", rng(1, 6)))))
case("rows_without_values", node("unbatch", node("from_tensors", tensors=literal("int64", [2, 0], []))))

for size in (1, 3, 20):
    for drop in (False, True):
        name = "size_%d%s" % (size, "_drop" if drop else "")
        case(name, node("padded_batch", mapped("iota_mod_4", rng(11)), batch_size=size, drop_remainder=drop))
        case("child_error_" + name, node("padded_batch", faulty(8), batch_size=size, drop_remainder=drop))
case("zero", node("padded_batch", rng(0), batch_size=3))
case("one", node("padded_batch", mapped("iota_mod_4", rng(2, 3)), batch_size=3))
case("many", node("padded_batch", mapped("iota_mod_4", rng(20)), batch_size=3), TWICE)
case("of_pairs", node("padded_batch", node("zip", mapped("iota_mod_4", rng(9)), rng(9)), batch_size=4))
case("of_texts", node("padded_batch", mapped("to_string", rng(98, 103)), batch_size=2))
case("of_batches", node("padded_batch", node("padded_batch", mapped("iota_mod_4", rng(11)), batch_size=2), batch_size=2,
                        padding_values=literal("int64", [], [-1])))
case("of_shuffle", node("padded_batch", node("shuffle", mapped("iota_mod_4", rng(9)), buffer_size=4, seed=2), batch_size=3), TWICE)

for calls in ({}, {"num_parallel_calls": 3}, {"num_parallel_batches": 2}):
    name = "_".join(["size_3"] + list(calls))
    case(name, node("map_and_batch", rng(11), map_func="square", batch_size=3, **calls), TWICE)
    case("own_error_" + name, node("map_and_batch", rng(11), map_func="fail_on_mod_4_is_3", batch_size=3, **calls))
    case("child_error_" + name, node("map_and_batch", faulty(8), map_func="square", batch_size=3, **calls))
case("zero", node("map_and_batch", rng(0), map_func="square", batch_size=3))
case("one", node("map_and_batch", rng(2), map_func="square", batch_size=3))
case("drop", node("map_and_batch", rng(8), map_func="pair_with_square", batch_size=3, drop_remainder=True))

# ---- order, several inputs ----

for size in (1, 2, 7, 50):
    case("zero_buffer_%d" % size, node("shuffle", rng(0), buffer_size=size, seed=4))
    case("many_buffer_%d" % size, node("shuffle", rng(20), buffer_size=size, seed=4), (None, None, None))
    case("child_error_buffer_%d" % size, node("shuffle", faulty(8), buffer_size=size, seed=4), TWICE)
case("one", node("shuffle", rng(1), buffer_size=3, seed=4))
case("same_order", node("shuffle", rng(9), buffer_size=4, seed=4, reshuffle_each_iteration=False), TWICE)
case("shuffled_twice", node("shuffle", node("shuffle", rng(9), buffer_size=4, seed=4), buffer_size=3, seed=6), TWICE)
case("batches", node("shuffle", node("batch", rng(11), batch_size=2), buffer_size=3, seed=1))
case("texts", node("shuffle", mapped("to_string", rng(95, 105)), buffer_size=4, seed=2))
case("shapes", node("shuffle", mapped("iota_mod_4", rng(9)), buffer_size=4, seed=2))

for size in (1, 4, 30):
    for count in (1, 3):
        case("buffer_%d_count_%d" % (size, count), node("shuffle_and_repeat", rng(8), buffer_size=size, count=count, seed=4), TWICE)
case("forever", node("shuffle_and_repeat", rng(5), buffer_size=3, seed=4), (13, 7))
case("zero", node("shuffle_and_repeat", rng(0), buffer_size=3, count=2, seed=4))
case("one", node("shuffle_and_repeat", rng(1), buffer_size=3, count=1, seed=4))
case("texts", node("shuffle_and_repeat", mapped("to_string", rng(95, 100)), buffer_size=4, count=2, seed=2))
case("only_errors", node("shuffle_and_repeat", mapped("fail_always", rng(2)), buffer_size=3, count=1, seed=4),
     expect={"elements": [{"error": "INVALID_ARGUMENT"}] * 2})

for expected in (0, 1, 4, 5, 9, -1, -2):
    case("of_5_expected_%d" % expected, node("assert_cardinality", rng(5), expected_cardinality=expected), (9,))
case("zero", node("assert_cardinality", rng(0), expected_cardinality=0))
case("one", node("assert_cardinality", rng(1), expected_cardinality=1))
case("many", node("assert_cardinality", node("filter", rng(20), predicate="is_even"), expected_cardinality=10), TWICE)
case("child_error", node("assert_cardinality", faulty(), expected_cardinality=5))
case("child_error_counts_not", node("assert_cardinality", faulty(), expected_cardinality=6), (9,))


def masked(a, mask):
    x, b = (a, 10 * a) if mask else (0, 0)
    return {"dict": {"a": literal("int64", [], [x]), "b": literal("int64", [], [b]), "valid": literal("bool", [], [mask])}}


for count, cardinality in ((0, 0), (1, 1), (0, 3), (4, 4), (3, 9)):
    rows = [masked(i, True) for i in range(count)] + [masked(0, False)] * (cardinality - count)
    case("of_%d_to_%d" % (count, cardinality), node("pad_to_cardinality", mapped("to_dict", rng(count)), cardinality=cardinality), TWICE,
         expect={k: rows for k in KEYS[:2]})
case("child_error", node("pad_to_cardinality", mapped("to_dict", faulty(5)), cardinality=6), (8,),
     expect={"elements": [masked(i, True) for i in range(3)] + [{"error": "INVALID_ARGUMENT"}, masked(4, True), masked(0, False)]
             + [{"error": "FAILED_PRECONDITION"}] * 2})

case("zero", node("with_options", rng(0), deterministic=True), expect={"elements": []})
case("one", node("with_options", rng(1), deterministic=True), expect={"elements": [literal("int64", [], [0])]})
case("many", node("with_options", rng(4), **{"experimental_optimization.map_fusion": False}), TWICE,
     expect={k: [literal("int64", [], [i]) for i in range(4)] for k in KEYS[:2]})
case("child_error", node("with_options", faulty(5), **{"experimental_optimization.apply_default_optimizations": False}),
     expect={"elements": [literal("int64", [], [i]) if i != 3 else {"error": "INVALID_ARGUMENT"} for i in range(5)]})

case("zero", node("zip", rng(0), rng(4)))
case("one", node("zip", rng(1), rng(4)))
case("many", node("zip", rng(20), mapped("square", rng(30)), rng(5, 45)), TWICE)
case("child_error", node("zip", faulty(), rng(10, 20)))
case("both_fail", node("zip", faulty(), mapped("fail_on_odd", rng(8))))
case("shuffled", node("zip", node("shuffle", rng(7), buffer_size=3, seed=1), node("shuffle", rng(9), buffer_size=4, seed=2)), TWICE)
tree = node("zip")
tree["inputs"] = {"dict": {"b": rng(3), "a": {"tuple": [rng(3, 6), mapped("negate", rng(5))]}}}
case("tree", tree)

case("zero", node("concatenate", rng(0), rng(0)))
case("one", node("concatenate", rng(0), rng(1)))
case("many", node("concatenate", rng(9), mapped("square", rng(9))), TWICE)
case("child_error", node("concatenate", faulty(5), mapped("fail_on_odd", rng(4))))
case("shuffled", node("concatenate", node("shuffle", rng(5), buffer_size=3, seed=1), node("shuffle", rng(5), buffer_size=4, seed=2)), TWICE)

# ---- folds and groups ----

data_group_cases.add(case, node, rng, mapped, faulty, literal)
data_mix_cases.add(case, node, rng, mapped, faulty, literal)
data_resample_cases.add(case, node, rng, mapped, faulty, literal)
data_case_access.add(case, node, rng, mapped, faulty, literal)
data_ragged_cases.add(case, node, rng, mapped, faulty, literal)
data_file_cases.add(case, node, rng, mapped, faulty, literal)
data_case_pack.add(case, node, rng, mapped, faulty, literal)

# ---- files, relative to tests/golden/data ----


def texts(*names):
    return [literal("string", [], [n]) for n in names]


LISTED = ["files/list/B.txt", "files/list/a.txt", "files/list/b.txt"]
case("one", node("list_files", file_pattern="files/list/a.txt", shuffle=False), expect={"elements": texts("files/list/a.txt")})
case("many", node("list_files", file_pattern="files/list/?.txt", shuffle=False), TWICE,
     expect={"elements": texts(*LISTED), "elements_epoch2": texts(*LISTED)})
case("zero", node("list_files", file_pattern="files/list/nothing*", shuffle=False),
     expect={"error": {"when": "build", "code": "INVALID_ARGUMENT", "python": "InvalidArgumentError"}})

# What TensorFlow loses, wraps or hangs in: tests/golden/deviations.json.

LONG = rng(2**62)
case("cardinality_beyond_int64", node("concatenate", LONG, node("concatenate", LONG, rng(5, 9))), (3,),
     expect={"elements": [literal("int64", [], [i]) for i in range(3)], "cardinality": -2})
case("cardinality_beyond_int64", node("repeat", LONG, count=2), (3,),
     expect={"elements": [literal("int64", [], [i]) for i in range(3)], "cardinality": -2})
case("cardinality_beyond_int64", rng(-2**63, 2**63 - 2), (2,),
     expect={"elements": [literal("int64", [], [i - 2**63]) for i in range(2)], "cardinality": -2})
case("negative_size", node("rebatch", node("batch", rng(6), batch_size=2), batch_size=-1),
     expect={"error": {"when": "build", "code": "INVALID_ARGUMENT", "python": "InvalidArgumentError"}})
case("zero_weight_left", node("sample_from_datasets", rng(3), rng(10, 13), seed=6, weights=literal("float64", [2], [0.0, 1.0])),
     expect={"elements": [literal("int64", [], [i]) for i in range(10, 13)]})
CUT = "files/text/truncated.txt.gz"

PLAIN, OTHER = "files/tfrecord/plain.tfrecord", "files/tfrecord/other.tfrecord"
EMPTY, TRUNCATED = "files/tfrecord/empty.tfrecord", "files/tfrecord/truncated_data.tfrecord"
HEADER, GARBAGE = "files/tfrecord/truncated_length.tfrecord", "files/tfrecord/garbage_after.tfrecord"
RECORDS = {
    PLAIN: [*texts("first", ""), literal("string", [], [{"hex": "7468697264007265636f7264"}]), *texts("x" * 100)],
    OTHER: texts("other", "file"),
    EMPTY: [],
    TRUNCATED: [*texts("first", ""), {"error": "DATA_LOSS"}],
    HEADER: [*texts("first", ""), {"error": "DATA_LOSS"}],
    GARBAGE: [*texts("other", "file"), {"error": "DATA_LOSS"}],
}


def records(name, files, limits=(None,), filenames=None, **args):
    expect = dict(zip(KEYS, [[r for f in files for r in RECORDS[f]]] * len(limits)))
    case(name, node("tf_record_dataset", filenames=filenames or files, **args), limits, expect=expect)


records("zero", [EMPTY])
records("two", [OTHER])
records("many", [OTHER, EMPTY, PLAIN, OTHER, PLAIN], TWICE)
records("small_buffer", [PLAIN, OTHER], buffer_size=7)
records("damaged", [PLAIN, TRUNCATED, OTHER], TWICE)
records("header_cut", [HEADER, GARBAGE, OTHER], TWICE)
INDEXED = [OTHER, EMPTY, PLAIN, OTHER]  # their indexes come from make_index_files.py
case("indexed", node("tf_record_dataset", filenames=INDEXED, index="required"), TWICE,
     expect={**dict(zip(KEYS, [[r for f in INDEXED for r in RECORDS[f]]] * 2)), "cardinality": 8})
for name, below in (("indexed_skip", node("skip", node("tf_record_dataset", filenames=INDEXED, index="required"), count=5)),
                    ("indexed_shard", node("shard", node("tf_record_dataset", filenames=INDEXED, index="auto"), num_shards=3, index=1)),
                    ("indexed_shuffle", node("global_shuffle", node("tf_record_dataset", filenames=INDEXED, index="auto"), seed=3))):
    case(name, below, TWICE, op="tf_record_dataset")
case("not_all_indexed", node("tf_record_dataset", filenames=[OTHER, GARBAGE], index="auto"),
     expect={"elements": [*RECORDS[OTHER], *RECORDS[GARBAGE]], "cardinality": -2})
case("index_missing", node("tf_record_dataset", filenames=[OTHER, GARBAGE], index="required"),
     expect={"error": {"when": "build", "code": "NOT_FOUND", "python": "NotFoundError"}})
names = node("from_tensor_slices", tensors=literal("string", [3], [PLAIN, EMPTY, OTHER]))
records("names_from_a_dataset", [PLAIN, EMPTY, OTHER], TWICE, filenames=names)


def lines(*texts_in_order):
    return {"elements": texts(*texts_in_order)}


ONE, TWO = "files/text/one.txt", "files/text/two.txt"
for name, files in (("zero", []), ("one", [ONE]), ("many", [TWO, "files/text/missing.txt", ONE])):
    case(name, node("files_dataset", filenames=files), TWICE, expect={"elements": lines(*files)["elements"], "elements_epoch2": lines(*files)["elements"]})
case("names_from_a_dataset", node("files_dataset", filenames=node("from_tensor_slices", tensors=literal("string", [2], [TWO, ONE]))),
     expect=lines(TWO, ONE))

case("zero", node("text_line_dataset", filenames="files/text/empty.txt"), expect=lines())
case("one", node("text_line_dataset", filenames="files/text/newline.txt"), expect=lines(""))
case("many", node("text_line_dataset", filenames=[ONE, "files/text/empty.txt", TWO]), TWICE,
     expect={k: texts("alpha", "beta", "gamma", "delta", "epsilon") for k in KEYS[:2]})
for size in (1, 2, 7):
    case("buffer_%d" % size, node("text_line_dataset", filenames=[TWO, "files/text/stray_cr.txt", "files/text/blank.txt"], buffer_size=size),
         expect=lines("delta", "epsilon", "ab", "c", "d", "", "", "x", ""))
case("in_turns", node("text_line_dataset", filenames=[ONE, TWO, "files/text/crlf.txt"], num_parallel_reads=2),
     expect=lines("alpha", "delta", "beta", "epsilon", "gamma", "a", "b"))
case("in_turns_of_cores", node("text_line_dataset", filenames=["files/text/newline.txt"] * 3, num_parallel_reads="AUTOTUNE"),
     expect=lines("", "", ""))
case("gzip", node("text_line_dataset", filenames=[ONE + ".gz", "files/text/crlf.txt.gz"], compression_type="GZIP", buffer_size=3),
     expect=lines("alpha", "beta", "gamma", "a", "b"))
case("gzip_cut", node("text_line_dataset", filenames=[CUT, ONE + ".gz"], compression_type="GZIP"), TWICE,
     expect={k: [{"error": "DATA_LOSS"}] + texts("alpha", "beta", "gamma") for k in KEYS[:2]})
case("missing", node("text_line_dataset", filenames=[TWO, "files/text/missing.txt", ONE]), (4,),
     expect={"elements": texts("delta", "epsilon") + [{"error": "NOT_FOUND"}] * 2})
case("bad_option", node("text_line_dataset", filenames=[ONE, TWO], compression_type="BZIP"),
     expect={"elements": [{"error": "INVALID_ARGUMENT"}] * 2})
case("names_from_a_dataset", node("text_line_dataset", filenames=node("from_tensor_slices", tensors=literal("string", [2], [TWO, ONE]))),
     expect=lines("delta", "epsilon", "alpha", "beta", "gamma"))

data_tar_cases.add(case, node)
data_numpy_cases.add(case, node)

TEN, FRAMED = "files/fixed/ten.bin", "files/fixed/head_foot.bin"
case("zero", node("fixed_length_record_dataset", filenames="files/fixed/empty.bin", record_bytes=5), expect=lines())
case("one", node("fixed_length_record_dataset", filenames=TEN, record_bytes=10), expect=lines("0123456789"))
case("many", node("fixed_length_record_dataset", filenames=[TEN, TEN], record_bytes=2), TWICE,
     expect={k: texts("01", "23", "45", "67", "89", "01", "23", "45", "67", "89") for k in KEYS[:2]})
for size in (1, 4):
    case("framed_buffer_%d" % size,
         node("fixed_length_record_dataset", filenames=[FRAMED, FRAMED], record_bytes=3, header_bytes=2, footer_bytes=1, buffer_size=size),
         expect=lines("aaa", "bbb", "ccc", "aaa", "bbb", "ccc"))
case("framed_gzip", node("fixed_length_record_dataset", filenames=FRAMED + ".gz", record_bytes=3, header_bytes=2, footer_bytes=1, compression_type="GZIP"),
     expect=lines("aaa", "bbb", "ccc"))
case("in_turns", node("fixed_length_record_dataset", filenames=[TEN, FRAMED], record_bytes=2, num_parallel_reads=2),
     expect=lines("01", "HH", "23", "aa", "45", "ab", "67", "bb", "89", "cc", "cF"))
case("in_turns_of_cores", node("fixed_length_record_dataset", filenames=[TEN] * 3, record_bytes=10, num_parallel_reads="AUTOTUNE"),
     expect=lines(*["0123456789"] * 3))
case("uneven", node("fixed_length_record_dataset", filenames=[TEN, "files/fixed/odd.bin", TEN], record_bytes=5), (4,),
     expect={"elements": texts("01234", "56789") + [{"error": "INVALID_ARGUMENT"}] * 2})
case("uneven_gzip", node("fixed_length_record_dataset", filenames=[TEN + ".gz", TEN + ".gz"], record_bytes=4, compression_type="GZIP"),
     expect={"elements": (texts("0123", "4567") + [{"error": "DATA_LOSS"}]) * 2})
case("gzip_cut", node("fixed_length_record_dataset", filenames=[CUT, TEN + ".gz"], record_bytes=1097, compression_type="GZIP"),
     expect={"elements": texts(*["x" * 1097] * 4) + [{"error": "DATA_LOSS"}] * 2})
case("bad_option", node("fixed_length_record_dataset", filenames=[TEN, TEN], record_bytes=0),
     expect={"elements": [{"error": "INVALID_ARGUMENT"}] * 2})


INT, TEXT = {"required": "int32"}, {"required": "string"}


def csv(name, expected, limits=(None,), **args):
    """`expected`: lists of values by column, or codes of errors."""
    types = [d.get("required", d.get("dtype")) for d in args["record_defaults"]]
    out = [
        {"error": row} if isinstance(row, str) else {"tuple": [literal(t, [], [v]) for t, v in zip(types, row)]}
        for row in expected
    ]
    args["filenames"] = ["files/csv/" + f for f in args["filenames"]]
    case(name, node("csv_dataset", **args), limits, expect={k: out for k in KEYS[: len(limits)]})


csv("zero", [], filenames=["empty.csv"], record_defaults=[INT])
csv("many", [[1, 2], [3, 4]] * 3, TWICE, filenames=["crlf.csv", "no_newline.csv", "empty.csv", "cr.csv"], record_defaults=[INT, INT])
for size in (1, 3, 1000):
    csv("quotes_buffer_%d" % size, [["a,b", 1], ['say "hi"', 2], [{"hex": "74776f0a6c696e6573"}, 3], "INVALID_ARGUMENT"], filenames=["quotes.csv"],
        record_defaults=[TEXT, INT], buffer_size=size)
csv("bad_records", [[1, 2], "INVALID_ARGUMENT", [5, 6], [1, 2], "INVALID_ARGUMENT", [6, 7], "INVALID_ARGUMENT", "INVALID_ARGUMENT"], filenames=["too_few.csv", "too_many.csv", "after_quote.csv"],
    record_defaults=[INT, INT])
csv("after_quote", ["INVALID_ARGUMENT", [2, "def"], "INVALID_ARGUMENT", [2, "c"]], TWICE, filenames=["after_quote.csv", "stray_quote.csv"], record_defaults=[INT, TEXT],
    buffer_size=3)
csv("gzip_cut", ["DATA_LOSS", ["1,2.5,abc"], ["2,3.5,def"], ["3,-1e3,"]], filenames=["../text/truncated.txt.gz", "plain.csv.gz"], record_defaults=[TEXT], compression_type="GZIP", field_delim="|")
csv("header", [[1, "abc"], [2, "def"]], filenames=["header.csv"], record_defaults=[INT, TEXT], header=True, select_cols=[0, 2])
csv("one", [["abc"]], (1,), filenames=["plain.csv"], record_defaults=[TEXT], exclude_cols=[0, 1])
csv("defaults", [[1, "none", 3], [-1, "2", 3], [1, "2", -3]], filenames=["missing.csv"],
    record_defaults=[literal("int32", [1], [-1]), literal("string", [1], ["none"]), literal("int32", [1], [-3])])
csv("missing", [[1, 2], [3, 4], "NOT_FOUND", "NOT_FOUND"], (4,), filenames=["crlf.csv", "not_there.csv", "crlf.csv"], record_defaults=[INT, INT])
csv("gzip", [["abc"], ["def"], "INVALID_ARGUMENT"], filenames=["plain.csv.gz"], record_defaults=[TEXT], select_cols=[2], compression_type="GZIP", buffer_size=5)


def sql(name, query, rows, limits=(None,), types=("int64",)):
    out = [{"error": r} if isinstance(r, str) else {"tuple": [literal(t, [], [v]) for t, v in zip(types, r)]} for r in rows]
    plan = node("sql_dataset", driver_name="sqlite", data_source_name="files/people.sqlite", query=query, output_types=list(types))
    case(name, plan, limits, expect={k: out for k in KEYS[: len(limits)]})


sql("zero", "select id from people where id < 0", [])
sql("one", "select 7", [[7]])
sql("many", "select id, name from people order by id", [[1, "Ann"], [2, "Bob"], [3, ""], [300, "Eve"]], TWICE, ("int32", "string"))
sql("cut", "select id from people order by id", [[1], [2], [3], "DATA_LOSS"], types=("uint8",))
sql("wide", "select 70000 union all select 5 union all select -1", ["DATA_LOSS", [5], "DATA_LOSS"], TWICE, types=("uint16",))
sql("limits", "select -128, 32767, -2147483648, 255, 65535", [[-128, 32767, -2147483648, 255, 65535]], types=("int8", "int16", "int32", "uint8", "uint16"))
sql("refused", "select nothing", ["UNKNOWN"] * 3, (3,))

data_case_saves.add(case, node, rng, mapped, faulty, literal)


def write(path, cases):
    with open(path, "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")


def main(args):
    if args[:1] == ["--compositions"]:
        print("[\n" + ",\n".join(json.dumps(c) for c in data_composed_cases.compositions(int(args[1]), int(args[2]))) + "\n]")
        return
    folder = args[0] if args else FOLDER
    for op, cases in CASES.items():
        write(os.path.join(folder, op + ".json"), cases)
    write(os.path.join(folder, "compositions.json"), data_composed_cases.compositions(1, 200))


if __name__ == "__main__":
    main(sys.argv[1:])
