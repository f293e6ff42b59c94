"""``keras.models``: models, and making them of configurations."""

import json

from leat.keras.model import Model, Sequential  # noqa: F401


def model_from_json(json_string, custom_objects=None):
    """The model of a configuration in JSON text (``Model.to_json``), with new weights."""
    from leat.keras import saving
    return saving.deserialize_keras_object(json.loads(json_string), custom_objects)


def clone_model(model):
    """A model of the same layers with new weights (``keras.models.clone_model``)."""
    return type(model).from_config(model.get_config())


def save_model(model, filepath, overwrite=True):
    """Writes a model into a `.keras` file (``Model.save``)."""
    model.save(filepath, overwrite)


def load_model(filepath, custom_objects=None, compile=True, safe_mode=True):
    """The model of a `.keras` file of Keras or leat, compiled as it was; needs the package h5py."""
    from leat.keras import files
    return files.load_model(filepath, custom_objects, compile, safe_mode)
