"""Cases of parsing serialised records; see operations.py."""
import numpy as np
import tensorflow as tf

from op_case_model import DTYPE, SHAPE, VALUE
from operations import case

io = tf.io
ROWS = tf.io.RaggedFeature


def feature(given):
    if not given:
        return tf.train.Feature()
    if isinstance(given[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=given))
    if isinstance(given[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=given))
    return tf.train.Feature(float_list=tf.train.FloatList(value=given))


def features(given):
    return tf.train.Features(feature={key: feature(value) for key, value in given.items()})


def example(**given):
    return tf.train.Example(features=features(given)).SerializeToString(deterministic=True)


def sequence(context, lists):
    made = {key: tf.train.FeatureList(feature=[feature(step) for step in steps]) for key, steps in lists.items()}
    return tf.train.SequenceExample(context=features(context), feature_lists=tf.train.FeatureLists(feature_list=made)
                                    ).SerializeToString(deterministic=True)


def spec(dtype, shape, kind=None, **more):
    line = {"dtype": dtype, "shape": shape, **more}
    return {kind: line} if kind else line


def tensor(dtype, shape, data):
    return {"dtype": dtype, "shape": shape, "data": data}


def in_order(parsed):
    """The values of a dict in the order of sorted keys."""
    return [parsed[key] for key in sorted(parsed)]


A = example(a=[1, 2, 3], b=[b"x"], c=[1.5, 2.5], p=[1.0, 2.0, 3.0, 4.0])
B = example(a=[4], b=[b"yy"], p=[5.0, 6.0])
N = example()

# ---- parse_example: batches ----


def batch(name, records, wanted, specs, fails=None, defaults=None):
    attributes = {"features": {"dict": specs}}
    if defaults:
        attributes["defaults"] = {"dict": defaults}
    case("parse_example", name, [records], lambda x: in_order(io.parse_example(x, wanted)), attributes, fails)


batch("batch_dense", [A, B], {"b": io.FixedLenFeature([], tf.string), "q": io.FixedLenFeature([2], tf.float32, [7.0, 8.0])},
      {"b": spec("string", []), "q": spec("float32", [2])}, defaults={"q": tensor("float32", [2], [7.0, 8.0])})
batch("batch_text_default", [N, B], {"b": io.FixedLenFeature([], tf.string, b"none")}, {"b": spec("string", [])},
      defaults={"b": tensor("string", [], ["none"])})
batch("batch_filled_up", [A, B, N], {"a": io.FixedLenSequenceFeature([], tf.int64, True), "b": io.FixedLenSequenceFeature([], tf.string, True, b"-"),
                                     "p": io.FixedLenSequenceFeature([2], tf.float32, True, -1.0)},
      {"a": spec("int64", [-1]), "b": spec("string", [-1]), "p": spec("float32", [-1, 2])},
      defaults={"b": tensor("string", [], ["-"]), "p": tensor("float32", [], [-1.0])})
batch("batch_sparse", [A, B, N], {"a": io.VarLenFeature(tf.int64), "b": io.VarLenFeature(tf.string), "c": io.VarLenFeature(tf.float32)},
      {"a": spec("int64", [-1], "sparse"), "b": spec("string", [-1], "sparse"), "c": spec("float32", [-1], "sparse")})
batch("batch_ragged", [A, N, B], {"a": ROWS(tf.int64), "b": ROWS(tf.string, row_splits_dtype=tf.int64)},
      {"a": spec("int64", [-1], "ragged", ragged_rank=0, row_splits_dtype="int32"),
       "b": spec("string", [-1], "ragged", ragged_rank=0, row_splits_dtype="int64")})
batch("batch_of_all_kinds", [A, B], {"a": ROWS(tf.int64), "b": io.FixedLenFeature([], tf.string), "c": io.VarLenFeature(tf.float32),
                                     "p": io.FixedLenSequenceFeature([2], tf.float32, True)},
      {"a": spec("int64", [-1], "ragged", ragged_rank=0, row_splits_dtype="int32"), "b": spec("string", []),
       "c": spec("float32", [-1], "sparse"), "p": spec("float32", [-1, 2])})
batch("batch_of_none", np.zeros(0, object), {"a": io.VarLenFeature(tf.int64), "b": io.FixedLenFeature([], tf.string)},
      {"a": spec("int64", [-1], "sparse"), "b": spec("string", [])})
