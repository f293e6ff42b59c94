"""The slow model of the operators that fold, filter and group: an addition to data_case_model.py's tables.

`data_case_groups.py FOLDER` compares the model with the cases recorded from TensorFlow in FOLDER/tfdata.
"""
import sys

import data_case_model as model
from data_case_model import DATASETS, FUNCTIONS, OPERATORS, PREDICATES, Error, Tensor, Unknown, call, fails, number, plain, run, scalar


class Window:
    """A dataset value: a list of outcomes."""

    def __init__(self, rows):
        self.rows = rows

    @property
    def dtype(self):
        raise Unknown("batches of datasets")

    shape = data = dtype

    def json(self):
        return {"dataset": [model.json_of(r) for r in self.rows]}


def dataset_of(window):
    return plain("rows_of_window", rows=window.rows)


OPERATORS["rows_of_window"] = (lambda node: iter(node.args["rows"]), ["rows"])
DATASETS["batch_3"] = lambda w: plain("batch", [dataset_of(w)], batch_size=3)
DATASETS["batch_3_drop"] = lambda w: plain("batch", [dataset_of(w)], batch_size=3, drop_remainder=True)
DATASETS["same_dataset"] = dataset_of
FUNCTIONS["zero"] = lambda *x: scalar(0)

def fail(code):
    raise Error(code)


GROUPS = {
    "window_batch_3": lambda key, w: plain("batch", [w], batch_size=3),
    "window_batch_all": lambda key, w: plain("batch", [w], batch_size=100),
    "window_same": lambda key, w: w,
    "window_first": lambda key, w: plain("take", [w], count=1),
    "window_empty": lambda key, w: plain("take", [w], count=0),
    "window_batch_key": lambda key, w: plain("batch", [w], batch_size=key) if key > 0 else fail("INTERNAL"),
}
SIZES = {"key_plus_1": lambda k: k + 1, "key_times_2_plus_2": lambda k: 2 * k + 2, "key_minus_1": lambda k: k - 1}
not_3 = fails(lambda x: x == 3)
SCANS = {
    "running_sum": lambda s, x: (scalar(number(s) + number(x)),) * 2,
    "running_count": lambda s, x: (scalar(number(s) + 1), s),
    "running_max": lambda s, x: (scalar(max(number(s), number(x))),) * 2,
    "previous": lambda s, x: (x, s),
    "pair_output": lambda s, x: (scalar(number(s) + number(x)), (s, x)),
    "pair_state": lambda s, x: ((s[1], scalar(number(s[0]) + number(x))), s[0]),
    "growing": lambda s, x: (Tensor("int64", [len(s.data) + 1], s.data + [number(x)]),) * 2,
    "running_sum_fail_on_3": lambda s, x: (scalar(number(s) + number(not_3(x))),) * 2,
}
REDUCERS = {  # init of a key, reduce of (state, element), finalize of a state
    "reducer_sum": (lambda k: scalar(0), lambda s, x: scalar(number(s) + number(x)), lambda s: s),
    "reducer_key_and_count": (lambda k: (scalar(k), scalar(0)), lambda s, x: (s[0], scalar(number(s[1]) + 1)), lambda s: s),
    "reducer_fails": (
        lambda k: fail("INVALID_ARGUMENT") if k == 2 else scalar(0),
        lambda s, x: scalar(number(s) + number(not_3(x))),
        fails(lambda s: s == 9),
    ),
    "reducer_append": (
        lambda k: Tensor("int64", [0], []),
        lambda s, x: Tensor("int64", [len(s.data) + 1], s.data + [number(x)]),
        lambda s: s,
    ),
}


def run_take_while(node):
    for outcome in run(node.inputs[0]):
        try:
            if isinstance(outcome, Error) or call(PREDICATES, node.args["predicate"], outcome):
                yield outcome
            else:
                return
        except Error as error:
            yield error


def run_ignore_errors(node):
    """A failure in place of the end is no element's: it is delivered, where TensorFlow asks forever."""
    for outcome in run(node.inputs[0]):
        failed = isinstance(outcome, Error)
        if not failed or outcome.at_end:
            yield outcome
        if failed and outcome.at_end:
            return


