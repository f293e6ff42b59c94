"""Ctrl-C, and signals with handlers of a program's own, while leat computes, reads or waits: each kind of call here
goes on for minutes, most of them for ever, if it is not ended."""

import os
import subprocess
import sys
import textwrap

import pytest

import leat as tf

BEFORE = """
    import os, signal, threading
    import numpy as np
    import leat as tf
    signal.signal(signal.SIGINT, signal.default_int_handler)
    def big(*shape):
        return tf.constant(np.random.default_rng(0).random(shape, np.float32))
"""
AFTER = """
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        call()
        print("came to its end")
    except KeyboardInterrupt:
        print("interrupted")
    usable()
    print(list(tf.data.Dataset.range(3).map(lambda x: x + 1, num_parallel_calls=2).as_numpy_iterator()) == [1, 2, 3])
"""
ENDLESS = "tf.data.Dataset.range(10**15)"

# The kind: what comes before, the call, and what is looked at afterwards.
KINDS = {
    "while_loop": ("", "tf.while_loop(lambda i: i < 10**15, lambda i: i + 1, [tf.constant(0, tf.int64)])", ""),
    "map_fn": ("x = tf.zeros([10**8])", "tf.map_fn(lambda v: v * 2.0, x)", ""),
    "svd": ("x = big(1500, 1500)", "tf.linalg.svd(x)", "assert tf.linalg.svd(x[:3, :3])[0].shape == [3]"),
    "eig": ("x = big(4000, 4000)", "tf.linalg.eig(x)", "assert tf.linalg.eig(x[:3, :3])[0].shape == [3]"),
    "conv2d": ("x, f = big(1, 600, 600, 64), big(41, 41, 64, 64)", "tf.nn.conv2d(x, f, 1, 'SAME')", ""),
    "einsum": ("x = tf.ones([6000, 6000], tf.int32)", "tf.einsum('ij,jk->ik', x, x)", ""),
    "variable": ("x = big(1500, 1500); v = tf.Variable(tf.zeros([1500]))", "v.assign(tf.linalg.svd(x)[0])",
                 "assert not v.numpy().any()"),
    "gradient": ("x = tf.Variable(big(900, 900))", """
def call():
    with tf.GradientTape() as tape:
        y = x
        for _ in range(10**6):
            y = tf.linalg.matmul(y, x)
    tape.gradient(y, x)""", ""),
    "reduce": (f"ds = {ENDLESS}", "ds.reduce(np.int64(0), lambda a, b: a + b)", ""),
    "single": (f"ds = {ENDLESS}.filter(lambda x: x < 0)", "ds.get_single_element()", ""),
    "at": ("ds = tf.data.Dataset.range(3).map(lambda i: tf.linalg.svd(tf.cast(i, tf.float32) + big(1500, 1500)))",
           "tf.data.experimental.at(ds, 1)", ""),
    "save": (f"import tempfile; folder = tempfile.mkdtemp() + '/ds'; ds = {ENDLESS}", "ds.save(folder)", """
try:
    assert len(list(tf.data.Dataset.load(folder))) == 0
except (tf.errors.NotFoundError, tf.errors.DataLossError):
    pass"""),
    "list": (f"ds = {ENDLESS}.filter(lambda x: x < 0)", "list(ds)", ""),
    "parallel_map": ("values = lambda i: tf.linalg.svd(tf.cast(i, tf.float32) + big(1500, 1500))\n"
                     "ds = tf.data.Dataset.range(4).map(values, num_parallel_calls=2)", "list(ds)", ""),
    "interleave": (f"ds = {ENDLESS}.interleave(lambda i: {ENDLESS}.filter(lambda x: x < i - i), cycle_length=4, "
                   "num_parallel_calls=2)", "list(ds)", ""),
    "cache": (f"ds = {ENDLESS}.filter(lambda x: x < 0).cache()", "list(ds)", ""),
    "batch": (f"ds = {ENDLESS}.filter(lambda x: x % 2**40 == 1).batch(100)", "next(iter(ds))", ""),
    "skip": (f"ds = {ENDLESS}.filter(lambda x: x % 2 == 0).skip(10**14)", "next(iter(ds))", ""),
    "pipe": ("import tempfile; path = tempfile.mkdtemp() + '/pipe'; os.mkfifo(path)", "tf.io.read_file(path)", """
writer = threading.Thread(target=lambda: open(path, 'w').write('text'))
writer.start()
assert tf.io.read_file(path).numpy() == b'text'"""),
    "pipe_of_lines": ("import tempfile; path = tempfile.mkdtemp() + '/pipe'; os.mkfifo(path)\n"
                      "keep = os.open(path, os.O_RDWR)", "list(tf.data.TextLineDataset(path))", ""),
    "pipe_on_a_thread": ("import tempfile; path = tempfile.mkdtemp() + '/pipe'; os.mkfifo(path)",
                         "list(tf.data.Dataset.from_tensors(path).map(tf.io.read_file, num_parallel_calls=2))", ""),
    "pipe_to_nobody": ("import tempfile; path = tempfile.mkdtemp() + '/pipe'; os.mkfifo(path)",
                       "tf.io.write_file(path, 'text')", '''
found = []
reader = threading.Thread(target=lambda: found.append(open(path).read()))
reader.start()
tf.io.write_file(path, 'text')
reader.join()
assert found == ['text']'''),
    "full_pipe": ("import tempfile; path = tempfile.mkdtemp() + '/pipe'; os.mkfifo(path)\n"
                  "keep = os.open(path, os.O_RDWR)", "tf.io.write_file(path, bytes(1 << 22))", ""),
    # Each of the matches looks through what is left of the text.
    "regex": ("x = tf.constant(b'a' * 1_000_000)", "tf.strings.regex_replace(x, 'a+b|a', 'b')",
              "assert tf.strings.regex_replace('aab', 'a', '').numpy() == b'b'"),
    "unpacking": ("import zlib; packer = zlib.compressobj(9)\n"
                  "packed = b''.join(packer.compress(bytes(1 << 24)) for _ in range(60)) + packer.flush()",
                  "[tf.io.decode_compressed(packed, 'ZLIB') for _ in range(10**6)]", ""),
    "lines": ("import gzip, tempfile; path = tempfile.mkdtemp() + '/lines'\n"
              "with gzip.open(path, 'wb', 9) as file:\n    file.write(bytes(1 << 26))",
              "list(tf.data.Dataset.from_tensors(path).repeat().flat_map("
              "lambda p: tf.data.TextLineDataset(p, compression_type='GZIP')).filter(lambda x: False))", ""),
    "py_function": ("event = threading.Event()",
                    "tf.py_function(lambda x: event.wait() and x, [tf.constant(1)], tf.int32)", ""),
    "generator": ("""
def numbers():
    while True:
        yield 1
ds = tf.data.Dataset.from_generator(numbers, output_signature=tf.TensorSpec((), tf.int64)).batch(10**9)""",
                  "next(iter(ds))", ""),
    "fit": ("""
model = tf.keras.Sequential([tf.keras.Input((500,)), tf.keras.layers.Dense(500), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
x, y = np.zeros((64, 500), np.float32), np.zeros((64, 1), np.float32)
ds = tf.data.Dataset.from_tensors((x, y)).repeat()""", "model.fit(ds, verbose=0, steps_per_epoch=10**9)",
            "assert model.fit(x, y, verbose=0, epochs=1).history['loss']"),
    "save_weights": ("""
import tempfile
path = tempfile.mkdtemp() + "/x.weights.h5"
model = tf.keras.Sequential([tf.keras.Input((5000,)), tf.keras.layers.Dense(5000)])
model.save_weights(path)
before = open(path, "rb").read()""", """
def call():
    for _ in range(10**6):
        model.save_weights(path)""", """
assert open(path, "rb").read() == before and len(os.listdir(os.path.dirname(path))) == 1"""),
    "evaluate": ("""
model = tf.keras.Sequential([tf.keras.Input((500,)), tf.keras.layers.Dense(1)])
model.compile("adam", "mse")
ds = tf.data.Dataset.from_tensors((tf.zeros([64, 500]), tf.zeros([64, 1]))).repeat()""",
                 "model.evaluate(ds, verbose=0)", ""),
    "predict": ("""
model = tf.keras.Sequential([tf.keras.Input((500,)), tf.keras.layers.Dense(1)])
ds = tf.data.Dataset.from_tensors(tf.zeros([64, 500])).repeat()""",
                "model.predict(ds, verbose=0)",
                "assert model.predict(np.zeros((2, 500), np.float32), verbose=0).shape == (2, 1)"),
    "replicas": ("""
tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0],
                                           [tf.config.LogicalDeviceConfiguration()] * 2)
strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
with strategy.scope():
    v = tf.Variable(0.0, aggregation=tf.VariableAggregation.SUM)
x = big(1000, 1000) * 0.001
@tf.function
def step(n):
    y = x
    for _ in range(10):
        y = tf.matmul(y, x)
    v.assign_add(tf.reduce_sum(y) * 0.0 + n)""", """
def call():
    while True:
        strategy.run(step, [tf.constant(1.0)])""", """
assert v.values[0].numpy() == v.values[1].numpy() and v.numpy() % 2 == 0
before = v.numpy()
strategy.run(step, [tf.constant(1.0)])
assert v.numpy() == before + 2"""),
    "meeting": ("""
import json, socket
taken = [socket.create_server(("localhost", 0)) for _ in range(2)]
places = ["localhost:%d" % one.getsockname()[1] for one in taken]
[one.close() for one in taken]
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": places}, "task": {"type": "worker", "index": 0}})""",
                "tf.distribute.MultiWorkerMirroredStrategy()", ""),
    "meeting_of_the_other": ("""
import json, socket
taken = [socket.create_server(("localhost", 0)) for _ in range(2)]
places = ["localhost:%d" % one.getsockname()[1] for one in taken]
[one.close() for one in taken]
os.environ["TF_CONFIG"] = json.dumps({"cluster": {"worker": places}, "task": {"type": "worker", "index": 1}})""",
                             "tf.distribute.MultiWorkerMirroredStrategy()", ""),
}
# A server that takes connections and says nothing; calls that ask it.
SILENT = """
import socket
server = socket.create_server(("127.0.0.1", 0))
url = "http://127.0.0.1:%d/data" % server.getsockname()[1]
os.environ.update(AWS_ENDPOINT_URL_S3=url[:-5], AWS_ACCESS_KEY_ID="key", AWS_SECRET_ACCESS_KEY="secret")"""
ASKING = {
    "read_file": "tf.io.read_file(url)",
    "write_file": "tf.io.write_file('s3://bucket/key', 'text')",
    "write_records": """
def call():
    with tf.io.TFRecordWriter('s3://bucket/key') as writer:
        for _ in range(100):
            writer.write(bytes(1 << 20))""",
    "lines": "list(tf.data.TextLineDataset(url))",
    "lines_in_turns": "list(tf.data.TextLineDataset([url, url + '2', url + '3'], num_parallel_reads=3))",
    "on_a_thread": "list(tf.data.Dataset.from_tensors(url).map(tf.io.read_file, num_parallel_calls=2))",
    "on_a_driver": "list(tf.data.Dataset.from_tensors(url).map(tf.io.read_file).prefetch(1))",
    "list_files": "tf.data.Dataset.list_files(['s3://bucket/*', url])",
    "gfile": "tf.io.gfile.exists(url)",
    "copy": "tf.io.gfile.copy(url, '/dev/null', overwrite=True)",
}
if os.path.exists(os.path.join(os.path.dirname(tf._native.__file__), "libleat_curl.so")):
    KINDS.update({"server_" + name: (SILENT, call, "") for name, call in ASKING.items()})


