"""A training step of one's own on several devices: a model of two dense layers learns digits.

The variables are made in the strategy's scope, so each device has a copy of them; every batch is split among the
devices, and the copies stay equal. `--devices 2` splits the CPU in two.
"""

import argparse
import pathlib
from typing import Any

import numpy as np

import leat as tf

DIGITS = pathlib.Path(__file__).resolve().parents[1] / "data/digits/digits.csv"


def main() -> None:
    """Trains for some epochs and prints the mean loss of each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=1, help="how many logical devices the CPU is split into")
    parser.add_argument("--epochs", type=int, default=5)
    options = parser.parse_args()
    if options.devices > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * options.devices)

    strategy = tf.distribute.MirroredStrategy()
    print("Number of devices:", strategy.num_replicas_in_sync)

    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Dense(64, activation="relu", input_shape=(64,)),
            tf.keras.layers.Dense(10),
        ])
        optimizer = tf.keras.optimizers.Adam()
        loss_fn = tf.keras.losses.CategoricalCrossentropy(from_logits=True)

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_fn(labels, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss, predictions

    table = np.loadtxt(DIGITS, delimiter=",", skiprows=1, dtype=np.float32)
    images, labels = table[:, 1:] / 255, tf.one_hot(table[:, 0].astype(np.int32), 10)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels)).shuffle(1000).batch(32)
    distributed = strategy.experimental_distribute_dataset(dataset)

    for epoch in range(options.epochs):
        total, steps = 0.0, 0
        for images, labels in distributed:
            losses, predictions = strategy.run(train_step, args=(images, labels))
            total += strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)
            steps += 1
            if epoch == 0 and steps == 1:
                print("Predictions:", [part.shape for part in strategy.experimental_local_results(predictions)])
        print(f"Epoch {epoch + 1}, Loss: {total / steps:.4f}")


if __name__ == "__main__":
    main()
