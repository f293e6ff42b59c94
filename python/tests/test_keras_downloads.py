"""``keras.utils.get_file`` and ``keras.datasets``, from a server on the loopback and from files."""

import gzip
import hashlib
import http.server
import io
import os
import pickle
import tarfile
import threading
import zipfile

import numpy as np
import pytest

from leat import errors, keras
from leat.keras.datasets import _reading


class Server(http.server.ThreadingHTTPServer):
    """Serves `contents`, {path: bytes}; `cut`: so many bytes fewer than it says; `asked`: the paths so far."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.contents, self.cut, self.asked = {}, 0, []
        self.address = f"http://127.0.0.1:{self.server_port}/"


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path[1:])
        content = self.server.contents.get(self.path[1:])
        self.send_response(404 if content is None else 200)
        self.send_header("Content-Length", str(len(content or b"")))
        self.end_headers()
        self.wfile.write((content or b"")[:len(content or b"") - self.server.cut])

    def log_message(self, *_):
        pass


@pytest.fixture
def server():
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "datasets"


def tar_of(**files):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name.replace("__", "/"))
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return made.getvalue()


def test_a_file_is_fetched_once(server, cache, capsys):
    server.contents["a.txt"] = b"some text"
    path = keras.utils.get_file(origin=server.address + "a.txt")
    assert path == str(cache / "a.txt") and open(path).read() == "some text"
    printed = capsys.readouterr().out
    assert printed.startswith(f"Downloading data from {server.address}a.txt") and "9/9" in printed
    server.contents["a.txt"] = b"other"
    assert open(keras.utils.get_file("a.txt", server.address + "a.txt")).read() == "some text"
    assert open(keras.utils.get_file("a.txt", server.address + "a.txt", force_download=True)).read() == "other"
    assert server.asked == ["a.txt", "a.txt"] and os.listdir(cache) == ["a.txt"]


def test_hashes(server, cache, capsys):
    content = b"some text"
    server.contents["a.txt"] = content
    wrong = "0" * 64
    with pytest.raises(ValueError, match="corrupted"):
        keras.utils.get_file(origin=server.address + "a.txt", file_hash=wrong)
    assert os.listdir(cache) == []
    right = hashlib.sha256(content).hexdigest()
    path = keras.utils.get_file(origin=server.address + "a.txt", file_hash=right)
    with open(path, "wb") as file:
        file.write(b"damaged")
    assert open(keras.utils.get_file(origin=server.address + "a.txt", file_hash=right)).read() == "some text"
    assert "re-download" in capsys.readouterr().out
    keras.utils.get_file(origin=server.address + "a.txt", md5_hash=hashlib.md5(content).hexdigest())
    assert len(server.asked) == 3


def test_what_cannot_be_fetched(server, cache, tmp_path):
    server.contents["a.txt"], server.cut = b"some text", 3
    with pytest.raises(OSError, match="expected"):
        keras.utils.get_file(origin=server.address + "a.txt")
    with pytest.raises(OSError, match="404"):
        keras.utils.get_file(origin=server.address + "none.txt")
    with pytest.raises(OSError, match="cache"):
        keras.utils.get_file(origin="http://127.0.0.1:1/none.txt")
    with pytest.raises(OSError, match="fetch"):
        keras.utils.get_file(origin=f"file://{tmp_path}/none.txt")
    with pytest.raises(errors.UnimplementedError, match="ftp"):
        keras.utils.get_file(origin="ftp://127.0.0.1/none.txt")
    with pytest.raises(ValueError, match="origin"):
        keras.utils.get_file("none.txt")
    with pytest.raises(ValueError, match="Paths"):
        keras.utils.get_file("in/none.txt", server.address + "a.txt")
    with pytest.raises(ValueError, match="fname"):
        keras.utils.get_file(origin=server.address)
    assert os.listdir(cache) == []


def test_archives(server, cache, tmp_path):
    (tmp_path / "things.tar.gz").write_bytes(tar_of(things__a=b"A", things__in__b=b"B"))
    folder = keras.utils.get_file(origin=f"file://{tmp_path}/things.tar.gz", extract=True)
    assert folder == str(cache / "things.tar.gz") and (cache / "things.tar.gz/things/in/b").read_bytes() == b"B"
    assert sorted(os.listdir(cache)) == ["things.tar.gz", "things.tar.gz_archive"]
    folder = keras.utils.get_file("own", f"file://{tmp_path}/things.tar.gz", extract=True, cache_subdir="two")
    assert folder == str(cache.parent / "two/own")
    folder = keras.utils.get_file("own.tgz", f"file://{tmp_path}/things.tar.gz", untar=True, cache_dir=tmp_path / "c")
    assert folder == str(tmp_path / "c/datasets/own_extracted")
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as archive:
        archive.writestr("in/a", "A")
        archive.writestr("../outside", "X")
    server.contents["some.zip"] = made.getvalue()
    with pytest.warns(UserWarning, match="outside"):
        folder = keras.utils.get_file(origin=server.address + "some.zip", extract=True)
    assert os.listdir(folder) == ["in"] and not (cache / "outside").exists()
    server.contents["no.zip"] = b"no archive"
    with pytest.warns(UserWarning, match="extract"):
        keras.utils.get_file(origin=server.address + "no.zip", extract=True)


def test_nothing_lands_outside(server, cache):
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w") as archive:
        for name, kind, link in (("../up", tarfile.REGTYPE, ""), ("/abs", tarfile.REGTYPE, ""), ("good", "0", ""),
                                 ("link", tarfile.SYMTYPE, "../../home"), ("hard", tarfile.LNKTYPE, "../up"),
                                 ("pipe", tarfile.FIFOTYPE, "")):
            member = tarfile.TarInfo(name)
            member.linkname = link
            member.type = kind if isinstance(kind, bytes) else tarfile.REGTYPE
            archive.addfile(member)
    server.contents["bad.tar"] = made.getvalue()
    with pytest.warns(UserWarning) as told:
        folder = keras.utils.get_file(origin=server.address + "bad.tar", extract=True)
    assert os.listdir(folder) == ["good"]
    assert len([one for one in told if "Skipping" in str(one.message)]) == 5


# ---- datasets ----

# What Keras 3.15's load_data gave for the files of the tests below.
IMDB = [[[1, 2, 2, 2, 2], [1, 9], [1, 4, 5, 6], [1, 7, 8]], [0, 1, 0, 1], [[1, 7, 8], [1, 4, 5, 6]], [1, 0],
        [[], [5, 6], [7, 8]], [1, 0, 1]]
REUTERS = [[[1, 9, 10, 11, 2], [1, 8]], [0, 1], [[1, 3, 4, 5], [1, 6, 7]], [0, 1]]
PRICES = [[9.0, 3.0, 6.0, 1.0, 0.0, 7.0, 4.0, 8.0], [2.0, 5.0]]


def npz_of(**arrays):
    made = io.BytesIO()
    np.savez(made, **arrays)
    return made.getvalue()


@pytest.fixture
def sources(server, monkeypatch):
    """Puts a set's file on the server."""
    def put(name, content):
        server.contents[name] = content
        monkeypatch.setitem(_reading.SOURCES, name, (server.address, hashlib.sha256(content).hexdigest()))
    return put


