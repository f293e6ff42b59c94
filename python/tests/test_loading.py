"""Foreign libraries that are loaded when they are first used: oneDNN for convolutions, libmicrohttpd for a web page,
OpenSSL for TLS, gRPC, libcurl for remote files, which brings some of what the others need and so comes last."""
import json
import pathlib
import subprocess
import sys

import pytest

import leat as tf

PACKAGE = pathlib.Path(tf._native.__file__).parent
# What each module of this build maps.
MODULES = {name: libraries for name, libraries in {
    "dnnl": ["libdnnl"], "http": ["libmicrohttpd", "libgnutls"], "tls": ["libssl"], "grpc": ["libgrpc"],
    "curl": ["libcurl"]}.items()
           if (PACKAGE / f"libleat_{name}.so").exists()}
# A convolution in a step; a page; a context, which finds no certificate; a server; a file that is nowhere.
USES = {
    "dnnl": """
step = tf.function(lambda x: tf.reduce_sum(tf.nn.conv2d(x, tf.ones([3, 3, 1, 1]), 1, "VALID")))
assert float(step(tf.ones([1, 5, 5, 1]))) == 81
""",
    "http": """
options = tf.data.Options()
options.watch = 0
iterator = iter(tf.data.Dataset.range(3).with_options(options))
assert int(next(iterator)) == 0
""",
    "tls": """
os.environ["TF_CONFIG"] = %r
os.environ.update(LEAT_TLS_CERT="/nowhere/cert", LEAT_TLS_KEY="/nowhere/key", LEAT_TLS_CA="/nowhere/ca")
try:
    tf.distribute.MultiWorkerMirroredStrategy()
except tf.errors.OpError as failure:
    print(type(failure).__name__, failure)
""" % json.dumps({"cluster": {"worker": ["127.0.0.1:1", "127.0.0.1:2"]}, "task": {"type": "worker", "index": 0}}),
    "grpc": """
try:
    tf.data.experimental.service.DispatchServer()
except tf.errors.OpError as failure:
    print(type(failure).__name__, failure)
""",
    "curl": """
os.environ["LEAT_REMOTE_RETRIES"] = "0"
try:
    tf.io.read_file("http://127.0.0.1:1/file")
except tf.errors.UnavailableError:
    pass
except tf.errors.OpError as failure:
    print(type(failure).__name__, failure)
""",
}
PROGRAM = """
import json, os, sys
import numpy

def mapped():
    with open("/proc/self/maps") as maps:
        return {line.split("/")[-1].strip() for line in maps if ".so" in line}

before, news = mapped(), []
def tell():
    news.append(sorted(mapped() - before))
    before.update(news[-1])

import leat as tf
tell()
%s
assert int(tf.reduce_sum([1, 2])) == 3
print(json.dumps(news))
"""


def run(package):
    """What a Python says that uses all modules, and what it maps beyond numpy: by the import, and by each use."""
    uses = "tell()\n".join([*(USES[name] for name in MODULES), ""])
    done = subprocess.run([sys.executable, "-B", "-c", PROGRAM % uses], capture_output=True, text=True, check=False,
                          cwd=package.parent)
    assert done.returncode == 0, done.stderr
    said, _, news = done.stdout.rstrip("\n").rpartition("\n")
    return said + done.stderr, json.loads(news)


def foreign(news):
    """Which of the libraries, and modules, are among those mapped."""
    return [library for name, libraries in MODULES.items() for library in (f"libleat_{name}.so", *libraries)
            if any(found.startswith(library) for found in news)]


def test_each_is_mapped_by_its_use_alone():
    _, news = run(PACKAGE)
    assert "_native.abi3.so" in news[0]
    assert list(map(foreign, news)) == [[], *([f"libleat_{name}.so", *MODULES[name]] for name in MODULES)]


@pytest.mark.parametrize("kind", ["missing", "unreadable"])
def test_bad_files_are_named(kind, tmp_path):
    """Without oneDNN plain kernels compute, and the page is left out, both with a warning, since a program goes on;
    the others fail. Nothing else suffers."""
    package = tmp_path / "leat"
    package.mkdir()
    for path in PACKAGE.iterdir():
        (package / path.name).symlink_to(path)
    for name in MODULES:
        (package / f"libleat_{name}.so").unlink()
        if kind == "unreadable":
            (package / f"libleat_{name}.so").mkdir()
    said, news = run(package)
    assert all(f"libleat_{name}.so" in said for name in MODULES)
    assert said.count("UnimplementedError") == len(MODULES.keys() - {"dnnl", "http"})
    assert not any(map(foreign, news))
