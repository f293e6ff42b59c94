#!/usr/bin/env python3
"""Make the files and the plans of the operators that stand for whole pipelines from files.

    recipes.py FOLDER PLANS.json

writes FOLDER/files/examples and FOLDER/files/tables (tests/golden/data is the FOLDER of the recorded cases), and the plans of
parse_example_dataset, make_batched_features_dataset and make_csv_dataset, which tfdata.py then records with FOLDER as working
directory. Needs TensorFlow 2.21.
"""
import gzip
import json
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import tensorflow as tf  # noqa: E402


def feature(values):
    if values is None:
        return tf.train.Feature(bytes_list=tf.train.BytesList())
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def example(**features):
    made = tf.train.Features(feature={k: feature(v) for k, v in features.items()})
    return tf.train.Example(features=made).SerializeToString(deterministic=True)


def record(i):
    features = {"id": [i], "words": [b"w%d" % k for k in range(i % 4)] or None, "point": [i / 2, -1.0 * i]}
    if i % 3 != 1:
        features["age"] = [10 * i]
    if i % 2 == 0:
        features["steps"] = list(range(i, i + 2 * (i % 3)))
    return example(**features)


def literal(dtype, shape, data):
    return {"dtype": dtype, "shape": shape, "data": data}


def texts(records):
    return literal("string", [len(records)], [{"hex": r.hex()} for r in records])


PLANS = []


def case(name, op, args, below=None, **more):
    pipeline = {"op": op, "args": args}
    if below is not None:
        pipeline["input"] = below
    PLANS.append(dict(name=name, op=op, pipeline=pipeline, **more))


ID = {"dtype": "int64", "shape": []}
POINT = {"dtype": "float32", "shape": [2]}
WORDS = {"sparse": {"dtype": "string", "shape": [-1]}}
ROWS = {"ragged": {"dtype": "string", "shape": [-1], "ragged_rank": 0, "row_splits_dtype": "int32"}}
STEPS = {"dtype": "int64", "shape": [-1, 2]}
MISSING = literal("int64", [], [-1])


