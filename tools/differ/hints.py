"""What an argument gets by the name of its parameter.

A hint takes the Draw and gives an expression, or None to leave the argument out. HINTS has those of parameters everywhere,
rules.py what single functions and namespaces need. Parameters without a hint get what their default suggests: a bool a bool, a number a number
near it.
"""
import math

from draw import ANY, COMPLEX, FLOAT, INT, NUMBER, REAL
from programs import py, ref

TENSORS = """x y z a b c d e input inputs input_tensor tensor tensors value values t data features logits labels predictions images image x1 x2
    y_true y_pred target output samples sp_input condition arr ar matrix matrices rhs lhs other diagonal elems array q v query key seq source
    params condition_or_x numerator denominator hessian mat mask log_input p n_samples tensor1 tensor2 X first last data1 input1 input2""".split()


def one_of(*options):
    return lambda draw: py(draw.choice(options))


def same(name):
    return lambda draw: draw.either(name)


def of(dtypes, shape=None, style=None, name="x"):
    """A tensor of one of these dtypes and, where it is given, this shape."""
    return lambda draw: draw.tensor(name, draw.choice(dtypes), shape, style)


def shape_list(draw):
    shape = draw.any_shape(0, 3)
    return py(shape) if draw.chance(0.8) else draw.keep("shape", ["tensor", "int32", [len(shape)], shape])


