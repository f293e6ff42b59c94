"""What leat of one version wrote, for all later ones to read: tests/frozen/VERSION. `frozen.py FOLDER` writes what
this one writes; do it once for each release, and never again (docs/VERSIONING.md).

What is kept names its files by paths inside of the folder, which is the current one whenever anything is read.
"""

import base64
import json
import os
import sys

import numpy as np

import leat as tf

Dataset = tf.data.Dataset
RECORDS = "records.tfrecord"


def plain(element):
    """An element as JSON can have it: lists of its tensors' values, bytes as Latin-1."""
    def value_of(tensor):
        value = tensor.to_list() if hasattr(tensor, "to_list") else np.asarray(tensor).tolist()
        return json.loads(json.dumps(value, default=lambda b: b.decode("latin-1")))

    return [value_of(tensor) for tensor in tf.nest.flatten(element)]


def pipelines():
    """Datasets whose states are kept, by name: one for each way in which a state holds a position."""
    numbers = Dataset.range(40)
    records = tf.data.TFRecordDataset([RECORDS, RECORDS])
    words = Dataset.from_tensor_slices([b"a", b"bc", b"", b"def", b"g", b"hij"])
    return {
        "batches": numbers.batch(7),
        "shuffled": numbers.shuffle(9, seed=3).batch(4),
        "reshuffled": Dataset.range(6).shuffle(6, seed=5).repeat(3),
        "random": numbers.map(lambda x: (x, tf.random.uniform([2], seed=4))),
        "records": records.shuffle(8, seed=1).map(tf.strings.length).batch(5),
        "interleaved": Dataset.range(4).interleave(
            lambda x: Dataset.from_tensors(x).repeat(5), cycle_length=3, block_length=2),
        "flat": numbers.flat_map(lambda x: Dataset.range(x % 4)),
        "windows": numbers.window(5, shift=2, drop_remainder=True).flat_map(lambda w: w.batch(5)),
        "padded": numbers.map(lambda x: tf.fill([x % 5], x)).padded_batch(6),
        "sampled": Dataset.sample_from_datasets([numbers, numbers.map(lambda x: -x)], weights=[0.7, 0.3], seed=2),
        "running": numbers.scan(np.int64(0), lambda state, x: (state + x, state * x)),
        "groups": numbers.group_by_window(lambda x: x % 3, lambda key, group: group.batch(4), window_size=4),
        "filtered": numbers.filter(lambda x: x % 3 != 1).prefetch(4),
        "in_parallel": numbers.map(lambda x: x * x, num_parallel_calls=3).prefetch(2),
        "zipped": Dataset.zip((numbers, words.repeat())).skip(3).take(20),
        "cached": numbers.cache().repeat(2),
        "unique": numbers.map(lambda x: x % 7).unique(),
    }


def write_states():
    kept = []
    for name in pipelines():
        for mode in ("auto", "data"):
            dataset = pipelines()[name]  # of its own: a second iterator shuffles in another order
            iterator = iter(dataset)
            for _ in range(3):
                next(iterator)
            try:
                state = iterator.save(mode)
            except tf.errors.UnimplementedError:
                continue
            kept.append({"name": name, "mode": mode, "plan": json.loads(dataset.to_json()),
                         "state": base64.b64encode(state).decode(), "rest": [plain(e) for e in iterator]})
    with open("states.json", "w") as file:
        file.write("[\n" + ",\n".join(json.dumps(k, separators=(",", ":")) for k in kept) + "\n]\n")


def model():
    tf.keras.utils.set_random_seed(7)
    made = tf.keras.Sequential([tf.keras.layers.Input((4,)), tf.keras.layers.Dense(3, activation="relu"),
                                tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(2)])
    made.compile(tf.keras.optimizers.Adam(0.05), "mse")
    return made


INPUTS = np.linspace(-1, 1, 24, dtype=np.float32).reshape(6, 4)
TARGETS = np.linspace(1, -2, 12, dtype=np.float32).reshape(6, 2)


def write():
    with tf.io.TFRecordWriter(RECORDS) as writer:
        for i in range(9):
            writer.write(bytes(range(i)))
    write_states()
    numbers = Dataset.range(10).map(lambda x: (x, tf.strings.as_string(x * x)))
    list(numbers.cache("cache"))
    numbers.save("saved")
    list(numbers.snapshot("snapshot"))
    made = model()
    made.fit(INPUTS, TARGETS, epochs=2, verbose=0)
    made.save("model.keras")
    made.save_weights("model.weights.h5")
    iterator = iter(numbers)
    for _ in range(4):
        next(iterator)
    tf.train.Checkpoint(model=made, iterator=iterator).write("checkpoint")
    values = {"predicted": made.predict(INPUTS, verbose=0).tolist(), "version": tf.__version__,
              "next_loss": made.fit(INPUTS, TARGETS, verbose=0).history["loss"][0]}
    with open("values.json", "w") as file:
        json.dump(values, file)


if __name__ == "__main__":
    os.makedirs(sys.argv[1])
    os.chdir(sys.argv[1])
    write()
