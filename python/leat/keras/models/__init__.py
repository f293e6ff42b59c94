"""``keras.models``: models, and making them of configurations."""

import json

from leat.keras._base import registry
from leat.keras.models.cloning import clone_model  # noqa: F401
from leat.keras.models.model import Model, Sequential  # noqa: F401
from leat.keras.saving.files import load_model, save_model  # noqa: F401


def model_from_json(json_string, custom_objects=None):
    """The model of a configuration in JSON text (``Model.to_json``), with new weights."""
    return registry.deserialize_keras_object(json.loads(json_string), custom_objects)
