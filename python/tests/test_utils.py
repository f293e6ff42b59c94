"""leat.utils, leat.config and how plans are shown; expected values were recorded from TensorFlow 2.21."""

import builtins
import html.parser
import subprocess
import sys
import xml.etree.ElementTree

import numpy as np
import pytest

import leat as tf
from leat import utils
from leat.data import views

STEPS = [(1, [("loss", 2.0), ("acc", 0.0004)]), (2, [("loss", 1.0)]), (4, [("loss", 0.5)]), (5, [("loss", 0.25)])]


# ---- Progbar ----

def shown(monkeypatch, capsys, seconds, steps=STEPS, **arguments):
    """What a bar prints whose steps are `seconds` apart."""
    now = [1000.0]
    monkeypatch.setattr(utils.time, "time", lambda: now[0])
    bar = utils.Progbar(**arguments)
    for current, values in steps:
        now[0] += seconds
        bar.update(current, values)
    return capsys.readouterr().out


def bar(count, full, empty, rest):
    painted = f"\x1b[32m{'━' * full}\x1b[0m" if full else ""
    return f"\r\x1b[1m{count}\x1b[0m {painted}\x1b[37m{'━' * empty}\x1b[0m {rest}"


def test_progbar_prints_as_keras(monkeypatch, capsys):
    assert shown(monkeypatch, capsys, .1, target=5) == "".join([
        bar("1/5", 4, 16, "\x1b[1m0s\x1b[0m 100ms/step - loss: 2.0000 - acc: 4.0000e-04"), "\b" * 71,
        bar("2/5", 8, 12, "\x1b[1m0s\x1b[0m 100ms/step - loss: 1.5000 - acc: 4.0000e-04"), "\b" * 71,
        bar("4/5", 16, 4, "\x1b[1m0s\x1b[0m 67ms/step - loss: 1.0000 - acc: 4.0000e-04"), " ", "\b" * 70,
        bar("5/5", 20, 0, "\x1b[1m0s\x1b[0m 75ms/step - loss: 0.2500 - acc: 4.0000e-04"), "\n"])


@pytest.mark.parametrize("arguments, seconds, text", [
    (dict(target=5, verbose=2), .1, "5/5 - 0s - 75ms/step - loss: 0.2500 - acc: 4.0000e-04\n"),
    (dict(target=5, verbose=0), .1, ""),
    (dict(target=50), .00001,
     bar(" 1/50", 0, 20, "\x1b[1m0s\x1b[0m 10us/step - loss: 2.0000 - acc: 4.0000e-04")),
    (dict(target=100, interval=10), 3.,
     bar("  1/100", 0, 20, "\x1b[1m4:57\x1b[0m 3s/step - loss: 2.0000 - acc: 4.0000e-04")),
    (dict(target=None, interval=10), 2.,
     "\r      1/Unknown \x1b[1m2s\x1b[0m 2s/step - loss: 2.0000 - acc: 4.0000e-04"),
])
def test_progbar_forms(monkeypatch, capsys, arguments, seconds, text):
    assert shown(monkeypatch, capsys, seconds, **arguments) == text


def test_progbar_averages_what_it_is_told_to(monkeypatch, capsys):
    last = shown(monkeypatch, capsys, 1000., target=12, width=10, unit_name="sample").rsplit("\r", 1)[-1]
    assert "\r" + last == bar(" 5/12", 4, 6, "\x1b[1m1:27:30\x1b[0m 750s/sample - loss: 0.8500 - acc: 4.0000e-04")
    last = shown(monkeypatch, capsys, 1000., target=12, stateful_metrics=["loss"])
    assert " - loss: 0.2500 - acc: 4.0000e-04" in last and "loss: 0.8500" not in last
    last = shown(monkeypatch, capsys, 1000., target=12, stateless_metrics=["acc"])
    assert " - loss: 0.2500 - acc: 4.0000e-04" in last
    with pytest.raises(ValueError, match="`stateful_metrics`"):
        utils.Progbar(5, stateful_metrics=["a"], stateless_metrics=["b"])


def test_progbar_with_tqdm(monkeypatch, capsys):
    pytest.importorskip("tqdm")
    progress = utils.Progbar(3, tqdm=True)
    for _ in range(3):
        progress.add(1, [("loss", 0.5)])
    assert "3/3" in capsys.readouterr().err
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("tqdm"):
            raise ImportError(name)
        return real(name, *args, **kwargs)
    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match="tqdm"):
        utils.Progbar(3, tqdm=True)
    assert utils.Progbar(3, tqdm="auto")._bar is None


# ---- plans and what ran ----

def double(x):
    return x * 2


