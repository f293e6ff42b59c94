"""Random pipelines, and random schedules of iterators over them, in which restored ones have to go on as if alone.

`trial(seed, folder)` builds a pipeline out of what is random or remembers (OPERATORS), notes what an iterator gives
after states that were saved on the way, and restores these states on fresh and used iterators, over the same dataset
and over one that was built anew, while others are opened, pulled on threads, restored and closed. It returns what went
wrong, or None.
"""

import os
import random
import threading

import leat as tf

_MOST = 60  # elements of a run
_MOST_OUTCOMES = 200  # errors are no elements
_MODES = ("auto", "positions", "data")


# ---- pipelines: everything is one int64 for each element ----

class _Maker:
    """Builds one pipeline; the same seed gives the same one."""

    def __init__(self, seed, folder):
        self.draw = random.Random(seed)
        self.folder = folder
        self.used = set()
        self.threads = False  # may the dataset not stand in two places?
        self.draws = False  # does it draw from a generator for each element?

    def seed(self):
        return self.draw.choice((None, self.draw.randrange(100)))

    def build(self):
        dataset = self.source()
        for _ in range(self.draw.randint(2, 6)):
            name = self.draw.choice(sorted(_STEPS))
            self.used.add(name)
            dataset = _STEPS[name](self, dataset)
        return dataset.take(_MOST)

    def is_certain(self):
        """Is what it gives the same each time? Random functions, and shuffles that were made outside of a function,
        over what reads ahead have drawn as much as threads came to when an epoch is cut short; what is kept of an
        epoch with errors does not have them any more."""
        if "errors" in self.used and self.used & {"snapshot", "cache"}:
            return False
        return not (self.threads and self.draws and self.used & _CUT)

    def source(self):
        name = self.draw.choice(sorted(_SOURCES))
        self.used.add(name)
        return _SOURCES[name](self)

    def small(self):
        """Another input, without what reads ahead: two that draw from one generator would race."""
        dataset = self.source()
        for name in self.draw.sample(("shuffle", "repeat", "cache", "map_random"), 2):
            self.used.add(name)
            dataset = _STEPS[name](self, dataset)
        return dataset.take(20)


def _range(m):
    return tf.data.Dataset.range(m.draw.randint(1, 9))


def _random(m):
    again = m.draw.choice((None, True, False))
    return tf.data.Dataset.random(seed=m.seed(), rerandomize_each_iteration=again).take(m.draw.randint(1, 7))


def _list_files(m):
    files = tf.data.Dataset.list_files(os.path.join(m.folder, "*.txt"), shuffle=True, seed=m.seed())
    return files.map(lambda name: tf.cast(tf.strings.to_hash_bucket_fast(
        tf.strings.split(name, "/")[-1], 1000), tf.int64))


def _tf_record(m):
    m.threads = True  # a prefetch is put over readers of files
    files = [os.path.join(m.folder, f"{i}.tfrecord") for i in range(2)]
    return tf.data.TFRecordDataset(files).map(lambda record: tf.strings.to_number(record, tf.int64))


def _csv(m):
    m.threads = True
    dataset = tf.data.experimental.make_csv_dataset(
        os.path.join(m.folder, "*.csv"), 1, num_epochs=m.draw.randint(1, 2), shuffle=True,
        shuffle_seed=m.draw.randrange(100), shuffle_buffer_size=3, column_defaults=[tf.int64])
    return dataset.map(lambda row: row["number"][0])


def _features(m):
    m.threads = True
    dataset = tf.data.experimental.make_batched_features_dataset(
        os.path.join(m.folder, "*.examples"), 1, {"n": tf.io.FixedLenFeature([], tf.int64)},
        num_epochs=m.draw.randint(1, 2), shuffle=True, shuffle_seed=m.draw.randrange(100), shuffle_buffer_size=3)
    return dataset.map(lambda row: row["n"][0])


def _global_shuffle(m):
    dataset = tf.data.Dataset.range(m.draw.randint(2, 8))
    return tf.data.experimental.global_shuffle(seed=m.seed())(dataset)


_SOURCES = {"range": _range, "random": _random, "list_files": _list_files, "tf_record": _tf_record,
            "make_csv_dataset": _csv, "make_batched_features_dataset": _features, "global_shuffle": _global_shuffle}


