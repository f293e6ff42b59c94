#!/usr/bin/env python3
"""Record small checkpoints of TensorFlow's into tests/checkpoints: python with TensorFlow 2.21, in the repository's root.

What they hold stands as literals in python/tests/test_checkpoint_files.py and src/file/bundle_test.c.
"""
import os

import numpy as np
import tensorflow as tf

FOLDER = os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))), "tests", "checkpoints")


class Net(tf.Module):
    """Attributes, a list, a dictionary and a tuple of variables."""

    def __init__(self):
        super().__init__()
        self.b = tf.Variable(1.5)
        self.same = self.b
        self.c = [tf.Variable([2, 3])]
        self.d = {"x/y": tf.Variable(4, dtype=tf.int64)}
        self.t = (tf.Variable(True),)


def keras_model():
    """A model and its optimizer after two steps with gradients of one."""
    model = tf.keras.Sequential([tf.keras.Input((2,)), tf.keras.layers.Dense(2), tf.keras.layers.BatchNormalization(),
                                 tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1)])
    optimizer = tf.keras.optimizers.Adam(0.5)
    for number, weight in enumerate(model.weights):
        weight.assign(tf.fill(weight.shape, float(number)))
    for _ in range(2):
        optimizer.apply_gradients([(tf.ones(v.shape), v) for v in model.trainable_variables])
    return model, optimizer


def main():
    """Writes them."""
    os.makedirs(FOLDER, exist_ok=True)
    tf.train.Checkpoint(net=Net()).save(os.path.join(FOLDER, "module"))
    tf.train.Checkpoint(v=tf.Variable(["a", "bé", b"x\x00"]), w=tf.Variable(b"x\x00y"), e=tf.Variable(np.zeros((0, 2), object)),
                        n=tf.Variable(3.0)).write(os.path.join(FOLDER, "strings"))
    os.remove(os.path.join(FOLDER, "checkpoint"))
    mixed = {"half": tf.Variable([1.5, -2], dtype=tf.float16), "brain": tf.Variable([1.5, -2], dtype=tf.bfloat16),
             "text": tf.Variable([["", "leat"], ["a\0b", "\u00e9"]]), "whole": tf.Variable(1 + 2j),
             "small": tf.Variable([3 - 4j], dtype=tf.complex64), "empty": tf.Variable(tf.zeros([0, 3])),
             "truth": tf.Variable([True, False])}
    tf.train.Checkpoint(**mixed).write(os.path.join(FOLDER, "mixed"))
    model, optimizer = keras_model()
    tf.train.Checkpoint(model=model, optimizer=optimizer).write(os.path.join(FOLDER, "keras"))


if __name__ == "__main__":
    main()