def reshape_list(draw):
    """A shape of as many elements as the theme's."""
    total = 1
    for size in draw.shape:
        total *= size
    options = [[total], [-1], [1, total], [total, 1], [-1, 1]] + [[size, total // size] for size in (2, 3, 4) if total and total % size == 0]
    return py(draw.choice(options))


def permutation(draw):
    order = list(range(len(draw.shape)))
    draw.rng.shuffle(order)
    return py(order)


def pads(draw):
    return py([[draw.rng.randint(0, 1), draw.rng.randint(0, 2)] for _ in draw.shape])


def begin(draw):
    return py([draw.rng.randint(0, max(size - 1, 0)) for size in draw.shape])


def sizes(draw):
    return py([draw.choice([1, -1]) for _ in draw.shape])


def multiples(draw):
    return py([draw.rng.randint(0, 3) for _ in draw.shape])


def indices(draw):
    return draw.ints("indices", draw.shape[0] if draw.shape else 1)


def nd_indices(draw):
    depth = draw.rng.randint(1, max(1, len(draw.shape)))
    count, data = draw.rng.randint(1, 3), []
    for _ in range(count):
        data += [draw.rng.randint(0, max(size - 1, 0)) for size in (draw.shape + [1] * depth)[:depth]]
    draw.depth = depth, count
    return draw.keep("indices", ["tensor", "int32", [count, depth], data])


def nd_updates(draw):
    depth, count = getattr(draw, "depth", (1, 1))
    return draw.tensor("updates", None, [count] + draw.shape[depth:])


def segment_ids(draw):
    return draw.sorted_ints("segment_ids", 3, draw.shape[0] if draw.shape else 1)


def elements(draw):
    """A function of one argument for map_fn and its kin."""
    return ["lambda", "e", ["binary", draw.choice("+*"), ref("e"), ref("e")]]


def folding(draw):
    return ["lambda", "a, e", ["binary", draw.choice("+*-"), ref("a"), ref("e")]]


def constant_function(draw):
    return ["lambda", "", draw.either("x")]


def square(draw):
    """A batch of square matrices, positive ones as often as not."""
    size = draw.shape[-1] if draw.shape else 2
    data = draw.data(draw.dtype, [size, size])
    if draw.dtype in REAL and draw.chance(0.7):
        rows = [data[at * size:(at + 1) * size] for at in range(size)]
        data = [round(sum(a * b for a, b in zip(one, other)), 3) + (4.0 if i == j else 0.0)
                for i, one in enumerate(rows) for j, other in enumerate(rows)]
    return draw.keep("matrix", ["tensor", draw.dtype, [size, size], data])


def kernel(rank, transposed=False, depthwise=False):
    """The filters of a convolution whose input has the theme's shape, channels last."""
    def make(draw):
        channels = draw.shape[-1] if draw.shape else 1
        out = draw.rng.randint(1, 3)
        last = [channels, out] if not transposed else [out, channels]
        return draw.tensor("filters", None, [draw.rng.randint(1, 2) for _ in range(rank)] + last)
    return make


def text(draw):
    return draw.tensor("text", "string", draw.any_shape(0, 2))


def seed_pair(draw):
    return py([draw.rng.randint(0, 99), draw.rng.randint(0, 99)])


def ragged(draw):
    return draw.keep("rt", draw.ragged())


def sparse(draw):
    return draw.keep("sp", draw.sparse())


def structure(draw):
    """Nested tuples, lists and dictionaries."""
    leaf = draw.choice([py(1), draw.tensor("x"), py("a"), py(None)])
    return draw.choice([["tuple", [leaf, ["dict", [[py("b"), leaf], [py("a"), py(2)]]]]], ["list", [leaf, leaf]], leaf, ["dict", [[py("k"),
        ["list", [leaf]]]]]])


def records(draw):
    return draw.keep("records", ["tensor", "string", [2], [draw.choice(["1,2.5", "3,", ",4", "x,1", '"7",8', "1,2,3"]), "5,6"]])


def distribution(draw):
    """Rows of probabilities that sum to one."""
    shape = draw.shape or [3]
    rows = []
    for _ in range(math.prod(shape[:-1])):
        parts = [draw.rng.randint(1, 8) for _ in range(shape[-1])]
        rows += [round(one / sum(parts), 6) for one in parts]
    return draw.keep("p", ["tensor", draw.dtype, shape, rows])


HINTS = {name: same(name) for name in TENSORS} | {
    "axis": lambda draw: draw.axis(), "dim": lambda draw: draw.axis(), "axes": lambda draw: draw.axes(), "dims": permutation,
    "axis1": lambda draw: draw.axis(), "axis2": lambda draw: draw.axis(), "batch_dims": one_of(0, 0, 1),
    "dtype": lambda draw: draw.dtype_name(NUMBER), "out_type": one_of("int32", "int64"), "output_type": one_of("int32", "int64"),
    "shape": shape_list, "output_shape": shape_list, "newshape": reshape_list, "new_shape": reshape_list, "perm": permutation,
    "paddings": pads, "pad_width": pads, "begin": begin, "start_indices": begin, "size": sizes, "multiples": multiples,
    "repeats": lambda draw: draw.small(0, 3), "shift": lambda draw: draw.small(-3, 3), "shifts": lambda draw: draw.small(-3, 3),
    "indices": indices, "segment_ids": segment_ids, "num_segments": lambda draw: draw.small(1, 4), "depth": lambda draw: draw.small(1, 5),
    "updates": nd_updates, "k": lambda draw: draw.small(0, 3), "n": lambda draw: draw.small(0, 4), "num": lambda draw: draw.small(1, 5),
    "N": lambda draw: draw.small(1, 4), "M": lambda draw: draw.small(1, 4),
    "maxlen": lambda draw: draw.small(1, 6), "lengths": lambda draw: draw.ints("lengths", 5), "num_classes": lambda draw: draw.small(3, 6),
    "num_rows": lambda draw: draw.small(0, 4), "num_columns": lambda draw: draw.small(0, 4), "nbins": lambda draw: draw.small(1, 6),
    "value_range": one_of([0.0, 5.0], [-1.0, 1.0]), "seed": lambda draw: draw.small(0, 99), "num_or_size_splits": lambda draw: draw.small(1, 3),
    "indices_or_sections": lambda draw: draw.small(1, 3), "fill_value": lambda draw: draw.small(-2, 3), "num_splits": lambda draw: draw.small(1, 3),
    "clip_value_min": one_of(-1.0, 0.0), "clip_value_max": one_of(1.0, 2.0), "clip_norm": one_of(0.5, 1.0, 3.0), "min": one_of(-1.0, 0.0),
    "max": one_of(1.0, 2.0), "x_min": one_of(-1.0, 0.0), "x_max": one_of(1.0, 2.0), "minval": one_of(0, 0, -2), "maxval": one_of(1, 5, 100),
    "start": one_of(0, 0.0, -1, 2), "stop": one_of(1, 4, 2.5), "limit": one_of(1, 4, 2.5), "delta": one_of(1, 2, 0.5), "step": one_of(1, 2, 0.5),
    "fn": elements, "f": elements, "function": elements, "true_fn": constant_function, "false_fn": constant_function,
    "pred": lambda draw: draw.tensor("pred", "bool", []), "padding": one_of("SAME", "VALID"), "strides": one_of(1, 2), "ksize": one_of(1, 2),
    "data_format": one_of("NHWC", None), "mode": one_of("CONSTANT", "REFLECT", "SYMMETRIC"), "direction": one_of("ASCENDING", "DESCENDING"),
    "ord": one_of("euclidean", 1, 2, "fro"), "equation": one_of("ij,jk->ik", "ij->ji", "ij->", "ij,ij->ij"), "side": one_of("left", "right"),
    "separator": one_of("", " ", ", "), "sep": one_of(" ", ",", ""), "pattern": one_of("a", "[a-c]+", r"\w"), "rewrite": one_of("", "z", r"<\0>"),
    "tag": one_of("a", "b"), "message": one_of("m"), "weights": same("weights"), "sample_weight": None, "name": None,
    "default_value": lambda draw: draw.small(0, 3), "on_value": lambda draw: draw.small(0, 3), "off_value": lambda draw: draw.small(0, 3),
    "height": lambda draw: draw.small(1, 6), "width": lambda draw: draw.small(1, 6), "target_height": lambda draw: draw.small(1, 6),
    "target_width": lambda draw: draw.small(1, 6), "offset_height": one_of(0, 1), "offset_width": one_of(0, 1), "factor": one_of(0.5, 1.5),
    "method": one_of("bilinear", "nearest", "bicubic", "area"), "interpolation": one_of("bilinear", "nearest", "bicubic"),
        "filter_shape": one_of(2, 3),
    "keepdims": one_of(True, False), "activation": one_of(None, "relu", "tanh", "sigmoid", "softmax"), "fill_mode": one_of("constant", "nearest"),
    "num_lower": lambda draw: draw.small(-1, 2), "num_upper": lambda draw: draw.small(-1, 2), "right": one_of(True, False),
    "power": one_of(1, 2, 3), "base": one_of(2.0, 10.0), "chunk_size": one_of(2, 3), "window": one_of(1, 2), "frame_length": one_of(2, 4),
    "frame_step": one_of(1, 2), "fft_length": one_of([4], None), "src": same("src"), "moving_average_alpha": None, "control_inputs": None,
    "initial": None, "where": None, "out": None, "ragged_rank": None, "partition_strategy": None, "max_norm": None,
    "loop_vars": lambda draw: ["list", [draw.tensor("i", "int32", [])]], "cond": lambda draw: ["lambda", "i", ["binary", "<", ref("i"), py(3)]],
    "body": lambda draw: ["lambda", "i", ["list", [["binary", "+", ref("i"), py(1)]]]], "branch_index": lambda draw: draw.small(-1, 2),
    "branch_fns": lambda draw: ["list", [constant_function(draw), constant_function(draw)]], "shape_x": shape_list, "shape_y": shape_list,
    "mean": one_of(0.0, 1.0), "stddev": one_of(1.0, 0.5), "alpha": one_of(0.5, 1.0, 2.0), "beta": one_of(0.5, 1.0), "lam": one_of(0.5, 4.0),
    "rate": one_of(0.0, 0.3, 0.5), "epsilon": one_of(1e-3, 1e-7), "rtol": one_of(1e-5), "atol": one_of(1e-6), "num_samples": one_of(3, 5),
    "nums": lambda draw: draw.small(1, 4), "block_size": one_of(2), "block_shape": one_of([2], [1, 2]), "rank": lambda draw: draw.small(0, 3),
    "offset": one_of(0, 1, -1), "offsets": one_of([0], [1]), "counts": one_of(2.0, 5.0), "probs": one_of(0.3, 0.7), "mu": one_of(0.0, 1.0),
}
