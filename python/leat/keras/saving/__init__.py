"""``keras.saving``: objects as configurations and back, and files of models."""

from leat.keras._base.registry import (CustomObjectScope, custom_object_scope, deserialize_keras_object,
                                       get_custom_objects, get_registered_name, get_registered_object,
                                       register_keras_serializable, serialize_keras_object)
from leat.keras.saving.file_editor import KerasFileEditor
from leat.keras.saving.files import load_model, load_weights, save_model, save_weights

__all__ = ["CustomObjectScope", "KerasFileEditor", "custom_object_scope", "deserialize_keras_object",
           "get_custom_objects", "get_registered_name", "get_registered_object", "load_model", "load_weights",
           "register_keras_serializable", "save_model", "save_weights", "serialize_keras_object"]
