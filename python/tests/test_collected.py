"""What C holds of Python in cycles: callbacks, generators, iterators with them; and what must not be collected."""

import gc
import itertools
import logging
import random
import threading
import weakref

import pytest

import leat as tf

SCALAR = tf.TensorSpec((), tf.int64)


@pytest.fixture(autouse=True)
def quiet():
    logger = logging.getLogger("leat")
    before = logger.level
    logger.setLevel(logging.ERROR)
    yield
    logger.setLevel(before)


class Data:
    """The usual form of a class of data: it keeps a dataset that calls its own methods."""

    def __init__(self, make):
        self.rows = [1, 2, 3]
        self.dataset, *self.more = make(self)

    def rows_of(self):
        yield from self.rows

    def one_more(self, x):
        return x + len(self.rows)

    def untraceable(self, x):
        return int(x.numpy()) + len(self.rows)

    def added(self, state, x):
        return state + x.numpy() * len(self.rows)


def generator(data):
    return tf.data.Dataset.from_generator(data.rows_of, output_signature=SCALAR)


def used(dataset):
    list(dataset)
    return dataset


def with_iterator(dataset):
    iterator = iter(dataset)
    next(iterator)
    return dataset, iterator


def py_function(data, x):
    return tf.py_function(data.one_more, [x], tf.int64)


def numpy_function(data, x):
    return tf.numpy_function(data.one_more, [x], tf.int64)


def step_of(function):
    function(tf.constant(1, tf.int64))
    return function


def traced(data):
    return step_of(tf.function(lambda x: py_function(data, x)))


def traced_over(data):
    iterator = iter(generator(data))

    @tf.function
    def step(x):
        return x + next(iterator)
    return step_of(step), iterator


def distributed(data, of_function):
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    if of_function:
        made = strategy.distribute_datasets_from_function(lambda context: generator(data).batch(1))
    else:
        made = strategy.experimental_distribute_dataset(generator(data).batch(1))
    iterator = iter(made)
    next(iterator)
    return made, iterator


def gradient(data):
    with tf.GradientTape() as tape:
        x = tf.Variable(2.0)
        y = tf.py_function(lambda value: value * len(data.rows), [x], tf.float32)
    return tape, y, tape.gradient(y, x)


RANGE = tf.data.Dataset.range(3)
KINDS = {
    "from_generator": lambda data: (used(generator(data)),),
    "with an iterator": lambda data: with_iterator(generator(data)),
    "with a numpy iterator": lambda data: with_iterator(generator(data).as_numpy_iterator()),
    "a run on another thread": lambda data: with_iterator(generator(data).prefetch(1)),
    "a run that does not end": lambda data: with_iterator(generator(data).repeat().prefetch(2)),
    "py_function": lambda data: (used(RANGE.map(lambda x: py_function(data, x))),),
    "numpy_function": lambda data: with_iterator(RANGE.map(lambda x: numpy_function(data, x))),
    "an untraceable map": lambda data: (used(RANGE.map(data.untraceable)),),
    "an untraceable map on threads": lambda data: with_iterator(
        RANGE.repeat().map(data.untraceable, num_parallel_calls=2).prefetch(1)),
    "an untraceable filter": lambda data: (used(RANGE.filter(lambda x: data.untraceable(x) > 3)),),
    "operators above": lambda data: with_iterator(generator(data).cache().shuffle(2).repeat(2).batch(2)),
    "joined with itself": lambda data: (lambda one: with_iterator(tf.data.Dataset.zip((one, one))))(generator(data)),
    "datasets of datasets": lambda data: with_iterator(
        RANGE.map(data.untraceable).window(2).flat_map(lambda window: window.map(data.untraceable))),
    "a dataset as an element": lambda data: with_iterator(tf.data.Dataset.from_tensors(generator(data))),
    "within a function of an operator": lambda data: (used(
        RANGE.flat_map(lambda x: tf.data.Dataset.range(x).map(lambda y: py_function(data, y)))),),
    "captured by a function": lambda data: (used(
        (lambda inner: RANGE.flat_map(lambda x: inner.take(x)))(generator(data))),),
    "tf.function": lambda data: (traced(data),),
    "tf.function over an iterator": traced_over,
    "reduce": lambda data: (generator(data), generator(data).reduce(tf.constant(0, tf.int64), data.added)),
    "a gradient through it": lambda data: (RANGE, gradient(data)),
    "distributed": lambda data: distributed(data, False),
    "distributed by a function": lambda data: distributed(data, True),
}


def left(objects):
    """How many of the objects that are only known weakly stay. What a thread is in the middle of is whole until it has
    gone on, so this waits for it."""
    for _ in range(1000):
        gc.collect()
        count = sum(one() is not None for one in objects)
        if count == 0:
            break
        threading.Event().wait(0.01)
    return count


