"""A slow model of the dataset operators, written from TensorFlow's documentation: what make_data_cases.py builds on.

A dataset is a Node; run(node) yields outcomes: values or Errors. A value is a Tensor, a tuple or a dict of values. The model
knows nothing of blocks, threads or states; `data_case_model.py FOLDER` compares it with the cases recorded from TensorFlow in
FOLDER/tfdata, for every case whose names it knows.
"""
import glob
import itertools
import json
import os
import sys

from data_case_values import (  # noqa: F401, the vocabulary of additions, too
    Error, FUNCTIONS, INVALID, LITERALS, PREDICATES, Tensor, Unknown, call, fails, json_of, leaves, number,
    on_number, philox, rebuild, scalar, value_of, words, wrap,
)


def plain(op, inputs=(), **args):
    return Node(op, args, [i for i in inputs])


DATASETS = {
    "range_of": lambda x: plain("range", stop=number(x)),
    "range_from_ten": lambda x: plain("range", start=10 * number(x), stop=10 * number(x) + 3),
    "repeat_3": lambda x: plain("repeat", [plain("from_tensors", tensors=x)], count=3),
    "repeat_self": lambda x: plain("repeat", [plain("from_tensors", tensors=x)], count=number(x)),
    "empty_if_odd": lambda x: plain(
        "take", [plain("repeat", [plain("from_tensors", tensors=x)], count=2)], count=0 if number(x) % 2 else -1
    ),
    "empty_of": lambda x: plain("take", [plain("from_tensors", tensors=x)], count=0),
    "slices_of": lambda x: plain("from_tensor_slices", tensors=x),
    "range_fail_on_3": lambda x: plain("range", stop=number(fails(lambda v: v == 3)(x))),
    "range_map_fail_on_3": lambda x: plain(
        "map", [plain("range", start=number(x), stop=number(x) + 3)], map_func="fail_on_3"
    ),
    "shuffled_range": lambda x: plain("shuffle", [plain("range", stop=number(x))], buffer_size=4, seed=7),
}


# ---- nodes ----


class Node:
    def __init__(self, op, args, inputs, structure=None):
        self.op, self.args, self.inputs, self.structure = op, args, inputs, structure
        self.generator = self.cached = None
        if op not in OPERATORS:
            raise Unknown(op)
        for name in args:
            if name not in OPERATORS[op][1] and name != "input":
                raise Unknown(op + "." + name)

    def arg(self, name, default=None):
        value = self.args.get(name)
        return default if value is None else value


def argument_of(name, json_value):
    if name in ("output_signature", "features"):
        return json_value
    return node_of(json_value) if "op" in json_value else value_of(json_value)


def node_of(json_node):
    if "op" not in json_node:
        raise Unknown("ref")
    args = {k: argument_of(k, v) if isinstance(v, dict) else v for k, v in json_node.get("args", {}).items()}
    structure = None
    if isinstance(json_node.get("inputs"), dict):
        inputs, structure = [], read_tree(json_node["inputs"], collected := [])
        inputs = collected
    elif "inputs" in json_node:
        inputs = [node_of(i) for i in json_node["inputs"]]
    else:
        inputs = [node_of(json_node["input"])] if "input" in json_node else []
    return Node(json_node["op"], args, inputs, structure)


def read_tree(json_tree, nodes):
    if "tuple" in json_tree:
        return tuple(read_tree(t, nodes) for t in json_tree["tuple"])
    if "dict" in json_tree:
        return {k: read_tree(json_tree["dict"][k], nodes) for k in sorted(json_tree["dict"])}
    nodes.append(node_of(json_tree))
    return len(nodes) - 1


def run_range(node):
    step = node.arg("step", 1)
    for x in range(node.arg("start", 0), node.arg("stop"), step):
        yield scalar(x)


def run_from_tensors(node):
    yield node.args["tensors"]


def rows_of(value):
    """The slices along the first dimension of a structure of tensors."""
    for row in zip(*[leaf.rows() for leaf in leaves(value)]):
        yield rebuild(value, iter(row))


def run_from_tensor_slices(node):
    yield from rows_of(node.args["tensors"])


def run_map(node):
    for outcome in run(node.inputs[0]):
        try:
            yield outcome if isinstance(outcome, Error) else call(FUNCTIONS, node.args["map_func"], outcome)
        except Error as error:
            yield error


def run_filter(node):
    for outcome in run(node.inputs[0]):
        try:
            if isinstance(outcome, Error) or call(PREDICATES, node.args["predicate"], outcome):
                yield outcome
        except Error as error:
            yield error


def run_flat_map(node):
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error):
            yield outcome
            continue
        try:
            inner = call(DATASETS, node.args["map_func"], outcome)
        except Error as error:
            yield error
            continue
        yield from run(inner)


