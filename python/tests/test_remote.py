"""Files of web servers (docs/REMOTE.md), read from servers on the loopback that fail as they are told."""
import concurrent.futures
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

import pytest

import leat as tf
import remote_servers as servers

pytestmark = pytest.mark.skipif(not (pathlib.Path(tf._native.__file__).parent / "libleat_curl.so").exists(),
                                reason="this build has no libcurl")
MIB = 1 << 20


@pytest.fixture(name="server")
def faults():
    with servers.faults() as running:
        yield running


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """Nobody's own settings count."""
    for name in os.environ:
        if name.startswith("LEAT_REMOTE_") or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)


def read(url):
    return tf.io.read_file(url).numpy()


def refused(kind, *words):
    """Raises the class, with the words in its text."""
    return pytest.raises(kind, match="(?s)" + ".*".join(words))


# ---- what is read ----

@pytest.mark.parametrize("size", [0, 1, 1000, MIB - 1, MIB, MIB + 1, 5 * MIB, 5 * MIB + 1, 23 * MIB + 7])
def test_files_of_all_sizes(server, size):
    data = servers.content(size)
    url = server.add("/data.bin", data)
    assert read(url) == data
    assert tf.io.gfile.stat(url).length == size


def test_readers(server, tmp_path):
    lines = [b"line %d" % i + b"x" * (i % 90) for i in range(40000)]
    texts = b"\n".join(lines)
    assert [x.numpy() for x in tf.data.TextLineDataset(server.add("/a.txt", texts))] == lines
    packed = server.add("/a.txt.gz", gzip.compress(texts))
    assert [x.numpy() for x in tf.data.TextLineDataset(packed, "GZIP")] == lines
    fixed = servers.content(4000 * 1024)
    found = tf.data.FixedLengthRecordDataset(server.add("/fixed", fixed), 1024)
    assert b"".join(x.numpy() for x in found) == fixed
    rows = b"a,b\n" + b"".join(b"%d,%d.5\n" % (i, i) for i in range(30000))
    found = tf.data.experimental.CsvDataset(server.add("/rows.csv", rows), [0, 0.0], header=True)
    assert [(int(a), float(b)) for a, b in found] == [(i, i + 0.5) for i in range(30000)]
    path = str(tmp_path / "records")
    records = [servers.content(i % 3000, i) for i in range(3000)]
    with tf.io.TFRecordWriter(path) as writer:
        for record in records:
            writer.write(record)
    urls = [server.add(f"/records-{i}", pathlib.Path(path).read_bytes()) for i in range(3)]
    assert [x.numpy() for x in tf.data.TFRecordDataset(urls)] == records * 3
    found = tf.data.TFRecordDataset(urls, num_parallel_reads=3)
    assert sorted(x.numpy() for x in found) == sorted(records * 3)


def test_pictures(server):
    pixels = tf.constant([[[1, 2, 3], [4, 5, 6]]], tf.uint8)
    url = server.add("/picture.png", tf.io.encode_png(pixels).numpy())
    found = tf.data.Dataset.from_tensors(url).map(lambda name: tf.io.decode_png(tf.io.read_file(name)))
    assert next(iter(found)).numpy().tolist() == pixels.numpy().tolist()


def test_requests_go_side_by_side(server):
    data = servers.content(40 * MIB)
    url = server.add("/data.bin", data, always=lambda h: h.answer(pause=0.001))
    assert read(url) == data
    assert server.most_under_way >= 4


def test_small_files_take_one_request(server):
    urls = [server.add(f"/{i}.txt", b"text %d\n" % i) for i in range(4)]
    assert [x.numpy() for x in tf.data.TextLineDataset(urls)] == [b"text %d" % i for i in range(4)]
    assert [seen[0] for seen in server.seen] == ["GET"] * 4


def test_as_many_connections_as_are_said(server, monkeypatch):
    monkeypatch.setenv("LEAT_REMOTE_CONNECTIONS", "2")
    url = server.add("/data.bin", servers.content(40 * MIB), always=lambda h: h.answer(pause=0.001))
    assert len(read(url)) == 40 * MIB
    assert server.most_under_way <= 3


