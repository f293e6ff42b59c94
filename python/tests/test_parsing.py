"""Batches of Examples and SequenceExamples, at once and in traced functions; values were recorded from TensorFlow."""

import numpy as np
import pytest

import leat as tf

Rows = tf.io.RaggedFeature


def feature(values):
    if not values:
        return tf.train.Feature()
    kind = {bytes: ("bytes_list", tf.train.BytesList), int: ("int64_list", tf.train.Int64List),
            float: ("float_list", tf.train.FloatList)}[type(values[0])]
    return tf.train.Feature(**{kind[0]: kind[1](value=values)})


def features(values):
    return tf.train.Features(feature={key: feature(value) for key, value in values.items()})


def example(**values):
    return tf.train.Example(features=features(values)).SerializeToString()


def sequence(context, lists):
    lists = {key: tf.train.FeatureList(feature=[feature(step) for step in steps]) for key, steps in lists.items()}
    return tf.train.SequenceExample(context=features(context), feature_lists=tf.train.FeatureLists(
        feature_list=lists)).SerializeToString()


RECORDS = [
    example(i=[3, 1], v=[1., 2.], r=[5, 6, 7, 8], rl=[1, 2, 1], rs=[0, 1, 3, 4], rv=[0, 1, 1, 2],
            st=[0, 1, 3], li=[1, 3, 4]),
    example(i=[0], v=[4.], r=[9], rl=[1], rs=[0, 1], rv=[0], st=[0], li=[1]), example()]
KINDS = {
    "dense": tf.io.FixedLenSequenceFeature([], tf.int64, allow_missing=True, default_value=-1),
    "fixed": tf.io.FixedLenFeature([], tf.string, default_value="none"),
    "sparse": tf.io.SparseFeature("i", "v", tf.float32, 10),
    "lengths": Rows(tf.int64, "r", [Rows.RowLengths("rl")]), "splits": Rows(tf.int64, "r", [Rows.RowSplits("rs")]),
    "ids": Rows(tf.int64, "r", [Rows.ValueRowIds("rv")]), "starts": Rows(tf.int64, "r", [Rows.RowStarts("st")]),
    "limits": Rows(tf.int64, "r", [Rows.RowLimits("li")]), "whole": Rows(tf.int64, "r")}
CUT = [[[5], [6, 7], [8]], [[9]], []]


def as_lists(found):
    """Python values of the kinds above."""
    out = {key: value.to_list() if isinstance(value, tf.RaggedTensor) else value for key, value in found.items()}
    for key, value in out.items():
        if isinstance(value, tf.SparseTensor):
            out[key] = tuple(part.numpy().tolist() for part in (value.indices, value.values, value.dense_shape))
        elif isinstance(value, tf.Tensor):
            found = value.numpy()
            out[key] = found.tolist() if hasattr(found, "tolist") else found
    return out


EXPECTED = {"dense": [[], [], []], "fixed": [b"none"] * 3,
            "sparse": ([[0, 1], [0, 3], [1, 0]], [2., 1., 4.], [3, 10]), "whole": [[5, 6, 7, 8], [9], []],
            **dict.fromkeys(["lengths", "splits", "ids", "starts", "limits"], CUT)}


def test_a_batch_of_every_kind():
    assert as_lists(tf.io.parse_example(RECORDS, KINDS)) == EXPECTED


def test_a_batch_within_a_traced_function(caplog):
    batches = tf.data.Dataset.from_tensor_slices(RECORDS).batch(3).map(lambda many: tf.io.parse_example(many, KINDS))
    assert not caplog.records  # no call of Python for each batch
    assert as_lists(next(iter(batches))) == EXPECTED
    assert batches.element_spec["fixed"] == tf.TensorSpec([None], tf.string)
    assert batches.element_spec["whole"] == tf.RaggedTensorSpec([None, None], tf.int64, 1, tf.int32)


def test_one_record_within_a_traced_function(caplog):
    ones = tf.data.Dataset.from_tensor_slices(RECORDS).map(lambda one: tf.io.parse_single_example(one, KINDS))
    assert not caplog.records
    found = as_lists(next(iter(ones)))
    assert found["sparse"] == ([[1], [3]], [2., 1.], [10]) and found["fixed"] == b"none" and found["dense"] == []
    assert found["lengths"] == CUT[0] and found["whole"] == [5, 6, 7, 8]


