"""File systems that a program registers (``leat.io.register_filesystem``), beside one in memory that has what fsspec's
have; python/formats/test_fsspec.py has fsspec's own."""
import datetime
import io
import sys
import tarfile
import threading

import numpy as np
import pytest

import leat as tf
from leat._files import filesystems

MIB = 1 << 20
NOW = datetime.datetime(2024, 5, 6, 7, 8, 9, tzinfo=datetime.timezone.utc)


class Target(io.BytesIO):
    """A file being written; its name comes with `commit`."""
    autocommit = False

    def __init__(self, system, path):
        super().__init__()
        self.system, self.path, self.data = system, path, None

    def close(self):
        if not self.closed:
            self.data = self.getvalue()
        super().close()

    def commit(self):
        self.system.files[self.path] = self.data

    def discard(self):
        self.system.discarded.append(self.path)


class Memory:
    """{path: bytes}; folders are there as long as something is in them. `seen` are the ranges that were read."""
    protocol = "abstract"

    def __init__(self):
        self.files, self.seen, self.threads, self.discarded, self.fault = {}, [], set(), [], None

    def invalidate_cache(self):
        pass

    def fail(self, *call):
        if self.fault:
            self.fault(*call)

    def info(self, path):
        self.fail("info", path)
        path = path.rstrip("/")
        if path in self.files:
            return {"name": path, "type": "file", "size": len(self.files[path]), "mtime": NOW}
        if not path or any(name.startswith(path + "/") for name in self.files):
            return {"name": path, "type": "directory", "size": 0}
        raise FileNotFoundError(path)

    def isdir(self, path):
        try:
            return self.info(path)["type"] == "directory"
        except FileNotFoundError:
            return False

    def ls(self, path, detail=True):
        start = path.rstrip("/") + "/" if path.strip("/") else ""
        names = sorted({start + name[len(start):].split("/")[0] for name in self.files if name.startswith(start)})
        return [self.info(name) for name in names]

    def cat_file(self, path, start=None, end=None):
        self.fail("cat", path)
        self.seen.append((start, end))
        self.threads.add(threading.current_thread().name)
        return self.files[path][start:end]

    def open(self, path, mode, autocommit=True):
        assert mode == "wb" and not autocommit
        self.fail("open", path)
        return Target(self, path)

    def rm_file(self, path):
        del self.files[path]

    def rmdir(self, path):
        raise AssertionError(path)

    def makedirs(self, path, exist_ok=False):
        assert exist_ok