def test_names_are_looked_up(server):
    url = server.add("/a.txt", b"a\n")
    assert tf.io.gfile.exists(url) and not tf.io.gfile.exists(server.url + "/none")
    assert tf.io.gfile.glob(url) == [url] and tf.io.gfile.glob(server.url + "/none") == []
    assert [x.numpy().decode() for x in tf.data.Dataset.list_files([url])] == [url]
    query = server.add("/a?b=[1]", b"b\n")
    assert tf.io.matching_files([query]).numpy().tolist() == [query.encode()]
    with refused(tf.errors.UnimplementedError, "cannot be listed"):
        tf.io.gfile.glob(server.url + "/*.txt")
    with refused(tf.errors.UnimplementedError, "cannot be listed"):
        tf.io.gfile.listdir(server.url)
    with tf.io.gfile.GFile(url) as file:
        assert file.read() == "a\n"
    assert not tf.io.gfile.isdir(url)


def test_spaces_and_letters_in_names(server):
    server.files["/a%20b%C3%A4"] = b"found"
    assert read(server.url + "/a bä") == b"found"


def test_files_of_python(server):
    data = servers.content(3 * MIB)
    url = server.add("/data.bin", data)
    with tf.io.gfile.GFile(url, "rb") as file:
        assert file.read(10) == data[:10]
        file.seek(2 * MIB)
        assert file.read(100) == data[2 * MIB:2 * MIB + 100]
        file.seek(-5, 2)
        assert file.read() == data[-5:]
        file.seek(1)
        assert file.read() == data[1:]


def test_copies(server, tmp_path):
    data = servers.content(6 * MIB)
    path = str(tmp_path / "copy")
    tf.io.gfile.copy(server.add("/data.bin", data), path)
    assert pathlib.Path(path).read_bytes() == data


def test_files_that_are_given_up(server):
    """What was asked for ahead is dropped in the middle of whatever it is at."""
    data = servers.content(12 * MIB)
    url = server.add("/data.bin", data)
    missing = server.url + "/none"

    def begin_and_leave(number):
        for i in range(25):
            with tf.io.gfile.GFile(url, "rb") as file:
                assert file.read(MIB + i * 70000 + number) == data[:MIB + i * 70000 + number]
            assert not tf.io.gfile.exists(missing)
    with concurrent.futures.ThreadPoolExecutor(4) as threads:
        list(threads.map(begin_and_leave, range(4)))
    assert read(url) == data


# ---- servers without ranges ----