def test_plans_are_trees():
    dataset = tf.data.Dataset.zip(tf.data.Dataset.range(5).map(double), tf.data.Dataset.from_tensor_slices(
        {"a": np.zeros((5, 3))})).batch(2, drop_remainder=True)
    line = double.__code__.co_firstlineno
    assert dataset.plan() == "\n".join([
        "batch(batch_size=2, drop_remainder=True)",
        "└─ zip()",
        f"   ├─ map(map_func=double at test_utils.py:{line}, use_unbounded_threadpool=False)",
        "   │  └─ range(stop=5, output_type='int64')",
        "   └─ from_tensor_slices(tensors={a: float64[5, 3]})"])
    assert tf.data.TFRecordDataset(["x"]).plan().startswith("tf_record_dataset(filenames=['x']")


class Tags(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.names = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.names.append(tag)


def drawing(text):
    """The texts of the SVG in a page; it must be well formed."""
    root = xml.etree.ElementTree.fromstring(text[text.index("<svg"):text.index("</svg>") + 6])
    return ["".join(node.itertext()) for node in root.iter("{http://www.w3.org/2000/svg}text")]


def test_explanations_are_tables_and_drawings(capsys, tmp_path):
    dataset = tf.data.Dataset.zip(tf.data.Dataset.range(8).map(double), tf.data.Dataset.range(8)).batch(2).prefetch(3)
    found = dataset.explain()
    assert capsys.readouterr().out == str(found).rstrip() + "\n" == repr(found) + "\n"
    assert [(row["place"], row["operator"], row["elements"]) for row in found.operators] == [
        ("0", "prefetch", 4), ("0.0", "batch", 4), ("0.0.0", "zip", 8), ("0.0.0.0", "map", 8),
        ("0.0.0.0.0", "range", 8), ("0.0.0.1", "range", 8)]
    assert found.operators[0]["buffer_limit"] == 3 and found.operators[3]["callbacks"] == 0
    assert found.verdict.startswith(("bottleneck", "bound by")) and found.pipeline["seconds"] > 0
    page = found._repr_html_()
    assert Tags(page).names.count("rect") == 6
    texts = drawing(page)
    assert texts.count("range") == 2 and texts[-1] == "next" and any("4 elements" in text for text in texts)
    found.save(tmp_path / "a.svg")
    assert drawing((tmp_path / "a.svg").read_text()) == texts
    tuned = views.Explanation("table\nbottleneck: map\nautotune:\n  0.1 s: kept\n", found._metrics)
    assert tuned.verdict == "bottleneck: map"
    assert {"batch", "batch_size=2", "zip"} <= set(drawing(dataset._repr_html_()))
    iterator = iter(dataset)
    next(iterator)
    assert isinstance(iterator.explain(), str) and "prefetch" in iterator.explain()


# ---- devices ----

def test_devices():
    config = tf.config
    assert repr(config.list_physical_devices()) == "[PhysicalDevice(name='/physical_device:CPU:0', device_type='CPU')]"
    assert config.list_physical_devices("GPU") == [] == config.list_logical_devices("GPU")
    (cpu,) = config.list_physical_devices("CPU")
    one = config.LogicalDeviceConfiguration()
    assert repr(one) == ("LogicalDeviceConfiguration(memory_limit=None, experimental_priority=None, "
                         "experimental_device_ordinal=None)")
    with pytest.raises(ValueError, match="memory"):
        config.set_logical_device_configuration(cpu, [config.LogicalDeviceConfiguration(memory_limit=5)])
    with pytest.raises(ValueError, match="GPU:0"):
        config.set_logical_device_configuration(config.PhysicalDevice("/physical_device:GPU:0", "GPU"), [one])
    with pytest.raises(RuntimeError):
        config.set_visible_devices([], "CPU")
    config.set_visible_devices([], "GPU")


def test_logical_devices_in_a_process_of_their_own():
    code = """if 1:
        import leat as tf
        cpu = tf.config.list_physical_devices("CPU")[0]
        assert tf.config.get_logical_device_configuration(cpu) is None
        tf.config.set_logical_device_configuration(cpu, [tf.config.LogicalDeviceConfiguration()] * 3)
        assert len(tf.config.get_logical_device_configuration(cpu)) == 3
        print(tf.config.list_logical_devices()[2])"""
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout == "LogicalDevice(name='/device:CPU:2', device_type='CPU')\n"


def test_threads():
    threading = tf.config.threading
    assert threading.get_inter_op_parallelism_threads() == 0
    try:
        threading.set_inter_op_parallelism_threads(1)
        assert threading.get_inter_op_parallelism_threads() == 1
        assert len(list(tf.data.Dataset.range(100).map(double, num_parallel_calls=4).prefetch(2))) == 100
    finally:
        threading.set_inter_op_parallelism_threads(0)
    with pytest.raises(ValueError, match="num_threads"):
        threading.set_intra_op_parallelism_threads(-1)
