"""Object stores of every kind (docs/REMOTE.md): what is the same for all of them, beside moto's S3, an emulator of
Google's, and the servers of remote_stores.py."""
import itertools
import os
import pathlib
import signal
import subprocess
import sys

import pytest

import leat as tf
import remote_servers as servers
import remote_stores as stores

pytestmark = pytest.mark.skipif(not (pathlib.Path(tf._native.__file__).parent / "libleat_curl.so").exists(),
                                reason="this build has no libcurl")
MIB = 1 << 20
NUMBERS = itertools.count()
NAMES = ("AWS_", "LEAT_REMOTE_", "GOOGLE_", "STORAGE_EMULATOR", "CLOUDSDK_", "GCE_", "AZURE_")
KEY = "c2VjcmV0IGtleSBvZiBzb21lb25l"
MISSING = "is not installed: `sh tools/venv.sh remote`"


@pytest.fixture(autouse=True)
def account(monkeypatch, tmp_path):
    """Nobody's own account counts."""
    for name in os.environ:
        if name.startswith(NAMES) or name.lower().endswith("_proxy"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))


@pytest.fixture(scope="module", params=["s3", "gs", "gs-emulator", "az"], name="service")
def running(request):
    """(scheme, its server, how to make a bucket)."""
    if request.param == "s3":
        if servers.MOTO is None:
            pytest.skip(f"moto {MISSING}")
        with servers.moto() as endpoint:
            yield "s3", endpoint, lambda name: servers.make_bucket(endpoint, name)
    elif request.param == "gs-emulator":
        if servers.GCS is None:
            pytest.skip(f"gcp-storage-emulator {MISSING}")
        with servers.google_emulator() as endpoint:
            yield "gs", endpoint, lambda name: servers.make_google_bucket(endpoint, name)
    else:
        with stores.store(stores.Google if request.param == "gs" else stores.Azure) as server:
            server.key = KEY if request.param == "az" else None
            yield request.param, server.url, server.buckets.add


@pytest.fixture(name="bucket")
def made(service, monkeypatch, request):
    """A bucket of its own, as s3://name."""
    scheme, endpoint, make = service
    name = "".join(c if c.isalnum() else "-" for c in request.node.name.lower())[:50].strip("-")
    name = f"b{next(NUMBERS)}{name}"
    make(name)
    for variable, value in {
            "s3": {"AWS_ENDPOINT_URL": endpoint, "AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"},
            "gs": {"STORAGE_EMULATOR_HOST": endpoint},
            "az": {"AZURE_STORAGE_CONNECTION_STRING":
                   f"AccountName=someone;AccountKey={KEY};BlobEndpoint={endpoint}/"}}[scheme].items():
        monkeypatch.setenv(variable, value)
    return f"{scheme}://{name}"


@pytest.mark.parametrize("size", [0, 1, MIB, 5 * MIB + 3, 16 * MIB, 16 * MIB + 1, 50 * MIB + 17])
def test_writes_and_reads(bucket, size, request):
    if size == 0 and "emulator" in request.node.name:
        pytest.skip("the emulator fails on objects without bytes")
    data = servers.content(size)
    tf.io.write_file(bucket + "/folder/data.bin", data)
    assert tf.io.read_file(bucket + "/folder/data.bin").numpy() == data
    found = tf.io.gfile.stat(bucket + "/folder/data.bin")
    assert (found.length, found.is_directory) == (size, False)
    assert found.mtime_nsec > 10 ** 18


def test_records(bucket):
    records = [servers.content(i, i) for i in range(1000)]
    for name in ("a.tfrecord", "b.tfrecord"):
        with tf.io.TFRecordWriter(f"{bucket}/train/{name}") as writer:
            for record in records:
                writer.write(record)
            assert not tf.io.gfile.exists(f"{bucket}/train/{name}")
    files = tf.data.Dataset.list_files(bucket + "/train/*.tfrecord", shuffle=False)
    assert [x.numpy().decode() for x in files] == [bucket + "/train/a.tfrecord", bucket + "/train/b.tfrecord"]
    assert [x.numpy() for x in tf.data.TFRecordDataset(files)] == records * 2
    assert len(list(tf.data.TFRecordDataset(files, num_parallel_reads=2))) == 2000