def test_rows_of_one_length():
    pairs = {"x": Rows(tf.int64, "r", [Rows.UniformRowLength(2)])}
    assert tf.io.parse_single_example(RECORDS[0], pairs)["x"].numpy().tolist() == [[5, 6], [7, 8]]
    assert tf.io.parse_example(RECORDS[:1], pairs)["x"].to_list() == [[[5, 6], [7, 8]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="multiple"):
        tf.io.parse_example(RECORDS[:2], pairs)
    nested = {"x": Rows(tf.int64, "r", [Rows.RowLengths("l"), Rows.UniformRowLength(1)])}
    assert tf.io.parse_example([example(r=[1, 2, 3], l=[2, 1])], nested)["x"].to_list() == [[[[1], [2]], [[3]]]]


def test_more_features_than_one_operation_has_outputs():
    names = [f"f{i:03}" for i in range(150)]
    record = example(**{name: [i] for i, name in enumerate(names)})
    found = tf.io.parse_example([record, record], {name: tf.io.VarLenFeature(tf.int64) for name in names})
    assert list(found) == names
    assert [found[name].values.numpy().tolist() for name in names] == [[i, i] for i in range(150)]
    batches = tf.data.Dataset.from_tensors([record, record]).apply(tf.data.experimental.parse_example_dataset(
        {name: tf.io.VarLenFeature(tf.int64) for name in names}))
    found = next(iter(batches))
    assert [found[name].values.numpy().tolist() for name in names] == [[i, i] for i in range(150)]


SEQUENCES = [sequence({"label": [3], "v": [1., 2.]}, {"tok": [[1], [2], [3]], "w": [[b"a"], [b"b", b"c"], []]}),
             sequence({"label": [4]}, {"tok": [[9]], "w": []})]
CONTEXT = {"label": tf.io.FixedLenFeature([], tf.int64), "v": Rows(tf.float32)}
LISTS = {"tok": tf.io.FixedLenSequenceFeature([], tf.int64), "w": Rows(tf.string)}


def test_sequences():
    context, lists, lengths = tf.io.parse_sequence_example(SEQUENCES, CONTEXT, LISTS)
    assert as_lists(context) == {"label": [3, 4], "v": [[1., 2.], []]}
    assert as_lists(lists) == {"tok": [[1, 2, 3], [9, 0, 0]], "w": [[[b"a"], [b"b", b"c"], []], []]}
    assert as_lists(lengths) == {"tok": [3, 1]}
    context, lists = tf.io.parse_single_sequence_example(SEQUENCES[0], CONTEXT, LISTS)
    assert as_lists(context) == {"label": 3, "v": [1., 2.]}
    assert as_lists(lists) == {"tok": [1, 2, 3], "w": [[b"a"], [b"b", b"c"], []]}


def test_sequences_within_a_traced_function(caplog):
    ones = tf.data.Dataset.from_tensor_slices(SEQUENCES).map(
        lambda one: tf.io.parse_single_sequence_example(one, CONTEXT, LISTS))
    assert not caplog.records
    assert [as_lists(lists)["tok"] for _, lists in ones] == [[1, 2, 3], [9]]


@pytest.mark.parametrize("context, lists, kind, text", [
    (None, None, ValueError, "`sequence_features`"),
    ({"a": tf.io.FixedLenSequenceFeature([], tf.int64)}, None, ValueError, "FixedLenSequenceFeature"),
    (None, {"a": tf.io.FixedLenFeature([], tf.int64)}, ValueError, "FixedLenFeature"),
    (None, {"a": tf.io.FixedLenSequenceFeature([], tf.int64, True, 7)}, ValueError, "None"),
    (None, {"q": tf.io.FixedLenSequenceFeature([], tf.int64)}, tf.errors.InvalidArgumentError, '"q"'),
])
def test_sequences_refuse(context, lists, kind, text):
    with pytest.raises(kind, match=text):
        tf.io.parse_sequence_example(SEQUENCES, context, lists)


def test_batches_name_the_record_that_fails():
    batches = tf.data.Dataset.from_tensor_slices(RECORDS).batch(3).map(
        lambda many: tf.io.parse_example(many, {"r": tf.io.FixedLenFeature([4], tf.int64)}))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\br\b") as caught:
        next(iter(batches))
    assert caught.value.element == 0


def test_records_without_anything():
    found = tf.io.parse_example(np.zeros(0, object), {"r": tf.io.VarLenFeature(tf.int64)})
    assert found["r"].dense_shape.numpy().tolist() == [0, 0]
