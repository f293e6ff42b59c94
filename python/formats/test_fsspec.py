"""Paths of fsspec's file systems (docs/REMOTE.md), beside fsspec itself."""
import http.server
import json
import threading
import urllib.parse
import zipfile

import fsspec
import numpy as np
import pyarrow.parquet as parquet
import pytest

import leat as tf
import remote_servers


@pytest.fixture(name="memory")
def emptied():
    system = fsspec.filesystem("memory")
    system.store.clear()
    system.pseudo_dirs[:] = [""]
    return system


def test_memory(memory):
    records = [np.random.default_rng(i).bytes(i * 100) for i in range(200)]
    with tf.io.TFRecordWriter("memory://train/a.tfrecord") as writer:
        for record in records:
            writer.write(record)
    with memory.open("/train/b.tfrecord", "wb") as file:
        file.write(memory.cat("/train/a.tfrecord"))
    files = tf.data.Dataset.list_files("memory://train/*.tfrecord", shuffle=False)
    assert [x.numpy().decode() for x in files] == ["memory://train/a.tfrecord", "memory://train/b.tfrecord"]
    assert list(tf.data.TFRecordDataset(files, num_parallel_reads=2).as_numpy_iterator()).count(records[7]) == 2
    gfile = tf.io.gfile
    assert gfile.listdir("memory://train") == ["a.tfrecord", "b.tfrecord"]
    assert gfile.stat("memory://train/a.tfrecord").length == memory.info("/train/a.tfrecord")["size"]
    gfile.rename("memory://train/a.tfrecord", "memory://c")
    gfile.rmtree("memory://train")
    assert not gfile.exists("memory://train") and memory.find("/") == ["/c"]
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.io.read_file("memory://none")
    manager = tf.train.CheckpointManager(tf.train.Checkpoint(v=tf.Variable(1)), "memory://run", 2)
    assert manager.save() == tf.train.latest_checkpoint("memory://run") == "memory://run/ckpt-1"


def test_files_of_formats(memory):
    rows = tf.data.Dataset.range(250).map(lambda i: {"i": i})
    assert tf.data.to_parquet(rows, "memory://a.parquet") == 250
    assert tf.data.to_parquet(rows, "memory://parts", row_group_size=50, rows_per_file=100) == 250
    with memory.open("/a.parquet") as file:
        assert parquet.read_table(file).num_rows == 250
    assert memory.find("/parts") == [f"/parts/part-0000{i}.parquet" for i in range(3)]
    for paths in ("memory://a.parquet", "memory://parts", "memory://parts/*.parquet"):
        assert [int(row["i"]) for row in tf.data.from_parquet(paths)] == list(range(250))
    last = tf.data.from_parquet("memory://a.parquet", filters=[("i", ">", 247)])
    assert [int(row["i"]) for row in last] == [248, 249]
    assert tf.data.to_arrow_file(rows, "memory://a.arrow", 100) == tf.data.to_mds(rows, "memory://mds", size_limit=999)
    assert sum(one.endswith(".mds") for one in memory.find("/mds")) > 1
    for read in (tf.data.from_arrow_files("memory://a.arrow", batch_size=50),
                 tf.data.from_mds("memory://mds", batch_size=50)):
        for _ in range(2):
            assert [batch["i"].numpy().tolist() for batch in read] == np.arange(250).reshape(5, 50).tolist()
    with pytest.raises(tf.errors.AlreadyExistsError, match="empty"):
        tf.data.to_mds(rows, "memory://mds")
    parquet_again = tf.data.from_parquet("memory://a.parquet")
    assert tf.data.to_parquet(rows.take(3), "memory://a.parquet") == 3
    assert [int(row["i"]) for row in parquet_again] == [0, 1, 2]
    memory.pipe_file("/a.parquet", memory.cat("/a.parquet")[:-100])
    with pytest.raises(tf.errors.DataLossError, match="a.parquet"):
        tf.data.from_parquet("memory://a.parquet")


