"""tf.profiler.experimental: what is recorded, and TensorFlow's errors."""

import gzip
import json

import pytest

import leat as tf

profiler = tf.profiler.experimental


def recorded(folder):
    (path,) = (folder / "plugins" / "profile").glob("*/*.trace.json.gz")
    with gzip.open(path, "rt") as file:
        return json.load(file)["traceEvents"]


def test_spans(tmp_path):
    dataset = tf.data.Dataset.range(100).map(lambda x: x * x).batch(10).prefetch(2)
    for _ in dataset:  # not recorded
        pass
    with profiler.Profile(str(tmp_path)):
        for step, batch in enumerate(dataset):
            with profiler.Trace("train", step_num=step, _r=1) as span:
                tf.reduce_sum(batch)
                span.set_metadata(rows=10)
    events = recorded(tmp_path)
    steps = [event for event in events if event["name"] == "train"]
    assert [event["args"] for event in steps] == [{"step_num": str(i), "_r": "1", "rows": "10"} for i in range(10)]
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in steps)
    begin = min(event["ts"] for event in steps)
    others = [event for event in events if event["ph"] == "X" and event["name"] != "train"]
    assert others and all(begin - 60e6 < event["ts"] for event in others)  # the library's own, on the same clock


def test_errors(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="profiler"):
        profiler.stop()
    profiler.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another"):
        profiler.start(str(tmp_path))
    profiler.stop(save=False)
    assert not list(tmp_path.iterdir())
    with profiler.Trace("nothing is recorded"):
        pass
    assert profiler.ProfilerOptions() == (2, 0, 1, None)
