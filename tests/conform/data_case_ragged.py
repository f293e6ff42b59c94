"""The slow model of ragged and sparse values: an addition to data_case_model.py's tables.

A ragged value of rank r is a list of values of rank r - 1; of rank 0 and less it is a tensor that remembers its rank. A sparse
value is a list of indices and values. TensorFlow holds such a value as an array of encoded rows, whose shape is here the `form`: batching puts
a dimension in front of it and wants equal forms, a function starts again with none. `data_case_ragged.py FOLDER` compares the model with the cases recorded from
TensorFlow in FOLDER/tfdata.
"""
import copy
import itertools
import sys

import data_case_model as model
from data_case_model import FUNCTIONS, LITERALS, OPERATORS, Error, Tensor, Unknown, batched, leaves, number, rebuild, run


def formed(value, form=()):
    """A copy of a value under another form; a plain tensor has none."""
    if not hasattr(value, "form"):
        return value
    value = copy.copy(value)
    value.form = form
    return value


def stacked_form(rows, rank):
    """What has several dimensions must have row splits for all of them."""
    if any(row.form != rows[0].form for row in rows) or (rows[0].form and rank < 1 + len(rows[0].form)):
        raise Error()
    return (len(rows),) + rows[0].form


class Row(Tensor):
    """A tensor cut out of a ragged value."""

    form = ()

    def __init__(self, dtype, shape, data, rank=0):
        super().__init__(dtype, shape, data)
        self.rank = rank

    def rows(self):
        return [Row(row.dtype, row.shape, row.data, self.rank - 1) for row in Tensor(self.dtype, self.shape, self.data).rows()]

    @staticmethod
    def stacked(rows):
        if rows[0].rank == 0:
            return Ragged.stacked(rows)
        whole = Tensor.stacked(rows)
        return formed(Row(whole.dtype, whole.shape, whole.data, rows[0].rank + 1), stacked_form(rows, rows[0].rank + 1))

    def without_rows(self):
        if len(self.shape) > 1:
            raise Error()
        return formed(Row(self.dtype, [0] + self.shape[1:], [], self.rank), (0,))


class Ragged:
    """Rows of rank `rank` - 1 in a list; `inner` are the dimensions of a value."""

    form = ()

    def __init__(self, dtype, rank, inner, items):
        self.dtype, self.rank, self.inner, self.items = dtype, rank, list(inner), list(items)

    def rows(self):
        return [formed(item) for item in self.items]

    @staticmethod
    def stacked(rows):
        inner = [row.shape[1:] if isinstance(row, Row) else row.inner for row in rows]
        if any(i != inner[0] for i in inner):
            raise Error()
        return formed(Ragged(rows[0].dtype, rows[0].rank + 1, inner[0], rows), stacked_form(rows, rows[0].rank + 1))

    def without_rows(self):
        if self.inner:
            raise Error()
        return formed(Ragged(self.dtype, self.rank, self.inner, []), (0,))

    def json(self):
        splits, level = [], self.items
        for _ in range(self.rank):
            sizes = [len(item.items) if isinstance(item, Ragged) else item.shape[0] for item in level]
            splits.append(list(itertools.accumulate(sizes, initial=0)))
            level = [row for item in level for row in (item.items if isinstance(item, Ragged) else [item])]
        rows = sum(item.shape[0] for item in level)
        data = [x for item in level for x in item.data]
        return {"ragged": {"values": Tensor(self.dtype, [rows] + self.inner, data).json(), "row_splits": splits}}


class Sparse:
    """`values` is a list of pairs of an index and a value."""

    form = ()

    def __init__(self, dtype, shape, values):
        self.dtype, self.shape, self.values = dtype, list(shape), list(values)

    def rows(self):
        indices = [i for i, _ in self.values]
        inside = all(0 <= n < size for i in indices for n, size in zip(i, self.shape))
        if len(self.shape) < 2 or not inside or any(a >= b for a, b in zip(indices, indices[1:])):
            raise Error()
        cut = [[(i[1:], x) for i, x in self.values if i[0] == row] for row in range(self.shape[0])]
        return [Sparse(self.dtype, self.shape[1:], values) for values in cut]

    @staticmethod
    def stacked(rows):
        if len({len(row.shape) for row in rows}) > 1:
            raise Error()
        values = [((number,) + i, x) for number, row in enumerate(rows) for i, x in row.values]
        whole = Sparse(rows[0].dtype, [len(rows)] + [max(sizes) for sizes in zip(*[row.shape for row in rows])], values)
        return formed(whole, stacked_form(rows, len(whole.shape)))

    def without_rows(self):
        raise Error()

    def json(self):
        indices = [n for i, _ in self.values for n in i]
        return {
            "sparse": {
                "indices": Tensor("int64", [len(self.values), len(self.shape)], indices).json(),
                "values": Tensor(self.dtype, [len(self.values)], [x for _, x in self.values]).json(),
                "dense_shape": self.shape,
            }
        }


