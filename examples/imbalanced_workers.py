"""Classes of different frequency, learned on one or several workers: the loss of a rare class weighs more.

Alone this is one worker. As two processes of one job, each of which trains on half of every batch:

    leat launch -n 2 -- python examples/imbalanced_workers.py

All workers print the same losses, and one worker alone prints them too: a global batch has 32 rows, however many
replicas share it.
"""

from typing import Any

import numpy as np

import leat as tf

ROWS, FEATURES, CLASSES, BATCH = 320, 4, 3, 32
FREQUENCIES = [0.7, 0.25, 0.05]
CLASS_WEIGHTS = [0.5, 1.3, 6.7]


def make_rows() -> tuple[Any, Any]:
    """Points around one centre for each class, and their classes, most of them the first."""
    random = np.random.default_rng(7)
    labels = random.choice(CLASSES, size=ROWS, p=FREQUENCIES)
    centres = random.normal(size=(CLASSES, FEATURES)) * 2
    return (centres[labels] + random.normal(size=(ROWS, FEATURES))).astype(np.float32), labels.astype(np.int64)


def scale(features: Any, label: Any) -> tuple[Any, Any]:
    """What is done once for each row, in front of the cache."""
    return features / 2.0, label


def one_hot(features: Any, labels: Any) -> tuple[Any, Any]:
    """The labels of a batch as the loss takes them."""
    return features, tf.one_hot(labels, CLASSES)


def main() -> None:
    """Trains on 100 repetitions of each batch and prints the loss of every hundredth step."""
    tf.keras.utils.set_random_seed(3)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    print("Number of replicas:", strategy.num_replicas_in_sync)

    dataset = tf.data.Dataset.from_tensor_slices(make_rows())
    dataset = dataset.map(scale, num_parallel_calls=tf.data.AUTOTUNE).cache().shuffle(ROWS, seed=5)
    dataset = dataset.batch(BATCH, drop_remainder=True).map(one_hot)
    dataset = dataset.apply(tf.data.experimental.parallel_interleave(
        lambda features, labels: tf.data.Dataset.from_tensors((features, labels)).repeat(100), cycle_length=10))
    distributed = strategy.experimental_distribute_dataset(dataset.prefetch(tf.data.AUTOTUNE))

    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu", input_shape=(FEATURES,)),
                                     tf.keras.layers.Dense(CLASSES)])
        optimizer = tf.keras.optimizers.Adam(0.003)
        loss_fn = tf.keras.losses.CategoricalCrossentropy(from_logits=True, reduction="none")

    def train_step(features: Any, labels: Any) -> Any:
        with tf.GradientTape() as tape:
            predictions = model(features, training=True)
            weights = tf.reduce_sum(labels * CLASS_WEIGHTS, axis=1)
            loss = tf.reduce_sum(loss_fn(labels, predictions) * weights) / BATCH
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    @tf.function
    def distributed_step(features: Any, labels: Any) -> Any:
        losses = strategy.run(train_step, args=(features, labels))
        return strategy.reduce(tf.distribute.ReduceOp.SUM, losses, axis=None)

    steps = 0
    for features, labels in distributed:
        loss = distributed_step(features, labels)
        steps += 1
        if steps == 1 or steps % 100 == 0:
            print(f"Step {steps}, Loss: {float(loss):.5f}")


if __name__ == "__main__":
    main()