def test_files_that_packages_want_here(memory, tmp_path, monkeypatch):
    pairs = tf.data.Dataset.range(2000).map(lambda i: {"key": tf.strings.as_string(i, width=4, fill="0"), "value": "x"})
    assert tf.data.to_lmdb(pairs, "memory://db") == 2000 and memory.find("/db") == ["/db/data.mdb"]
    records = pairs.map(lambda pair: pair["key"])
    assert tf.data.to_array_record(records, "memory://a.array_record", group_size=64) == 2000
    monkeypatch.delenv("LEAT_CACHE_DIR", raising=False)
    for read, path in ((tf.data.from_lmdb, "memory://db"), (tf.data.from_array_record, "memory://a.array_record")):
        with pytest.raises(tf.errors.FailedPreconditionError, match="LEAT_CACHE_DIR"):
            read(path)
    monkeypatch.setenv("LEAT_CACHE_DIR", str(tmp_path / "cache"))
    wanted = [b"%04d" % i for i in range(2000)]
    for _ in range(2):
        assert [pair["key"] for pair in tf.data.from_lmdb("memory://db").as_numpy_iterator()] == wanted
    found = tf.data.from_array_record("memory://a.array_record")
    assert list(found.as_numpy_iterator()) == wanted
    copies = list((tmp_path / "cache").iterdir())
    assert sorted(one.stat().st_size for one in copies) == sorted(
        memory.size(path) for path in ("/db/data.mdb", "/a.array_record"))
    assert {oct(one.stat().st_mode & 0o777) for one in copies} == {"0o600"}
    for one in copies:  # as the cache does it where it is full
        one.unlink()
    assert tf.data.to_array_record(records.take(7), "memory://a.array_record") == 7
    assert list(found.as_numpy_iterator()) == wanted[:7]
    monkeypatch.setenv("LEAT_CACHE_BYTES", "1000")
    with pytest.raises(tf.errors.ResourceExhaustedError, match="LEAT_CACHE_BYTES"):
        tf.data.from_lmdb("memory://db")
    monkeypatch.setenv("LEAT_CACHE_BYTES", "much")
    with pytest.raises(tf.errors.InvalidArgumentError, match="LEAT_CACHE_BYTES"):
        tf.data.from_lmdb("memory://db")
    monkeypatch.delenv("LEAT_CACHE_BYTES")
    monkeypatch.setenv("LEAT_CACHE_DIR", "/proc/none")
    with pytest.raises(tf.errors.FailedPreconditionError, match="LEAT_CACHE_DIR"):
        tf.data.from_lmdb("memory://db")


def test_over_http(tmp_path):
    with remote_servers.faults() as server:
        for name, write in (("a.parquet", tf.data.to_parquet), ("a.arrow", tf.data.to_arrow_file)):
            write(tf.data.Dataset.range(10000).map(lambda i: {"i": i, "j": -i}), tmp_path / name, 1000)
            server.add(f"/{name}", (tmp_path / name).read_bytes())
        found = tf.data.from_parquet(f"{server.url}/a.parquet", columns=["j"], batch_size=10000)
        assert next(iter(found))["j"].numpy().tolist() == list(range(0, -10000, -1))
        found = tf.data.from_arrow_files(f"{server.url}/a.arrow", batch_size=10000)
        assert next(iter(found))["i"].numpy().tolist() == list(range(10000))
        with pytest.raises(tf.errors.NotFoundError, match="none"):
            tf.data.from_parquet(f"{server.url}/none.parquet")


def test_chains(memory, tmp_path, monkeypatch):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("in/a.txt", "one\ntwo\n")
    path = f"zip://in/a.txt::file://{tmp_path}/a.zip"
    assert list(tf.data.TextLineDataset(path).as_numpy_iterator()) == [b"one", b"two"]
    memory.pipe_file("/d", b"text")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    assert tf.io.read_file("simplecache::memory://d").numpy() == b"text"


def test_registered(tmp_path):
    tf.io.register_filesystem("folder", fsspec.filesystem("dir", path=str(tmp_path), target_protocol="file"))
    tf.io.gfile.makedirs("folder://deep/er")
    tf.io.write_file("folder://deep/er/a", bytes(100_000_000))
    assert (tmp_path / "deep/er/a").stat().st_size == 100_000_000
    assert tf.io.gfile.glob("folder://deep/*/a") == ["folder://deep/er/a"]
    with tf.io.gfile.GFile("folder://deep/er/a", "rb") as file:
        assert len(file.read()) == 100_000_000
    tf.io.gfile.rmtree("folder://deep")
    assert not (tmp_path / "deep").exists()
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.io.gfile.listdir("folder://none")


def test_unknown():
    with pytest.raises(tf.errors.UnimplementedError, match="no-such"):
        tf.io.read_file("no-such://a")
    with pytest.raises(tf.errors.UnimplementedError, match="paramiko"):
        tf.io.read_file("sftp://host/a")