def _shuffle(m, dataset):
    return dataset.shuffle(m.draw.choice((1, 3, 5, 50)), seed=m.seed(),
                           reshuffle_each_iteration=m.draw.random() < 0.8)


def _shuffle_and_repeat(m, dataset):
    return tf.data.experimental.shuffle_and_repeat(m.draw.choice((2, 6)), m.draw.randint(1, 3), m.seed())(dataset)


def _repeat(m, dataset):
    return dataset.repeat(m.draw.choice((2, 3, -1))).take(_MOST)


def _snapshot(m, dataset):
    m.threads = True  # two places of a pipeline would race for the files
    return dataset.snapshot(os.path.join(m.folder, f"snapshot-{m.draw.randrange(10 ** 9)}"))


def _map_random(m, dataset):
    m.draws = True
    seed = m.draw.randrange(100)
    return dataset.map(lambda x: x * 2 + tf.random.uniform([], 0, 1000, tf.int64, seed=seed))


def _map_parallel(m, dataset):
    # Without random numbers: which call has which after an epoch that is cut short is a matter of threads.
    m.threads = True
    return dataset.map(lambda x: x * 3, num_parallel_calls=3)


def _filter_random(m, dataset):
    m.draws = True
    seed = m.draw.randrange(100)
    return dataset.filter(lambda x: tf.random.uniform([], seed=seed) < 0.8)


def _errors(m, dataset):
    def fail(x):
        tf.debugging.assert_none_equal(x % 7, tf.constant(3, tf.int64))
        return x
    return dataset.map(fail)


def _prefetch(m, dataset):
    m.threads = True
    return dataset.prefetch(m.draw.choice((1, 3, 20)))


def _inner(m):
    """A function that makes a dataset with a shuffle of its own, or hands on one that was made outside."""
    # A seed that is not given is drawn when the function makes the dataset: nobody knows it before.
    seed, which = m.draw.randrange(100), m.draw.randrange(3)
    if which == 0:
        return lambda x: tf.data.Dataset.range(4).shuffle(4, seed=seed).repeat(2).map(lambda y: y + 10 * x)
    if which == 1:
        return lambda x: tf.data.Dataset.random(seed=x).take(3)
    m.draws = True
    outside = tf.data.Dataset.range(3).shuffle(3, seed=seed)
    return lambda x: outside.map(lambda y: y + 10 * x)


def _flat_map(m, dataset):
    return dataset.flat_map(_inner(m))


def _interleave(m, dataset):
    calls = None
    return dataset.interleave(_inner(m), cycle_length=m.draw.randint(1, 3), block_length=m.draw.randint(1, 2),
                              num_parallel_calls=calls)


def _parallel_interleave(m, dataset):
    m.threads = True
    seed = m.draw.randrange(100)
    return dataset.interleave(lambda x: tf.data.Dataset.range(3).shuffle(3, seed=seed).map(lambda y: y + x),
                              cycle_length=2, num_parallel_calls=2)


def _reduce(m, dataset):
    m.draws = True
    outside = tf.data.Dataset.range(5).shuffle(5, seed=m.draw.randrange(100)).take(1)
    start = tf.constant(0, tf.int64)
    return dataset.map(lambda x: x + 100 * outside.reduce(start, lambda a, b: a * 10 + b))


def _sample(m, dataset):
    again = m.draw.choice((None, True, False))
    return tf.data.Dataset.sample_from_datasets([dataset, m.small()], weights=[0.6, 0.4], seed=m.seed(),
                                                rerandomize_each_iteration=again)


def _choose(m, dataset):
    choice = tf.data.Dataset.range(12).map(lambda x: x % 2).shuffle(12, seed=m.seed())
    return tf.data.Dataset.choose_from_datasets([dataset, m.small()], choice.repeat(3))


def _choose_twice(m, dataset):
    chosen = _choose(m, dataset)
    return chosen if m.threads else chosen.concatenate(chosen)


