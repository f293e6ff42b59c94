"""ResNet-50 on photographs in folders, with augmentation, on one or several devices.

The pictures of each sub-folder of FOLDER are a class; without one the digits shipped with the project are taken.
`--devices 2` splits the CPU in two.
"""

import argparse
import glob
import os
from typing import Any

import leat as tf

SIZE = 224
DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "digits", "sample")


def load_image(path: Any, label: Any) -> Any:
    """Reads the file `path`, changes the picture a little, and gives it with its label."""
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    image = tf.image.resize(image, [256, 256])
    image = tf.image.random_brightness(image, max_delta=0.2)
    image = tf.image.random_contrast(image, lower=0.8, upper=1.2)
    image = tf.image.random_flip_left_right(image)
    image = tf.image.resize(image, [SIZE, SIZE])
    return tf.cast(image, tf.float32) / 255.0, label


def main() -> None:
    """Trains for some epochs and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=DIGITS)
    parser.add_argument("--devices", type=int, default=1, help="how many logical devices the CPU is split into")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--pictures", type=int, default=8, help="so many of all at most")
    parser.add_argument("--batch-size", type=int, default=4, help="pictures of one device in a step")
    options = parser.parse_args()
    if options.devices > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * options.devices)

    classes = sorted(entry.name for entry in os.scandir(options.folder) if entry.is_dir())
    found = [(path, label) for label, name in enumerate(classes)
             for path in sorted(glob.glob(os.path.join(options.folder, name, "*.*")))]
    found = found[::max(len(found) // options.pictures, 1)][:options.pictures]
    image_paths, labels = [path for path, _ in found], [label for _, label in found]

    strategy = tf.distribute.MirroredStrategy()
    print("Number of devices:", strategy.num_replicas_in_sync)
    dataset = tf.data.Dataset.from_tensor_slices((image_paths, labels))
    dataset = dataset.map(load_image, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(buffer_size=1000)
    dataset = dataset.batch(options.batch_size * strategy.num_replicas_in_sync)
    dataset = dataset.prefetch(buffer_size=tf.data.AUTOTUNE)
    distributed = strategy.experimental_distribute_dataset(dataset)

    with strategy.scope():
        model = tf.keras.applications.ResNet50(include_top=True, weights=None, input_shape=(SIZE, SIZE, 3),
                                               classes=max(len(classes), 10))
        optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
        train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
    print(f"Parameters: {model.count_params():,}")

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_object(labels, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        train_accuracy.update_state(labels, predictions)
        return loss

    @tf.function
    def distributed_train_step(images: Any, labels: Any) -> Any:
        per_replica_losses = strategy.run(train_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)

    for epoch in range(options.epochs):
        total_loss = 0.0
        for images, labels in distributed:
            total_loss += distributed_train_step(images, labels)
        print(f"Epoch {epoch + 1}, Loss: {total_loss / len(dataset):.4f}, "
              f"Accuracy: {train_accuracy.result() * 100:.2f}")
        train_accuracy.reset_state()


if __name__ == "__main__":
    main()