def run_take(node):
    left = node.args["count"]
    if left == 0:
        return
    for outcome in run(node.inputs[0]):
        yield outcome
        left -= not isinstance(outcome, Error)
        if left == 0:
            return


def run_skip(node):
    count = node.args["count"]
    if count < 0:
        return
    if count > 2**31 - 1:
        raise Unknown("more than TensorFlow's skip counts")
    skipped = 0
    for outcome in run(node.inputs[0]):
        if skipped == count:
            yield outcome
        elif isinstance(outcome, Error):
            yield outcome
            skipped = 0  # TensorFlow's call fails and the next one skips again
        else:
            skipped += 1


NOOPS = {"take": ("count", -1), "skip": ("count", 0), "repeat": ("count", 1), "prefetch": ("buffer_size", 0)}


def without_noops(node):
    """What TensorFlow sees below an operator before it runs two as one."""
    while node.op in NOOPS and node.args.get(NOOPS[node.op][0]) == NOOPS[node.op][1]:
        node = node.inputs[0]
    return node


def run_repeat(node):
    count = node.arg("count", -1)
    for epoch in itertools.count():
        if epoch == count:
            # TensorFlow has made the input's next iterator by then, and that draws seeds.
            if count > 1 and without_noops(node.inputs[0]).op != "shuffle":
                begin(node.inputs[0])
            return
        empty = True
        for outcome in run(node.inputs[0]):
            empty = False
            if isinstance(outcome, Error) and without_noops(node.inputs[0]).op == "shuffle":
                raise Unknown("an error below repeat and shuffle, which TensorFlow runs as one")
            yield outcome
        if empty and count < 0:
            return


def begin(node):
    """Draws the seeds that opening an iterator draws: shuffle and concatenate open inputs later, some none."""
    if node.op == "shuffle":
        next_pair(node)
    elif node.op == "global_shuffle":
        next_pair(node), next_pair(node)
    elif node.cached is None and not (node.op in ("take", "repeat") and node.arg("count") == 0):
        for i in node.inputs[: 1 if node.op == "concatenate" else None]:
            begin(i)


def stack(values):
    try:
        return rebuild(values[0], iter([column[0].stacked(column) for column in zip(*[leaves(v) for v in values])]))
    except Error as error:
        return error


def run_batch(node):
    """Directly over a map TensorFlow runs both as one."""
    fused = without_noops(node.inputs[0]).op == "map" and "num_parallel_calls" not in node.args
    yield from batched(run(node.inputs[0]), node.args["batch_size"], node.arg("drop_remainder", False), fused)


def batched(source, size, drop_remainder, fused):
    """Where it is fused a failure costs exactly its batch."""
    ended = False
    while not ended:
        rows, failure = [], None
        while len(rows) < size and not ended:
            outcome = next(source, None)
            if outcome is None:
                ended = True
            elif isinstance(outcome, Error) and not fused:
                failure = outcome
                break
            else:
                if isinstance(outcome, Error) and failure is None:
                    failure = outcome
                rows.append(outcome)
        if failure is not None:
            yield failure
        elif len(rows) == size or (rows and not drop_remainder):
            yield stack(rows)


def run_zip(node):
    sources = [run(i) for i in node.inputs]
    tree = node.structure if node.structure is not None else tuple(range(len(sources)))
    ended = False
    while not ended:
        step, error = [], None
        for source in sources:
            outcome = next(source, None)
            ended = ended or outcome is None
            if isinstance(outcome, Error) and error is None and not ended:
                error = outcome  # an end hides the errors of later inputs
            step.append(outcome)
        if error is not None:
            yield error
        elif not ended:
            yield rebuild_indices(tree, step)


def rebuild_indices(tree, values):
    if isinstance(tree, tuple):
        return tuple(rebuild_indices(t, values) for t in tree)
    if isinstance(tree, dict):
        return {k: rebuild_indices(t, values) for k, t in tree.items()}
    return values[tree]


def run_concatenate(node):
    for i in node.inputs:
        yield from run(i)


def run_enumerate(node):
    at = node.arg("start", 0)
    for outcome in run(node.inputs[0]):
        if at == 2**63 - 1:  # the range ends there
            return
        yield outcome if isinstance(outcome, Error) else (scalar(at), outcome)
        at += 1  # a zip with a range: a step that fails uses up its number


def run_shard(node):
    for i, outcome in enumerate(run(node.inputs[0])):
        if isinstance(outcome, Error):
            raise Unknown("shard of errors")
        if i % node.args["num_shards"] == node.args["index"]:
            yield outcome


def run_prefetch(node):
    yield from run(node.inputs[0])


