"""What the long-lived processes of `make soak` do, turn by turn.

    turns.py KIND SOCKET FOLDER      one process: asks the supervisor (main.py) at SOCKET when to work
    turns.py job                     a worker of one of the short jobs that the kind `launch` starts

A kind is a class with `turn`, one unit of work of some tens of milliseconds, which checks what it got: a process that stays small
and gives wrong rows proves nothing. The process connects to the supervisor, and then answers each "work for so many seconds" (0:
for `short` turns) by the number of turns that it did. It never ends in between, for only what lives long can grow. Whatever raises
ends the run.
"""
import faulthandler
import gc
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from multiprocessing import connection

import numpy as np

import leat as tf

RECORDS, FILES, SIDE = 96, 3, 32


class Kind:
    """One sort of work. `begin` runs once, `turn` again and again, `more` decides whether another turn follows."""

    short = 1  # turns in a round of a run whose rounds are counted

    def __init__(self, folder):
        self.folder = folder

    def begin(self):
        """What is made once."""

    def more(self, until):
        return time.monotonic() < until

    def path(self, name):
        return os.path.join(self.folder, name)


def parse(record):
    """One record as a small picture of floats and its label."""
    row = tf.io.parse_single_example(record, {"picture": tf.io.FixedLenFeature((), tf.string),
                                              "label": tf.io.FixedLenFeature((), tf.int64)})
    picture = tf.image.resize(tf.io.decode_jpeg(row["picture"], channels=3), [SIDE, SIDE])
    return picture / 255.0, row["label"]


def write_records(folder):
    """TFRecord files of pictures of several sizes; their names."""
    random = np.random.default_rng(1)
    names = []
    for part in range(FILES):
        names.append(os.path.join(folder, "pictures-%d.tfrecord" % part))
        with tf.io.TFRecordWriter(names[-1]) as writer:
            for label in range(part, RECORDS, FILES):
                height, width = random.integers(24, 120, 2)
                picture = tf.io.encode_jpeg(random.integers(0, 255, (height, width, 3), dtype=np.uint8)).numpy()
                writer.write(tf.train.Example(features=tf.train.Features(feature={
                    "picture": tf.train.Feature(bytes_list=tf.train.BytesList(value=[picture])),
                    "label": tf.train.Feature(int64_list=tf.train.Int64List(value=[label]))})).SerializeToString())
    return names


def same(left, right):
    return all(np.array_equal(one.numpy(), other.numpy()) for one, other in zip(left, right))


class Pipeline(Kind):
    """Records to batches without end; each turn goes on in another iterator, restored from the state of the last."""

    short = 12

    def begin(self):
        dataset = tf.data.TFRecordDataset(write_records(self.folder), num_parallel_reads=2)
        dataset = dataset.map(parse, num_parallel_calls=2).shuffle(50, seed=3).repeat().batch(16).prefetch(2)
        self.dataset, self.iterator, self.count = dataset, iter(dataset), 0

    def turn(self):
        for _ in range(6):
            picture, _ = next(self.iterator)
            assert picture.shape == (16, SIDE, SIDE, 3)
        state = self.iterator.save()
        expected = next(self.iterator)  # before another iterator draws from the shared seeds
        self.count += 1
        if self.count % 4 != 0:  # else in place
            self.iterator = iter(self.dataset)
        self.iterator.restore(state)
        assert same(expected, next(self.iterator))


def small_model():
    model = tf.keras.Sequential([tf.keras.Input((8,)), tf.keras.layers.Dense(16, activation="relu"),
                                 tf.keras.layers.BatchNormalization(), tf.keras.layers.Dense(3)])
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer=tf.keras.optimizers.Adam(0.01), loss=loss, metrics=["accuracy"])
    return model


def rows(count):
    random = np.random.default_rng(2)
    return random.normal(size=(count, 8)).astype(np.float32), random.integers(0, 3, count)


