"""One side: the process that runs programs on one package.

    worker.py leat|tensorflow        in an empty folder, which it keeps empty

Reads lines of JSON from its input and answers each by a line: `{"ask": "run", "program": ...}` by what the program showed or how it failed,
`{"ask": "names"}` by the table of public names, `{"ask": "have", "names": [...]}` by those that are not there. What the package prints goes to
the error output. The side that has no program to run knows nothing of the other one.
"""
import base64
import contextlib
import importlib
import json
import math
import os
import shutil
import sys
import traceback

import names
import programs

FILE = "<program>"
MOST = 20000    # elements of an array that are handed over; the rest is left out on both sides alike


def packed(array):
    """The bytes of a numpy array, or the strings of one of objects."""
    flat = array.reshape(-1)[:MOST]
    if array.dtype.kind in "OSU":
        return [base64.b64encode(one if isinstance(one, bytes) else str(one).encode()).decode() for one in flat.tolist()]
    return base64.b64encode(flat.tobytes()).decode()


class Encoder:
    """Values of a package as typed data."""

    def __init__(self, tf):
        import numpy
        self.tf, self.numpy, self.kinds = tf, numpy, {}

    def kind(self, *names):
        """The classes of these names that the package has."""
        if names not in self.kinds:
            self.kinds[names] = tuple(self.classes(names))
        return self.kinds[names]

    def classes(self, names):
        for name in names:
            one = self.tf
            for word in name.split("."):
                one = getattr(one, word, None)
            if isinstance(one, type):
                yield one

    def array(self, value, what, dtype=None):
        value = self.numpy.asarray(value)
        dtype = dtype or ("string" if value.dtype.kind in "OSU" else value.dtype.name)
        return {"is": what, "dtype": dtype, "shape": list(value.shape), "data": packed(value)}

    def __call__(self, value, depth=0):
        if depth > 12:
            return {"is": "object", "type": "deep"}
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return {"is": "python", "type": type(value).__name__, "value": repr(value)}
        if isinstance(value, (self.numpy.ndarray, self.numpy.generic)):
            return self.array(value, "array")
        if isinstance(value, dict):
            return {"is": "dict", "keys": [repr(key) for key in value], "items": [self(one, depth + 1) for one in value.values()]}
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return {"is": "tuple", "names": list(value._fields), "items": [self(one, depth + 1) for one in value]}
        if isinstance(value, self.kind("TensorShape")):
            return {"is": "shape", "value": repr(None if value.rank is None else value.as_list())}
        if isinstance(value, self.kind("DType", "dtypes.DType")):
            return {"is": "dtype", "value": value.name}
        if isinstance(value, (list, tuple)):
            return {"is": "tuple" if isinstance(value, tuple) else "list", "items": [self(one, depth + 1) for one in value]}
        return self.composite(value, depth)

    def composite(self, value, depth):
        """What is made of tensors, and single tensors."""
        if isinstance(value, self.kind("RaggedTensor")):
            return {"is": "ragged", "items": [self(value.values, depth + 1), self(value.row_splits, depth + 1)]}
        if isinstance(value, self.kind("SparseTensor")):
            return {"is": "sparse", "items": [self(one, depth + 1) for one in (value.indices, value.values, value.dense_shape)]}
        if isinstance(value, self.kind("IndexedSlices")):
            return {"is": "slices", "items": [self(one, depth + 1) for one in (value.values, value.indices, value.dense_shape)]}
        if isinstance(value, self.kind("TypeSpec")):
            return {"is": "spec", "value": repr(value).replace("tf.", "")}
        if isinstance(value, self.kind("keras.KerasTensor")):
            return {"is": "symbolic", "value": "%s %s" % (tuple(value.shape), value.dtype)}
        if isinstance(value, self.kind("Variable", "keras.Variable")):
            dtype = value.dtype
            return self.array(value.numpy(), "variable", dtype if isinstance(dtype, str) else dtype.name)
        if isinstance(value, self.kind("Tensor")):
            return self.array(value.numpy(), "tensor", value.dtype.name) if hasattr(value, "numpy") else {"is": "symbolic", "value": ""}
        return {"is": "object", "type": "function" if callable(value) else "object"}


def failure(error):
    """How a program failed: the classes of the exception, its text, and the last line of the program on the way to it."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == FILE]
    classes = [kind.__name__ for kind in type(error).__mro__ if kind.__name__ not in ("object", "BaseException", "Exception")]
    return {"error": {"classes": classes or ["Exception"], "text": str(error)[:600], "line": lines[-1] if lines else None}}


class Runner:
    """Runs programs on a package, each from the same state: also of `folder`, which is emptied behind each."""

    def __init__(self, tf, encode=None, modules=(), folder=None):
        self.tf, self.encode, self.folder = tf, encode or Encoder(tf), folder
        self.space = {"tf": tf, "inf": math.inf, "nan": math.nan, **dict(modules)}

    def fresh(self, program):
        """The state that programs share begins anew."""
        with contextlib.suppress(AttributeError):
            self.tf.random.set_seed(7)
        if program["name"].startswith("tf.keras") and program["group"] != "ops" or program["group"] == "checkpoints":
            self.tf.keras.backend.clear_session(free_memory=False)
            self.tf.keras.utils.set_random_seed(7)

    def run(self, program):
        try:
            self.fresh(program)
            space = dict(self.space)
            exec(compile(programs.Source(program).text(), FILE, "exec"), space)
            return {"shown": {name: self.encode(space[name]) for name in programs.shown(program)}}
        except (Exception, SystemExit) as error:
            return failure(error)
        finally:
            self.empty()

    def empty(self):
        for entry in os.scandir(self.folder) if self.folder else ():
            if entry.is_dir():
                shutil.rmtree(entry.path, ignore_errors=True)
            else:
                os.remove(entry.path)


def have(tf, names):
    """Which of these names are not there; one that only says that it is not is missing."""
    missing = []
    for name in names:
        one = tf
        try:
            for word in name.split(".")[1:]:
                one = getattr(one, word)
        except Exception:
            missing.append(name)
    return missing


def serve(runner, tf, lines, put):
    for line in lines:
        message = json.loads(line)
        if message["ask"] == "run":
            answer = runner.run(message["program"])
        elif message["ask"] == "names":
            answer = names.table(tf)
        else:
            answer = have(tf, message["names"])
        put(json.dumps(answer))


def main():
    out = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)    # what a package prints is no answer
    sys.path.pop(0)    # the tester's own modules are nobody else's
    import numpy
    tf = importlib.import_module(sys.argv[1])
    with contextlib.suppress(AttributeError):
        tf.autograph.set_verbosity(0)
    if sys.argv[1] == "tensorflow":
        tf.get_logger().setLevel("CRITICAL")

    # Strategies have two devices to work with.
    devices = [tf.config.LogicalDeviceConfiguration() for _ in range(2)]
    tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], devices)

    def put(text):
        out.write(text + "\n")
        out.flush()
    put(json.dumps("ready"))
    serve(Runner(tf, modules={"np": numpy}, folder=os.getcwd()), tf, sys.stdin, put)


if __name__ == "__main__":
    main()
