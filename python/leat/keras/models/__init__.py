"""``keras.models``: models, and making them of configurations."""

from leat._files import json_text
from leat.keras._base import registry
from leat.keras.models.cloning import clone_model
from leat.keras.models.model import Model, Sequential
from leat.keras.saving.files import load_model, save_model

__all__ = ["Model", "Sequential", "clone_model", "load_model", "model_from_json", "save_model"]


def model_from_json(json_string, custom_objects=None):
    """The model of a configuration in JSON text (``Model.to_json``), with new weights. ValueError where it is no JSON,
    or names a file."""
    text = json_string.encode() if isinstance(json_string, str) else json_string
    return registry.deserialize_keras_object(json_text.parse(text, "model_from_json", "the text"), custom_objects)