def test_digits(sources):
    x, y = np.arange(3 * 28 * 28, dtype="uint8").reshape(3, 28, 28), np.array([5, 0, 4], "uint8")
    sources("mnist.npz", npz_of(x_train=x, y_train=y, x_test=x[:1], y_test=y[:1]))
    (x_train, y_train), (x_test, y_test) = keras.datasets.mnist.load_data()
    np.testing.assert_array_equal(x_train, x)
    assert x_test.shape == (1, 28, 28) and y_train.tolist() == [5, 0, 4] and y_test.dtype == "uint8"


def test_clothes(sources):
    for part, count in (("train", 3), ("t10k", 2)):
        sources(f"{part}-labels-idx1-ubyte.gz", gzip.compress(bytes(8) + bytes(range(count))))
        sources(f"{part}-images-idx3-ubyte.gz", gzip.compress(bytes(16) + bytes([7]) * count * 784))
    (x_train, y_train), (x_test, _) = keras.datasets.fashion_mnist.load_data()
    assert x_train.shape == (3, 28, 28) and x_test.shape == (2, 28, 28) and y_train.tolist() == [0, 1, 2]


def test_small_pictures(sources):
    def batch(**labels):
        data = np.arange(2 * 3072, dtype="uint8").reshape(2, 3072)
        return pickle.dumps({b"data": data, **{name.encode(): one for name, one in labels.items()}}, protocol=3)
    sources("cifar-10-python.tar.gz", tar_of(**{f"cifar-10-batches-py__{name}": batch(labels=[1, 9]) for name in (
        "test_batch", *(f"data_batch_{number}" for number in range(1, 6)))}))
    (x_train, y_train), (x_test, y_test) = keras.datasets.cifar10.load_data()
    assert x_train.shape == (10, 32, 32, 3) and y_train.tolist() == [[1], [9]] * 5 and y_test.dtype == "uint8"
    np.testing.assert_array_equal(x_test[1, :, :, 2].ravel(), np.arange(3072 + 2048, 6144, dtype="int64") % 256)
    sources("cifar-100-python.tar.gz", tar_of(**{f"cifar-100-python__{name}": batch(
        fine_labels=[4, 5], coarse_labels=[0, 1]) for name in ("train", "test")}))
    assert keras.datasets.cifar100.load_data()[0][1].tolist() == [[4], [5]]
    assert keras.datasets.cifar100.load_data("coarse")[1][1].tolist() == [[0], [1]]
    with pytest.raises(ValueError, match="label_mode"):
        keras.datasets.cifar100.load_data("some")


