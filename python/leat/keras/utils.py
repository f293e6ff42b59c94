"""``keras.utils``: seeds, labels as vectors, datasets of folders, batches that Python makes, pictures of models."""

import random

import numpy as np

from leat import random as leat_random
from leat._core import later as _later
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat.keras._base.registry import (CustomObjectScope, custom_object_scope, deserialize_keras_object,  # noqa: F401
                                       get_custom_objects, get_registered_name, get_registered_object,
                                       register_keras_serializable, serialize_keras_object)
from leat.keras._base.layer import node_of
from leat.keras._training.folders import (audio_dataset_from_directory, image_dataset_from_directory,  # noqa: F401
                                          text_dataset_from_directory)
from leat.keras._training.sequences import (PyDataset, pad_sequences, split_dataset,  # noqa: F401
                                            timeseries_dataset_from_array)
from leat.keras._training.trainer import unpack_x_y_sample_weight  # noqa: F401
from leat.keras import ops as keras_ops, random as keras_random
from leat.keras.backend import clear_session, is_keras_tensor, standardize_dtype  # noqa: F401
from leat.keras.config import (disable_interactive_logging, enable_interactive_logging,  # noqa: F401
                               is_interactive_logging_enabled)
from leat.keras.models.feature_space import FeatureSpace  # noqa: F401
from leat.keras.models.plotting import model_to_dot, plot_model  # noqa: F401
from leat.utils import Progbar  # noqa: F401

Sequence = PyDataset


def set_random_seed(seed):
    """Starts Python's, numpy's and leat's random numbers at a seed (``keras.utils.set_random_seed``), those of
    ``keras.random`` too.

    Equal seeds give the weights that Keras gives.
    """
    if not isinstance(seed, int):
        raise ValueError(f"Expected `seed` argument to be an integer. Received: seed={seed} (of type {type(seed)})")
    random.seed(seed)
    np.random.seed(seed)
    leat_random.set_seed(seed)
    keras_random.forget_seed()


def to_categorical(x, num_classes=None):
    """Class numbers as vectors with a 1 at the class (``keras.utils.to_categorical``); a last dimension of 1 goes."""
    if isinstance(x, Tensor):
        depth = num_classes if num_classes is not None else int(ops.FUNCTIONS["reduce_max"](x)) + 1
        if x.shape.rank and x.shape[-1] == 1 and x.shape.rank > 1:
            x = ops.FUNCTIONS["squeeze"](x, [-1])
        return ops.FUNCTIONS["one_hot"](convert_to_tensor(x), depth)
    labels = np.asarray(x, dtype="int64")
    shape = labels.shape[:-1] if labels.ndim > 1 and labels.shape[-1] == 1 else labels.shape
    labels = labels.reshape(-1)
    depth = num_classes or int(np.max(labels)) + 1
    vectors = np.zeros((labels.size, depth))
    vectors[np.arange(labels.size), labels] = 1
    return vectors.reshape(shape + (depth,))


def normalize(x, axis=-1, order=2):
    """Rows of norm 1 (``keras.utils.normalize``); rows of zeros stay. `order` of the norm, `axis` that it runs over."""
    if not isinstance(x, np.ndarray):
        return keras_ops.normalize(x, axis, order)
    norm = np.atleast_1d(np.linalg.norm(x, order, axis))
    norm[norm == 0] = 1
    return x / np.expand_dims(norm, axis if axis is not None else -1)


def pack_x_y_sample_weight(x, y=None, sample_weight=None):
    """What `fit` takes from a dataset, of its parts (``keras.utils.pack_x_y_sample_weight``)."""
    if y is None:
        return (x,) if isinstance(x, (list, tuple)) else x
    return (x, y) if sample_weight is None else (x, y, sample_weight)


def get_source_inputs(tensor):
    """The inputs that a KerasTensor is computed of (``keras.utils.get_source_inputs``)."""
    node = node_of(tensor) if is_keras_tensor(tensor) else None
    if node is None or not node.inputs:
        return [tensor] if node is not None else tensor
    found = []
    for start in (start for one in node.inputs for start in get_source_inputs(one)):
        if all(start is not one for one in found):
            found.append(start)
    return found


_later.module(__name__, {}, homes={"leat.keras._files.downloads": "get_file",
                                   "leat.keras._files.pictures": "array_to_img img_to_array load_img save_img"},
              modules=["leat.keras.layers.bounding_boxes"])
