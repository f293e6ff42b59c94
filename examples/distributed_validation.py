"""Training with a validation set on several devices: each picture of the validation counts exactly once.

The pictures of each sub-folder of FOLDER are a class; without one the digits shipped with the project are taken. The
last batch of the validation set may leave a device without pictures: it takes part with nothing to count.
"""

import argparse
import glob
import os
from typing import Any

import leat as tf

SIZE = 32
DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "digits", "sample")


def load_image(path: Any, label: Any) -> Any:
    """The picture of a file, and its label."""
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.cast(tf.image.resize(image, [SIZE, SIZE]), tf.float32) / 255.0, label


def augment(image: Any, label: Any) -> Any:
    """The picture as it might have been taken, too."""
    image = tf.image.random_brightness(image, max_delta=0.2)
    image = tf.image.random_contrast(image, lower=0.8, upper=1.2)
    return image, label


def main() -> None:
    """Trains for some epochs and prints two lines for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", default=DIGITS)
    parser.add_argument("--devices", type=int, default=1, help="how many logical devices the CPU is split into")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--validation", type=int, default=45, help="pictures of the validation set")
    parser.add_argument("--batch-size", type=int, default=10, help="pictures of one device in a step")
    parser.add_argument("--resnet", action="store_true", help="ResNet-50 in place of a small network")
    options = parser.parse_args()
    if options.devices > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * options.devices)

    classes = sorted(entry.name for entry in os.scandir(options.folder) if entry.is_dir())
    found = [(path, label) for label, name in enumerate(classes)
             for path in sorted(glob.glob(os.path.join(options.folder, name, "*.*")))]
    every = max(len(found) // options.validation, 2)
    chosen = found[::every][:options.validation]
    rest = [one for one in found if one not in chosen]

    strategy = tf.distribute.MirroredStrategy()
    batch_size = options.batch_size * strategy.num_replicas_in_sync
    train_dataset = tf.data.Dataset.from_tensor_slices(([path for path, _ in rest], [label for _, label in rest]))
    train_dataset = train_dataset.map(load_image, num_parallel_calls=tf.data.AUTOTUNE).map(augment)
    train_dataset = train_dataset.shuffle(buffer_size=1000).batch(batch_size).prefetch(tf.data.AUTOTUNE)
    val_dataset = tf.data.Dataset.from_tensor_slices(([path for path, _ in chosen], [label for _, label in chosen]))
    val_dataset = val_dataset.map(load_image, num_parallel_calls=tf.data.AUTOTUNE).batch(batch_size)
    distributed_train = strategy.experimental_distribute_dataset(train_dataset)
    distributed_val = strategy.experimental_distribute_dataset(val_dataset.prefetch(tf.data.AUTOTUNE))

    with strategy.scope():
        if options.resnet:
            model = tf.keras.applications.ResNet50(include_top=True, weights=None, input_shape=(SIZE, SIZE, 3),
                                                   classes=len(classes))
        else:
            model = tf.keras.Sequential([
                tf.keras.layers.Conv2D(16, (3, 3), activation="relu", input_shape=(SIZE, SIZE, 3)),
                tf.keras.layers.MaxPooling2D((4, 4)), tf.keras.layers.Flatten(),
                tf.keras.layers.Dense(len(classes), activation="softmax")])
        optimizer = tf.keras.optimizers.Adam(learning_rate=0.01)
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
        train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")
        val_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="val_accuracy")
        counted = tf.keras.metrics.Sum(name="counted")

    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_object(labels, predictions)
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        train_accuracy.update_state(labels, predictions)
        return loss

    def val_step(images: Any, labels: Any) -> None:
        predictions = model(images, training=False)
        val_accuracy.update_state(labels, predictions)
        counted.update_state(tf.ones_like(labels, tf.float32))

    @tf.function
    def distributed_train_step(images: Any, labels: Any) -> Any:
        per_replica_losses = strategy.run(train_step, args=(images, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, per_replica_losses, axis=None)

    @tf.function
    def distributed_val_step(images: Any, labels: Any) -> None:
        strategy.run(val_step, args=(images, labels))

    for epoch in range(options.epochs):
        total_loss = 0.0
        for images, labels in distributed_train:
            total_loss += distributed_train_step(images, labels)
        for images, labels in distributed_val:
            distributed_val_step(images, labels)
        print(f"Epoch {epoch + 1}, Loss: {total_loss / len(train_dataset):.4f}, "
              f"Accuracy: {train_accuracy.result() * 100:.2f}, Validation: {val_accuracy.result() * 100:.2f} "
              f"of {int(counted.result())} pictures")
        train_accuracy.reset_state()
        val_accuracy.reset_state()
        counted.reset_state()


if __name__ == "__main__":
    main()