def _resample(m, dataset):
    initial = m.draw.choice((None, [0.5, 0.5]))
    return dataset.rejection_resample(lambda x: tf.cast(tf.abs(x) % 2, tf.int32), [0.3, 0.7], initial,
                                      seed=m.draw.randrange(100)).map(lambda label, x: x) if not m.threads else dataset


def _twice(m, dataset):
    # What reads ahead would race with its twin for the generators that both draw from.
    if m.threads:
        return dataset
    if m.draw.random() < 0.5:
        return dataset.take(9).concatenate(dataset)
    return tf.data.Dataset.zip((dataset, dataset)).map(lambda a, b: a * 3 + b)


def _batches(m, dataset):
    return dataset.batch(m.draw.randint(1, 4)).unbatch()


def _windows(m, dataset):
    return dataset.window(3, shift=m.draw.randint(1, 3)).flat_map(lambda window: window)


def _scan(m, dataset):
    return dataset.scan(tf.constant(0, tf.int64), lambda a, x: (a + 1, x + a))


_STEPS = {
    "shuffle": _shuffle, "shuffle_and_repeat": _shuffle_and_repeat, "repeat": _repeat, "map_random": _map_random,
    "cache": lambda m, dataset: dataset.cache(), "filter": _filter_random, "errors": _errors, "prefetch": _prefetch,
    "flat_map": _flat_map, "interleave": _interleave, "parallel_interleave": _parallel_interleave,
    "dataset_reduce": _reduce, "map_parallel": _map_parallel,
    "sample_from_datasets": _sample, "choose_from_datasets": _choose,
    "choose_twice": _choose_twice, "rejection_resample": _resample, "twice": _twice, "batch": _batches,
    "window": _windows, "scan": _scan, "snapshot": _snapshot,
}
_CUT = {"repeat", "shuffle_and_repeat", "choose_from_datasets", "choose_twice", "sample_from_datasets", "twice"}
OPERATORS = sorted({**_SOURCES, **_STEPS})


def write_files(folder):
    """The files that the sources read."""
    for i in range(4):
        with open(os.path.join(folder, f"{i}.txt"), "w", encoding="utf-8") as file:
            file.write(f"{i}\n")
    for i in range(2):
        with tf.io.TFRecordWriter(os.path.join(folder, f"{i}.tfrecord")) as writer:
            for k in range(4):
                writer.write(str(10 * i + k).encode())
        with open(os.path.join(folder, f"{i}.csv"), "w", encoding="utf-8") as file:
            file.write("number\n" + "".join(f"{10 * i + k}\n" for k in range(4)))
        with tf.io.TFRecordWriter(os.path.join(folder, f"{i}.examples")) as writer:
            for k in range(4):
                feature = tf.train.Feature(int64_list=tf.train.Int64List(value=[10 * i + k]))
                writer.write(tf.train.Example(
                    features=tf.train.Features(feature={"n": feature})).SerializeToString())


def make(seed, folder):
    """The pipeline of a trial: (dataset, maker)."""
    for attempt in range(100):
        tf.random.set_seed(seed)
        maker = _Maker(f"{seed} {attempt}", folder)
        dataset = maker.build()
        if maker.is_certain():
            return dataset, maker
    raise AssertionError(f"no pipeline of seed {seed}")


# ---- running ----

def pull(iterator, count):
    """Up to `count` outcomes: numbers, and errors by their class."""
    found = []
    while len(found) < count:
        try:
            found.append(int(iterator.get_next()))
        except tf.errors.OutOfRangeError:
            break
        except tf.errors.InvalidArgumentError as error:
            found.append(type(error).__name__)
    return found


def _save(iterator, mode):
    try:
        return iterator.save(mode)
    except tf.errors.FailedPreconditionError:
        return iterator.save("auto")


def _pull_on_thread(iterator, count):
    thread = threading.Thread(target=pull, args=(iterator, count))
    thread.start()
    return thread