batch("batch_lacks", [A, N], {"b": io.FixedLenFeature([], tf.string)}, {"b": spec("string", [])}, (VALUE, '"b"'))
batch("batch_other_dtype", [A, B], {"a": io.VarLenFeature(tf.string)}, {"a": spec("string", [-1], "sparse")}, (DTYPE, '"a"'))
batch("batch_no_pairs", [A, B], {"a": io.FixedLenSequenceFeature([2], tf.int64, True)}, {"a": spec("int64", [-1, 2])}, (SHAPE, "2"))
batch("batch_no_example", [A, b"\xff"], {"a": io.VarLenFeature(tf.int64)}, {"a": spec("int64", [-1], "sparse")}, (VALUE, "1"))
case("parse_example", "one_sparse", [A], lambda x: in_order(io.parse_single_example(x, {"a": io.VarLenFeature(tf.int64)})),
     {"features": {"dict": {"a": spec("int64", [-1], "sparse")}}})

# ---- partitions of ragged features ----
X = example(v=[5, 6, 7, 8], rl=[1, 2, 1], rs=[0, 1, 3, 4], rv=[0, 1, 1, 2], st=[0, 1, 3], li=[1, 3, 4])
Y = example(v=[9], rl=[1], rs=[0, 1], rv=[0], st=[0], li=[1])
KINDS = {"row_lengths": (ROWS.RowLengths("rl"), [1, 2, 1, 1], [0, 3, 4, 4]), "row_splits": (ROWS.RowSplits("rs"), [0, 1, 3, 4, 0, 1], [0, 4, 6, 6]),
         "value_rowids": (ROWS.ValueRowIds("rv"), [0, 1, 1, 2, 0], [0, 4, 5, 5]), "row_starts": (ROWS.RowStarts("st"), [0, 1, 3, 0], [0, 3, 4, 4]),
         "row_limits": (ROWS.RowLimits("li"), [1, 3, 4, 1], [0, 3, 4, 4])}


def splits(parsed):
    return [parsed["x"].nested_row_splits[1], parsed["x"].nested_row_splits[0]]


for kind, (partition, flat, by_record) in KINDS.items():
    for dtype in ("int32", "int64"):
        outer = np.array([0, 4, 5, 5], dtype)
        wanted = {"x": ROWS(tf.int64, "v", [partition], tf.as_dtype(dtype))}
        case("ragged_partition", kind + "_" + dtype, [outer, np.array(flat), np.array(by_record, dtype)],
             lambda *_: splits(io.parse_example([X, Y, N], wanted)), {"kind": kind})
wanted = {"x": ROWS(tf.int64, "v", [ROWS.RowLengths("rl")], validate=True)}
for name, lengths, fails in (("short", [1], (VALUE, "0")), ("long", [1, 2, 2], (VALUE, "0")), ("negative", [5, -1], (VALUE, "0"))):
    case("ragged_partition", name, [np.array([0, 4], np.int32), np.array(lengths), np.array([0, len(lengths)], np.int32)],
         lambda *_: splits(io.parse_example([example(v=[5, 6, 7, 8], rl=lengths)], wanted)), {"kind": "row_lengths"}, fails)
wanted = {"x": ROWS(tf.int64, "v", [ROWS.UniformRowLength(2), ROWS.UniformRowLength(1)], tf.int64)}
case("ragged_partition", "uniform", [np.array([0, 2, 4])], lambda *_: [np.array([0, 2, 4]), io.parse_example(
    [example(v=[5, 6]), example(v=[7, 8])], wanted)["x"].row_splits], {"kind": "uniform", "length": 2})
case("ragged_partition", "uneven", [np.array([0, 3])], lambda *_: io.parse_example(
    [example(v=[5, 6, 7])], {"x": ROWS(tf.int64, "v", [ROWS.UniformRowLength(2)])}), {"kind": "uniform", "length": 2}, (VALUE, "2"))

# ---- places of sparse features ----


def places(name, records, rows, at, found, size, sort=False, fails=None):
    wanted = {"s": io.SparseFeature("i", "v", tf.string, size, sort)}
    case("merge_sparse", name, [np.array(rows).reshape(-1, 2), np.array(at, np.int64), found, np.array(rows).reshape(-1, 2)],
         lambda *_: [io.parse_example(records, wanted)["s"].indices, io.parse_example(records, wanted)["s"].values],
         {"size": size, "already_sorted": sort}, fails)