class Fit(Kind):
    """A new model each time: fit, predict, a file of it, a checkpoint, and the same predictions from both."""

    short = 8

    def turn(self):
        x, y = rows(64)
        model = small_model()
        history = model.fit(x, y, epochs=2, batch_size=16, validation_split=0.25, verbose=0)
        assert len(history.history["loss"]) == 2
        expected = model.predict(x, verbose=0)
        model.save(self.path("model.keras"))
        loaded = tf.keras.models.load_model(self.path("model.keras"))
        assert np.array_equal(expected, loaded.predict(x, verbose=0))
        manager = tf.train.CheckpointManager(tf.train.Checkpoint(model=model), self.path("checkpoints"), max_to_keep=2)
        manager.save()
        other = small_model()
        tf.train.Checkpoint(model=other).restore(manager.latest_checkpoint)
        assert np.array_equal(expected, other.predict(x, verbose=0))
        model.save_weights(self.path("model.weights.h5"))
        loaded.load_weights(self.path("model.weights.h5"))


def train_together(strategy):
    """A short training of all workers; a number that is the same on all."""
    x, y = rows(64)
    dataset = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(64, seed=1).batch(16).prefetch(1)
    with strategy.scope():
        model = small_model()
    loss = model.fit(dataset, epochs=2, verbose=0).history["loss"][-1]
    assert np.isfinite(loss)
    return loss


class Workers(Kind):
    """One of two processes of a job that goes on for hours, and trains one small model after the other."""

    short = 24

    def begin(self):
        self.strategy = tf.distribute.MultiWorkerMirroredStrategy()
        self.first = self.strategy.cluster_resolver.task_id == 0

        @tf.function
        def add(value):
            return tf.distribute.get_replica_context().all_reduce(tf.distribute.ReduceOp.SUM, value)
        self.add = add

    def more(self, until):
        """Worker 0 decides by its clock, or the two would do different numbers of turns."""
        mine = 1.0 if self.first and super().more(until) else 0.0
        return float(self.strategy.run(self.add, args=(tf.constant(mine),))) > 0

    def turn(self):
        train_together(self.strategy)


def job():
    """A worker of a short job: says who it is and what it got."""
    print("pid", os.getpid(), flush=True)
    print("loss", train_together(tf.distribute.MultiWorkerMirroredStrategy()), flush=True)


class Launch(Kind):
    """A job of two processes from its start to its end, again and again."""

    def begin(self):
        self.pids = []

    def turn(self):
        tool = os.environ["SOAK_LEAT"]
        command = [tool, "launch", "--plain", "-n", "2", "--", sys.executable, "-B", os.path.abspath(__file__), "job"]
        for last in (False, True):
            done = subprocess.run(command, capture_output=True, text=True, timeout=300)
            if done.returncode == 0:
                break
            # Between the choice of a port and its use another program may take it; not twice.
            print("a job failed:", done.stderr, file=sys.stderr, flush=True)
            assert not last, done.stderr
        lines = [line.split() for line in done.stdout.splitlines()]
        self.pids += [int(value) for name, value in lines if name == "pid"]
        losses = [value for name, value in lines if name == "loss"]
        assert len(losses) == 2 and losses[0] == losses[1], done.stdout


class Abandoned(Kind):
    """Iterators with threads of all kinds, left in the middle."""

    short = 20

    def begin(self):
        names = write_records(self.folder)
        numbers = tf.data.Dataset.range(10_000)
        pictures = tf.data.TFRecordDataset(names).map(parse, num_parallel_calls=2).repeat().batch(4).prefetch(2)
        mirrored = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"]) if len(tf.config.list_logical_devices("CPU")) > 1 \
            else tf.distribute.MirroredStrategy(["CPU:0"])
        self.datasets = [
            numbers.prefetch(4),
            pictures,
            numbers.map(lambda x: x * 2, num_parallel_calls=2).shuffle(100).repeat().batch(8).prefetch(tf.data.AUTOTUNE),
            numbers.interleave(lambda x: tf.data.Dataset.range(x, x + 9).map(lambda y: y + 1), cycle_length=4,
                               num_parallel_calls=2).prefetch(2),
            tf.data.Dataset.from_generator(lambda: iter(range(1000)), output_signature=tf.TensorSpec((), tf.int64)).prefetch(2),
            tf.data.TFRecordDataset(names, num_parallel_reads=3).window(5).flat_map(lambda window: window.batch(5)).cache(),
            mirrored.experimental_distribute_dataset(numbers.batch(8)),
        ]

    def turn(self):
        kept = []
        for dataset in self.datasets:
            iterator = iter(dataset)
            next(iterator)
            next(iterator)
            kept.append(iterator)
            iter(dataset)  # one that was never asked
        if hasattr(kept[0], "cancel"):
            kept[0].cancel()


