#!/usr/bin/env python3
"""Make the files and the plans of the operators that stand for whole pipelines from files.

    recipes.py FOLDER PLANS.json

writes FOLDER/files/examples and FOLDER/files/tables (tests/golden/data is the FOLDER of the recorded cases), and the plans of
parse_example_dataset, make_batched_features_dataset and make_csv_dataset, which plans.py then records.
Needs TensorFlow 2.21.
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


TABLES = {
    "a.csv": "id,price,name,big,huge\n1,2.5,ann,3000000000,1e40\n2,,\"b, b\",4,2\n,4,NA,5,3\n4,-1e3,dora,,4\n",
    "b.csv": "id,price,name,big,huge\n10,1,x,1,1\n11,2,y,2,2\n12,3,z,3,3\n",
    "other.csv": "id,cost\n1,2\n",
    "twice.csv": "id,id\n1,2\n",
    "tabs.tsv": "k\tv\n1\ta\n2\t\"b\tc\"\n3\t\n",
    "crlf.csv": "k,v\r\n1,a\r\n2,b\r\n",
    "blank.csv": "k,v\n1,2\n\n3,4\n",
    "bad.csv": "k,v\n1,2\nx,4\n5,6\n7\n8,9\n",
    "bare.csv": "5,a\n6,b\n7,c\n",
    "kinds.csv": "i,j,f,g,n,s,b,u,e\n 1 ,2147483648,1e5,1e39,nan,0x10,True,1_0,\n-2,1,2,3,4,5,6,7,\n",
    "late.csv": "v\n1\n2\n3.5\nx\n",
    "one.csv": "k\n5\n",
    "none.csv": "k\n",
    "empty.csv": "",
    "quoted.csv": "\"a \"\"q\"\"\",\"b\nc\"\n1,2\n",
}


def csv_cases():
    once = {"num_epochs": 1, "shuffle": False, "batch_size": 3}

    def table(name, file_pattern, more_args, **more):
        case(name, "make_csv_dataset", dict(more_args, file_pattern=file_pattern), **more)

    a, both = "files/tables/a.csv", "files/tables/[ab].csv"
    table("in_order", a, once)
    table("two_files", both, once)
    table("list", ["files/tables/b.csv", a], once)
    table("two_epochs", a, dict(once, num_epochs=2))
    table("forever", a, {"batch_size": 3, "shuffle": False}, iterate=[4])
    table("shuffled", both, {"batch_size": 2, "num_epochs": 1, "shuffle_seed": 7}, iterate=[None, None])
    table("shuffled_small", both, {"batch_size": 4, "num_epochs": 2, "shuffle_seed": 3, "shuffle_buffer_size": 2})
    table("global_seed", both, {"batch_size": 2, "num_epochs": 1}, global_seed=42)
    table("label", a, dict(once, label_name="name"))
    table("na_value", a, dict(once, na_value="NA"))
    table("select_names", a, dict(once, select_columns=["name", "id"]))
    table("select_numbers", a, dict(once, select_columns=[3, 0]))
    table("select_and_label", a, dict(once, select_columns=["id", "name"], label_name="id"))
    table("defaults", a, dict(once, column_defaults=[literal("int32", [1], [-1]), literal("float64", [1], [0.5]), {"required": "string"},
                                                     literal("int64", [1], [7]), {"required": "float32"}]))
    table("defaults_of_selected", a, dict(once, select_columns=["id"], column_defaults=[literal("int64", [1], [-1])]))
    table("names", "files/tables/bare.csv", dict(once, header=False, column_names=["n", "t"]))
    table("names_over_header", "files/tables/crlf.csv", dict(once, column_names=["n", "t"]))
    table("tabs", "files/tables/tabs.tsv", dict(once, field_delim="\t"))
    table("no_quotes", "files/tables/bare.csv", dict(once, use_quote_delim=False, header=False, column_names=["n", "t"]))
    table("crlf", "files/tables/crlf.csv", once)
    table("quoted_header", "files/tables/quoted.csv", once)
    table("kinds", "files/tables/kinds.csv", once)
    table("late", "files/tables/late.csv", dict(once, num_rows_for_inference=2))
    table("late_float", "files/tables/late.csv", dict(once, num_rows_for_inference=3))
    table("late_all", "files/tables/late.csv", once)
    table("gzip", "files/tables/c.csv.gz", dict(once, compression_type="GZIP"))
    table("turns", both, dict(once, num_parallel_reads=2))
    table("ignore_errors", "files/tables/bad.csv", dict(once, ignore_errors=True, column_defaults=[{"required": "int32"}] * 2))
    table("errors", "files/tables/bad.csv", dict(once, column_defaults=[{"required": "int32"}] * 2))
    table("one", "files/tables/one.csv", once)
    table("zero", "files/tables/none.csv", once)
    table("no_prefetch", a, dict(once, prefetch_buffer_size=0))
    table("blank_line", "files/tables/blank.csv", once)
    table("other_headers", ["files/tables/b.csv", "files/tables/other.csv"], once)
    table("double_names", "files/tables/twice.csv", once)
    table("empty_file", "files/tables/empty.csv", once)
    table("no_names", "files/tables/bare.csv", dict(once, header=False))
    table("no_match", "files/tables/*.none", once)
    table("unknown_label", a, dict(once, label_name="nobody"))
    table("unselected_label", a, dict(once, select_columns=["id"], label_name="name"))
    table("unknown_column", a, dict(once, select_columns=["nobody"]))
    table("column_out_of_range", a, dict(once, select_columns=[5]))
    table("column_twice", a, dict(once, select_columns=["id", "id"]))
    table("too_few_defaults", a, dict(once, select_columns=["id", "name"], column_defaults=[{"required": "int32"}]))
    table("zlib", a, dict(once, compression_type="ZLIB"))
    table("batch_size_0", a, dict(once, batch_size=0))


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
    for name, text in TABLES.items():
        with open(os.path.join(folder, "files", "tables", name), "w", newline="") as file:
            file.write(text)
    with open(os.path.join(folder, "files", "tables", "c.csv.gz"), "wb") as file:
        file.write(gzip.compress(b"k,v\n1,a\n2,b\n", mtime=0))
    parse_cases()
    csv_cases()
    with open(plans, "w") as file:
        json.dump(PLANS, file)


if __name__ == "__main__":
    main(*sys.argv[1:])
