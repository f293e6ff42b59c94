"""Pipelines of Examples against the values that were written."""

import numpy as np

import leat as tf


def write(path, count):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i in range(count):
            features = {
                "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[i])),
                "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"w"] * (i % 3))),
                "x": tf.train.Feature(float_list=tf.train.FloatList(value=[i, i + 0.5])),
            }
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())


FEATURES = {"label": tf.io.FixedLenFeature([], tf.int64), "x": tf.io.FixedLenFeature([2], tf.float32),
            "words": tf.io.VarLenFeature(tf.string)}


def test_batches_of_examples_are_parsed(tmp_path):
    write(tmp_path / "a.tfrecord", 5)
    dataset = tf.data.TFRecordDataset(str(tmp_path / "a.tfrecord")).batch(2)
    batches = list(dataset.apply(tf.data.experimental.parse_example_dataset(FEATURES)))
    assert [batch["label"].numpy().tolist() for batch in batches] == [[0, 1], [2, 3], [4]]
    np.testing.assert_array_equal(batches[1]["x"].numpy(), [[2, 2.5], [3, 3.5]])
    assert batches[0]["words"].indices.numpy().tolist() == [[1, 0]]


def test_files_of_examples_become_batches_with_labels(tmp_path):
    write(tmp_path / "a.tfrecord", 4)
    dataset = tf.data.experimental.make_batched_features_dataset(
        str(tmp_path / "*.tfrecord"), 2, FEATURES, label_key="label", num_epochs=1, shuffle=False)
    found = [(features["x"].numpy().tolist(), label.numpy().tolist()) for features, label in dataset]
    assert found == [([[0, 0.5], [1, 1.5]], [0, 1]), ([[2, 2.5], [3, 3.5]], [2, 3])]
