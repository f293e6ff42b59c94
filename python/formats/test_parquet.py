"""Parquet and Arrow's own files beside pyarrow, polars and DuckDB."""

import itertools
import os
import subprocess
import sys

import duckdb
import numpy as np
import polars
import pyarrow
import pyarrow.compute
import pyarrow.feather
import pyarrow.ipc
import pyarrow.parquet
import pytest
from test_arrow import encoded, plain, values

import leat as tf

D = tf.data.Dataset
ROWS = 100


def table(start=0, count=ROWS):
    numbers = range(start, start + count)
    return pyarrow.table({
        "i": list(numbers), "f": pyarrow.array([i / 4 for i in numbers], pyarrow.float32()),
        "s": [f"text {i}" for i in numbers], "l": [[i] * (i % 4) for i in numbers],
        "v": pyarrow.array([[i, i + 1] for i in numbers], pyarrow.list_(pyarrow.int16(), 2)),
        "d": pyarrow.array(["ab"[i % 2] for i in numbers]).dictionary_encode()})


@pytest.fixture
def folder(tmp_path):
    """Three files of 100 rows each, in row groups of 30."""
    for number in range(3):
        pyarrow.parquet.write_table(table(ROWS * number), tmp_path / f"{number}.parquet", row_group_size=30)
    return tmp_path


def numbers(dataset):
    return [int(row["i"]) for row in values(dataset)]


def test_rows(folder):
    dataset = tf.data.from_parquet(folder)
    assert [plain(row) for row in values(dataset)] == encoded(table(0, 300).to_pylist())
    assert numbers(tf.data.from_parquet(str(folder / "[12].parquet"))) == list(range(100, 300))
    assert numbers(tf.data.from_parquet([folder / "2.parquet", folder / "0.parquet"])) == [
        *range(200, 300), *range(100)]
    assert [list(row) for row in values(tf.data.from_parquet(folder, ["s", "i"]).take(1))] == [["s", "i"]]
    assert dataset.element_spec["v"] == tf.TensorSpec([2], tf.int16)


@pytest.mark.parametrize("calls", [None, 1, 3, -1])
def test_order_does_not_depend_on_threads(folder, calls):
    assert numbers(tf.data.from_parquet(folder, num_parallel_calls=calls)) == list(range(300))
    found = numbers(tf.data.from_parquet(folder, num_parallel_calls=calls, deterministic=False))
    assert sorted(found) == list(range(300))


def test_batches(folder):
    batches = values(tf.data.from_parquet(folder, ["i", "l", "s"], batch_size=64))
    assert [len(batch["i"]) for batch in batches] == [64, 64, 64, 64, 44]
    assert np.concatenate([batch["i"] for batch in batches]).tolist() == list(range(300))
    assert [plain(row) for row in batches[1]["l"]] == [[i] * (i % 4) for i in range(64, 128)]


@pytest.mark.parametrize("filters", [
    [("i", ">=", 250)], [("i", "<", 40), ("d", "==", "a")], [[("i", "==", 7)], [("i", "==", 207)]],
    pyarrow.compute.field("i") > 290, [("i", ">", 1000)]], ids=str)
def test_filters(folder, filters):
    expected = pyarrow.parquet.read_table(folder, filters=filters)["i"].to_pylist()
    assert numbers(tf.data.from_parquet(folder, filters=filters)) == expected
    texts = values(tf.data.from_parquet(folder, ["s"], filters))  # the filter's columns are none of the rows'
    assert [row["s"] for row in texts] == [b"text %d" % i for i in expected]


def test_row_groups_that_statistics_rule_out_are_not_read(folder):
    path = folder / "0.parquet"
    start = pyarrow.parquet.ParquetFile(path).metadata.row_group(0).column(0).data_page_offset
    with open(path, "r+b") as file:  # the first row group is damaged
        file.seek(start)
        file.write(b"\xff" * 40)
    assert numbers(tf.data.from_parquet(path, ["i"], [("i", ">=", 30)])) == list(range(30, 100))
    with pytest.raises(tf.errors.DataLossError, match="0.parquet"):
        numbers(tf.data.from_parquet(path, ["i"]))


