"""`fit` on a dataset, in three ways that people write it: mapped and batched; shuffled after batching; so many steps.

    fit_dataset.py plain       the pictures are loaded as they are needed; what each operator holds is shown
    fit_dataset.py shuffled    shuffled after batching, a common mistake: leat says so, once
    fit_dataset.py steps       epochs of 20 steps over more data than there is room for, which go on in the stream

FOLDER has pictures in sub-folders, the classes; without one the digits shipped with the project are taken.
"""

import argparse
import glob
import os
from typing import Any

import leat as tf

SIZE = 64
DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "data", "digits", "sample")


def load_image(path: Any, label: Any) -> Any:
    """The picture of a file, and its label."""
    image = tf.image.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.cast(tf.image.resize(image, [SIZE, SIZE]), tf.float32) / 255.0, label


def compiled(classes: int) -> Any:
    """A small network."""
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(8, (3, 3), activation="relu", input_shape=(SIZE, SIZE, 3)),
        tf.keras.layers.MaxPooling2D((4, 4)), tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(classes, activation="softmax")])
    model.compile(optimizer="adam", loss="sparse_categorical_crossentropy", metrics=["accuracy"])
    return model


def peak_megabytes() -> float:
    """The most memory that the process had so far; getrusage would count that of the program that started it, too."""
    with open("/proc/self/status", encoding="ascii") as status:
        line = next(line for line in status if line.startswith("VmHWM:"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Trains in the way that was chosen."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("way", nargs="?", choices=["plain", "shuffled", "steps"], default="plain")
    parser.add_argument("folder", nargs="?", default=DIGITS)
    parser.add_argument("--epochs", type=int, default=2)
    parser.add_argument("--limit", type=int, default=1500, help="megabytes that `steps` may take")
    options = parser.parse_args()
    classes = sorted(entry.name for entry in os.scandir(options.folder) if entry.is_dir())
    found = [(path, label) for label, name in enumerate(classes)
             for path in sorted(glob.glob(os.path.join(options.folder, name, "*.*")))]
    dataset = tf.data.Dataset.from_tensor_slices(([path for path, _ in found], [label for _, label in found]))
    model = compiled(len(classes))

    if options.way == "plain":
        dataset = dataset.map(load_image).batch(32)
        model.fit(dataset, epochs=options.epochs, verbose=2)
        iterator: Any = iter(dataset)
        next(iterator)
        print(iterator.explain())
    elif options.way == "shuffled":
        dataset = dataset.map(load_image).batch(32).shuffle(100)
        model.fit(dataset, epochs=options.epochs, verbose=2)
    else:
        strategy = tf.distribute.MirroredStrategy()
        steps, count = 20, len(found)
        copies = options.limit * 2**20 // (count * SIZE * SIZE * 3 * 4) + 1  # more than fits into the limit
        dataset = dataset.repeat(copies).map(load_image, num_parallel_calls=tf.data.AUTOTUNE)
        dataset = dataset.batch(32).prefetch(tf.data.AUTOTUNE)
        with strategy.scope():
            model = compiled(len(classes))
        model.fit(strategy.experimental_distribute_dataset(dataset), epochs=options.epochs, steps_per_epoch=steps,
                  verbose=2)
        print(f"{int(model.optimizer.iterations)} steps over {copies * count} pictures, peak below the limit:",
              peak_megabytes() < options.limit)


if __name__ == "__main__":
    main()
