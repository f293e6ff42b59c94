"""Preprocessing that is paid for once: pictures are resized and converted in the first epoch, and cached.

`prefetch` lets the pipeline work while the devices train. `--devices 2` splits the CPU in two.
"""

import argparse
import pathlib
from typing import Any

import numpy as np

import leat as tf

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "data/digits/digits.csv"
SIZE = 224


def preprocess(image: Any, label: Any) -> Any:
    """A picture of 224x224 with three channels, of floats, and its label."""
    image = tf.image.resize(image, [SIZE, SIZE])
    return tf.cast(image, tf.float32) / 255.0, label


def make_dataset(pictures: int, batch_size: int) -> tf.data.Dataset:
    """The first so many digits as pictures with labels, in batches."""
    table = np.loadtxt(DIGITS, delimiter=",", skiprows=1, max_rows=pictures, dtype=np.float32)
    images = np.repeat(table[:, 1:].reshape(-1, 8, 8, 1), 3, axis=3)
    labels = tf.one_hot(table[:, 0].astype(np.int32), 10)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    return (dataset.map(preprocess, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(1000).batch(batch_size)
            .prefetch(tf.data.AUTOTUNE))


def main() -> None:
    """Trains for some epochs and prints the mean loss of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=1, help="how many logical devices the CPU is split into")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--pictures", type=int, default=96)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()
    if options.devices > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * options.devices)

    strategy = tf.distribute.MirroredStrategy()
    print("Number of devices:", strategy.num_replicas_in_sync)

    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Flatten(input_shape=(SIZE, SIZE, 3)),
            tf.keras.layers.Dense(8, activation="relu"),
            tf.keras.layers.Dense(10),
        ])
        optimizer = tf.keras.optimizers.Adam(0.00001)
        loss_fn = tf.keras.losses.CategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_fn(labels, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss, predictions

    distributed = strategy.experimental_distribute_dataset(make_dataset(options.pictures, options.batch_size))
    for epoch in range(options.epochs):
        total, steps = 0.0, 0
        for images, labels in distributed:
            losses, _ = strategy.run(train_step, args=(images, labels))
            total += strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
            steps += 1
        print(f"Epoch {epoch + 1}, Loss: {total / steps:.4f}")


if __name__ == "__main__":
    main()
