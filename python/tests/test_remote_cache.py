"""The folder that keeps what was read of remote files (LEAT_CACHE_DIR, docs/REMOTE.md)."""
import os
import pathlib
import subprocess
import sys
import threading

import pytest

import leat as tf
import remote_servers as servers

pytestmark = pytest.mark.skipif(not (pathlib.Path(tf._native.__file__).parent / "libleat_curl.so").exists(),
                                reason="this build has no libcurl")
MIB = 1 << 20
HEADER = 64  # bytes in front of a block's own


@pytest.fixture(scope="module", name="server")
def running():
    with servers.faults() as server:
        yield server


@pytest.fixture(autouse=True, name="folder")
def made(monkeypatch, tmp_path):
    for name in os.environ:
        if name.startswith(("LEAT_REMOTE_", "LEAT_CACHE_")) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("LEAT_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def blocks(folder):
    return sorted(folder.glob("*.block"))


def ranges(server, path):
    return [seen[2].get("Range") for seen in server.seen if seen[1] == path]


def read(url):
    return tf.io.read_file(url).numpy()


def tagged(tag):
    return lambda handler: handler.answer(etag=tag)


def test_is_read_once(server, folder):
    data = servers.content(10 * MIB + 3)
    url = server.add("/once", data)
    assert read(url) == data
    assert len(blocks(folder)) == 4 and sum(one.stat().st_size for one in blocks(folder)) == len(data) + 4 * HEADER
    before = server.count("/once")
    for _ in range(2):
        assert read(url) == data
    assert ranges(server, "/once")[before:] == ["bytes=0-0"] * 2
    assert not list(folder.glob("*.tmp")) and (folder.stat().st_mode & 0o777) == 0o700
    # Here and there, and of another process.
    with tf.io.gfile.GFile(url, "rb") as file:
        file.seek(7 * MIB)
        assert file.read(9) == data[7 * MIB:7 * MIB + 9]
    program = "import sys, leat as tf; print(hash(tf.io.read_file(sys.argv[1]).numpy()) != 0)"
    subprocess.run([sys.executable, "-B", "-c", program, url], check=True, capture_output=True)
    assert set(ranges(server, "/once")[before:]) == {"bytes=0-0"}


def test_another_version(server, folder):
    one, other = servers.content(3 * MIB), servers.content(3 * MIB, seed=2)
    url = server.add("/changing", one, always=tagged('"1"'))
    assert read(url) == one
    server.add("/changing", other, always=tagged('"2"'))
    assert read(url) == other
    before = server.count("/changing")
    assert read(url) == other and server.count("/changing") == before + 1
    assert len(blocks(folder)) == 4
    # One that has none cannot be told from another, and is not kept.
    url = server.add("/unnamed", one, always=tagged(None))
    assert read(url) == one and len(blocks(folder)) == 4
    server.files.pop("/changing")
    with pytest.raises(tf.errors.NotFoundError, match="404"):
        read(server.url + "/changing")


@pytest.mark.parametrize("damage", ["cut", "empty", "bytes", "header", "longer"])
def test_damage(server, folder, damage):
    data = servers.content(6 * MIB, seed=3)
    url = server.add("/damaged-" + damage, data)
    assert read(url) == data
    for block in blocks(folder):
        content = bytearray(block.read_bytes())
        if damage == "bytes":
            content[len(content) // 2] ^= 1
        elif damage == "header":
            content[20] ^= 1
        block.write_bytes({"cut": content[:-1], "empty": b"", "longer": content + b"x"}.get(damage, content))
    assert read(url) == data
    before = server.count("/damaged-" + damage)
    assert read(url) == data and server.count("/damaged-" + damage) == before + 1


def test_its_size(server, folder, monkeypatch):
    monkeypatch.setenv("LEAT_CACHE_BYTES", str(10 * MIB))
    data = servers.content(MIB)
    urls = [server.add(f"/many-{i}", data) for i in range(16)]
    for i, url in enumerate(urls):
        assert read(url) == data
        for age, block in enumerate(sorted(blocks(folder), key=lambda one: one.stat().st_mtime_ns)):
            os.utime(block, (1000 + age, 1000 + age))
        assert sum(one.stat().st_size for one in folder.iterdir()) <= 10 * MIB, i
    before = server.count("/many-0"), server.count("/many-15")
    assert read(urls[0]) == data and read(urls[15]) == data
    assert server.count("/many-0") == before[0] + 2 and server.count("/many-15") == before[1] + 1
    # What was used lately stays.
    monkeypatch.setenv("LEAT_CACHE_BYTES", str(MIB // 2))
    url = server.add("/too-large", data)
    assert read(url) == data
    for text in ("0", "-1", "many", "1e9"):
        monkeypatch.setenv("LEAT_CACHE_BYTES", text)
        with pytest.raises(tf.errors.InvalidArgumentError, match="LEAT_CACHE_BYTES"):
            read(url)


def test_several_at_a_time(server, folder):
    data = servers.content(9 * MIB, seed=5)
    url = server.add("/shared", data)
    found = []
    threads = [threading.Thread(target=lambda: found.append(read(url) == data)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [True] * 6 and len(blocks(folder)) == 3 and not list(folder.glob("*.tmp"))


def test_without_ranges_or_bytes(server, folder):
    data = servers.content(2 * MIB)
    url = server.add("/whole", data, always=lambda handler: handler.answer(ranges=False))
    for _ in range(2):
        assert read(url) == data
    assert read(server.add("/nothing", b"")) == b"" and not list(folder.glob("*"))


def test_what_is_said_of_it(server, folder):
    records = [servers.content(1000, i) for i in range(300)]
    path = folder.parent / "a.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    url = server.add("/a.tfrecord", path.read_bytes())
    for _ in range(2):
        iterator = iter(tf.data.TFRecordDataset(url))
        assert [one.numpy() for one in iterator] == records
    text = iterator.explain()
    assert "remote cache" in str(text) and str(folder) in str(text)


def test_a_folder_that_cannot_be(server, folder, monkeypatch):
    folder.write_text("a file")
    data = servers.content(MIB)
    assert read(server.add("/plain", data)) == data