def read_ragged(parts):
    values = parts["values"]
    rows = [Row(values["dtype"], [1] + values["shape"][1:], row.data) for row in model.value_of(values).rows()]
    for rank, splits in enumerate(reversed(parts["row_splits"]), 1):
        groups = [rows[a:b] for a, b in zip(splits, splits[1:])]
        if rank == 1:
            rows = [Row(values["dtype"], [len(g)] + values["shape"][1:], [x for row in g for x in row.data]) for g in groups]
        else:
            rows = [Ragged(values["dtype"], rank - 1, values["shape"][1:], g) for g in groups]
    return Ragged(values["dtype"], len(parts["row_splits"]), values["shape"][1:], rows)


def read_sparse(parts):
    rank, numbers = len(parts["dense_shape"]), parts["indices"]["data"]
    indices = [tuple(numbers[i : i + rank]) for i in range(0, len(numbers), rank)]
    return Sparse(parts["values"]["dtype"], parts["dense_shape"], zip(indices, parts["values"]["data"]))


LITERALS["ragged"] = read_ragged
LITERALS["sparse"] = read_sparse

FUNCTIONS["fill_rows"] = lambda x: Tensor("int64", [number(x), 2], [number(x)] * (2 * number(x)))
FUNCTIONS["fill_cols"] = lambda x: Tensor("int64", [2, number(x)], [number(x)] * (2 * number(x)))
FUNCTIONS["iota_string"] = lambda x: Tensor("string", [number(x)], map(str, range(number(x))))
FUNCTIONS["iota_pair"] = lambda x: (Tensor("int64", [number(x)], range(number(x))), x)

# The last dimension that the spec of a function's results leaves open, leaf by leaf.
OPEN = {
    "iota": [0], "iota_mod_4": [0], "fill_rows": [0], "fill_cols": [1], "iota_string": [0], "iota_pair": [0, None],
    "vec3": [None], "square": [None], "fail_on_3": [None], "pair_with_square": [None, None],
}
KEEPS_SPEC = ("take", "skip", "repeat", "shuffle", "prefetch", "cache")


def open_dimensions(node):
    if node.op == "range":
        return [None]
    if node.op == "map" and node.args["map_func"] in OPEN:
        return OPEN[node.args["map_func"]]
    if node.op in KEEPS_SPEC:
        return open_dimensions(node.inputs[0])
    raise Unknown("the spec of " + node.op)


def encoded(leaf, dimension):
    if dimension is None:
        return leaf
    if dimension == 0:
        return Row(leaf.dtype, leaf.shape, leaf.data)
    rows = [encoded(row, dimension - 1) for row in leaf.rows()]
    return Ragged(leaf.dtype, dimension, leaf.shape[dimension + 1 :], rows)


def run_dense_to_ragged(node):
    """Row splits inside are always of int64; TensorFlow refuses them where the batch says int32."""
    dimensions = open_dimensions(node.inputs[0])
    refused = node.arg("row_splits_dtype") == "int32" and any((d or 0) > 0 for d in dimensions)
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Error) or refused:
            yield outcome if isinstance(outcome, Error) else Error()
        else:
            yield rebuild(outcome, iter([encoded(leaf, d) for leaf, d in zip(leaves(outcome), dimensions)]))


def run_map(node):
    for outcome in plain_map(node):
        yield outcome if isinstance(outcome, Error) else rebuild(outcome, iter([formed(leaf) for leaf in leaves(outcome)]))


def run_ragged_batch(node):
    """In TensorFlow the encoding is a map, which is run with the batch as one."""
    yield from batched(run_dense_to_ragged(node), node.args["batch_size"], node.arg("drop_remainder", False), True)


def sparse_of(rows, shape):
    sizes = [max(size) for size in zip(*[row.shape for row in rows])]
    values = []
    for n, row in enumerate(rows):
        values += [((n,) + index, x) for index, x in zip(itertools.product(*map(range, row.shape)), row.data)]
    return Sparse(rows[0].dtype, [len(rows)] + [s if d == -1 else d for s, d in zip(sizes, shape)], values)


def run_sparse_batch(node):
    """An element that does not fit, or fails, loses the rows before it."""
    rows, shape = [], node.args["row_shape"]
    for outcome in run(node.inputs[0]):
        if isinstance(outcome, Row) or not isinstance(outcome, (Error, Tensor)):
            raise Unknown("sparse_batch of other than tensors")
        if not isinstance(outcome, Error):
            if len(outcome.shape) != len(shape):
                outcome = Error()
            elif any(-1 != d < n for n, d in zip(outcome.shape, shape)):
                outcome = Error("DATA_LOSS")
        if isinstance(outcome, Error):
            rows = []
            yield outcome
            continue
        rows.append(outcome)
        if len(rows) == node.args["batch_size"]:
            yield sparse_of(rows, shape)
            rows = []
    if rows:
        yield sparse_of(rows, shape)


plain_map = OPERATORS["map"][0]
OPERATORS["map"] = (run_map, OPERATORS["map"][1])
OPERATORS["dense_to_ragged"] = (run_dense_to_ragged, ["row_splits_dtype"])
OPERATORS["ragged_batch"] = (run_ragged_batch, ["batch_size", "drop_remainder", "row_splits_dtype"])
OPERATORS["sparse_batch"] = (run_sparse_batch, ["batch_size", "row_shape"])

if __name__ == "__main__":
    sys.exit(model.compare(sys.argv[1]) != 0)