ODD = ["a b", "a+b", "a%20b", "ä€𝄞", "a&b<c>\"'", "a=b;c,d", "a:@$!*()[]{}|^`~#?", "_-.~", "a..b"]


@pytest.mark.parametrize("name", ODD)
def test_odd_names(bucket, name):
    path = f"{bucket}/dir/{name}"
    tf.io.write_file(path, name)
    assert tf.io.read_file(path).numpy().decode() == name
    assert tf.io.gfile.listdir(bucket + "/dir") == [name]
    tf.io.gfile.remove(path)
    assert not tf.io.gfile.exists(bucket + "/dir")


def test_folders(bucket):
    for name in ("a", "dir/b", "dir/c", "dir/deep/d", "dirt"):
        tf.io.write_file(f"{bucket}/{name}", name)
    gfile = tf.io.gfile
    assert sorted(gfile.listdir(bucket)) == ["a", "dir", "dirt"]
    assert sorted(gfile.listdir(bucket + "/dir/")) == sorted(gfile.listdir(bucket + "/dir")) == ["b", "c", "deep"]
    assert gfile.isdir(bucket) and gfile.isdir(bucket + "/dir") and gfile.isdir(bucket + "/dir/")
    assert not gfile.isdir(bucket + "/a") and not gfile.isdir(bucket + "/di")
    assert gfile.exists(bucket + "/dir") and not gfile.exists(bucket + "/di") and not gfile.exists(bucket + "/dir/x")
    assert gfile.glob(bucket + "/*") == [f"{bucket}/{name}" for name in ("a", "dir", "dirt")]
    assert gfile.glob(bucket + "/dir/?") == [f"{bucket}/dir/b", f"{bucket}/dir/c"]
    assert gfile.glob(bucket + "/*/*/d") == [f"{bucket}/dir/deep/d"]
    assert gfile.glob([bucket + "/a", bucket + "/none*"]) == [f"{bucket}/a"]
    assert list(gfile.walk(bucket)) == [(bucket, ["dir"], ["a", "dirt"]), (bucket + "/dir", ["deep"], ["b", "c"]),
                                        (bucket + "/dir/deep", [], ["d"])]
    with pytest.raises(tf.errors.NotFoundError, match="neither"):
        gfile.listdir(bucket + "/none")
    gfile.makedirs(bucket + "/new/folder")
    gfile.rmtree(bucket + "/dir")
    assert sorted(gfile.listdir(bucket)) == ["a", "dirt"]


def test_files_of_python(bucket, tmp_path):
    gfile, path = tf.io.gfile, bucket + "/text"
    with gfile.GFile(path, "w") as file:
        file.write("one\n")
        file.write("two\n")
        assert not gfile.exists(path)
    assert gfile.GFile(path).read() == "one\ntwo\n"
    with pytest.raises(KeyError), gfile.GFile(path, "w") as file:
        file.write("three")
        raise KeyError
    assert list(gfile.GFile(path)) == ["one\n", "two\n"]
    with pytest.raises(KeyError), gfile.GFile(path, "wb") as file:
        file.write(bytes(40 * MIB))
        raise KeyError
    assert gfile.stat(path).length == 8
    local = str(tmp_path / "local")
    gfile.copy(path, local)
    gfile.copy(local, bucket + "/again")
    gfile.copy(bucket + "/again", bucket + "/third")
    assert gfile.GFile(bucket + "/third", "rb").read() == b"one\ntwo\n"
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.copy(path, bucket + "/third")
    gfile.rename(bucket + "/third", bucket + "/fourth")
    gfile.rename(bucket + "/fourth", bucket + "/fourth", overwrite=True)
    assert not gfile.exists(bucket + "/third") and gfile.GFile(bucket + "/fourth").read() == "one\ntwo\n"
    with pytest.raises(tf.errors.AlreadyExistsError):
        gfile.rename(path, bucket + "/fourth")
    with pytest.raises(tf.errors.UnimplementedError, match="copy"):
        gfile.rename(path, local, overwrite=True)
    tf.io.write_file(bucket + "/folder/a", "a")
    with pytest.raises(tf.errors.UnimplementedError, match="folder"):
        gfile.rename(bucket + "/folder", bucket + "/other")
    for mode in ("a", "r+", "ab", "w+"):
        with pytest.raises(tf.errors.UnimplementedError, match="rb"):
            gfile.GFile(path, mode)
    with pytest.raises(tf.errors.InvalidArgumentError, match="mode"):
        gfile.GFile(path, "x")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.rename(bucket + "/none", bucket + "/other")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.rmtree(bucket + "/none")
    failed = []
    assert not list(gfile.walk(bucket + "/none")) and not list(gfile.walk(path, onerror=failed.append))
    with pytest.raises(tf.errors.NotFoundError):
        gfile.remove(bucket + "/none")
    with pytest.raises(tf.errors.NotFoundError):
        gfile.GFile(bucket + "/none").read()