def run(program):
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(BEFORE) + program], capture_output=True, text=True,
                          timeout=110)
    return done.stdout, done.stderr


def as_function(name, text):
    text = text.strip()
    return text if text.startswith(f"def {name}") else f"def {name}():\n" + textwrap.indent(text or "pass", "    ")


@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_ends(kind, tmp_path):
    setup, call, usable = KINDS[kind]
    program = tmp_path / "program.py"  # a file, since functions are traced from their source
    program.write_text("\n".join([textwrap.dedent(BEFORE), setup.strip(), as_function("call", call),
                                  as_function("usable", usable), textwrap.dedent(AFTER)]))
    done = subprocess.run([sys.executable, str(program)], capture_output=True, text=True, timeout=110,
                          env={**os.environ, "TMPDIR": str(tmp_path)})
    assert done.stdout.splitlines() == ["interrupted", "True"], done.stderr


def test_a_handler_that_raises_nothing_lets_the_call_go_on():
    out, err = run("""
seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(number))
threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
# Until the handler has run, which is while the loop goes on.
going_on = lambda i: tf.py_function(lambda: not seen, [], tf.bool)
print(int(tf.while_loop(going_on, lambda i: i * 0, [tf.constant(7)])[0]), len(seen))
""")
    assert out == "0 1\n", err


def test_a_handler_s_own_exception_arrives():
    out, err = run("""
class Late(Exception):
    pass
def late(number, frame):
    raise Late("too late")
signal.signal(signal.SIGALRM, late)
signal.setitimer(signal.ITIMER_REAL, 0.3)
try:
    tf.linalg.svd(big(1500, 1500))
except Late as error:
    print(error)
""")
    assert out == "too late\n", err


def test_a_thread_is_not_ended_by_ctrl_c():
    out, err = run("""
import time
results = []
worker = threading.Thread(target=lambda: results.append(tf.linalg.svd(big(300, 300))[0].shape))
worker.start()
try:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(100)
except KeyboardInterrupt:
    pass
worker.join()
print(results)
""")
    assert out == "[TensorShape([300])]\n", err
