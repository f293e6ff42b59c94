"""Limits on what data unfold to, and pictures that were cut short."""

import gzip
import os
import pathlib
import subprocess
import sys
import zlib

import pytest

import leat as tf

FILES = pathlib.Path(__file__).resolve().parents[2] / "tests/golden/data/image/files"


@pytest.fixture(autouse=True)
def limits():
    yield
    tf.config.set_decode_limits()
    tf.config.set_read_limits()


def test_pixels():
    data = (FILES / "a_420.jpg").read_bytes()
    height, width, _ = tf.io.decode_jpeg(data).shape
    tf.config.set_decode_limits(pixels=height * width)
    assert tf.io.decode_jpeg(data).shape == [height, width, 3]
    tf.config.set_decode_limits(pixels=height * width - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_decode_limits"):
        tf.io.decode_jpeg(data)
    tf.config.set_decode_limits(pixels=1500)
    with pytest.raises(tf.errors.InvalidArgumentError, match="GIF"):
        tf.io.decode_gif((FILES / "b_animated.gif").read_bytes())


@pytest.mark.parametrize("kind", ["ZLIB", "GZIP"])
def test_packed(kind):
    data = bytes(1 << 22)
    packed = zlib.compress(data, 9) if kind == "ZLIB" else gzip.compress(data, 9)
    assert tf.strings.length(tf.io.decode_compressed(packed, kind)).numpy() == len(data)
    tf.config.set_decode_limits(bytes=1 << 22)
    assert tf.strings.length(tf.io.decode_compressed([packed, packed], kind)).numpy().tolist() == [len(data)] * 2
    tf.config.set_decode_limits(bytes=(1 << 22) - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_decode_limits"):
        tf.io.decode_compressed([b"", packed], kind)


def test_tensors():
    """A message of a few bytes that stands for a large tensor; its value is repeated."""
    message = b"\x08\x01\x12\x0c\x12\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x01" + b"\x2a\x04\0\0\x80\x3f"
    with pytest.raises(tf.errors.InvalidArgumentError, match="float32"):
        tf.io.parse_tensor(message, tf.float32)
    small = b"\x08\x01\x12\x05\x12\x03\x08\xe8\x07" + b"\x2a\x04\0\0\x80\x3f"
    assert tf.io.parse_tensor(small, tf.float32).numpy().tolist() == [1.0] * 1000
    tf.config.set_decode_limits(bytes=3999)
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_decode_limits"):
        tf.io.parse_tensor(small, tf.float32)
    wrong = b"\x08\x01\x12\x0c\x12\x0a\x08\x80\x80\x80\x80\x80\x80\x80\x80\x01" + b"\x22\x04\0\0\x80\x3f"
    with pytest.raises(tf.errors.InvalidArgumentError, match="content"):
        tf.io.parse_tensor(wrong, tf.float32)


@pytest.mark.parametrize("given", [{"pixels": 0}, {"bytes": -1}, {"pixels": 2**70}])
def test_no_limits(given):
    with pytest.raises((ValueError, OverflowError)):
        tf.config.set_decode_limits(**given)


def test_recovered():
    """explain counts the pictures that were cut short, per operator."""
    whole, cut = (FILES / "a_420.jpg").read_bytes(), (FILES / "a_truncated_90.jpg").read_bytes()
    dataset = tf.data.Dataset.from_tensor_slices([whole, cut, cut, whole]).map(
        lambda x: tf.io.decode_jpeg(x, try_recover_truncated=True))
    iterator = iter(dataset)
    assert len(list(iterator)) == 4
    found = iterator.explain()
    assert "map: 2 truncated pictures were filled up\n" in found
    assert [row["recovered"] for row in found.operators if row["operator"] == "map"] == [2]
    iterator = iter(tf.data.Dataset.from_tensors(whole).map(lambda x: tf.io.decode_jpeg(x, try_recover_truncated=True)))
    next(iterator)
    assert "truncated" not in iterator.explain()


def packed_lines(path, size):
    with gzip.open(path, "wb", 1) as file:
        for _ in range(size >> 16):
            file.write(b"a" * (1 << 16))
        file.write(b"\nend\n")
    return str(path)


def test_lines(tmp_path):
    path = packed_lines(tmp_path / "long.gz", 1 << 20)
    lines = tf.data.TextLineDataset([path, packed_lines(tmp_path / "short.gz", 0)], "GZIP")
    lengths = [int(n) for n in lines.map(tf.strings.length)]
    assert lengths == [1 << 20, 3, 0, 3]
    tf.config.set_read_limits(line=(1 << 20) - 1)
    with pytest.raises(tf.errors.InvalidArgumentError, match="1048575"):
        list(lines)
    assert [int(n) for n in lines.ignore_errors().map(tf.strings.length)] == [0, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_read_limits"):
        list(tf.data.experimental.CsvDataset(path, [tf.string], compression_type="GZIP"))
    quoted = tmp_path / "quoted.csv"
    quoted.write_text("a,b\n1,\"" + "x" * (1 << 20))
    with pytest.raises(tf.errors.InvalidArgumentError, match="set_read_limits"):
        tf.data.experimental.make_csv_dataset(str(quoted), 1)


def test_pipe():
    tf.config.set_read_limits(record=1 << 20)
    with pytest.raises(tf.errors.InvalidArgumentError, match="1048576"):
        tf.io.read_file("/dev/zero")


def child(program, **environment):
    """Runs a program that imports leat; what it printed."""
    env = {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}
    return subprocess.run([sys.executable, "-c", program], env=env | environment, capture_output=True, text=True,
                          check=True)


def test_environment(tmp_path):
    path = packed_lines(tmp_path / "long.gz", 1 << 20)
    program = f"""
import leat as tf
def tried():
    try:
        return len(list(tf.data.TextLineDataset({path!r}, "GZIP")))
    except tf.errors.InvalidArgumentError:
        return "refused"
print(tried()); tf.config.set_read_limits(line=1 << 21); print(tried()); tf.config.set_read_limits(); print(tried())
"""
    assert child(program, LEAT_MAX_LINE_BYTES="1000000").stdout.split() == ["refused", "2", "refused"]
    wrong = child(program, LEAT_MAX_LINE_BYTES="1GB")
    assert wrong.stdout.split() == ["2", "2", "2"] and "LEAT_MAX_LINE_BYTES" in wrong.stderr


def test_peak(tmp_path):
    """One record of 64 MiB in each compression, and one line: the process grows by at most twice as much."""
    block = bytes(range(256)) * 256
    program = f"""
import resource, leat as tf
def peak(): return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
before = peak()
for kind in ("GZIP", "ZLIB", "SNAPPY", "ZSTD", "LZ4"):
    try:
        records = tf.data.TFRecordDataset({str(tmp_path)!r} + "/" + kind, kind)
        print(kind, [int(n) >> 20 for n in records.map(tf.strings.length)])
    except (tf.errors.UnimplementedError, tf.errors.NotFoundError):
        pass
print([int(n) >> 20 for n in tf.data.TextLineDataset({str(tmp_path)!r} + "/lines", "GZIP").map(tf.strings.length)])
print((peak() - before) >> 10)
"""
    for kind in ("GZIP", "ZLIB", "SNAPPY", "ZSTD", "LZ4"):
        try:
            with tf.io.TFRecordWriter(str(tmp_path / kind), kind) as writer:
                writer.write(block * 1024)
        except tf.errors.UnimplementedError:
            pass
    packed_lines(tmp_path / "lines", 64 << 20)
    said = child(program).stdout.splitlines()
    assert "GZIP [64]" in said and "[64, 0]" in said
    assert int(said[-1]) <= 2 * 64 + 16


@pytest.mark.parametrize("given", [{"line": 0}, {"record": -1}, {"line": 2**70}])
def test_no_read_limits(given):
    with pytest.raises((ValueError, OverflowError)):
        tf.config.set_read_limits(**given)


def test_the_stack_grows_without_memory():
    """Where addresses are short a call fails or not; that its stack has no room to grow ends the process (SIGSEGV)."""
    program = """
import os, resource, leat as tf
def mapped():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[0]) * resource.getpagesize()
ended = set()
for more in range(0, 2 << 20, 16 << 10):
    child = os.fork()
    if child == 0:
        try:
            resource.setrlimit(resource.RLIMIT_AS, (mapped() + more, resource.RLIM_INFINITY))
            tf.data.Dataset.range(30).map(lambda x: x * x)
        finally:
            os._exit(0)
    ended.add(os.waitpid(child, 0)[1])
print(ended)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "{0}\n", done.stderr


RESTORE = """
import json, resource, signal, sys, leat as tf
kind, more, path = sys.argv[1], int(sys.argv[2]), sys.argv[3]
def make():
    ds = tf.data.Dataset.range(40).shuffle(11, seed=4)
    if kind == "flat_map":
        part = lambda x: tf.data.Dataset.range(x, x + 3).map(lambda y: y, num_parallel_calls=2)
        return ds.flat_map(part).repeat(2).batch(5)
    if kind == "interleave":
        part = lambda x: tf.data.Dataset.range(x, x + 3)
        return ds.interleave(part, cycle_length=3, num_parallel_calls=2).batch(5).prefetch(2)
    ds = ds.map(lambda x: x + 1, num_parallel_calls=2)
    return (ds.cache() if kind == "cache" else ds.skip(3) if kind == "skip" else ds).repeat(2).batch(5).prefetch(2)
def elements(it):
    return [x.numpy().tolist() for x in it]
it = iter(make())
if more < 0:
    for _ in range(10):
        next(it)
    with open(path, "wb") as file:
        file.write(it.save())
    print(json.dumps(elements(it)))
    sys.exit()
with open(path, "rb") as file:
    state = file.read()
signal.alarm(60)
with open("/proc/self/statm") as file:
    mapped = int(file.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (mapped + (more << 20), resource.RLIM_INFINITY))
try:
    it.restore(state)
except (MemoryError, tf.errors.ResourceExhaustedError):
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print("failed", file=sys.stderr)
    it.restore(state)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(json.dumps(elements(it)))
"""


@pytest.mark.parametrize("kind", ["cache", "flat_map", "interleave", "skip", "map"])
def test_a_restore_without_memory_fails_and_may_be_tried_again(kind, tmp_path):
    """Threads that cannot be started were no outcomes of the run that was saved: they end the call, uncounted."""
    def run(more):
        command = [sys.executable, "-c", RESTORE, kind, str(more), str(tmp_path / "state")]
        return subprocess.run(command, capture_output=True, text=True, check=True)
    rest, found = run(-1).stdout, [run(more) for more in (0, 4, 8, 12, 16, 24)]
    assert [one.stdout for one in found] == [rest] * 6
    assert kind != "cache" or any("failed" in one.stderr for one in found)