def tar(members):
    """The bytes of an archive."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return content.getvalue()


@pytest.fixture(name="system")
def registered():
    system = Memory()
    tf.io.register_filesystem("own", system)
    return system


def test_files(system):
    gfile = tf.io.gfile
    assert "own" in gfile.get_registered_schemes()
    tf.io.write_file("own://dir/deep/a.txt", "one\ntwo\n")
    assert system.files == {"dir/deep/a.txt": b"one\ntwo\n"}
    assert tf.io.read_file("own://dir/deep/a.txt").numpy() == b"one\ntwo\n"
    with gfile.GFile("own://dir/b", "w") as file:
        file.write("text")
        assert "dir/b" not in system.files
    with pytest.raises(KeyError), gfile.GFile("own://dir/b", "w") as file:
        file.write("more")
        raise KeyError
    assert gfile.GFile("own://dir/b").read() == "text"
    found = gfile.stat("own://dir/b")
    assert (found.length, found.is_directory, found.mtime_nsec) == (4, False, int(NOW.timestamp()) * 10 ** 9)
    assert gfile.listdir("own://dir") == ["b", "deep"] and gfile.isdir("own://dir/deep")
    assert not gfile.isdir("own://dir/b") and gfile.exists("own://dir/b") and not gfile.exists("own://none")
    assert gfile.glob("own://*/?") == ["own://dir/b"]
    assert list(gfile.walk("own://dir")) == [("own://dir", ["deep"], ["b"]), ("own://dir/deep", [], ["a.txt"])]
    gfile.rename("own://dir/b", "own://dir/c")
    gfile.copy("own://dir/c", "own://d")
    assert sorted(system.files) == ["d", "dir/c", "dir/deep/a.txt"]
    gfile.rmtree("own://dir")
    assert sorted(system.files) == ["d"]
    lines = tf.data.TextLineDataset("own://d")
    assert list(lines.as_numpy_iterator()) == [b"text"]


def test_records_and_saves(system):
    records = [bytes([i % 256]) * i for i in range(300)]
    for name in ("a", "b"):
        with tf.io.TFRecordWriter(f"own://train/{name}.tfrecord") as writer:
            for record in records:
                writer.write(record)
    files = tf.data.Dataset.list_files("own://train/*.tfrecord", shuffle=False)
    assert list(tf.data.TFRecordDataset(files).as_numpy_iterator()) == records * 2
    assert len(list(files.interleave(tf.data.TFRecordDataset, num_parallel_calls=4))) == 600
    png = tf.io.encode_png(np.full((3, 4, 1), 7, "uint8"))
    tf.io.write_file("own://p.png", png)
    pictures = tf.data.Dataset.list_files("own://*.png").map(lambda x: tf.io.decode_png(tf.io.read_file(x)),
                                                            num_parallel_calls=2)
    assert next(iter(pictures)).shape == (3, 4, 1)
    variable = tf.Variable(3)
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=variable), "own://run", 1)
    manager.save()
    variable.assign(4)
    assert manager.restore_or_initialize() == "own://run/ckpt-1" and int(variable) == 3
    data = tf.data.Dataset.range(10)
    data.save("own://saved")
    assert list(tf.data.Dataset.load("own://saved").as_numpy_iterator()) == list(range(10))
    assert list(data.cache("own://cache").as_numpy_iterator()) == list(range(10))


def test_reads_ahead(system):
    data = np.random.default_rng(1).bytes(30 * MIB + 5)
    system.files["big"] = data
    assert tf.io.read_file("own://big").numpy() == data
    with tf.io.gfile.GFile("own://big", "rb") as file:
        assert b"".join(iter(lambda: file.read(100_000), b"")) == data
    assert any("leat-fsspec" in name for name in system.threads)
    system.seen.clear()
    with tf.io.gfile.GFile("own://big", "rb") as file:
        for at in (20 * MIB, 5, 11 * MIB):
            file.seek(at)
            assert file.read(10) == data[at:at + 10]
    assert all(end - start <= 4 * MIB for start, end in system.seen) and len(system.seen) <= 4


def test_formats(system):
    system.files["shards/0.tar"] = tar({"0.txt": b"text", "0.cls": b"3"})
    (row,) = tf.data.from_webdataset("own://shards", decode="rgb8").as_numpy_iterator()
    assert (row["txt"], row["cls"]) == (b"text", 3)
    system.files["a.jsonl"] = b'{"x": 1}\n{"x": 2}\n'
    lines = tf.data.json_lines("own://*.jsonl", {"x": tf.TensorSpec([], tf.int64)})
    assert [int(one["x"]) for one in lines] == [1, 2]
    content = io.BytesIO()
    np.savez(content, x=np.arange(4))
    system.files["a.npz"] = content.getvalue()
    assert [int(one["x"]) for one in tf.data.from_npz("own://a.npz")] == [0, 1, 2, 3]
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.data.from_npz("own://none*.npz")
    rows = tf.data.Dataset.range(25).map(lambda i: {"y.cls": i})
    assert tf.data.to_npz(rows, "own://out/a.npz") == tf.data.convert("own://out/a.npz", "own://out/a.jsonl",
                                                                      progress=False) == 25
    assert system.files["out/a.jsonl"].splitlines()[3] == b'{"y.cls": 3}'
    assert tf.data.to_webdataset(rows, "own://tars/%02d.tar", maxcount=10) == 25
    assert sorted(name for name in system.files if name.startswith("tars")) == [f"tars/0{i}.tar" for i in range(3)]
    system.fault = lambda call, path: (_ for _ in ()).throw(PermissionError(path)) if call == "open" else None
    with pytest.raises(tf.errors.PermissionDeniedError, match="b.npz"):
        tf.data.to_npz(rows, "own://out/b.npz")
    system.fault = None


ERRORS = [(FileNotFoundError, tf.errors.NotFoundError), (PermissionError, tf.errors.PermissionDeniedError),
          (IsADirectoryError, tf.errors.FailedPreconditionError), (TimeoutError, tf.errors.UnavailableError),
          (NotImplementedError, tf.errors.UnimplementedError), (KeyError, tf.errors.UnknownError)]


@pytest.mark.parametrize("raised, kind", ERRORS)
def test_errors(system, raised, kind):
    system.files["a"] = b"text"

    def fault(call, path):
        if call == wanted:
            raise raised("mistake")
    for wanted, use in (("info", lambda: tf.io.read_file("own://a")), ("cat", lambda: tf.io.read_file("own://a")),
                        ("cat", lambda: list(tf.data.TextLineDataset("own://a"))),
                        ("open", lambda: tf.io.write_file("own://b", "text"))):
        system.fault = fault
        with pytest.raises(kind, match="own://"):
            use()
        system.fault = None
        assert sorted(system.files) == ["a"]
    assert tf.io.read_file("own://a").numpy() == b"text"


def test_what_is_cut(system):
    system.files["a"] = bytes(9 * MIB)
    file = tf.io.gfile.GFile("own://a", "rb")
    system.files["a"] = b"text"
    with pytest.raises(tf.errors.DataLossError, match="own://a"):
        file.read()
    with pytest.raises(tf.errors.FailedPreconditionError, match="folder"):
        tf.io.write_file("own://x/", "text")
    system.files["dir/a"] = b""
    for use in (lambda: tf.io.read_file("own://dir"), lambda: tf.io.write_file("own://dir", "text")):
        with pytest.raises(tf.errors.FailedPreconditionError, match="folder"):
            use()


def test_what_is_refused(monkeypatch, tmp_path):
    for scheme in ("", "file", "a b", "1a", "a/b"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="scheme"):
            tf.io.register_filesystem(scheme, Memory())
    with pytest.raises(TypeError, match="fsspec"):
        tf.io.register_filesystem("own", 3)
    monkeypatch.setitem(sys.modules, "fsspec", None)
    for use in (lambda: tf.io.read_file("nowhere://a"), lambda: tf.io.gfile.exists("nowhere://a"),
                lambda: tf.train.Checkpoint().write("nowhere://a"), lambda: tf.io.gfile.exists("zip::nowhere://a")):
        with pytest.raises(tf.errors.UnimplementedError, match="fsspec"):
            use()
    monkeypatch.chdir(tmp_path)
    tf.io.write_file("a::b", "a name of this machine")
    assert (tmp_path / "a::b").exists() and tf.io.gfile.exists("a::b")
    text = tf.data.TextLineDataset("own://a").to_json()
    with pytest.raises(tf.errors.PermissionDeniedError, match="remote"):
        list(tf.data.Dataset.from_json(text))
    assert "own" in filesystems.registered