def lists_of(*texts):
    made = np.empty(len(texts), object)
    made[:] = [list(text) for text in texts]
    return made


def test_texts(sources):
    x, y = lists_of([1, 2, 3], [4, 5], [6], [7, 8, 9, 10]), np.array([0, 1, 1, 0])
    sources("imdb.npz", npz_of(x_train=x, y_train=y, x_test=x[:2], y_test=y[:2]))
    (x_train, y_train), (x_test, y_test) = keras.datasets.imdb.load_data(num_words=10)
    assert x_train.tolist() == IMDB[0] and y_train.tolist() == IMDB[1]
    assert x_test.tolist() == IMDB[2] and y_test.tolist() == IMDB[3]
    (x_train, y_train), _ = keras.datasets.imdb.load_data(maxlen=4, oov_char=None, skip_top=5, start_char=None)
    assert x_train.tolist() == IMDB[4] and y_train.tolist() == IMDB[5]
    with pytest.raises(ValueError, match="maxlen"):
        keras.datasets.imdb.load_data(maxlen=1)
    sources("imdb_word_index.json", b'{"the": 1}')
    assert keras.datasets.imdb.get_word_index() == {"the": 1}
    sources("reuters.npz", npz_of(x=x, y=y))
    (x_train, y_train), (x_test, y_test) = keras.datasets.reuters.load_data(test_split=0.5, index_from=2)
    assert [x_train.tolist(), y_train.tolist(), x_test.tolist(), y_test.tolist()] == REUTERS
    assert keras.datasets.reuters.get_label_names()[3] == "earn" and len(keras.datasets.reuters.get_label_names()) == 46


def test_prices(sources):
    x, y = np.arange(20.0).reshape(10, 2), np.arange(10.0)
    for name in ("boston", "california"):
        sources(f"{name}_housing.npz", npz_of(x=x, y=y))
        module = getattr(keras.datasets, f"{name}_housing")
        (x_train, y_train), (x_test, y_test) = module.load_data()
        assert y_train.tolist() == PRICES[0] and y_test.tolist() == PRICES[1]
        np.testing.assert_array_equal(x_train[:, 0], 2 * y_train)
        with pytest.raises(ValueError, match="test_split"):
            module.load_data(test_split=1)
    assert len(keras.datasets.california_housing.load_data("small")[0][0]) == 8


def test_no_code_of_a_file_runs(sources):
    class Bad:
        def __reduce__(self):
            return os.system, ("true",)
    bad = np.empty(1, object)
    bad[0] = Bad()
    sources("reuters.npz", npz_of(x=bad, y=np.zeros(1)))
    with pytest.raises(pickle.UnpicklingError, match="Refusing"):
        keras.datasets.reuters.load_data()