def test_what_else_is_written(bucket):
    data = tf.data.Dataset.range(1000).map(lambda x: (x, tf.strings.as_string(x)))
    wanted = list(data.as_numpy_iterator())
    data.save(bucket + "/saved")
    assert list(tf.data.Dataset.load(bucket + "/saved").as_numpy_iterator()) == wanted
    for _ in range(2):
        assert list(data.snapshot(bucket + "/snapshot").as_numpy_iterator()) == wanted
    for _ in range(2):
        assert list(data.cache(bucket + "/cache").as_numpy_iterator()) == wanted
    assert sorted(tf.io.gfile.glob(bucket + "/cache*")) == [bucket + "/cache.data", bucket + "/cache.index"]
    writer = tf.summary.create_file_writer(bucket + "/logs")
    with writer.as_default():
        tf.summary.scalar("loss", 1.0, step=1)
    writer.close()
    assert len(tf.io.gfile.glob(bucket + "/logs/events.out.tfevents.*")) == 1


def test_what_object_stores_cannot(bucket):
    with pytest.raises(tf.errors.FailedPreconditionError, match="cannot"):
        tf.io.read_file(bucket)
    with pytest.raises(tf.errors.FailedPreconditionError, match="folder"):
        tf.io.gfile.GFile(bucket + "/a/", "w").close()
    with pytest.raises(tf.errors.NotFoundError, match="404"):
        tf.io.read_file(bucket[:5] + "no-such-bucket-anywhere/a")


WRITER = """
import os, signal, sys
import leat as tf
path = sys.argv[1]
writer = tf._native.FileWriter.open(path)
writer.write(bytes(int(sys.argv[2]) << 20))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("mebibytes", [1, 40])
def test_a_writer_that_is_killed(bucket, mebibytes):
    """Nobody sees anything of what it wrote; what was there stays, and is written anew."""
    path = bucket + "/data"
    for before in (None, b"before"):
        if before is not None:
            tf.io.write_file(path, before)
        process = subprocess.run([sys.executable, "-B", "-c", WRITER, path, str(mebibytes)], check=False)
        assert process.returncode == -signal.SIGKILL
        assert tf.io.gfile.exists(path) == (before is not None)
        assert before is None or tf.io.read_file(path).numpy() == before
    data = servers.content(33 * MIB)
    tf.io.write_file(path, data)
    assert tf.io.read_file(path).numpy() == data


def test_datasets_of_strangers(bucket):
    tf.io.write_file(bucket + "/a.txt", "a\n")
    text = tf.data.TextLineDataset(bucket + "/a.txt").to_json()
    with pytest.raises(tf.errors.PermissionDeniedError, match="remote"):
        list(tf.data.Dataset.from_json(text))
    assert list(tf.data.Dataset.from_json(text, remote=True).as_numpy_iterator()) == [b"a"]
