"""A small convolutional network on several devices, with a metric: loss and accuracy of each epoch.

The pictures are noise, so all there is to learn is how often each label comes. `--devices 2` splits the CPU in two.
"""

import argparse
from typing import Any

import leat as tf

SIZE = 224


def load_image(path: Any, label: Any) -> Any:
    """Stands for reading the file `path`: a picture and its label."""
    image = tf.random.normal([SIZE, SIZE, 3])
    return image, label


def main() -> None:
    """Trains for some epochs and prints a line for each."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--devices", type=int, default=1, help="how many logical devices the CPU is split into")
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--pictures", type=int, default=128)
    parser.add_argument("--batch-size", type=int, default=64, help="pictures of one device in a step")
    options = parser.parse_args()
    if options.devices > 1:
        tf.config.set_logical_device_configuration(
            tf.config.list_physical_devices("CPU")[0], [tf.config.LogicalDeviceConfiguration()] * options.devices)

    strategy = tf.distribute.MirroredStrategy()
    print("Number of devices:", strategy.num_replicas_in_sync)

    image_paths = [f"image_{i}.jpg" for i in range(options.pictures)]
    labels = [i % 2 for i in range(options.pictures)]
    dataset = tf.data.Dataset.from_tensor_slices((image_paths, labels))
    dataset = dataset.map(load_image, num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.shuffle(buffer_size=1000)
    dataset = dataset.batch(options.batch_size * strategy.num_replicas_in_sync)
    dataset = dataset.prefetch(buffer_size=tf.data.AUTOTUNE)
    distributed = strategy.experimental_distribute_dataset(dataset)

    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Conv2D(32, (3, 3), activation="relu", input_shape=(SIZE, SIZE, 3)),
            tf.keras.layers.MaxPooling2D((2, 2)),
            tf.keras.layers.Conv2D(64, (3, 3), activation="relu"),
            tf.keras.layers.MaxPooling2D((2, 2)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(10, activation="softmax"),
        ])
        optimizer = tf.keras.optimizers.Adam(learning_rate=0.001)
        loss_object = tf.keras.losses.SparseCategoricalCrossentropy()
        train_accuracy = tf.keras.metrics.SparseCategoricalAccuracy(name="train_accuracy")

    @tf.function
    def train_step(images: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            predictions = model(images, training=True)
            loss = loss_object(labels, predictions)
        loss = loss / strategy.num_replicas_in_sync
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