def run_quarantine(node):
    """Good elements, until too many were bad: one error, and the end."""
    most, share, good, bad = node.args.get("max_errors"), node.args.get("max_fraction", 1.0), 0, 0
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error) and outcome.at_end:
            yield outcome
            return
        if isinstance(outcome, Error):
            bad += 1
            if (most is not None and bad > most) or (good + bad >= 100 and bad > share * (good + bad)):
                yield Error("DATA_LOSS")
                return
        else:
            good += 1
            yield outcome
    if bad > share * (good + bad):
        yield Error("DATA_LOSS")


def run_unique(node):
    seen = set()
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error):
            yield outcome
            continue
        key = str(model.json_of(outcome))
        if key not in seen:
            seen.add(key)
            yield outcome


def run_scan(node):
    state = node.args["initial_state"]
    if node.args["scan_func"] not in SCANS:
        raise Unknown("scan_func")
    for outcome in run(node.inputs[0]):
        if not isinstance(outcome, Error):
            try:
                state, outcome = SCANS[node.args["scan_func"]](state, outcome)
            except Error as error:
                outcome = error
        yield outcome


def run_window(node):
    size, stride = node.args["size"], node.arg("stride", 1)
    shift, target = node.arg("shift", size), (size - 1) * stride + 1
    source, buffer, ended, late = run(node.inputs[0]), [], False, []
    while True:
        while len(buffer) < target and not ended:
            outcome = next(source, None)
            late = [outcome] if isinstance(outcome, Error) and outcome.at_end else []
            ended = outcome is None or bool(late)
            buffer += [] if ended else [outcome]
        if not buffer or (len(buffer) < target and node.arg("drop_remainder", False)):
            yield from late  # TensorFlow keeps silent about it
            return
        rows = buffer[:target:stride]
        wrong = [r for r in rows if isinstance(r, Error)]
        if wrong:
            yield wrong[0]
        else:
            columns = [Window(list(c)) for c in zip(*map(model.leaves, rows))]
            yield model.rebuild(rows[0], iter(columns))
        for _ in range(shift - len(buffer)):
            next(source, None)
        buffer = buffer[shift:]


def grouped(source, key_of, size_of, inner_of):
    """The elements of inner_of(key, rows) for each group, as soon as it has size_of(key) rows."""
    groups, sizes = {}, {}

    def flush(key):
        """A group whose function fails stays."""
        inner = inner_of(key, plain("rows_of_window", rows=groups[key]))
        groups.pop(key)
        sizes.pop(key)
        yield from run(inner)

    for outcome in source:
        try:
            if isinstance(outcome, Error):
                raise outcome
            key = key_of(outcome)
            if key not in sizes:
                size = size_of(key)
                if size <= 0:
                    raise Error()
                sizes[key] = size
            groups.setdefault(key, []).append(outcome)
            if len(groups[key]) == sizes[key]:
                yield from flush(key)
        except Error as error:
            yield error
    while groups:
        try:
            yield from flush(min(groups))
        except Error as error:
            yield error


def run_group_by_window(node):
    if node.args["reduce_func"] not in GROUPS:
        raise Unknown("reduce_func")
    size_func = SIZES[node.args["window_size_func"]] if "window_size_func" in node.args else lambda key: node.args["window_size"]
    return grouped(
        run(node.inputs[0]),
        lambda x: number(call(FUNCTIONS, node.args["key_func"], x)),
        size_func,
        GROUPS[node.args["reduce_func"]],
    )


LENGTHS = {
    "vec_size_int32": lambda v: len(v.data),
    "size_of": lambda v: len(v.data),
    "to_int32": number,
    "to_float64": number,
    "identity": number,
    "fail_on_3": lambda x: number(not_3(x)),
}


def run_bucket_by_sequence_length(node):
    boundaries, sizes = node.args["bucket_boundaries"], node.args["bucket_batch_sizes"]
    drop = node.arg("drop_remainder", False)

    def bucket(x):
        length = call(LENGTHS, node.args["element_length_func"], x)
        bounds = zip([-(2**31)] + boundaries, boundaries + [2**31 - 1])
        found = [i for i, (low, high) in enumerate(bounds) if low <= length < high]
        if not found:
            raise Error()
        return found[0]

    def batch(key, rows):
        if node.arg("no_padding", False):
            return plain("batch", [rows], batch_size=sizes[key], drop_remainder=drop)
        args = {"drop_remainder": drop}
        if node.arg("pad_to_bucket_boundary", False):
            if key == len(boundaries):
                raise Error("INTERNAL")
            args["padded_to"] = boundaries[key] - 1
        if "padded_shapes" in node.args:
            raise Unknown("padded_shapes")
        if "padding_values" in node.args:
            args["padding_values"] = node.args["padding_values"]
        return plain("padded_batch", [rows], batch_size=sizes[key], **args)

    return grouped(run(node.inputs[0]), bucket, lambda key: sizes[key], batch)


