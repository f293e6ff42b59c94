"""``keras.models``: models, and making them of configurations."""

import json

from leat.keras.cloning import clone_model  # noqa: F401
from leat.keras.model import Model, Sequential  # noqa: F401
from leat.keras.saving import load_model, save_model  # noqa: F401


def model_from_json(json_string, custom_objects=None):
    """The model of a configuration in JSON text (``Model.to_json``), with new weights."""
    from leat.keras import saving
    return saving.deserialize_keras_object(json.loads(json_string), custom_objects)
