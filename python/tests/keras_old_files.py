"""Models in HDF5 files as Keras 2 wrote them: its names of arguments, its nodes, texts of equal length."""

import json

import h5py
import numpy as np


def layer(kind, name, nodes=None, **config):
    made = {"class_name": kind, "config": {"name": name, "trainable": True, "dtype": "float32", **config}}
    return made if nodes is None else {**made, "name": name, "inbound_nodes": nodes}


def start(name, shape, **nodes):
    made = {"class_name": "InputLayer", "config": {"batch_input_shape": [None, *shape], "dtype": "float32",
                                                   "sparse": False, "ragged": False, "name": name}}
    return {**made, "name": name, "inbound_nodes": []} if nodes else made


def dense(name, units, nodes=None, **config):
    return layer("Dense", name, nodes, units=units, use_bias=True, **{
        "activation": "linear", "kernel_initializer": {"class_name": "GlorotUniform", "config": {"seed": None}},
        "bias_initializer": {"class_name": "Zeros", "config": {}}, "kernel_regularizer": None,
        "bias_regularizer": None, "activity_regularizer": None, "kernel_constraint": None, "bias_constraint": None,
        **config})


NORM = {"axis": [1], "momentum": 0.9, "epsilon": 0.01, "center": True, "scale": True,
        **{f"{name}_initializer": {"class_name": kind, "config": {}} for name, kind in (
            ("beta", "Zeros"), ("gamma", "Ones"), ("moving_mean", "Zeros"), ("moving_variance", "Ones"))},
        **dict.fromkeys(("beta_regularizer", "gamma_regularizer", "beta_constraint", "gamma_constraint"))}
FUNCTIONAL = {"class_name": "Functional", "config": {
    "name": "model", "layers": [
        start("x", [3], is_node=True),
        dense("middle", 4, [[["x", 0, 0, {}]]], activation="relu",
              kernel_regularizer={"class_name": "L2", "config": {"l2": 0.01}}),
        layer("BatchNormalization", "norm", [[["middle", 0, 0, {}]]], **NORM),
        layer("Add", "add", [[["middle", 0, 0, {}], ["norm", 0, 0, {}]]]),
        dense("end", 2, [[["add", 0, 0, {}]]], activation="softmax")],
    "input_layers": [["x", 0, 0]], "output_layers": [["end", 0, 0]]}}
SEQUENTIAL = {"class_name": "Sequential", "config": {"name": "sequential", "layers": [
    start("embedding_input", [5]),
    layer("Embedding", "embedding", batch_input_shape=[None, 5], input_dim=7, output_dim=3, input_length=5,
          embeddings_initializer={"class_name": "RandomUniform", "config": {"minval": -0.05, "maxval": 0.05,
                                                                            "seed": None}},
          embeddings_regularizer=None, activity_regularizer=None, embeddings_constraint=None, mask_zero=False),
    layer("Flatten", "flatten", data_format="channels_last"), dense("dense", 2)]}}
TRAINING = {"loss": "mean_squared_error", "metrics": [["accuracy"]], "weighted_metrics": None, "loss_weights": None,
            "optimizer_config": {"class_name": "Adam", "config": {
                "name": "Adam", "learning_rate": 0.002, "decay": 0.0, "beta_1": 0.9, "beta_2": 0.999, "epsilon": 1e-07,
                "amsgrad": False}}}
WEIGHTS = {"functional": [("x", []), ("middle", [("kernel:0", (3, 4)), ("bias:0", (4,))]),
                          ("norm", [(f"{name}:0", (4,)) for name in ("gamma", "beta", "moving_mean",
                                                                     "moving_variance")]),
                          ("add", []), ("end", [("kernel:0", (4, 2)), ("bias:0", (2,))])],
           "sequential": [("embedding", [("embeddings:0", (7, 3))]), ("flatten", []),
                          ("dense", [("kernel:0", (15, 2)), ("bias:0", (2,))])]}
CONFIGS = {"functional": FUNCTIONAL, "sequential": SEQUENTIAL}
INPUTS = {"functional": (np.arange(6.).reshape(2, 3) / 10).astype("float32"),
          "sequential": np.array([[0, 1, 2, 3, 4], [6, 5, 4, 3, 2]])}


def values(name):
    """{layer: arrays} of a model."""
    rng = np.random.default_rng(len(name))
    return {layer: [rng.uniform(0.1, 0.9, shape).astype("float32") for _, shape in weights]
            for layer, weights in WEIGHTS[name]}


def write(path, name):
    """Writes a model's file as Keras 2 did."""
    with h5py.File(path, "w") as file:
        file.attrs["keras_version"], file.attrs["backend"] = b"2.13.1", b"tensorflow"
        file.attrs["model_config"] = json.dumps(CONFIGS[name]).encode()
        file.attrs["training_config"] = json.dumps(TRAINING).encode()
        group, arrays = file.create_group("model_weights"), values(name)
        group.attrs["layer_names"] = np.array([layer.encode() for layer, _ in WEIGHTS[name]])
        for layer, weights in WEIGHTS[name]:
            inner = group.create_group(layer)
            names = [f"{layer}/{weight}" for weight, _ in weights]
            inner.attrs["weight_names"] = np.array([one.encode() for one in names]) if names else np.zeros(0)
            for one, value in zip(names, arrays[layer]):
                inner[one] = value
