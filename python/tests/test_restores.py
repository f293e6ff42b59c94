"""Restored iterators give what is left, whatever other iterators of the dataset do: random pipelines and schedules.

LEAT_RESTORES is the number of trials, LEAT_RESTORES_FROM the first one's seed.
"""

import json
import os
import subprocess
import sys

import pytest

import leat as tf
import random_restores

TRIALS = int(os.environ.get("LEAT_RESTORES", "150"))
FIRST = int(os.environ.get("LEAT_RESTORES_FROM", "0"))
Dataset = tf.data.Dataset


def numbers(iterator):
    return [int(x) for x in iterator]


def test_random_pipelines(tmp_path):
    random_restores.write_files(tmp_path)
    found = {seed: random_restores.trial(seed, tmp_path) for seed in range(FIRST, FIRST + TRIALS)}
    wrong = {seed: one for seed, one in found.items() if one is not None}
    assert wrong == {}


def test_every_operator_occurs(tmp_path):
    random_restores.write_files(tmp_path)
    used = set()
    for seed in range(300):
        used |= random_restores.make(seed, tmp_path)[1].used
    assert used == set(random_restores.OPERATORS)


def test_other_processes(tmp_path):
    """The same in a process that has only the states."""
    random_restores.write_files(tmp_path)
    seeds = [seed for seed in range(2000, 2060)]
    expected = []
    for seed in seeds:
        dataset = random_restores.make(seed, tmp_path)[0]
        random_restores.pull(iter(dataset), 5)
        iterator = iter(dataset)
        random_restores.pull(iterator, 7)
        with open(tmp_path / f"{seed}.state", "wb") as file:
            file.write(iterator.save())
        expected.append(random_restores.pull(iterator, 100))
    program = """
import json, sys
import random_restores
for seed in json.loads(sys.argv[2]):
    dataset = random_restores.make(seed, sys.argv[1])[0]
    iterator = iter(dataset)
    random_restores.pull(iterator, 3)
    with open(f"{sys.argv[1]}/{seed}.state", "rb") as file:
        iterator.restore(file.read())
    random_restores.pull(iter(dataset), 9)
    print(json.dumps(random_restores.pull(iterator, 100)))
"""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([*filter(None, sys.path), os.path.dirname(__file__)])}
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path), json.dumps(seeds)], env=environment,
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [json.loads(line) for line in done.stdout.splitlines()] == expected


def parts():
    dataset = Dataset.range(6).shuffle(6, seed=4).repeat(3)
    iterator = iter(dataset)
    head = [int(next(iterator)) for _ in range(4)]
    return dataset, head, iterator.save(), numbers(iterator)


# Recorded from TensorFlow 2.21 (tf.train.Checkpoint of an iterator, alone).
HEAD, TAIL = [1, 2, 0, 4], [3, 5, 1, 3, 4, 0, 5, 2, 0, 5, 2, 4, 3, 1]
NEXT = [2, 5, 0, 4, 1, 3, 4, 1, 3, 0, 2, 5, 4, 0, 1, 3, 2, 5]


def test_others_do_not_count():
    dataset, head, state, tail = parts()
    assert (head, tail) == (HEAD, TAIL)
    restored, other = iter(dataset), iter(dataset)
    restored.restore(state)
    for _ in range(8):
        next(other)
    assert numbers(restored) == TAIL


def test_new_iterators_go_on_behind_the_restored():
    """As in TensorFlow: they draw what comes after the state, and after each epoch of the restored one."""
    dataset, _, state, _ = parts()
    restored = iter(dataset)
    restored.restore(state)
    assert numbers(restored) == TAIL
    assert numbers(iter(dataset)) == NEXT
    restored.restore(state)
    new = iter(dataset)
    assert [int(next(new)) for _ in range(6)] == TAIL[2:8]
    assert numbers(restored) == TAIL


def test_used_iterator_over_files(tmp_path):
    """Reading ahead of the run that is given up may not draw for the one that begins."""
    for k in range(2):
        with tf.io.TFRecordWriter(str(tmp_path / f"{k}.tfrecord")) as writer:
            for i in range(20):
                writer.write(b"x" * (i + 7 * k))
    dataset = tf.data.TFRecordDataset([str(tmp_path / "0.tfrecord"), str(tmp_path / "1.tfrecord")])
    dataset = dataset.shuffle(11, seed=4).map(tf.strings.length, num_parallel_calls=4).repeat(2)
    iterator = iter(dataset)
    for _ in range(14):
        next(iterator)
    state = iterator.save()
    tail = numbers(iterator)
    for _ in range(100):
        iterator = iter(dataset)
        for _ in range(3):
            next(iterator)
        iterator.restore(state)
        assert numbers(iterator) == tail


def test_a_cache_that_others_filled():
    """The saved iterator read its own rows in the second epoch, and so does the restored one."""
    dataset = Dataset.range(6).shuffle(6, seed=4).cache().repeat(2)
    iterator = iter(dataset)
    for _ in range(3):
        next(iterator)
    state = iterator.save()
    tail = numbers(iterator)
    again = Dataset.range(6).shuffle(6, seed=4).cache().repeat(2)
    # Its first order is the saved iterator's; others keep the second one.
    first = iter(again)
    next(first)
    filler = iter(again)
    numbers(filler)
    restored = iter(again)
    restored.restore(state)
    assert numbers(restored) == tail