def test_row_groups_are_shuffled(folder):
    dataset = tf.data.from_parquet(folder, shuffle_row_groups=True, seed=5)
    first, second = numbers(dataset), numbers(dataset)
    assert sorted(first) == sorted(second) == list(range(300)) and first != second != list(range(300))
    assert [next(group) for _, group in itertools.groupby(first, lambda i: (i // 100, i % 100 // 30))] == [
        i for i in first if i % 100 % 30 == 0]  # groups stay whole
    assert numbers(tf.data.from_parquet(folder, shuffle_row_groups=True, seed=5)) == first


@pytest.mark.parametrize("arguments", [{}, {"batch_size": 7}, {"shuffle_row_groups": True, "seed": 3},
                                       {"num_parallel_calls": None}], ids=str)
@pytest.mark.parametrize("taken", [0, 1, 29, 31, 40])
def test_iterators_are_restored(folder, arguments, taken):
    dataset = tf.data.from_parquet(folder, ["i", "s"], **arguments)
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(taken):
        next(iterator)
    state = iterator.save()
    assert len(state) < 2000  # a position, no rows
    other.restore(state)
    rest = [np.asarray(row["i"]).tolist() for row in iterator]
    assert [np.asarray(row["i"]).tolist() for row in other] == rest and len(rest) == (
        43 if "batch_size" in arguments else 300) - taken


def test_files_are_dealt_out_to_workers(folder):
    """The policy FILE finds files, and AUTO takes it."""
    strategy = tf.distribute.MirroredStrategy()
    dataset = tf.data.from_parquet(folder, ["i"], batch_size=20)
    distributed = strategy.experimental_distribute_dataset(dataset)
    assert "policy FILE" in str(distributed.explain())
    assert sorted(int(i) for batch in distributed for i in batch["i"].numpy()) == list(range(300))
    service = tf.data.experimental.service
    with service.DispatchServer(service.DispatcherConfig(protocol="local")) as dispatcher:
        workers = [service.WorkerServer(service.WorkerConfig(dispatcher.target, protocol="local")) for _ in range(2)]
        shared = tf.data.from_parquet(folder, ["i"]).apply(
            service.distribute(service.ShardingPolicy.DYNAMIC, dispatcher.target))
        assert sorted(numbers(shared)) == list(range(300))
        for worker in workers:
            worker.stop()


def test_nulls(tmp_path):
    path = tmp_path / "n.parquet"
    pyarrow.parquet.write_table(pyarrow.table({"x": [1, None, 3]}), path)
    with pytest.raises(tf.errors.InvalidArgumentError, match="'x'"):
        values(tf.data.from_parquet(path))
    assert [int(row["x"]) for row in values(tf.data.from_parquet(path, nulls={"x": 7}))] == [1, 7, 3]
    assert [bool(row["x_mask"]) for row in values(tf.data.from_parquet(path, nulls="mask"))] == [True, False, True]


def test_files_of_other_types_are_cast_or_refused(folder):
    other = pyarrow.table({"i": pyarrow.array([7], pyarrow.int32()), "s": ["x"]})
    pyarrow.parquet.write_table(other, folder / "3.parquet")
    assert numbers(tf.data.from_parquet(folder, ["i", "s"])) == [*range(300), 7]
    with pytest.raises(tf.errors.InvalidArgumentError, match="3.parquet"):
        values(tf.data.from_parquet(folder))  # columns are missing, which are nulls
    pyarrow.parquet.write_table(pyarrow.table({"i": ["text"]}), folder / "3.parquet")
    with pytest.raises(tf.errors.DataLossError, match="3.parquet"):
        numbers(tf.data.from_parquet(folder, ["i"]))


def test_bad_files(folder):
    with open(folder / "1.parquet", "r+b") as file:
        file.truncate(500)
    iterator = iter(tf.data.from_parquet(folder, ["i"]))
    found, lost = [], []
    for _ in range(210):
        try:
            found.append(int(next(iterator)["i"]))
        except tf.errors.DataLossError as error:
            lost.append(error)
        except StopIteration:
            break
    assert found == [*range(100), *range(200, 300)]
    assert len(lost) == 1 and str(folder / "1.parquet") in str(lost[0])
    with pytest.raises(tf.errors.NotFoundError, match="nowhere"):
        tf.data.from_parquet(folder / "nowhere.parquet")
    with pytest.raises(tf.errors.NotFoundError, match="nothing"):
        tf.data.from_parquet(str(folder / "nothing*.parquet"))
    with pytest.raises(tf.errors.DataLossError, match="1.parquet"):
        tf.data.from_parquet(folder / "1.parquet")
    with pytest.raises(ValueError, match="paths"):
        tf.data.from_parquet([])
    with pytest.raises(ValueError, match="'z'"):
        tf.data.from_parquet(folder / "0.parquet", ["z"])


def test_written_files_are_others_too(tmp_path):
    dataset = tf.data.from_arrow(table())
    path = tmp_path / "out.parquet"
    assert tf.data.to_parquet(dataset, path, row_group_size=30) == ROWS
    assert pyarrow.parquet.ParquetFile(path).metadata.num_row_groups == 4
    expected = [{key: row[key] for key in dataset.element_spec} for row in table().to_pylist()]
    assert pyarrow.parquet.read_table(path).to_pylist() == expected
    assert polars.read_parquet(path)["i"].to_list() == list(range(ROWS))
    assert duckdb.sql(f"select sum(i) from '{path}'").fetchall() == [(4950,)]
    back = tf.data.from_parquet(path)
    assert back.element_spec == dataset.element_spec
    assert [plain(row) for row in values(back)] == [plain(row) for row in values(dataset)]
    assert os.listdir(tmp_path) == ["out.parquet"]


def test_written_folders(tmp_path):
    place = tmp_path / "parts"
    assert tf.data.to_parquet(D.range(100), place, 10, rows_per_file=30) == 100
    assert sorted(os.listdir(place)) == [f"part-0000{i}.parquet" for i in range(4)]
    assert [int(row["value"]) for row in values(tf.data.from_parquet(place))] == list(range(100))
    assert tf.data.to_parquet(D.range(60), tmp_path / "even", 10, rows_per_file=30) == 60
    assert len(os.listdir(tmp_path / "even")) == 2
    assert tf.data.to_parquet(D.range(0), tmp_path / "empty", 10, rows_per_file=30) == 0
    assert values(tf.data.from_parquet(tmp_path / "empty")) == []
    with pytest.raises(ValueError, match="rows_per_file"):
        tf.data.to_parquet(D.range(60), tmp_path / "other", 10, rows_per_file=25)


def test_failures_leave_no_file(tmp_path):
    fails = D.from_tensor_slices([1, 0]).map(lambda x: 8 // x)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.data.to_parquet(fails, tmp_path / "a.parquet", 1)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.data.to_arrow_file(fails, tmp_path / "a.arrow", 1)
    with pytest.raises(ValueError, match="binary"):
        tf.data.to_parquet(D.from_tensors(b"\xff"), tmp_path / "a.parquet")
    assert os.listdir(tmp_path) == []
    tf.data.to_parquet(D.from_tensors(b"\xff"), tmp_path / "a.parquet", binary="value")
    assert pyarrow.parquet.read_table(tmp_path / "a.parquet").to_pylist() == [{"value": b"\xff"}]


# ---- Arrow's files ----

@pytest.mark.parametrize("kind", ["file", "stream", "feather", "zstd"])
def test_arrow_files(tmp_path, kind):
    path = str(tmp_path / "a.arrow")
    whole = table()
    if kind == "feather":
        pyarrow.feather.write_feather(whole, path, chunksize=30)
    else:
        new = pyarrow.ipc.new_stream if kind == "stream" else pyarrow.ipc.new_file
        options = pyarrow.ipc.IpcWriteOptions(compression="zstd" if kind == "zstd" else None)
        with new(path, whole.schema, options=options) as writer:
            writer.write_table(whole, max_chunksize=30)
    dataset = tf.data.from_arrow_files(path)
    for _ in range(2):
        assert [plain(row) for row in values(dataset)] == encoded(whole.to_pylist())
    assert [list(row) for row in values(tf.data.from_arrow_files([path], ["s"]).take(1))] == [["s"]]
    iterator, other = iter(dataset), iter(dataset)
    for _ in range(45):
        next(iterator)
    other.restore(iterator.save())
    assert [int(row["i"]) for row in other] == list(range(45, 100))
    shuffled = numbers(tf.data.from_arrow_files(path, shuffle_batches=True, seed=1))
    assert sorted(shuffled) == list(range(100)) != shuffled
    with open(path, "r+b") as file:
        file.truncate(os.path.getsize(path) // 2)
    with pytest.raises(tf.errors.DataLossError, match="a.arrow"):
        values(tf.data.from_arrow_files(path))


@pytest.mark.parametrize("compression", [None, "zstd", "lz4"])
def test_written_arrow_files(tmp_path, compression):
    path = str(tmp_path / "out.arrow")
    assert tf.data.to_arrow_file(D.range(100), path, 30, compression=compression) == 100
    with pyarrow.ipc.open_file(path) as reader:
        assert reader.num_record_batches == 4 and reader.read_all()["value"].to_pylist() == list(range(100))
    assert polars.read_ipc(path)["value"].sum() == 4950
    assert [int(row["value"]) for row in values(tf.data.from_arrow_files(path))] == list(range(100))


def test_damaged_offsets_are_found(tmp_path):
    path = tmp_path / "a.arrow"
    whole = pyarrow.table({"s": ["text"] * 100})
    with pyarrow.ipc.new_file(path, whole.schema) as writer:
        writer.write_table(whole)
    data = path.read_bytes()
    place = data.index(np.arange(0, 404, 4, dtype=np.int32).tobytes())
    path.write_bytes(data[:place + 40] + b"\xff\xff\xff\x7f" + data[place + 44:])
    with pytest.raises(tf.errors.DataLossError, match="a.arrow"):
        values(tf.data.from_arrow_files(path))


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
def test_random_damage_ends_in_an_exception_of_its_own(tmp_path, kind):
    rng, path = np.random.default_rng(7), tmp_path / "a"
    whole = table().drop_columns(["d"])
    if kind == "parquet":
        pyarrow.parquet.write_table(whole, path, row_group_size=40, compression="none")
    else:
        with (pyarrow.ipc.new_file if kind == "arrow" else pyarrow.ipc.new_stream)(path, whole.schema) as writer:
            writer.write_table(whole, max_chunksize=40)
    data = path.read_bytes()
    failed = 0
    for number in range(150):
        changed = bytearray(data)
        for place in rng.integers(0, len(data), 3):
            changed[place] = rng.integers(0, 256)
        path = tmp_path / f"{number}.{kind}"
        path.write_bytes(changed)
        try:
            values((tf.data.from_parquet if kind == "parquet" else tf.data.from_arrow_files)(path))
        except (tf.errors.OpError, TypeError, ValueError):
            failed += 1
        path.unlink()
    assert failed > 10


def test_packages_are_asked_for_by_name():
    code = ("import sys, leat as tf; sys.modules['pyarrow'] = None\n"
            "assert not {'pyarrow', 'pandas', 'datasets', 'numpy.random'} & {k for k, v in sys.modules.items() if v}\n"
            "try: tf.data.from_parquet('a.parquet')\n"
            "except ImportError as error: print(error)")
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "pip install pyarrow" in out.stdout, out