@pytest.mark.parametrize("length", [True, None])
@pytest.mark.parametrize("size", [0, 5, 3 * MIB + 1])
def test_servers_without_ranges(server, size, length):
    data = servers.content(size)
    url = server.add("/data.bin", data, always=lambda h: h.answer(ranges=False, length=length))
    assert read(url) == data
    with tf.io.gfile.GFile(url, "rb") as file:
        file.seek(size // 2)
        assert file.read() == data[size // 2:]


def test_no_more_without_ranges_than_fits(server):
    url = server.add("/data.bin", bytes(MIB), always=lambda h: h.answer(ranges=False, length=None))
    tf.config.set_read_limits(record=1000)
    try:
        with refused(tf.errors.UnimplementedError, "data.bin", "gives no ranges"):
            read(url)
    finally:
        tf.config.set_read_limits()


# ---- trying again ----

def test_passing_failures_are_tried_again(server):
    data = servers.content(2 * MIB)
    for code in (408, 429, 500, 502, 503, 504):
        url = server.add(f"/{code}", data, *[lambda h, code=code: h.status(code)] * 2)
        assert read(url) == data


def test_retry_after_is_heard(server):
    url = server.add("/a", b"a", lambda h: h.status(429, ("Retry-After", "1")))
    before = time.monotonic()
    assert read(url) == b"a"
    assert time.monotonic() - before >= 1


def test_cut_connections_go_on_where_they_ended(server):
    data = servers.content(900000)
    url = server.add("/data.bin", data, lambda h: h.answer(cut=300000), lambda h: h.answer(cut=300000))
    assert read(url) == data
    ranges = [seen[2]["Range"] for seen in server.seen]
    assert ranges[0] == "bytes=0-1048575"
    assert 0 < int(ranges[1][6:].split("-")[0]) <= 300000
    assert int(ranges[1][6:].split("-")[0]) < int(ranges[2][6:].split("-")[0]) <= 600000


def test_cut_connections_without_ranges(server):
    data = servers.content(900000)
    url = server.add("/data.bin", data, lambda h: h.answer(cut=300000, ranges=False),
                     always=lambda h: h.answer(ranges=False))
    assert read(url) == data


def test_connections_that_say_nothing(server):
    url = server.add("/a", b"text", lambda h: h.drop(), lambda h: h.drop())
    assert read(url) == b"text"


def test_failures_that_do_not_pass(server, monkeypatch):
    monkeypatch.setenv("LEAT_REMOTE_RETRIES", "2")
    url = server.add("/a", b"a", always=lambda h: h.status(503))
    with refused(tf.errors.UnavailableError, url, "answered 503, 3 times in", "LEAT_REMOTE_RETRIES"):
        read(url)
    assert server.count("/a") == 3
    url = server.add("/b", b"b" * 1000, always=lambda h: h.answer(cut=0))
    with refused(tf.errors.UnavailableError, url, "3 times in"):
        read(url)
    with refused(tf.errors.UnavailableError, "127.0.0.1", "3 times in", "check the host's name"):
        read(f"http://127.0.0.1:{servers.free_port()}/a")


def test_silent_servers(server, monkeypatch):
    monkeypatch.setenv("LEAT_REMOTE_RETRIES", "0")
    monkeypatch.setenv("LEAT_REMOTE_TIMEOUT", "1")
    with refused(tf.errors.UnavailableError, "/a", "LEAT_REMOTE_TIMEOUT"):
        read(server.add("/a", b"a", always=lambda h: h.hang()))


@pytest.mark.parametrize("name, value", [("RETRIES", "many"), ("TIMEOUT", "-1"), ("CONNECTIONS", "0")])
def test_settings_that_are_none(server, monkeypatch, name, value):
    monkeypatch.setenv("LEAT_REMOTE_" + name, value)
    with refused(tf.errors.InvalidArgumentError, "LEAT_REMOTE_" + name, value, "expected"):
        read(server.add("/a", b"a"))


# ---- other servers ----

@pytest.mark.skipif(not shutil.which("openssl"), reason="there is no program openssl to make certificates with")
def test_tls(tmp_path, monkeypatch):
    for name in ("CURL_CA_BUNDLE", "AWS_CA_BUNDLE", "SSL_CERT_FILE"):
        monkeypatch.delenv(name, raising=False)
    tls = servers.certificate(tmp_path)
    data = servers.content(9 * MIB)
    with servers.faults(tls) as server, servers.faults() as clear:
        url = server.add("/data.bin", data)
        with refused(tf.errors.FailedPreconditionError, url, "SSL_CERT_FILE"):
            read(url)
        monkeypatch.setenv("SSL_CERT_FILE", tls[0])
        assert read(url) == data
        with refused(tf.errors.FailedPreconditionError, "127.0.0.1", "SSL_CERT_FILE"):
            read(url.replace("localhost", "127.0.0.1"))
        there = clear.add("/data.bin", data)
        with refused(tf.errors.FailedPreconditionError, "/down", "from https to https alone"):
            read(server.add("/down", b"", always=lambda h: h.status(301, ("Location", there))))
        assert not clear.seen
        assert read(clear.add("/up", b"", always=lambda h: h.status(301, ("Location", url)))) == data


@pytest.mark.skipif(servers.NGINX is None, reason="there is no nginx: `make deps` installs nginx-light")
def test_nginx(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    data = servers.content(21 * MIB + 5)
    (root / "data.bin").write_bytes(data)
    (root / "empty").write_bytes(b"")
    with servers.nginx(root, tmp_path, rate="16m") as url:
        assert read(url + "/data.bin") == read(url + "/slow/data.bin") == data
        assert read(url + "/empty") == b""
        found = tf.io.gfile.stat(url + "/data.bin")
        assert found.length == len(data)
        assert found.mtime_nsec == int((root / "data.bin").stat().st_mtime) * 10 ** 9
        with refused(tf.errors.NotFoundError, "404"):
            read(url + "/none")


# ---- what is not believed ----

def test_answers_that_are_final(server):
    for code, kind in ((401, "PermissionDeniedError"), (403, "PermissionDeniedError"), (404, "NotFoundError"),
                       (410, "NotFoundError"), (400, "InvalidArgumentError"), (412, "FailedPreconditionError"),
                       (501, "UnimplementedError"), (505, "UnavailableError")):
        url = server.add(f"/{code}", b"", always=lambda h, code=code: h.status(code))
        with refused(getattr(tf.errors, kind), url, f"answered {code}; "):
            read(url)
        assert server.count(f"/{code}") == 1


def test_other_versions(server):
    data = servers.content(12 * MIB)
    url = server.add("/tag", data, lambda h: h.answer(), always=lambda h: h.answer(etag='"two"'))
    with refused(tf.errors.DataLossError, url, "changed while it was read", "two", "one"):
        read(url)
    url = server.add("/date", data, lambda h: h.answer(etag=None, more=[("Last-Modified", servers.http_date(10 ** 9))]),
                     always=lambda h: h.answer(etag=None, more=[("Last-Modified", servers.http_date(10 ** 9 + 1))]))
    with refused(tf.errors.DataLossError, url, "changed while it was read"):
        read(url)

    def longer(handler):
        server.files["/size"] = data + b"x"
        return handler.answer(etag=None)
    url = server.add("/size", data, lambda h: h.answer(etag=None), always=longer)
    with refused(tf.errors.DataLossError, url, "it has 12582913 bytes, and had 12582912"):
        read(url)
    url = server.add("/cut", data, lambda h: h.answer(cut=1000), always=lambda h: h.answer(etag='"two"'))
    with refused(tf.errors.DataLossError, url, "changed while it was read"):
        read(url)


def test_other_ranges_and_lengths(server):
    data = servers.content(3 * MIB)
    with refused(tf.errors.DataLossError, "shift", "from byte 1 on"):
        read(server.add("/shift", data, always=lambda h: h.answer(shift=1)))
    with refused(tf.errors.DataLossError, "length", "as a body of 17"):
        read(server.add("/length", data, always=lambda h: h.answer(length=17)))

    def far(handler):
        handler.send_response(206)
        handler.send_header("Content-Range", "bytes 0-99999999999999999999/3")
        handler.send_header("Content-Length", "1")
        handler.end_headers()
        handler.wfile.write(b"x")
        return True
    with refused(tf.errors.OpError, "far"):
        read(server.add("/far", data, always=far))


def test_redirects(server):
    server.add("/a", b"text")

    def to(place):
        return lambda h: h.status(302, ("Location", place))
    assert read(server.add("/one", b"", always=to("/a"))) == b"text"
    with refused(tf.errors.FailedPreconditionError, "/loop", "redirects"):
        read(server.add("/loop", b"", always=to("/loop")))
    with refused(tf.errors.FailedPreconditionError, "/file", "redirects lead to http and https"):
        read(server.add("/file", b"", always=to("file:///etc/passwd")))


def test_headers_without_an_end(server):
    def endless(handler):
        handler.send_response(200)
        try:
            while True:
                handler.send_header("X-More", "x" * 1000)
                handler.flush_headers()
        except OSError:
            return handler.drop()
    with refused(tf.errors.UnavailableError, "/endless", "256 KiB of headers"):
        read(server.add("/endless", b"", always=endless))


def test_failures_with_much_text(server):
    text = b"<Error><Code>Odd\x1b[31m</Code><Message>" + b"m" * 10 ** 6 + b"</Message></Error>"
    with refused(tf.errors.NotFoundError, r"answered 404 \(Odd\?\[31m"):
        read(server.add("/a", b"", always=lambda h: h.status(404, body=text)))


def test_urls_that_are_none():
    for url, word in (("http://", "no host"), ("http:///path", "no host"), ("http://me:secret@host/a", "netrc")):
        with refused(tf.errors.InvalidArgumentError, word) as raised:
            read(url)
        assert "me:secret" not in str(raised.value)
    with refused(tf.errors.UnimplementedError, "gopher"):
        read("gopher://host/a")


def test_nothing_is_written(server):
    url = server.add("/a", b"a")
    for call in (lambda: tf.io.write_file(url, "b"), lambda: tf.io.TFRecordWriter(url), lambda: tf.io.gfile.remove(url),
                 lambda: tf.io.gfile.makedirs(url), lambda: tf.io.gfile.GFile(url, "w").write("b"),
                 lambda: tf.io.gfile.rename(url, url + "b", overwrite=True)):
        with refused(tf.errors.UnimplementedError, "http://"):
            call()
    assert [seen for seen in server.seen if seen[0] not in ("GET", "HEAD")] == []


# ---- strangers' plans ----

def test_plans_from_outside_stay_here(server, tmp_path, run_tool):
    url = server.add("/a.txt", b"one\ntwo\n")
    plans = {
        "named": tf.data.TextLineDataset(url),
        "listed": tf.data.Dataset.from_tensor_slices([url]).flat_map(tf.data.TextLineDataset),
        "ahead": tf.data.TextLineDataset([url, url], num_parallel_reads=2),
        "several": tf.data.Dataset.from_tensor_slices([url]).interleave(tf.data.TextLineDataset, num_parallel_calls=2),
        "made": tf.data.Dataset.from_tensor_slices([url[7:]]).map(
            lambda rest: tf.io.read_file(tf.strings.join(["htt", "p://", rest])), num_parallel_calls=2),
        "above": tf.data.TextLineDataset(url).map(lambda line: line + "x").prefetch(1),
    }
    for name, plan in plans.items():
        text = plan.to_json()
        server.seen.clear()
        with refused(tf.errors.PermissionDeniedError, "this machine alone", "remote=True"):
            list(tf.data.Dataset.from_json(text).take(2).prefetch(2))
        assert not server.seen, name
        trusted = tf.data.Dataset.from_json(text, remote=True)
        assert list(trusted.as_numpy_iterator()) == list(plan.as_numpy_iterator()), name
    path = tmp_path / "plan.json"
    path.write_text(plans["named"].to_json())
    server.seen.clear()
    done = run_tool("run", str(path))
    assert done.returncode == 1 and "--remote" in done.stderr and not server.seen
    assert run_tool("run", "--remote", "--count", str(path)).returncode == 0


@pytest.fixture(name="run_tool")
def tool():
    def run(*arguments):
        program = pathlib.Path(os.environ.get("LEAT_BUILD", "build")) / "bin/leat"
        return subprocess.run([program, *arguments], capture_output=True, text=True, check=False)
    return run


def test_the_tool_inspects(server, tmp_path, run_tool):
    path = str(tmp_path / "records")
    with tf.io.TFRecordWriter(path) as writer:
        for i in range(10):
            writer.write(b"x" * i)
    done = run_tool("inspect", server.add("/records", pathlib.Path(path).read_bytes()))
    assert done.returncode == 0 and "10" in done.stdout, done.stderr
    done = run_tool("inspect", server.url + "/none")
    assert done.returncode == 1 and "404" in done.stderr


def test_models_reach_nobody(server):
    """A vocabulary that a model names at a server is not asked for, with safe_mode=False neither."""
    url = server.add("/words.txt", b"a\nb\n")
    config = {"class_name": "StringLookup", "config": {"vocabulary": url}, "registered_name": None,
              "module": "keras.layers"}
    for kwargs in ({}, {"safe_mode": False}):
        with pytest.raises((ValueError, tf.errors.OpError)):
            tf.keras.saving.deserialize_keras_object(json.loads(json.dumps(config)), **kwargs)
    assert not server.seen


# ---- processes ----

def run_python(text, *arguments):
    return subprocess.run([sys.executable, "-B", "-c", text, *arguments], capture_output=True, text=True, check=False,
                          timeout=100)


def test_children_of_fork_read(server):
    url = server.add("/data.bin", servers.content(12 * MIB))
    done = run_python("""
import os, sys, zlib
import leat as tf
url = sys.argv[1]
file = tf.io.gfile.GFile(url, "rb")
first = file.read(100)
child = os.fork()
rest = zlib.crc32(file.read()), zlib.crc32(tf.io.read_file(url).numpy())
if child == 0:
    os._exit(rest[0] % 100)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == rest[0] % 100)
""", url)
    assert done.stdout == "True\n", done.stderr


def test_processes_end_while_something_comes(server):
    url = server.add("/data.bin", bytes(60 * MIB), always=lambda h: h.answer(pause=0.02))
    done = run_python("""
import sys
import leat as tf
print(len(tf.io.gfile.GFile(sys.argv[1], "rb").read(3 << 20)))
iterator = iter(tf.data.FixedLengthRecordDataset(sys.argv[1], 1024, num_parallel_reads=2))
next(iterator)
""", url)
    assert (done.returncode, done.stdout) == (0, f"{3 * MIB}\n"), done.stderr
