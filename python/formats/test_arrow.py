"""Arrow both ways: pyarrow, polars, pandas and DuckDB hand over what they hold, and take datasets."""

import datetime
import gc
import threading

import duckdb
import numpy as np
import pandas
import polars
import pyarrow
import pyarrow.dataset
import pyarrow.parquet
import pytest
from hypothesis import given, settings, strategies

import leat as tf

D = tf.data.Dataset


def values(dataset):
    return list(dataset.as_numpy_iterator())


def plain(value):
    """Elements as Python's own values, as ``to_pylist`` has them; texts as bytes."""
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def encoded(value):
    """What pyarrow gives, with texts as bytes."""
    if isinstance(value, dict):
        return {key: encoded(one) for key, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [encoded(one) for one in value]
    return value.encode() if isinstance(value, str) else value


# ---- in ----

LONG = "a text of more than twelve bytes"
LAYOUTS = {
    "bool": ([True, False, True, True], pyarrow.bool_()),
    **{name: ([0, 1, 2, 100], getattr(pyarrow, name)()) for name in (
        "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64")},
    **{name: ([0., 1.5, -2., 4.], getattr(pyarrow, name)()) for name in ("float16", "float32", "float64")},
    **{name: (["a", "", "bé", LONG], getattr(pyarrow, name)()) for name in ("string", "large_string", "string_view")},
    **{name: ([b"a", b"", b"\xff\0", LONG.encode()], getattr(pyarrow, name)()) for name in (
        "binary", "large_binary", "binary_view")},
    "fixed binary": ([b"abc", b"def", b"\0\1\2", b"xyz"], pyarrow.binary(3)),
    "dictionary": (["x", "y", "x", LONG], pyarrow.dictionary(pyarrow.int8(), pyarrow.string())),
    "numbers in a dictionary": ([7, 9, 7, 7], pyarrow.dictionary(pyarrow.uint16(), pyarrow.int64())),
    "vectors": ([[1, 2], [3, 4], [5, 6], [7, 8]], pyarrow.list_(pyarrow.int32(), 2)),
    "matrices": ([[[1], [2]]] * 4, pyarrow.list_(pyarrow.list_(pyarrow.float32(), 1), 2)),
    "texts of one number": ([["a", "b"]] * 4, pyarrow.list_(pyarrow.string(), 2)),
    "lists": ([[1], [], [2, 3], [4]], pyarrow.list_(pyarrow.int16())),
    "large lists": ([["a"], [], ["b", LONG], []], pyarrow.large_list(pyarrow.string())),
    "lists of vectors": ([[[1, 2]], [], [[3, 4], [5, 6]], []], pyarrow.list_(pyarrow.list_(pyarrow.int32(), 2))),
    "structs": ([{"a": i, "b": {"c": str(i)}} for i in range(4)],
                pyarrow.struct({"a": pyarrow.int32(), "b": pyarrow.struct({"c": pyarrow.string()})})),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_layouts(name):
    data, kind = LAYOUTS[name]
    whole = pyarrow.array(data, type=kind)
    for array, expected in ((whole, data), (whole.slice(1, 2), data[1:3]), (whole.slice(3), data[3:]),
                            (pyarrow.concat_arrays([whole, whole]).slice(3, 3), (data * 2)[3:6])):
        rows = values(tf.data.from_arrow(pyarrow.table({"x": array})))
        assert [plain(row["x"]) for row in rows] == encoded(expected), name
        assert [plain(row) for row in values(tf.data.from_arrow(array))] == encoded(expected)
    assert values(tf.data.from_arrow(whole.slice(0, 0))) == []
    chunks = pyarrow.chunked_array([whole.slice(0, 1), whole.slice(1, 0), whole.slice(1), whole])
    dataset = tf.data.from_arrow(chunks)
    assert len(dataset) == 8 and [plain(row) for row in values(dataset)] == encoded(data + data)
    assert plain(tf.nest.map_structure(lambda x: x.numpy(), tf.data.experimental.at(dataset, 5))) == encoded(data[1])


def test_times_are_whole_numbers():
    day = datetime.date(1970, 1, 3)
    table = pyarrow.table({
        "date32": pyarrow.array([day]), "date64": pyarrow.array([day], pyarrow.date64()),
        "stamp": pyarrow.array([5], pyarrow.timestamp("us", "Europe/Berlin")),
        "time32": pyarrow.array([6], pyarrow.time32("ms")), "time64": pyarrow.array([7], pyarrow.time64("ns")),
        "duration": pyarrow.array([8], pyarrow.duration("s"))})
    (row,) = values(tf.data.from_arrow(table))
    assert {key: int(value) for key, value in row.items()} == {
        "date32": 2, "date64": 2 * 86400000, "stamp": 5, "time32": 6, "time64": 7, "duration": 8}
    assert {value.dtype for value in row.values()} == {np.dtype(np.int64)}


def test_maps_and_lists_of_structs_are_dictionaries_of_ragged_values():
    table = pyarrow.table({
        "m": pyarrow.array([[("a", 1), ("b", 2)], []], pyarrow.map_(pyarrow.string(), pyarrow.int32())),
        "s": [[{"p": 1, "q": "x"}], [{"p": 2, "q": "y"}, {"p": 3, "q": "z"}]]})
    rows = values(tf.data.from_arrow(table))
    assert plain(rows[0]["m"]) == {"key": [b"a", b"b"], "value": [1, 2]} and plain(rows[1]["m"]["key"]) == []
    assert plain(rows[1]["s"]) == {"p": [2, 3], "q": [b"y", b"z"]}


def test_extension_types():
    tensors = pyarrow.FixedShapeTensorArray.from_numpy_ndarray(np.arange(12, dtype=np.float32).reshape(2, 2, 3))
    dataset = tf.data.from_arrow(pyarrow.table({"x": tensors, "b": pyarrow.array([1, 0], pyarrow.bool8())}))
    assert dataset.element_spec["x"] == tf.TensorSpec([2, 3], tf.float32)
    rows = values(dataset)
    assert rows[1]["x"].tolist() == [[6, 7, 8], [9, 10, 11]] and [bool(row["b"]) for row in rows] == [True, False]


def test_numbers_and_texts_are_not_copied():
    numbers = pyarrow.array(np.arange(100_000, dtype=np.int64))
    (whole,) = values(tf.data.from_arrow(numbers).batch(100_000))
    assert whole.ctypes.data == numbers.buffers()[1].address
    before = pyarrow.total_allocated_bytes()
    texts = pyarrow.array(["x" * 1000] * 1000)
    dataset = tf.data.from_arrow(texts)
    del texts, numbers
    gc.collect()
    assert [len(row) for row in values(dataset.take(2))] == [1000, 1000]
    assert pyarrow.total_allocated_bytes() > before  # the dataset keeps them
    del dataset
    gc.collect()
    values(D.range(1))  # a call later they are released
    assert pyarrow.total_allocated_bytes() <= before


def test_tables_in_thousands_of_pieces():
    chunks = pyarrow.chunked_array([[i, i] for i in range(3000)])
    dataset = tf.data.from_arrow(chunks)
    assert len(dataset) == 6000 and [int(i) for i in dataset] == [i // 2 for i in range(6000)]
    series = polars.concat([polars.Series([i]) for i in range(1500)], rechunk=False)
    assert [int(i) for i in tf.data.from_arrow(series)] == list(range(1500))


def test_columns_are_chosen():
    table = pyarrow.table({"a": [1, 2], "b": ["x", "y"], "c": [{"d": 1}, {"d": 2}]})
    assert list(values(tf.data.from_arrow(table, ["b", "a"]))[0]) == ["b", "a"]
    with pytest.raises(ValueError, match="'z'"):
        tf.data.from_arrow(table, ["z"])
    with pytest.raises(ValueError, match="columns"):
        tf.data.from_arrow(table["a"], ["a"])
    with pytest.raises(ValueError, match="columns"):
        tf.data.from_arrow(pyarrow.Table.from_arrays([table["a"], table["a"]], ["a", "a"]))


@pytest.mark.parametrize("array, filled, fill, other", [
    (pyarrow.array([1, None, 3]), [1, 0, 3], 7, [1, 7, 3]),
    (pyarrow.array([.5, None], pyarrow.float32()), [.5, 0], -1, [.5, -1]),
    (pyarrow.array([None, True]), [False, True], True, [True, True]),
    (pyarrow.array(["a", None, LONG]), [b"a", b"", LONG.encode()], "none", [b"a", b"none", LONG.encode()]),
    (pyarrow.array(["a", None, LONG], pyarrow.string_view()), [b"a", b"", LONG.encode()], b"?",
     [b"a", b"?", LONG.encode()]),
    (pyarrow.array(["a", None, "a"]).dictionary_encode(), [b"a", b"", b"a"], "b", [b"a", b"b", b"a"]),
    (pyarrow.array([[1, 2], None], pyarrow.list_(pyarrow.int32(), 2)), [[1, 2], [0, 0]], 5, [[1, 2], [5, 5]]),
    (pyarrow.array([[1], None, []]), [[1], [], []], [], [[1], [], []]),
    (pyarrow.array([{"a": 1, "b": None}, {"a": 2, "b": "x"}]).field("b"), [b"", b"x"], "", [b"", b"x"]),
], ids=str)
def test_missing_values(array, filled, fill, other):
    table = pyarrow.table({"x": array})
    with pytest.raises(ValueError, match="'x'"):
        tf.data.from_arrow(table)
    rows = values(tf.data.from_arrow(table, nulls="mask"))
    assert [plain(row["x"]) for row in rows] == filled
    assert [bool(row["x_mask"]) for row in rows] == array.is_valid().to_pylist()
    assert [plain(row["x"]) for row in values(tf.data.from_arrow(table, nulls={"x": fill}))] == other
    assert [plain(row["x"]) for row in values(tf.data.from_arrow(table.slice(1), nulls={"x": fill}))] == other[1:]


def test_missing_values_in_structs_and_lists():
    table = pyarrow.table({"s": [{"a": 1}, {"a": None}]})
    rows = values(tf.data.from_arrow(table, nulls={"s.a": 9}))
    assert [row["s"]["a"] for row in rows] == [1, 9]
    with pytest.raises(ValueError, match="'s.a'"):
        tf.data.from_arrow(table)
    with pytest.raises(ValueError, match="'l'"):
        tf.data.from_arrow(pyarrow.table({"l": [[1, None]]}))
    with pytest.raises(ValueError, match="'x_mask'"):
        tf.data.from_arrow(pyarrow.table({"x": [1], "x_mask": [True]}), nulls="mask")
    with pytest.raises(ValueError, match="nulls"):
        tf.data.from_arrow(table, nulls="drop")
    schema = pyarrow.schema([pyarrow.field("x", pyarrow.int64(), nullable=False)])
    assert tf.data.from_arrow(pyarrow.table({"x": [1]}, schema=schema), nulls="mask").element_spec == {
        "x": tf.TensorSpec([], tf.int64)}


@pytest.mark.parametrize("array, word", [
    (pyarrow.array([1, 2], pyarrow.decimal128(5)), "cast"), (pyarrow.array([None, None]), "leave"),
    (pyarrow.array([[["a"]] * 2], pyarrow.list_(pyarrow.list_(pyarrow.string()), 2)), "fixed"),
    (pyarrow.RunEndEncodedArray.from_arrays([2], [1]), "runs"),
    (pyarrow.array([[1]], pyarrow.list_view(pyarrow.int32())), "views")], ids=str)
def test_types_without_a_tensor_are_refused(array, word):
    with pytest.raises(TypeError, match=word):
        tf.data.from_arrow(pyarrow.table({"x": array}))


def test_polars():
    frame = polars.DataFrame({
        "i": [1, 2], "s": ["a", LONG], "l": [[1], [2, 3]], "b": [True, False], "e": ["p", "q"],
        "a": polars.Series([[1., 2.], [3., 4.]], dtype=polars.Array(polars.Float32, 2)), "st": [{"x": 1}, {"x": 2}]},
        schema_overrides={"e": polars.Categorical})
    rows = values(tf.data.from_arrow(polars.concat([frame, frame], rechunk=False)))
    assert [plain(row) for row in rows] == encoded(frame.to_dicts()) * 2
    assert values(tf.data.from_arrow(frame["i"])) == [1, 2]
    with pytest.raises(ValueError, match="'x'"):
        tf.data.from_arrow(polars.DataFrame({"x": [1, None]}))


def test_pandas():
    frame = pandas.DataFrame({"i": [1, 2], "s": ["a", "b"], "c": pandas.Categorical(["x", "y"])})
    assert [plain(row) for row in values(tf.data.from_arrow(frame))] == encoded(frame.to_dict("records"))


def test_queries_are_run_by_each_iterator():
    duckdb.sql("create or replace table numbers as select i, i::varchar as s from range(5) t(i)")
    dataset = tf.data.from_arrow(duckdb.sql("select * from numbers"))
    assert duckdb.sql("select 1").fetchall() == [(1,)]  # the connection is free
    for _ in range(2):
        assert [plain(row) for row in values(dataset)] == [{"i": i, "s": str(i).encode()} for i in range(5)]
    duckdb.sql("insert into numbers values (9, 'nine')")
    assert len(values(dataset)) == 6
    with pytest.raises(tf.errors.UnimplementedError):  # it may give something else the next time
        iter(dataset).save()


def test_tables_are_restored():
    table = pyarrow.table({"i": list(range(10)), "l": [[i] * (i % 3) for i in range(10)]})
    whole = tf.data.from_arrow(pyarrow.concat_tables([table, table]))
    dataset = whole.shuffle(7, seed=3)
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(9):
        next(iterator)
    other.restore(iterator.save())
    rest = [plain(tf.nest.map_structure(lambda x: x.numpy(), row)) for row in other]
    assert rest == [plain(tf.nest.map_structure(lambda x: x.numpy(), row)) for row in iterator] and len(rest) == 11
    assert sorted(int(row["i"]) for row in whole.global_shuffle(seed=1)) == sorted(2 * list(range(10)))


def test_streams_and_readers(tmp_path):
    table = pyarrow.table({"i": list(range(10)), "s": [str(i) for i in range(10)]})
    reader = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=3))
    dataset = tf.data.from_arrow(reader)
    assert [int(row["i"]) for row in values(dataset)] == list(range(10))
    with pytest.raises(ValueError, match="once"):
        values(dataset)
    pyarrow.parquet.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    path = tmp_path / "a.parquet"
    for source in (pyarrow.parquet.ParquetFile(path), pyarrow.dataset.dataset(path)):
        dataset = tf.data.from_arrow(source, ["s"], batch_size=3)
        for _ in range(2):
            assert [row["s"] for row in values(dataset)] == [b"%d" % i for i in range(10)]


def test_failing_streams_tell_why():
    table = pyarrow.table({"x": [1]})

    def batches():
        yield from table.to_batches()
        raise KeyError("the source is gone")
    dataset = tf.data.from_arrow(pyarrow.RecordBatchReader.from_batches(table.schema, batches()))
    with pytest.raises(OSError, match="KeyError"):
        values(dataset)
    capsule = table.__arrow_c_stream__()
    tf._native.ArrowReader.open(capsule)
    with pytest.raises(ValueError, match="consumed"):
        tf._native.ArrowReader.open(capsule)
    for data in ([1], 3, None, "a.parquet"):
        with pytest.raises(TypeError, match=type(data).__name__):
            tf.data.from_arrow(data)


# ---- out ----

ELEMENTS = {
    **{name: np.array([0, 1, 2, 100], name) for name in (
        "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64")},
    "bool": np.array([True, False] * 5), "texts": np.array(["a", "", LONG], object),
    "vectors": np.arange(6.).reshape(3, 2), "cubes": np.arange(24).reshape(2, 2, 3, 2),
    "texts in vectors": np.array([["a", "b"], ["c", "d"]], object), "none": np.zeros([0, 2], np.int32),
    "of no size": np.zeros([3, 0], np.int32),
}


@pytest.mark.parametrize("name", ELEMENTS)
@pytest.mark.parametrize("batch_size", [2, 100])
def test_out_and_in_again(name, batch_size):
    dataset = D.from_tensor_slices({"x": ELEMENTS[name], "n": np.arange(len(ELEMENTS[name]))})
    stream = tf.data.to_arrow(dataset, batch_size)
    for _ in range(2):
        table = pyarrow.table(stream)
        table.validate(full=True)
        assert encoded(table["x"].to_pylist()) == encoded(ELEMENTS[name].tolist())
        back = tf.data.from_arrow(table)
        assert back.element_spec == dataset.element_spec
        assert [plain(row) for row in values(back)] == [plain(row) for row in values(dataset)]


def test_structures_out():
    dataset = D.range(3).map(lambda i: (i, {"a": {"b": tf.strings.as_string(i)}, "c": (i * 2, i > 1)}))
    table = pyarrow.table(dataset)
    table.validate(full=True)
    assert table.to_pylist()[2] == {"0": 2, "1": {"a": {"b": "2"}, "c": {"0": 4, "1": True}}}
    assert pyarrow.table(D.range(3)).to_pylist() == [{"value": i} for i in range(3)]


def test_dimensions_that_differ_out():
    def element(i):
        return {"v": tf.range(i), "m": tf.fill([i, 2], i), "t": tf.fill([2, i], "x")}
    table = pyarrow.table(tf.data.to_arrow(D.range(4).map(element), 3))
    table.validate(full=True)
    assert [plain(row) for row in values(D.range(4).map(element))][3]["t"] == [[b"x"] * 3] * 2
    assert table.to_pylist() == [
        {"v": list(range(i)), "m": [[i, i]] * i, "t": [["x"] * i] * 2} for i in range(4)]
    ragged = D.from_tensor_slices(tf.ragged.constant([[[1], []], [[2, 3]], []]))
    assert pyarrow.table(ragged)["value"].to_pylist() == [[[1], []], [[2, 3]], []]
    batches = D.range(5).batch(2)
    assert pyarrow.table(batches)["value"].to_pylist() == [[0, 1], [2, 3], [4]]


def test_texts_and_bytes_out():
    dataset = D.from_tensors({"x": b"\xff\0", "y": "ü"})
    with pytest.raises(OSError, match="binary"):
        pyarrow.table(dataset)
    table = pyarrow.table(tf.data.to_arrow(dataset, binary=["x"]))
    assert table.to_pylist() == [{"x": b"\xff\0", "y": "ü"}] and table.schema.field("x").type == pyarrow.large_binary()
    halves = D.from_tensor_slices(["ü".encode()[:1], "ü".encode()[1:]])  # together they are one character
    with pytest.raises(OSError, match="UTF-8"):
        pyarrow.table(halves)


@pytest.mark.parametrize("make, word", [
    (lambda: D.from_tensors(tf.constant(1, tf.bfloat16)), "bfloat16"),
    (lambda: D.from_tensors(tf.SparseTensor([[0]], [1], [2])), "Sparse"),
    (lambda: D.range(3).window(2), "Dataset"), (lambda: D.from_tensors(1j), "complex")])
def test_what_has_no_column_is_refused(make, word):
    with pytest.raises(TypeError, match=word):
        tf.data.to_arrow(make())
    with pytest.raises(ValueError, match="batch_size"):
        tf.data.to_arrow(D.range(3), 0)
    with pytest.raises(TypeError, match="list"):
        tf.data.to_arrow([1])


def test_polars_and_duckdb_take_datasets():
    dataset = D.range(1000).map(lambda i: {"i": i, "s": tf.strings.as_string(i), "v": tf.stack([i, i + 1])})
    frame = polars.DataFrame(tf.data.to_arrow(dataset, 64))
    assert frame.height == 1000 and frame.row(7) == (7, "7", [7, 8])
    assert polars.DataFrame(dataset)["i"].sum() == 499500
    assert duckdb.sql("select sum(i), max(s) from dataset").fetchall() == [(499500, "999")]
    assert len(pandas.DataFrame.from_arrow(dataset)) == 1000


def test_errors_of_the_dataset_reach_the_consumer():
    dataset = D.from_tensor_slices([1, 0]).map(lambda x: 8 // x)
    with pytest.raises(OSError, match="InvalidArgument"):
        pyarrow.table(tf.data.to_arrow(dataset, 1))


def test_streams_are_released_by_any_thread():
    dataset = D.range(10_000)
    tables = []

    def take():
        reader = pyarrow.RecordBatchReader.from_stream(tf.data.to_arrow(dataset, 100))
        tables.append(reader.read_next_batch())
    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [table["value"][-1].as_py() for table in tables] == [99] * 4
    tf.data.to_arrow(dataset).__arrow_c_stream__()  # a capsule that nobody takes


kinds = strategies.recursive(
    strategies.sampled_from([pyarrow.int32(), pyarrow.bool_(), pyarrow.string(), pyarrow.float64(), pyarrow.binary(2),
                             pyarrow.string_view(), pyarrow.date32()]),
    lambda inner: strategies.one_of(
        inner.map(pyarrow.list_), inner.map(pyarrow.large_list),
        inner.map(lambda kind: pyarrow.struct({"a": kind})),
        strategies.sampled_from([pyarrow.int16(), pyarrow.string()]).map(lambda kind: pyarrow.list_(kind, 2))),
    max_leaves=3)


def drawn(data, kind):
    """A value of the type."""
    if pyarrow.types.is_fixed_size_list(kind):
        return [drawn(data, kind.value_type) for _ in range(kind.list_size)]
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        return [drawn(data, kind.value_type) for _ in range(data.draw(strategies.integers(0, 3)))]
    if pyarrow.types.is_struct(kind):
        return {field.name: drawn(data, field.type) for field in kind}
    if pyarrow.types.is_fixed_size_binary(kind):
        return data.draw(strategies.binary(min_size=2, max_size=2))
    return data.draw({
        "int32": strategies.integers(-9, 9), "int16": strategies.integers(0, 9), "bool": strategies.booleans(),
        "double": strategies.floats(-9, 9), "date32[day]": strategies.dates(),
    }.get(str(kind), strategies.text(max_size=15)))


def expected_of(value, kind):
    """What from_arrow makes of it: lists of structs are structs of lists."""
    if pyarrow.types.is_struct(kind):
        return {field.name: expected_of(value[field.name], field.type) for field in kind}
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind) or pyarrow.types.is_fixed_size_list(kind):
        return turned([expected_of(one, kind.value_type) for one in value], kind.value_type)
    if pyarrow.types.is_date(kind):
        return (value - datetime.date(1970, 1, 1)).days
    return value.encode() if isinstance(value, str) else value


def turned(items, kind):
    if pyarrow.types.is_struct(kind):
        return {field.name: turned([item[field.name] for item in items], field.type) for field in kind}
    if pyarrow.types.is_list(kind) or pyarrow.types.is_large_list(kind):
        inner = kind.value_type
        while pyarrow.types.is_list(inner) or pyarrow.types.is_large_list(inner):
            inner = inner.value_type
        if pyarrow.types.is_struct(inner):
            return {field.name: turned([item[field.name] for item in items], pyarrow.list_(field.type))
                    for field in inner}
    return items


@settings(max_examples=60, deadline=None)
@given(data=strategies.data(), kind=kinds)
def test_random_types(data, kind):
    rows = [drawn(data, kind) for _ in range(data.draw(strategies.integers(0, 5)))]
    array = pyarrow.array(rows + rows, type=kind).slice(len(rows) // 2, len(rows))
    found = [plain(row) for row in values(tf.data.from_arrow(pyarrow.table({"x": array})))]
    assert [row["x"] for row in found] == [expected_of(row, kind) for row in (rows + rows)[len(rows) // 2:][:len(rows)]]
