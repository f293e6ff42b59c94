"""Event files of leat's, read by the real TensorBoard."""

import numpy as np
import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.util import tensor_util

import leat as tf
import summary_programs


def read(folder):
    """(accumulator, {tag: [(step, array), ...]}) of a folder."""
    found = EventAccumulator(str(folder), size_guidance={"tensors": 0})
    found.Reload()
    return found, {tag: [(event.step, tensor_util.make_ndarray(event.tensor_proto)) for event in found.Tensors(tag)]
                   for tag in found.Tags()["tensors"]}


def plugin(found, tag):
    return found.SummaryMetadata(tag).plugin_data.plugin_name


def test_kinds(tmp_path):
    summary_programs.kinds(tf, str(tmp_path))
    found, values = read(tmp_path)
    assert [(step, float(value)) for step, value in values["loss"]] == [
        (0, 1.0), (1, 0.5), (2, pytest.approx(1 / 3))]
    assert found.SummaryMetadata("loss").summary_description == "the *loss*"
    plugins = {tag: plugin(found, tag) for tag in ("loss", "normal", "pictures", "texts", "sounds")}
    assert plugins == {"loss": "scalars", "normal": "histograms", "pictures": "images", "texts": "text",
                       "sounds": "audio"}
    data = np.random.default_rng(7).normal(size=(100, 3)).astype("f")
    counts, edges = np.histogram(data.astype(np.float64), 30)
    (_, rows), = values["normal"]
    np.testing.assert_allclose(rows[:, 0], edges[:-1], atol=1e-12)
    np.testing.assert_allclose(rows[:, 1], edges[1:], atol=1e-12)
    assert rows[:, 2].sum() == 300 and np.abs(rows[:, 2] - counts).max() <= 1
    (_, pictures), = values["pictures"]
    assert pictures[:2].tolist() == [b"3", b"4"] and all(one.startswith(b"\x89PNG") for one in pictures[2:])
    assert [step for step, _ in values["inner/sum"]] == [0, 1, 2] and len(values["sometimes"]) == 2


def test_a_training_run(tmp_path):
    summary_programs.board(tf, str(tmp_path))
    found, values = read(tmp_path / "train")
    assert [step for step, _ in values["epoch_loss"]] == [0, 1, 2]
    assert [step for step, _ in values["epoch_learning_rate"]] == [0, 1, 2]
    assert [step for step, _ in values["batch_loss"]] == [3, 6, 9, 12]
    assert [step for step, _ in values["model/dense/kernel/histogram"]] == [0, 2]
    assert plugin(found, "model/dense/kernel/image") == "images" and plugin(found, "keras") == "graph_keras_model"
    graph = found.Graph()
    names = {node.name for node in graph.node}
    assert "model/conv2d/kernel" in names and all(
        source.split(":")[0] in names for node in graph.node for source in node.input)
    _, values = read(tmp_path / "validation")
    assert set(values) == {"epoch_loss", "epoch_accuracy", "evaluation_loss_vs_iterations",
                           "evaluation_accuracy_vs_iterations"}


def test_the_graph_plugin_draws_the_model(tmp_path):
    """TensorBoard's own conversion of the configuration and of the step's graph."""
    from tensorboard.plugins.graph import keras_util
    import json
    summary_programs.board(tf, str(tmp_path))
    found, values = read(tmp_path / "train")
    conceptual = keras_util.keras_model_to_graph_def(json.loads(values["keras"][0][1].item()))
    assert {"model/conv2d", "model/flatten", "model/dense"} <= {node.name for node in conceptual.node}
    shapes = {node.name: node.attr["_output_shapes"].list.shape for node in found.Graph().node}
    argument = next(shape for name, shape in shapes.items() if name == "argument_0")
    assert [dim.size for dim in argument[0].dim][1:] == [6, 6, 1]
