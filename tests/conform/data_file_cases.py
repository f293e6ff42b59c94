"""The cases of whole pipelines from files, in data_case_files.py; make_data_cases.py writes them out."""


def add(case, node, rng, mapped, faulty, literal):
    twice = (None, None)
    number, point = {"dtype": "int64", "shape": []}, {"dtype": "float32", "shape": [2]}
    words, rows = ({kind: {"dtype": "string", "shape": [-1]}} for kind in ("sparse", "ragged"))
    rows["ragged"].update(ragged_rank=0, row_splits_dtype="int32")
    steps = {"dtype": "int64", "shape": [-1, 2]}
    age = {"defaults": {"dict": {"age": literal("int64", [], [-1])}}}

    def records(name, count):
        return node("take", node("tf_record_dataset", filenames="files/examples/%s.tfrecord" % name), count=count)

    def parse(name, features, below, size=3, **more):
        case(name, node("parse_example_dataset", node("batch", below, batch_size=size), features={"dict": features}, **more))

    broken = literal("string", [4], [{"hex": "ff"}, {"hex": "0a00"}, "", {"hex": "0a02"}])
    parse("zero", {"id": number}, records("a", 0))
    parse("one", {"id": number, "point": point}, records("a", 1))
    for name, calls in (("", {}), ("_parallel", {"num_parallel_calls": 3})):
        parse("many" + name, {"id": number, "point": point, "words": words}, records("a", -1), 2, **calls)
        parse("defaults" + name, {"age": number, "id": number}, records("a", -1), **dict(age, **calls))
        parse("missing" + name, {"age": number}, records("a", -1), 1, **calls)
    parse("ragged", {"words": rows, "id": number}, records("b", -1))
    parse("sequences", {"steps": steps, "words": {"dtype": "string", "shape": [-1]}}, records("a", -1),
          defaults={"dict": {"words": literal("string", [], ["none"])}})
    parse("other_dtype", {"id": point}, records("b", -1))
    parse("broken", {"nothing": words}, node("from_tensor_slices", tensors=broken), 1)
    parse("of_shuffle", {"id": number, "words": rows}, node("shuffle", records("a", -1), buffer_size=3, seed=2))

    def features(name, limits=(None,), **args):
        args = dict({"file_pattern": "files/examples/[ab].tfrecord", "features": {"dict": {"id": number, "words": words}}}, **args)
        case(name, node("make_batched_features_dataset", **args), limits)

    once = {"num_epochs": 1, "shuffle": False}
    features("zero", batch_size=3, **dict(once, file_pattern="files/examples/empty.tfrecord"))
    features("one", batch_size=3, **dict(once, file_pattern="files/examples/one.tfrecord"))
    for size in (1, 3, 20):
        features("many_%d" % size, twice, batch_size=size, **once)
        features("shuffled_%d" % size, twice, batch_size=size, num_epochs=2, shuffle_seed=5, shuffle_buffer_size=4)
    features("turns", batch_size=2, reader_num_threads=2, drop_final_batch=True, **once)
    features("label", batch_size=4, label_key="words", prefetch_buffer_size=0, **once)

    def table(name, file_pattern, limits=(None,), **args):
        case(name, node("make_csv_dataset", file_pattern="files/tables/" + file_pattern, **args), limits)

    table("zero", "none.csv", batch_size=3, **once)
    table("one", "one.csv", batch_size=3, **once)
    for size in (1, 3, 20):
        table("many_%d" % size, "[ab].csv", twice, batch_size=size, **once)
        table("shuffled_%d" % size, "[ab].csv", twice, batch_size=size, num_epochs=2, shuffle_seed=5, shuffle_buffer_size=3)
    table("turns", "[ab].csv", batch_size=2, num_parallel_reads=2, select_columns=["id", "name"], label_name="id", **once)
    table("errors", "late.csv", batch_size=1, num_rows_for_inference=2, prefetch_buffer_size=0, **once)
    table("ignored", "late.csv", batch_size=1, num_rows_for_inference=3, ignore_errors=True, **once)
    table("names", "tabs.tsv", batch_size=2, column_names=["n", "t"], field_delim="\t", na_value="a", **once)
