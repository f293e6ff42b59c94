"""Lines of JSON as elements."""

import gzip
import json

import numpy as np
import pytest

import leat as tf

S, R = tf.TensorSpec, tf.RaggedTensorSpec
ROWS = [{"i": i, "f": i / 2, "s": f"tä{i}", "b": i % 2 == 0, "v": [i, i + 1], "l": list(range(i % 3)),
         "o": {"x": i, "deep": {"t": ["a"] * (i % 2)}}, "p": [i, "q"], "extra": None} for i in range(20)]
SIGNATURE = {"i": S([], tf.int32), "f": S([], tf.float32), "s": S([], tf.string), "b": S([], tf.bool),
             "v": S([2], tf.int64), "l": S([None], tf.int64),
             "o": {"x": S([], tf.uint8), "deep": {"t": S([None], tf.string)}},
             "p": (S([], tf.int64), S([], tf.string))}


def values(dataset):
    return list(dataset.as_numpy_iterator())


def plain(value):
    if isinstance(value, dict):
        return {key: plain(one) for key, one in value.items()}
    if isinstance(value, (tuple, list)):
        return [plain(one) for one in value]
    if isinstance(value, np.ndarray):
        return [plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value.decode() if isinstance(value, bytes) else value


@pytest.fixture
def lines(tmp_path):
    """Writes values as lines; a text stands for itself."""
    def write(rows, name="a.jsonl", opened=open):
        path = tmp_path / name
        with opened(path, "wt") as file:
            file.writelines((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows)
        return path
    return write


@pytest.mark.parametrize("calls", [None, 3])
def test_values(lines, calls):
    dataset = tf.data.json_lines(lines(ROWS), SIGNATURE, num_parallel_calls=calls)
    assert dataset.element_spec == SIGNATURE
    expected = [{key: row[key] for key in SIGNATURE} for row in ROWS]
    assert [plain(row) for row in values(dataset)] == expected
    assert values(dataset)[3]["f"].dtype == np.float32 and values(dataset)[3]["o"]["x"].dtype == np.uint8


def test_files(lines, tmp_path):
    lines(ROWS[:3], "a.jsonl.gz", gzip.open)
    lines(ROWS[3:5], "b.jsonl.gz", gzip.open)
    spec = {"i": S([], tf.int64)}
    for paths in (tmp_path, str(tmp_path / "*.gz"), [tmp_path / "a.jsonl.gz", tmp_path / "b.jsonl.gz"]):
        assert [row["i"] for row in values(tf.data.json_lines(paths, spec))] == [0, 1, 2, 3, 4]
    assert [row["i"] for row in values(tf.data.json_lines(tmp_path, spec, num_parallel_reads=2))] == [0, 3, 1, 4, 2]
    plain_file = lines(["", '{"i": 1}', "  ", '{"i": 2}', ""])
    assert [row["i"] for row in values(tf.data.json_lines(plain_file, spec))] == [1, 2]
    with pytest.raises(ValueError, match="endings"):
        tf.data.json_lines([plain_file, tmp_path / "a.jsonl.gz"], spec)
    odd = tmp_path / "odd"
    odd.write_bytes((tmp_path / "a.jsonl.gz").read_bytes())
    assert len(values(tf.data.json_lines(odd, spec, "GZIP"))) == 3


@pytest.mark.parametrize("spec, rows, expected", [
    (S([], tf.int64), [1, -5], [1, -5]),
    (S([None, None], tf.int32), [[[1, 2], [3, 4]], [], [[]]], [[[1, 2], [3, 4]], [], [[]]]),
    (S([None, 2], tf.float64), [[], [[1, 2.5]]], [[], [[1, 2.5]]]), (S([], tf.string), ['"a"', '""'], ["a", ""]),
    (R([None, None], tf.int64), [[[1], [2, 3]], []], [[[1], [2, 3]], []]),
    (S(None, tf.int64), [1, [1, 2], [[3]]], [1, [1, 2], [[3]]]), (S([], tf.float16), [1, 0.5], [1, 0.5]),
    (S([], tf.uint64), [2**64 - 1], [2**64 - 1]), (S([], tf.bool), [True, False], [True, False]),
], ids=str)
def test_specs(lines, spec, rows, expected):
    assert [plain(row) for row in values(tf.data.json_lines(lines(rows), spec))] == expected


@pytest.mark.parametrize("spec, value, word", [
    (S([], tf.int32), 1.0, "whole"), (S([], tf.int32), 2**31, "int32"), (S([], tf.uint8), -1, "uint8"),
    (S([], tf.int32), True, "whole"), (S([], tf.bool), 1, "true"), (S([], tf.string), 1, "text"),
    (S([], tf.float32), '"1"', "number"), (S([2], tf.int32), [1], "shape"), (S([None], tf.int32), 1, "array"),
    (S([None, None], tf.int32), [[1], [2, 3]], "lengths"), (S([], tf.int32), None, "null"),
    ({"a": S([], tf.int32)}, {}, "'a'"), ({"a": {"b": S([], tf.int32)}}, {"a": {}}, "'b'"),
    ({"a": S([], tf.int32)}, [1], "array"), ((S([], tf.int32),), [1, 2], "array"), (S([], tf.int32), [1], "array"),
    (R([None, None], tf.int64), [1], "array")], ids=str)
def test_values_that_do_not_fit(lines, spec, value, word):
    with pytest.raises(tf.errors.InvalidArgumentError, match=word):
        values(tf.data.json_lines(lines([value]), spec))


def test_bad_lines_are_named_and_passed(lines):
    path = lines(['{"i": 1}', '{"i": ', '{"i": "x"}', '{"i": 4}'])
    iterator = iter(tf.data.json_lines(path, {"i": S([], tf.int64)}))
    assert int(next(iterator)["i"]) == 1
    with pytest.raises(tf.errors.DataLossError) as lost:
        next(iterator)
    notes = "".join([str(lost.value), *getattr(lost.value, "__notes__", [])])
    assert str(path) in notes and "byte 9" in notes
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(iterator)
    assert int(next(iterator)["i"]) == 4
    with pytest.raises(StopIteration):
        next(iterator)
    with pytest.raises(TypeError, match="complex"):
        tf.data.json_lines(path, S([], tf.complex64))
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        values(tf.data.json_lines("nowhere.jsonl", S([], tf.int64)))


def test_iterators_are_restored_and_files_dealt_out(lines, tmp_path):
    for number in range(3):
        lines(ROWS[number * 5:number * 5 + 5], f"{number}.jsonl")
    dataset = tf.data.json_lines(tmp_path, {"i": S([], tf.int64)})
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(7):
        next(iterator)
    other.restore(iterator.save())
    assert [int(row["i"]) for row in other] == list(range(7, 15))
    strategy = tf.distribute.MirroredStrategy()
    assert "policy FILE" in str(strategy.experimental_distribute_dataset(dataset.batch(2)).explain())