@pytest.mark.parametrize("mode", ["auto", "positions", "data"])
@pytest.mark.parametrize("buffer", [2, 4, 8])
def test_iterators_that_take_turns(mode, buffer):
    """What a state computes again has the seeds that the iterator drew, not those that others drew in between."""
    dataset = Dataset.range(6).shuffle(6, seed=4).repeat(3).shuffle(buffer, seed=1)
    for turns in (1, 3, 5):
        iterator, other = iter(dataset), iter(dataset)
        for _ in range(turns):
            next(iterator)
        for _ in range(2 * turns):
            next(other)
        for _ in range(9):
            next(iterator)
        next(other)
        state = iterator.save(mode)
        # Nothing else draws from here on.
        tail = numbers(iterator)
        restored = iter(dataset)
        next(restored)
        restored.restore(state)
        again = restored.save(mode)
        assert numbers(restored) == tail
        restored.restore(again)
        assert numbers(restored) == tail


def test_a_cache_that_was_filled_in_turns():
    """Others cannot compute its rows again from positions."""
    def make():
        return Dataset.range(6).shuffle(6, seed=4).repeat(3).cache()
    dataset = make()
    filler, other = iter(dataset), iter(dataset)
    rows = [int(next(filler)) for _ in range(5)]
    for _ in range(8):
        next(other)
    rows += numbers(filler)
    state = iter(dataset).save()
    assert numbers(iter(dataset)) == rows
    restored = iter(make())
    restored.restore(state)
    assert numbers(restored) == rows


@pytest.mark.parametrize("mode", ["auto", "data"])
@pytest.mark.parametrize("last", [lambda d: d.cache(), lambda d: d.shuffle(9, seed=2), lambda d: d.prefetch(1)])
def test_a_cache_that_two_places_filled_at_once(mode, last):
    """Both found it empty, and so drew an order each; whoever computes that again finds it full by then."""
    def make():
        dataset = Dataset.range(6).shuffle(6, seed=4).cache().shuffle(3, seed=5)
        return last(Dataset.zip((dataset, dataset)).map(lambda a, b: 10 * a + b))
    for count in range(7):
        dataset = make()
        iterator = iter(dataset)
        for _ in range(count):
            next(iterator)
        states = [iterator.save(mode)]
        tails = [numbers(iterator)]
        # What is kept by now is what comes of the next iterators.
        iterator = iter(dataset)
        states.append(iterator.save(mode))
        tails.append(numbers(iterator))
        for state, tail in zip(states, tails):
            restored = iter(make())
            restored.restore(state)
            assert numbers(restored) == tail


def test_states_of_one_snapshot(tmp_path):
    """Of two iterators that go on from states of one unfinished run the first one writes; a state whose files were
    given up for an earlier one's goes on without writing."""
    for is_open in (True, False):
        dataset = Dataset.range(20).snapshot(str(tmp_path / str(is_open)))
        iterator, states = iter(dataset), []
        for count in (3, 4):
            for _ in range(count):
                next(iterator)
            states.append(iterator.save())
        iterator.close()
        early, late = iter(dataset), iter(dataset)
        early.restore(states[0])
        found = [int(next(early)) for _ in range(6)]
        if is_open:
            late.restore(states[1])
            assert found + numbers(early) == list(range(3, 20))
        else:
            early.close()
            late.restore(states[1])
        assert numbers(late) == list(range(7, 20))
        for _ in range(2):
            assert numbers(iter(dataset)) == list(range(20))


@pytest.mark.parametrize("mode", ["auto", "positions", "data"])
def test_a_checkpoint_of_a_used_iterator(tmp_path, mode):
    dataset, _, _, _ = parts()
    iterator = iter(dataset)
    for _ in range(4):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "c"))
    tail = numbers(iterator)
    other = iter(dataset)
    next(other)
    tf.train.Checkpoint(iterator=iterator).restore(path)
    numbers(other)
    iterator.restore(iterator.save(mode))
    assert numbers(iterator) == tail


def test_what_is_refused_changes_nothing():
    dataset, _, state, tail = parts()
    iterator = iter(dataset)
    iterator.restore(state)
    with pytest.raises(tf.errors.FailedPreconditionError, match="fingerprint"):
        iterator.restore(iter(Dataset.range(3)).save())
    with pytest.raises(tf.errors.DataLossError, match="checksum"):
        iterator.restore(state[:-1] + b"?")
    assert numbers(iterator) == tail


def test_what_fails_half_way_changes_nothing(tmp_path):
    """The state is of this plan, but a file that it stands in is gone."""
    for k in range(2):
        (tmp_path / f"{k}.txt").write_text("".join(f"{10 * k + i}\n" for i in range(4)))
    files = [str(tmp_path / f"{k}.txt") for k in range(2)]
    dataset = tf.data.TextLineDataset(files).map(lambda line: tf.strings.to_number(line, tf.int64))
    # What reads ahead would stand in a place of its own.
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = False
    dataset = dataset.shuffle(3, seed=1).with_options(options)
    iterator = iter(dataset)
    states = [iterator.save()]
    head = [int(next(iterator)) for _ in range(2)]
    late = iter(dataset)
    numbers_of_late = [int(next(late)) for _ in range(6)]
    states.append(late.save("positions"))
    os.rename(files[1], files[1] + ".gone")
    with pytest.raises(tf.errors.OpError):
        iterator.restore(states[1])
    os.rename(files[1] + ".gone", files[1])
    assert sorted(head + numbers(iterator)) == [0, 1, 2, 3, 10, 11, 12, 13] and len(numbers_of_late) == 6


def test_a_closed_iterator_is_restored():
    dataset, _, state, tail = parts()
    iterator = iter(dataset)
    iterator.close()
    iterator.restore(state)
    assert numbers(iterator) == tail