def run_group_by_reducer(node):
    init, reduce, finalize = REDUCERS[node.args["reducer"]]
    states = {}
    for outcome in run(node.inputs[0]):
        try:
            if isinstance(outcome, Error):
                raise outcome
            key = number(call(FUNCTIONS, node.args["key_func"], outcome))
            if key not in states:
                states[key] = init(key)
            states[key] = reduce(states[key], outcome)
        except Error as error:
            yield error
    for key in sorted(states):
        try:
            yield finalize(states[key])
        except Error as error:
            yield error


def i64(*values):
    return [scalar(v) for v in values]


def vector(*values):
    return Tensor("int64", [len(values)], values)


GENERATORS = {  # values, where an Error is a failure
    "gen_count_5": i64(0, 1, 2, 3, 4),
    "gen_empty": [],
    "gen_one": i64(7),
    "gen_pairs": [(scalar(len(t) - 1), scalar(t, "string")) for t in ("a", "bb", "ccc")],
    "gen_ragged_vectors": [vector(), vector(1), vector(1, 2), vector(1, 2, 3)],
    "gen_fail_after_2": i64(0, 1) + [Error()],
    "gen_fail_unknown": i64(0, 1) + [Error("UNKNOWN")],
    "gen_fail_not_implemented": i64(0) + [Error("UNIMPLEMENTED")],
    "gen_wrong_type": [scalar(0), scalar("text", "string"), scalar(2)],
    "gen_wrong_shape": [vector(1, 2), vector(1, 2, 3), vector(3, 4)],
}


def converted(value, signature):
    """A value as its signature has it."""
    if isinstance(value, Error):
        return value
    if "tuple" in signature and isinstance(value, tuple) and len(value) == len(signature["tuple"]):
        parts = tuple(converted(v, s) for v, s in zip(value, signature["tuple"]))
        return next((p for p in parts if isinstance(p, Error)), parts)
    if not isinstance(value, Tensor) or "tuple" in signature:
        return Error()
    if (value.dtype == "string") != (signature["dtype"] == "string"):
        return Error()
    shape = signature["shape"]
    if shape is not None and (len(shape) != len(value.shape) or any(-1 != s != n for s, n in zip(shape, value.shape))):
        return Error()
    real = signature["dtype"] in ("float32", "float64")
    return Tensor(signature["dtype"], value.shape, [float(x) if real else x for x in value.data])


def run_from_generator(node):
    name = node.args["generator"].removesuffix(".pure")
    values = i64(*range(number(node.args["args"][0]))) if name == "gen_count_to" else GENERATORS.get(name)
    if values is None:
        raise Unknown(name)
    for value in values:
        yield converted(value, node.args["output_signature"])


OPERATORS["from_generator"] = (run_from_generator, ["generator", "output_signature", "args"])
OPERATORS["from_list"] = (lambda node: (model.value_of(e) for e in node.args["elements"]), ["elements"])
OPERATORS["take_while"] = (run_take_while, ["predicate"])
OPERATORS["quarantine"] = (run_quarantine, ["path", "max_errors", "max_fraction"])
OPERATORS["ignore_errors"] = (run_ignore_errors, ["log_warning"])
OPERATORS["unique"] = (run_unique, [])
OPERATORS["scan"] = (run_scan, ["initial_state", "scan_func"])
OPERATORS["window"] = (run_window, ["size", "shift", "stride", "drop_remainder"])
OPERATORS["group_by_window"] = (run_group_by_window, ["key_func", "reduce_func", "window_size", "window_size_func"])
OPERATORS["bucket_by_sequence_length"] = (
    run_bucket_by_sequence_length,
    ["element_length_func", "bucket_boundaries", "bucket_batch_sizes", "padded_shapes", "padding_values"]
    + ["pad_to_bucket_boundary", "no_padding", "drop_remainder"],
)
OPERATORS["group_by_reducer"] = (run_group_by_reducer, ["key_func", "reducer"])

if __name__ == "__main__":
    sys.exit(model.compare(sys.argv[1]) != 0)