P = [example(i=[3, 1], v=[b"c", b"a"]), example(i=[0], v=[b"z"])]
places("in_order", P, [[0, 0], [0, 1], [1, 0]], [3, 1, 0], [b"c", b"a", b"z"], 10)
places("as_they_came", P, [[0, 0], [0, 1], [1, 0]], [3, 1, 0], [b"c", b"a", b"z"], 10, True)
places("twice", [example(i=[1, 0, 1], v=[b"b", b"a", b"c"])], [[0, 0], [0, 1], [0, 2]], [1, 0, 1], [b"b", b"a", b"c"], 2)
places("none", [N], np.zeros((0, 2), np.int64), [], np.zeros(0, object), 4)
case("merge_sparse", "numbers_of_values", [np.array([[0, 0]]), np.array([1]), [b"a", b"b"], np.array([[0, 0], [0, 1]])],
     lambda *_: io.parse_example([example(i=[1], v=[b"a", b"b"])], {"s": io.SparseFeature("i", "v", tf.string, 4)}),
     {"size": 4}, (SHAPE, "2"))

# ---- sequences ----
S = sequence({"label": [3], "v": [1.0, 2.0]}, {"tok": [[1], [2], [3]], "emb": [[1.0, 2.0], [3.0, 4.0]], "w": [[b"a"], [b"b", b"c"], []]})
T = sequence({"label": [4]}, {"tok": [[9]], "emb": [[5.0, 6.0]], "w": []})
E = sequence({}, {})
CONTEXT = {"label": io.FixedLenFeature([], tf.int64, -1), "v": io.VarLenFeature(tf.float32)}
CONTEXT_SPEC = {"label": spec("int64", []), "v": spec("float32", [-1], "sparse")}
LABEL = {"dict": {"label": tensor("int64", [], [-1])}}
LISTS = {"emb": io.FixedLenSequenceFeature([2], tf.float32, allow_missing=True), "tok": io.FixedLenSequenceFeature([], tf.int64),
         "w": io.VarLenFeature(tf.string)}
LISTS_SPEC = {"emb": spec("float32", [-1, 2]), "tok": spec("int64", [-1]), "w": spec("string", [-1, -1], "sparse")}
RAGGED = {"tok": ROWS(tf.int64), "w": ROWS(tf.string, row_splits_dtype=tf.int64)}
RAGGED_SPEC = {"tok": spec("int64", [-1, -1], "ragged", ragged_rank=1, row_splits_dtype="int32"),
               "w": spec("string", [-1, -1], "ragged", ragged_rank=1, row_splits_dtype="int64")}


def lists_of(found, lengths):
    out = []
    for key in sorted(found):
        out.append(found[key])
        if key in lengths:
            out.append(lengths[key])
    return out


def steps(name, records, context, lists, context_spec, lists_spec, fails=None, **more):
    def call(x):
        parsed = io.parse_sequence_example(x, context, lists)
        return in_order(parsed[0]) + lists_of(parsed[1], parsed[2])
    attributes = {"context": {"dict": context_spec}, "sequence": {"dict": lists_spec}, "allow_missing": ["emb"], **more}
    case("parse_sequence_example", name, [records], call, attributes, fails)


steps("batch", [S, T], CONTEXT, LISTS, CONTEXT_SPEC, LISTS_SPEC, defaults=LABEL)
steps("one", S, CONTEXT, LISTS, CONTEXT_SPEC, LISTS_SPEC, defaults=LABEL)
steps("ragged", [S, E, T], {}, RAGGED, {}, RAGGED_SPEC)
steps("context_alone", [S, E], CONTEXT, {}, CONTEXT_SPEC, {}, defaults=LABEL)
steps("lists_alone", [T], {}, LISTS, {}, LISTS_SPEC)
steps("no_records", np.zeros(0, object), {}, LISTS, {}, LISTS_SPEC)
steps("list_lacks", [S, E], {}, LISTS, {}, LISTS_SPEC, (VALUE, '"tok"'))
steps("feature_lacks", [S, E], {"label": io.FixedLenFeature([], tf.int64)}, {}, {"label": spec("int64", [])}, {}, (VALUE, '"label"'))
steps("other_dtype", [S], {}, {"tok": io.FixedLenSequenceFeature([], tf.float32)}, {}, {"tok": spec("float32", [-1])}, (VALUE, "int64"))
steps("other_number", [S], {}, {"tok": io.FixedLenSequenceFeature([2], tf.int64)}, {}, {"tok": spec("int64", [-1, 2])}, (VALUE, "2"))
steps("other_sparse", [S], {}, {"emb": io.VarLenFeature(tf.int64)}, {}, {"emb": spec("int64", [-1, -1], "sparse")}, (VALUE, "holds"))
steps("no_message", [b"xx"], {}, {"w": io.VarLenFeature(tf.string)}, {}, {"w": spec("string", [-1, -1], "sparse")}, (VALUE, "0"))