def known(node):
    """Is the number of elements known before they are?"""
    unknown = ("filter", "flat_map", "rebatch", "legacy_rebatch", "group_by_window", "group_by_reducer", "bucket_by_sequence_length")
    return node.op not in unknown and all(known(i) for i in node.inputs)


def unread(node):
    """The node with seeds and caches as before the first iterator."""
    return Node(node.op, node.args, [unread(i) for i in node.inputs], node.structure)


def run_cache(node):
    if node.arg("filename", ""):
        raise Unknown("file cache")
    if node.cached is None:
        kept, failed = [], False
        ahead = itertools.islice(run(unread(node.inputs[0])), 1, None) if known(node) else None
        for outcome in run(node.inputs[0]):
            failed = failed or isinstance(outcome, Error)
            if not isinstance(outcome, Error):
                kept.append(outcome)
            if ahead is not None and next(ahead, None) is None and not failed:
                node.cached = kept  # with the last element, where the cardinality is known
            yield outcome
        node.cached = kept
    else:
        yield from node.cached


def next_pair(node):
    seed = node.arg("seed")
    if seed is None:
        raise Unknown("shuffle without a seed")
    pair = (87654321, seed % (2**31 - 1))
    if not node.arg("reshuffle_each_iteration", True):
        return pair
    if node.generator is None:
        node.generator = words(*pair)
    return (next(node.generator), next(node.generator))


def run_shuffle(node):
    stream, size = words(*next_pair(node)), node.args["buffer_size"]
    yield from shuffled(node, stream, size)


def shuffled(node, stream, size):
    source, buffer, start, end = None, {}, 0, 0
    ended = False
    while True:
        while not ended and (size < 0 or end - start < size):
            source = run(node.inputs[0]) if source is None else source
            outcome = next(source, None)
            if outcome is None:
                ended = True
            elif isinstance(outcome, Error):
                yield outcome
            else:
                buffer[end] = outcome
                end += 1
        if start == end:
            return
        at = start + next(stream) % (end - start)
        yield buffer[at]
        buffer[at] = buffer[start]
        start += 1


def emptied(value):
    try:
        return rebuild(value, iter([leaf.without_rows() for leaf in leaves(value)]))
    except Error as error:
        return error


def run_rebatch(node):
    sizes = node.args["batch_size"]
    sizes = sizes if isinstance(sizes, list) else [sizes]
    rows, source, ended = [], run(node.inputs[0]), False
    empty = None
    for size in itertools.cycle(sizes):
        while len(rows) < size and not ended:
            outcome = next(source, None)
            if isinstance(outcome, Error):
                raise Unknown("rebatch of errors")
            ended = outcome is None
            if not ended:
                empty = outcome
                rows += list(rows_of(outcome))
        if ended and (size == 0 or not rows or (len(rows) < size and node.arg("drop_remainder", False))):
            return
        if size == 0:
            if empty is None:
                raise Unknown("an empty batch before the first row")
            yield emptied(empty)
            continue
        yield stack(rows[:size])
        rows = rows[size:]


def run_legacy_rebatch(node):
    replicas = node.args["num_replicas"]
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error):
            raise Unknown("rebatch of errors")
        rows = list(rows_of(outcome))
        piece = -(-len(rows) // replicas)
        for r in range(replicas):
            part = rows[r * piece : (r + 1) * piece]
            yield stack(part) if part else emptied(outcome)


def run_unbatch(node):
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error):
            yield outcome
            continue
        try:
            if len({len(leaf.rows()) for leaf in leaves(outcome)}) > 1:
                raise Error()
        except Error as error:
            yield error
            continue
        yield from rows_of(outcome)


def padded(part, shape, value):
    if any(n > m for n, m in zip(part.shape, shape)):
        raise Error("DATA_LOSS")
    out = Tensor(part.dtype, shape, [])
    for at in itertools.product(*map(range, shape)):
        place = 0
        for i, n in zip(at, part.shape):
            place = place * n + i
        inside = all(i < n for i, n in zip(at, part.shape))
        out.data.append(part.data[place] if inside else value)
    return out


def run_padded_batch(node):
    size, source, ended = node.args["batch_size"], run(node.inputs[0]), False
    if "padded_shapes" in node.args or "padding_values" in node.args and not isinstance(node.args["padding_values"], Tensor):
        raise Unknown("structures of paddings")
    fill = node.args["padding_values"].data[0] if "padding_values" in node.args else None
    while not ended:
        rows, error = [], None
        while len(rows) < size and not ended and error is None:
            outcome = next(source, None)
            ended = outcome is None
            if isinstance(outcome, Error):
                error = outcome
            elif not ended:
                rows.append(outcome)
        if error is not None:
            yield error
        elif len(rows) == size or (rows and not node.arg("drop_remainder", False)):
            columns = []
            for column in zip(*[leaves(r) for r in rows]):
                shape = [max(p.shape[d] for p in column) for d in range(len(column[0].shape))]
                shape = shape if node.arg("padded_to", -1) < 0 else [node.args["padded_to"]] * len(shape)
                value = fill if fill is not None else "" if column[0].dtype == "string" else 0
                columns.append([padded(p, shape, value) for p in column])
            yield stack([rebuild(rows[0], iter(row)) for row in zip(*columns)])