class Holder:
    """The usual form of a class of data: it keeps a dataset that calls its own methods, which makes a cycle through C."""

    def __init__(self):
        signature = tf.TensorSpec((), tf.int64)
        self.more = 1
        made = tf.data.Dataset.from_generator(self.values, output_signature=signature)
        made = made.map(lambda x: tf.py_function(self.add, [x], tf.int64), num_parallel_calls=2)
        made = made.map(lambda x: tf.numpy_function(self.add, [x], tf.int64))
        self.dataset = made.filter(self.large).batch(4).prefetch(1)
        self.function = tf.function(lambda x: tf.py_function(self.add, [x], tf.int64) + 1)
        self.iterator = iter(self.dataset)

    def values(self):
        yield from range(40)

    def add(self, x):
        return np.int64(x) + self.more

    def large(self, x):
        return x > 5


class Callbacks(Kind):
    """Generators, py_function, numpy_function and traced functions in cycles; some run to their end, some are left."""

    short = 20

    def turn(self):
        whole, left = Holder(), Holder()
        assert sum(int(tf.reduce_sum(batch)) for batch in whole.dataset) == sum(range(6, 42))
        assert int(whole.function(tf.constant(3, tf.int64))) == 5
        next(left.iterator)
        with tf.GradientTape() as tape:
            x = tf.Variable(2.0)
            y = tf.py_function(lambda value: value * value * whole.more, [x], tf.float32)
        assert float(tape.gradient(y, x)) == 4.0


class Files(Kind):
    """Caches in memory and in files, snapshots, saved datasets, and what is written again under the same name."""

    short = 2

    def turn(self):
        base = tf.data.Dataset.range(300).map(lambda x: (x, tf.cast(x, tf.float32) / 2))
        expected = list(range(300))

        def read(dataset):
            return [int(x) for x, _ in dataset]

        cached = base.cache()
        kept = base.cache(self.path("cache"))
        shots = base.snapshot(self.path("snapshot"), compression="GZIP")
        for dataset in (cached, cached, kept, kept, shots, shots):
            assert read(dataset) == expected
        for _ in range(2):
            base.save(self.path("saved"))
            assert read(tf.data.Dataset.load(self.path("saved"))) == expected
        for name in sorted(os.listdir(self.folder)):
            if name.startswith("cache"):
                os.remove(self.path(name))
        shutil.rmtree(self.path("snapshot"))
        shutil.rmtree(self.path("saved"))  # a run that was replaced stays for its readers, as in TensorFlow


KINDS = {"pipeline": Pipeline, "fit": Fit, "workers": Workers, "launch": Launch, "abandoned": Abandoned, "callbacks": Callbacks,
         "files": Files}


def serve(kind, address, folder):
    """Connects, makes the kind, and works when told to until the supervisor says so or is gone."""
    rank = json.loads(os.environ.get("TF_CONFIG", "{}")).get("task", {}).get("index", 0)
    folder = os.path.join(folder, "%s-%d" % (kind, rank))
    os.makedirs(folder, exist_ok=True)
    supervisor = connection.Client("\0" + address, family="AF_UNIX")
    supervisor.send({"kind": kind, "rank": rank, "pid": os.getpid()})
    work = KINDS[kind](folder)
    work.begin()
    supervisor.send({"ready": True})
    try:
        while (message := supervisor.recv()) is not None:
            until, turns = time.monotonic() + message, 0
            while turns < work.short if message == 0 else turns == 0 or work.more(until):
                work.turn()
                turns += 1
            gc.collect()  # what only a collection frees is no leak; when Python does it by itself depends on the other work
            pids = getattr(work, "pids", [])
            supervisor.send({"turns": turns, "pids": list(pids)})
            pids.clear()
    except EOFError:
        pass


def main():
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    logging.getLogger("leat").setLevel(logging.ERROR)
    if sys.argv[1] == "job":
        job()
    else:
        serve(*sys.argv[1:4])


if __name__ == "__main__":
    main()