class Hadoop(http.server.BaseHTTPRequestHandler):
    """What WebHDFS answers, as Hadoop's documents say: a name node that sends elsewhere for data. A folder is None."""
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, format, *args):  # pylint: disable=redefined-builtin
        pass

    def reply(self, body, code=200, *headers):
        body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(code)
        for header in (*headers, ("Content-Length", len(body))):
            self.send_header(*header)
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, code, name):
        self.reply({"RemoteException": {"exception": name, "message": f"{name} of the server"}}, code)

    def status(self, path):
        data = self.server.files[path]
        return {"type": "DIRECTORY" if data is None else "FILE", "length": len(data or b""), "pathSuffix": "",
                "modificationTime": 1_600_000_000_123}

    def serve(self):
        url = urllib.parse.urlsplit(self.path)
        said = dict(urllib.parse.parse_qsl(url.query))
        path, files = urllib.parse.unquote(url.path).removeprefix("/webhdfs/v1").rstrip("/") or "/", self.server.files
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.seen.append((self.command, said["op"], path))
        below = sorted(one for one in files if one.startswith(path.rstrip("/") + "/") and one != "/")
        if said["op"] in ("GETFILESTATUS", "LISTSTATUS", "OPEN", "APPEND") and path not in files:
            self.refuse(404, "FileNotFoundException")
        elif path.startswith("/secret"):
            self.refuse(403, "AccessControlException")
        elif said["op"] == "GETFILESTATUS":
            self.reply({"FileStatus": self.status(path)})
        elif said["op"] == "LISTSTATUS":
            inner = [one for one in below if "/" not in one[len(path.rstrip("/")) + 1:]]
            self.reply({"FileStatuses": {"FileStatus": [
                {**self.status(one), "pathSuffix": one.rpartition("/")[2]} for one in inner]}})
        elif said["op"] == "MKDIRS":
            while path not in files:
                files[path], path = None, path.rpartition("/")[0] or "/"
            self.reply({"boolean": True})
        elif said["op"] == "RENAME":
            to = said["destination"]
            good = to not in files and (to.rpartition("/")[0] or "/") in files
            if good:
                files[to] = files.pop(path)
            self.reply({"boolean": good})
        elif said["op"] == "DELETE":
            if below:
                self.refuse(403, "PathIsNotEmptyDirectoryException")
            else:
                self.reply({"boolean": files.pop(path, self) is not self})
        elif "here" not in said:
            self.reply(b"", 307, ("Location", f"http://localhost:{self.server.server_port}{self.path}&here=1"))
        elif said["op"] == "OPEN":
            start = int(said.get("offset", 0))
            self.reply(files[path][start:start + int(said["length"])])
        else:
            files[path] = body if said["op"] == "CREATE" else files[path] + body
            self.reply(b"", 201)
    do_GET = do_PUT = do_POST = do_DELETE = serve


@pytest.fixture(name="hadoop")
def running():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hadoop)
    server.files, server.seen = {"/": None, "/tmp": None}, []
    server.over, server.daemon_threads = threading.Event(), True
    with remote_servers.running(server):
        yield server


def test_hdfs(hadoop):
    top = f"webhdfs://localhost:{hadoop.server_port}"
    records = [bytes([i]) * 50000 for i in range(200)]
    with tf.io.TFRecordWriter(f"{top}/data/a.tfrecord") as writer:
        for record in records:
            writer.write(record)
    assert sorted(hadoop.files) == ["/", "/data", "/data/a.tfrecord", "/tmp"]
    assert list(tf.data.TFRecordDataset(tf.io.gfile.glob(f"{top}/data/*.tfrecord")).as_numpy_iterator()) == records
    for text in (b"first", b"second"):  # Hadoop renames over nothing
        tf.io.write_file(f"{top}/new/deep er/b", text)
        assert hadoop.files["/new/deep er/b"] == text == tf.io.read_file(f"{top}/new/deep er/b").numpy()
    assert tf.io.gfile.stat(f"{top}/new/deep er/b").mtime_nsec == 1_600_000_000 * 10 ** 9
    tf.io.register_filesystem("hdfs", fsspec.filesystem("webhdfs", host="localhost", port=hadoop.server_port))
    assert tf.io.gfile.listdir("hdfs://name-node:8020/new/deep er") == ["b"]
    tf.train.Checkpoint(v=tf.Variable(7)).write("hdfs:///run/ckpt")
    assert tf.train.load_variable("hdfs://other/run/ckpt", "v/.ATTRIBUTES/VARIABLE_VALUE") == 7
    tf.io.gfile.rmtree("hdfs:///new")
    assert not [one for one in hadoop.files if one.startswith("/new")] and not tf.io.gfile.exists(f"{top}/new")
    with pytest.raises(tf.errors.NotFoundError, match="none"):
        tf.io.read_file(f"{top}/none")
    hadoop.files["/secret"] = b"x"
    with pytest.raises(tf.errors.PermissionDeniedError, match="secret"):
        tf.io.read_file(f"{top}/secret")