def parse_cases():
    records = {"op": "tf_record_dataset", "args": {"filenames": "files/examples/a.tfrecord"}}

    def batches(size, drop=False, below=records):
        return {"op": "batch", "args": {"batch_size": size, "drop_remainder": drop}, "input": below}

    def parse(name, features, below, **more):
        case(name, "parse_example_dataset", dict(more, features={"dict": features}), below)

    age = {"defaults": {"dict": {"age": MISSING}}}
    parse("fixed", {"id": ID, "point": POINT}, batches(3))
    parse("fixed_known_batch", {"id": ID}, batches(2, True))
    parse("default", {"age": ID, "id": ID}, batches(4), **age)
    parse("default_vector", {"age": {"dtype": "int64", "shape": [1]}}, batches(4), defaults={"dict": {"age": literal("int64", [1], [7])}})
    parse("missing", {"age": ID, "id": ID}, batches(2))
    parse("sparse", {"id": ID, "words": WORDS}, batches(3))
    parse("ragged", {"id": ID, "words": ROWS}, batches(3))
    parse("ragged_int64", {"words": {"ragged": dict(ROWS["ragged"], row_splits_dtype="int64")}}, batches(5))
    parse("sequence", {"id": ID, "steps": STEPS}, batches(3))
    parse("sequence_default", {"steps": STEPS, "words": {"dtype": "string", "shape": [-1]}}, batches(3),
          defaults={"dict": {"steps": MISSING, "words": literal("string", [], ["none"])}})
    parse("all_parallel", {"age": ID, "id": ID, "point": POINT, "words": WORDS, "steps": STEPS}, batches(2), num_parallel_calls=3, **age)
    parse("autotune", {"id": ID}, batches(2), num_parallel_calls="AUTOTUNE", deterministic=True)
    parse("sparse_numbers", {"age": {"sparse": {"dtype": "int64", "shape": [-1]}}, "point": {"sparse": {"dtype": "float32", "shape": [-1]}}}, batches(4))
    parse("other_dtype", {"id": {"dtype": "float32", "shape": []}}, batches(3))
    parse("other_length", {"point": {"dtype": "float32", "shape": [3]}}, batches(3))
    parse("other_sparse_dtype", {"words": {"sparse": {"dtype": "int64", "shape": [-1]}}}, batches(3))
    parse("odd_sequence", {"words": {"dtype": "string", "shape": [-1, 2]}}, batches(2))
    parse("all_missing", {"nothing": WORDS, "none": ROWS, "no": STEPS}, batches(3))
    parse("unbatched", {"id": ID, "words": WORDS}, batches(3))
    PLANS[-1]["pipeline"] = {"op": "unbatch", "args": {}, "input": PLANS[-1]["pipeline"]}
    broken = texts([record(0), b"no example", record(2), record(3)])
    parse("broken", {"id": ID}, batches(2, False, {"op": "from_tensor_slices", "args": {"tensors": broken}}))
    parse("empty_batch", {"id": ID, "words": WORDS, "steps": STEPS}, {"op": "from_tensors", "args": {"tensors": texts([])}})
    parse("no_batch", {"id": ID}, records)
    parse("numbers", {"id": ID}, {"op": "batch", "args": {"batch_size": 2}, "input": {"op": "range", "args": {"stop": 3}}})
    parse("dtype_of_no_feature", {"id": {"dtype": "int32", "shape": []}}, batches(2))
    parse("open_shape", {"point": {"dtype": "float32", "shape": [2, -1]}}, batches(2))
    parse("bad_default", {"age": ID}, batches(2), defaults={"dict": {"age": literal("int64", [2], [1, 2])}})
    parse("input_error", {"id": ID}, batches(2, False, {"op": "tf_record_dataset", "args": {"filenames": "files/tfrecord/bad_data.tfrecord"}}))

    def features(name, more_args, **more):
        args = {"file_pattern": "files/examples/[ab].tfrecord", "batch_size": 3, "features": {"dict": {"id": ID, "words": WORDS}}}
        case(name, "make_batched_features_dataset", dict(args, **more_args), **more)

    once = {"num_epochs": 1, "shuffle": False}
    features("in_order", once)
    features("two_epochs", {"num_epochs": 2, "shuffle": False})
    features("drop", dict(once, drop_final_batch=True))
    features("forever", {"shuffle": False}, iterate=[8])
    features("shuffled", {"num_epochs": 1, "shuffle_seed": 7}, iterate=[None, None])
    features("shuffled_small", {"num_epochs": 2, "shuffle_seed": 3, "shuffle_buffer_size": 4}, iterate=[None, None])
    features("global_seed", {"num_epochs": 1}, global_seed=42)
    features("global_seed_and_seed", {"num_epochs": 1, "shuffle_seed": 5}, global_seed=42)
    features("label", dict(once, label_key="id"))
    features("sparse_label", dict(once, label_key="words", batch_size=4))
    features("label_and_default", dict(once, label_key="age", features={"dict": {"age": ID, "id": ID, "point": POINT}}, defaults=age["defaults"]))
    features("turns", dict(once, reader_num_threads=2, parser_num_threads=1))
    features("sloppy_of_one", dict(once, sloppy_ordering=True, file_pattern=["files/examples/a.tfrecord"]))
    features("list", dict(once, file_pattern=["files/examples/b*", "files/examples/a*"]))
    features("gzip", dict(once, file_pattern="files/examples/c.tfrecord.gz", reader_args=["GZIP"]))
    features("one", dict(once, file_pattern="files/examples/one.tfrecord"))
    features("empty", dict(once, file_pattern="files/examples/empty.tfrecord"))
    features("no_prefetch", dict(once, prefetch_buffer_size=0))
    features("prefetch", dict(once, prefetch_buffer_size=2))
    features("no_match", dict(once, file_pattern="files/examples/*.none"))
    features("unknown_label", dict(once, label_key="nobody"))
    features("missing_feature", dict(once, features={"dict": {"age": ID}}))
    features("batch_size_0", dict(once, batch_size=0))
    features("no_epoch", {"num_epochs": 0, "shuffle": False})


def write_records(path, numbers, compression=""):
    with tf.io.TFRecordWriter(path, compression) as writer:
        for i in numbers:
            writer.write(record(i))


def main(folder, plans):
    for name in ("examples", "tables"):
        os.makedirs(os.path.join(folder, "files", name), exist_ok=True)
    examples = os.path.join(folder, "files", "examples")
    write_records(os.path.join(examples, "a.tfrecord"), range(7))
    write_records(os.path.join(examples, "b.tfrecord"), range(10, 14))
    write_records(os.path.join(examples, "c.tfrecord.gz"), range(20, 25), "GZIP")
    write_records(os.path.join(examples, "one.tfrecord"), [5])
    write_records(os.path.join(examples, "empty.tfrecord"), [])
    parse_cases()
    with open(plans, "w") as file:
        json.dump(PLANS, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