class _Schedule:
    """One trial's iterators."""

    def __init__(self, seed, folder):
        self.draw = random.Random(seed * 7 + 1)
        self.dataset, self.maker = make(seed, folder)
        self.anew = lambda: make(seed, folder)[0]
        self.others = []
        self.threads = []

    def disturb(self, dataset):
        """Something that others do."""
        if "snapshot" in self.maker.used:
            return  # the files are everybody's
        what = self.draw.randrange(5)
        if what < 2 or not self.others:
            self.others.append(iter(dataset))
        elif what == 2:
            pull(self.draw.choice(self.others), self.draw.randint(1, 25))
        elif what == 3:
            self.others.pop(self.draw.randrange(len(self.others))).close()
        else:
            other = self.others.pop(self.draw.randrange(len(self.others)))
            self.threads.append((_pull_on_thread(other, self.draw.randint(1, 30)), other))

    def finish(self):
        for thread, other in self.threads:
            thread.join()
            other.close()
        for other in self.others:
            other.close()
        self.threads, self.others = [], []

    def record(self):
        """States of one iterator and what it gives after each: [(state, rest, its place)]."""
        for _ in range(self.draw.randrange(4)):
            self.disturb(self.dataset)
        self.finish()
        # Which of several iterators fills a cache decides what an epoch computed again reads.
        if self.draw.random() < 0.3 and not self.maker.threads and "cache" not in self.maker.used:
            return self.record_alternating()
        # Nothing else may draw from here to the end of the run.
        iterator, found, states = iter(self.dataset), [], []
        places = sorted(self.draw.randrange(_MOST) for _ in range(3)) + [_MOST]
        for place in [0] + places:
            found += pull(iterator, place - len(found))
            states.append((_save(iterator, self.draw.choice(_MODES)), len(found)))
        found += pull(iterator, _MOST_OUTCOMES - len(found))
        iterator.close()
        return [(state, found[at:], at) for state, at in states]

    def record_alternating(self):
        """The same of an iterator that takes turns with others up to its only state: what it gives when it is alone
        then."""
        iterator, found = iter(self.dataset), []
        others = [iter(self.dataset) for _ in range(2)]
        for _ in range(self.draw.randint(1, 6)):
            found += pull(iterator, self.draw.randint(0, 12))
            pull(self.draw.choice(others), self.draw.randint(1, 12))
        state, at = _save(iterator, self.draw.choice(_MODES)), len(found)
        for other in others:
            other.close()
        found += pull(iterator, _MOST_OUTCOMES - len(found))
        iterator.close()
        return [(state, found[at:], at)]

    def restored(self, dataset, states):
        """Restores one state, perhaps on an iterator that has another one, and checks what it gives in two parts."""
        state, rest, begin = self.draw.choice(states)
        iterator = iter(dataset)
        for _ in range(self.draw.randrange(3)):
            self.disturb(dataset)
        if self.draw.random() < 0.5:
            pull(iterator, self.draw.randint(1, 30))
        if self.draw.random() < 0.3:
            iterator.restore(self.draw.choice(states)[0])
            pull(iterator, self.draw.randint(0, 10))
        iterator.restore(state)
        return iterator, rest, begin

    def check(self, dataset, states):
        runs = [self.restored(dataset, states) for _ in range(self.draw.randint(1, 2))]
        found = [[] for _ in runs]
        for _ in range(3):
            for i, (iterator, rest, begin) in enumerate(runs):
                for _ in range(self.draw.randrange(3)):
                    self.disturb(dataset)
                found[i] += pull(iterator, self.draw.randint(0, 20))
                if self.draw.random() < 0.2:
                    state = _save(iterator, self.draw.choice(_MODES))
                    iterator.close()
                    iterator = iter(dataset)
                    pull(iterator, self.draw.randrange(4))
                    iterator.restore(state)
                    runs[i] = iterator, rest, begin
        wrong = []
        for i, (iterator, rest, begin) in enumerate(runs):
            found[i] += pull(iterator, _MOST_OUTCOMES)
            iterator.close()
            # A run that was given up goes on here.
            if found[i][:_MOST_OUTCOMES - begin] != rest:
                wrong.append((found[i], rest))
        self.finish()
        return wrong


def trial(seed, folder):
    """None, or (operators, found, expected) of a restored iterator that went on otherwise."""
    schedule = _Schedule(seed, folder)
    states = schedule.record()
    for dataset in (schedule.dataset, schedule.anew()):
        wrong = schedule.check(dataset, states)
        if wrong:
            return (sorted(schedule.maker.used), *wrong[0])
    return None