def run_assert_cardinality(node):
    expected, count = node.args["expected_cardinality"], 0
    for outcome in run(node.inputs[0]):
        if not isinstance(outcome, Error):
            count += 1
            outcome = Error("FAILED_PRECONDITION") if -1 != expected < count else outcome
        yield outcome
    while count != expected:
        yield Error("FAILED_PRECONDITION", at_end=True)


def run_map_and_batch(node):
    args = {k: node.args[k] for k in ("batch_size", "drop_remainder") if k in node.args}
    yield from run_batch(Node("batch", args, [Node("map", {"map_func": node.args["map_func"]}, node.inputs)]))


def run_shuffle_and_repeat(node):
    """Errors come earlier than in repeat over shuffle, so they are left out."""
    for _ in range(node.arg("count", -1)) if node.arg("count", -1) > 0 else itertools.count():
        empty = True
        for outcome in run_shuffle(node):
            if isinstance(outcome, Error):
                raise Unknown("an error below shuffle_and_repeat")
            empty = False
            yield outcome
        if empty:
            return


OPERATORS = {
    "range": (run_range, ["start", "stop", "step"]),
    "from_tensors": (run_from_tensors, ["tensors"]),
    "from_tensor_slices": (run_from_tensor_slices, ["tensors"]),
    "map": (run_map, ["map_func", "num_parallel_calls"]),
    "filter": (run_filter, ["predicate"]),
    "flat_map": (run_flat_map, ["map_func"]),
    "take": (run_take, ["count"]),
    "skip": (run_skip, ["count"]),
    "repeat": (run_repeat, ["count"]),
    "batch": (run_batch, ["batch_size", "drop_remainder", "num_parallel_calls"]),
    "zip": (run_zip, []),
    "concatenate": (run_concatenate, []),
    "enumerate": (run_enumerate, ["start"]),
    "shard": (run_shard, ["num_shards", "index"]),
    "prefetch": (run_prefetch, ["buffer_size"]),
    "cache": (run_cache, ["filename"]),
    "shuffle": (run_shuffle, ["buffer_size", "seed", "reshuffle_each_iteration"]),
    "rebatch": (run_rebatch, ["batch_size", "drop_remainder"]),
    "legacy_rebatch": (run_legacy_rebatch, ["num_replicas"]),
    "unbatch": (run_unbatch, []),
    "padded_batch": (run_padded_batch, ["batch_size", "padded_shapes", "padding_values", "padded_to", "drop_remainder"]),
    "assert_cardinality": (run_assert_cardinality, ["expected_cardinality"]),
    "map_and_batch": (run_map_and_batch, ["map_func", "batch_size", "num_parallel_batches", "drop_remainder", "num_parallel_calls"]),
    "shuffle_and_repeat": (run_shuffle_and_repeat, ["buffer_size", "count", "seed"]),
}


def run(node):
    return OPERATORS[node.op][0](node)


def outcomes(json_plan, limits):
    """One list of outcomes per iterator; a limit of None runs to the end."""
    node, lists = node_of(json_plan), []
    for limit in limits:
        if limit == 0:
            begin(node)
        lists.append([json_of(o) for o in itertools.islice(run(node), limit)])
    return lists


# ---- the model against the recorded cases ----


def compare(folder):
    keys = ["elements", "elements_epoch2", "elements_epoch3"]
    agreed = differing = unknown = 0
    for path in sorted(glob.glob(os.path.join(folder, "tfdata", "*.json"))):
        with open(path) as file:
            cases = json.load(file)
        for case in cases:
            try:
                if set(case) & {"terminal", "let", "before", "global_seed", "unordered"} or "error" in case["expect"]:
                    raise Unknown("kind")
                found = outcomes(case["pipeline"], case.get("iterate", [None]))
            except (Unknown, Error):
                unknown += 1
                continue
            expected = [case["expect"][k] for k in keys[: len(found)]]
            if found == expected:
                agreed += 1
            else:
                differing += 1
                print("%s %s: %s\n  model %s\n  recorded %s" % (path, case["name"], case["pipeline"], found, expected))
    print("%d cases agree, %d differ, %d have names that the model does not know" % (agreed, differing, unknown))
    return differing


if __name__ == "__main__":
    sys.exit(compare(sys.argv[1]) != 0)