@pytest.mark.parametrize("kind", KINDS)
def test_a_cycle_through_a_callback_is_collected(kind):
    assert left([weakref.ref(Data(KINDS[kind])) for _ in range(50)]) == 0


def test_runs_end_while_their_object_is_whole():
    ended = []

    class Whole(Data):
        def rows_of(self):
            try:
                yield from self.rows
            finally:
                ended.append(self.rows)
    seen = weakref.ref(Whole(lambda data: with_iterator(generator(data).prefetch(2))))
    assert left([seen]) == 0 and ended == [[1, 2, 3]]


@pytest.mark.parametrize("way", ["iterator", "numpy", "plan", "function", "window", "captured"])
def test_what_is_reachable_through_c_alone_stays(way):
    """All names of what owns the callback go but for one object of the library that needs it."""
    def make():
        data = Data(lambda data: (generator(data).repeat(2).map(data.untraceable),))
        dataset = data.dataset
        if way == "iterator":
            return iter(dataset.prefetch(1))
        if way == "numpy":
            return dataset.as_numpy_iterator()
        if way == "plan":
            return dataset.batch(1).unbatch()
        if way == "function":
            return tf.data.Dataset.range(2).flat_map(lambda x: dataset.take(3))
        if way == "window":
            return next(iter(tf.data.Dataset.from_tensors(dataset.repeat(1))))
        return step_of(tf.function(lambda x: dataset.reduce(x, lambda state, value: state + tf.cast(value, tf.int64))))
    kept = make()
    gc.collect()
    if way == "captured":
        assert int(kept(tf.constant(0, tf.int64))) == 30
    else:
        assert [int(x) for x in kept] == [4, 5, 6, 4, 5, 6]


def test_a_dataset_of_a_tensor_keeps_what_it_calls():
    def make():
        return Data(lambda data: (generator(data).map(data.untraceable),)).dataset._as_value()
    tensor = make()
    gc.collect()
    dataset = tf.data.DatasetSpec(tf.TensorSpec((), tf.int32))._put(iter([tensor]))
    del tensor
    gc.collect()
    assert [int(x) for x in dataset] == [4, 5, 6]


def test_datasets_that_a_callback_returns_go_with_their_elements():
    made = []

    def returned(x):
        data = Data(lambda data: (x.numpy(),))
        made.append(weakref.ref(data))
        return RANGE.map(data.untraceable)
    iterator = iter(tf.data.Dataset.range(300).flat_map(returned))
    for _ in range(899):
        next(iterator)
    gc.collect()
    assert sum(one() is not None for one in made) < 50


def test_a_callback_outlives_the_last_name_while_it_runs():
    entered, go_on, results = threading.Event(), threading.Event(), []

    class Slow(Data):
        def untraceable(self, x):
            if x.numpy() == 1:
                entered.set()
                go_on.wait(60)
            results.append(len(self.rows))
            return int(x.numpy())
    data = Slow(lambda data: with_iterator(RANGE.map(data.untraceable, num_parallel_calls=2)
                                           .prefetch(2)))
    seen = weakref.ref(data)
    assert entered.wait(60)
    del data
    gc.collect()  # the call is under way: what it uses is whole
    go_on.set()
    assert left([seen]) == 0 and set(results) == {3}


def test_objects_that_are_in_use_stay_whole_under_many_collections():
    """Random orders of making, reading and dropping, with a collection at almost every allocation."""
    draw = random.Random(7)
    before = gc.get_threshold()
    gc.set_threshold(5, 2, 2)
    try:
        alive = []
        for _ in range(150):
            kind = draw.choice(["generator", "map", "threads", "zip"])
            data = Data(lambda data, kind=kind: with_iterator({
                "generator": lambda: generator(data),
                "map": lambda: RANGE.map(data.untraceable),
                "threads": lambda: generator(data).map(data.untraceable, num_parallel_calls=2).prefetch(1),
                "zip": lambda: tf.data.Dataset.zip((generator(data), RANGE.map(data.untraceable))),
            }[kind]()))
            alive.append(draw.choice([data, data.dataset, data.more[0]]))
            del data
            if len(alive) > 6:
                one = alive.pop(draw.randrange(len(alive)))
                rows = list(one.dataset if isinstance(one, Data) else one)
                assert len(rows) == (3 if isinstance(one, (Data, tf.data.Dataset)) else 2)
    finally:
        gc.set_threshold(*before)


def test_threads_make_and_drop_cycles():
    failures, made = [], []

    def work(seed):
        try:
            kinds = [name for name in KINDS if "distributed" not in name]
            for name in itertools.islice(itertools.cycle(random.Random(seed).sample(kinds, len(kinds))), 40):
                made.append(weakref.ref(Data(KINDS[name])))
                gc.collect(seed % 3)
        except Exception as error:  # the thread's own end says nothing
            failures.append(error)
    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == [] and left(made) == 0
