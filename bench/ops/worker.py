"""One side of bench-ops: the process that runs cases on one package.

    worker.py leat|tensorflow

Reads lines of JSON from its input and answers each by a line: `{"ask": "prepare", "case", "size", "form", "seconds", "xla"}` makes a case
ready, calls it and tells what it gave and how long a call takes; `{"ask": "round"}` measures the case that is ready once more, in seconds a
call; `{"ask": "there"}` tells the package's version; `{"ask": "covered"}` lists public operations with a case and those without one. What
fails is answered by `{"failed": why}`. What the package prints goes to the error output.
"""
import gc
import importlib
import inspect
import json
import os
import sys
import time

import cases
import steps

SAMPLE = 200     # numbers of an output that are handed over
READ = 4096      # outputs of at most so many numbers are read inside the clock: a result that nobody reads could be left uncomputed


def flat(value):
    """The tensors of a result, whatever they are in."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return []
    if isinstance(value, dict):
        return [one for each in value.values() for one in flat(each)]
    if isinstance(value, (list, tuple)):
        return [one for each in value for one in flat(each)]
    if hasattr(value, "dense_shape"):
        return [value.indices, value.values, value.dense_shape]
    if hasattr(value, "nested_row_splits"):
        return [value.flat_values, *value.nested_row_splits]
    return [value]


def plain(number):
    """A number or a string as JSON knows it."""
    if isinstance(number, bytes):
        return number.decode("latin-1")
    if isinstance(number, complex):
        return [number.real, number.imag]
    return number


def summary(result):
    """What is compared: dtype, shape and some of the values, evenly spaced, of all tensors of a result."""
    told = []
    for tensor in flat(result):
        array = tensor.numpy() if hasattr(tensor, "numpy") else tensor
        array = cases.np.asarray(array)
        dtype = getattr(getattr(tensor, "dtype", None), "name", array.dtype.name)
        values = array.reshape(-1)[::max(1, array.size // SAMPLE)]
        if values.dtype.kind not in "OSUbiufc":
            values = values.astype("float32")
        told.append({"dtype": "string" if array.dtype.kind in "OSU" else dtype, "shape": list(array.shape),
                     "values": [plain(one) for one in values.tolist()]})
    return told


class Side:
    """What a package can be asked for."""

    def __init__(self, package):
        self.tf = importlib.import_module(package)
        self.inputs, self.ready = (None, None), None

    def made(self, case, size):
        """The inputs of a case; both forms share them."""
        if self.inputs[0] != (case.name, size):
            self.inputs = (None, None)
            self.inputs = ((case.name, size), case.inputs(self.tf, size))
        return self.inputs[1]

    def callable(self, asked):
        """The function to measure and its arguments."""
        compiled = {"jit_compile": True} if asked.get("xla") else {}
        if asked["form"] == "step":
            return steps.make(self.tf, asked["case"], compiled)
        case, size = cases.table()[asked["case"]], asked["size"]
        inputs = self.made(case, size)
        if asked["form"] == "numpy":
            arrays = [one.numpy() if hasattr(one, "numpy") else one for one in inputs]
            return case.function(None, size, numpy=True), arrays
        function = case.function(self.tf, size)
        return self.tf.function(function, **compiled) if asked["form"] == "traced" else function, inputs

    def there(self, _):
        return {"version": getattr(self.tf, "__version__", "")}

    def prepare(self, asked):
        self.ready = None
        gc.collect()
        function, arguments = self.callable(asked)
        told = summary(function(*arguments))
        small = sum(cases.np.prod(one["shape"]) for one in told) <= READ
        self.ready = (function, arguments, 1, small)
        took = self.round({})["seconds"]
        if took < asked["seconds"] / 4:
            took = min(took, self.round({})["seconds"])
        self.ready = (function, arguments, max(1, int(asked["seconds"] / took)), small)
        return {"outputs": told, "seconds": took}

    def round(self, _):
        """Seconds a call, of as many calls as were found to fill the time of a round."""
        function, arguments, count, small = self.ready
        gc.disable()
        start = time.perf_counter()
        for _ in range(count):
            last = function(*arguments)
        if small:
            for one in flat(last):
                one.numpy() if hasattr(one, "numpy") else one
        took = time.perf_counter() - start
        gc.enable()
        return {"seconds": took / count}

    def covered(self, _):
        """The public operations of the package, each once, with and without a case."""
        names = {}
        for module in cases.MODULES:
            found = self.at(module)
            for word in dir(found):
                one = getattr(found, word, None)
                if not word.startswith("_") and inspect.isroutine(one) and word in getattr(found, "__all__", dir(found)):
                    names.setdefault(id(one), []).append("%s.%s" % (module, word) if module else word)
        have = {id(self.at(case.operation)) for case in cases.table().values()}
        best = {key: max(found, key=lambda name: "." in name) for key, found in names.items()}
        public = {key: name for key, name in best.items() if not set(names[key]) & cases.NOT_OPERATIONS}
        return {"with": sorted(name for key, name in public.items() if key in have),
                "without": sorted(name for key, name in public.items() if key not in have)}

    def at(self, name):
        found = self.tf
        for word in filter(None, name.split(".")):
            found = getattr(found, word, None)
        return found


def main():
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    side = Side(sys.argv[1])
    gc.freeze()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            answer = getattr(side, asked["ask"])(asked)
        except Exception as error:    # a case may fail in any way; the parent tells it
            answer = {"failed": "%s: %s" % (type(error).__name__, " ".join(str(error).split())[:300])}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
