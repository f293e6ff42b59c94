"""``tf.data.Options``: what can be set, by whom, and when; what TensorFlow does."""

import copy
import pickle

import pytest

import leat as tf

Dataset = tf.data.Dataset


def test_fields_are_listed():
    options = tf.data.Options()
    assert {"autotune", "dataset_name", "deterministic", "experimental_deterministic", "experimental_distribute",
            "experimental_optimization", "experimental_threading", "merge", "threading"} <= set(dir(options))
    assert [name for name in dir(options.threading) if not name.startswith("_")] == [
        "max_intra_op_parallelism", "private_threadpool_size"]
    assert [name for name in dir(options.experimental_distribute) if not name.startswith("_")] == [
        "auto_shard_policy", "num_devices"]


def test_a_dataset_has_its_options_as_they_were():
    options = tf.data.Options()
    dataset = Dataset.range(3).with_options(options)
    options.deterministic = False
    options.threading.private_threadpool_size = 2
    assert dataset.options().deterministic is None
    assert dataset.options().threading.private_threadpool_size is None


@pytest.mark.parametrize("change", [
    lambda options: setattr(options, "deterministic", False),
    lambda options: setattr(options, "threading", tf.data.ThreadingOptions()),
    lambda options: setattr(options.threading, "private_threadpool_size", 3),
    lambda options: setattr(copy.deepcopy(options), "experimental_slack", True),
])
def test_what_a_dataset_says_cannot_be_changed(change):
    with pytest.raises(ValueError, match="effect"):
        change(Dataset.range(3).with_options(tf.data.Options()).map(lambda x: x).options())


def test_options_are_copied_and_pickled():
    options = tf.data.Options()
    options.deterministic = True
    options.autotune.cpu_budget = 3
    for made in (copy.deepcopy(options), copy.copy(options), pickle.loads(pickle.dumps(options))):
        assert made == options and made.autotune.cpu_budget == 3
    other = copy.deepcopy(options)
    other.autotune.cpu_budget = 4
    assert options.autotune.cpu_budget == 3


@pytest.mark.parametrize("group, field, value", [
    ("", "deterministic", 3), ("", "dataset_name", 3), ("autotune", "autotune_algorithm", 1),
    ("experimental_distribute", "auto_shard_policy", 17), ("threading", "private_threadpool_size", "a"),
    ("threading", "private_threadpool_size", True)])
def test_other_types_are_refused(group, field, value):
    options = tf.data.Options()
    with pytest.raises(TypeError, match=field):
        setattr(getattr(options, group) if group else options, field, value)


def test_only_options_are_options():
    with pytest.raises(TypeError, match="tf.data.Options"):
        Dataset.range(3).with_options(3)
