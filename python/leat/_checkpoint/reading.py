"""Looking into checkpoints without objects: ``tf.train.load_checkpoint`` and its like."""

from leat._checkpoint import files
from leat._checkpoint.state import latest_checkpoint
from leat._core.paths import anywhere
from leat._files import places
from leat.errors import NotFoundError


class CheckpointReader:
    """The tensors of a checkpoint by their names (``tf.train.load_checkpoint``'s result)."""

    def __init__(self, prefix):
        self._file = files.open_checkpoint(prefix)

    def get_variable_to_shape_map(self):
        """{name: the shape as a list}"""
        return {name: list(shape) for name, (_, shape, _) in self._file.entries.items()}

    def get_variable_to_dtype_map(self):
        """{name: the DType}; None for dtypes that leat lacks."""
        return {name: self._file.dtype(name) for name in self._file.entries}

    def has_tensor(self, tensor_str):
        """Is there a tensor of this name?"""
        return tensor_str in self._file.entries

    def get_tensor(self, tensor_str):
        """The values as numpy has them. NotFoundError for a name that is not there."""
        if not self.has_tensor(tensor_str):
            raise NotFoundError(None, None, f"Key {tensor_str} not found in checkpoint")
        found = self._file.tensor(tensor_str)
        found = found.numpy() if hasattr(found, "numpy") else found
        return found[()] if hasattr(found, "shape") and found.shape == () else found


def _of_file_or_folder(path):
    path = anywhere(path)
    found = latest_checkpoint(path) if places.is_folder(path) else path
    if not found:
        raise ValueError(f"Couldn't find 'checkpoint' file or checkpoints in given directory {path}")
    return found


def load_checkpoint(ckpt_dir_or_file):
    """A CheckpointReader of a checkpoint, or of a folder's latest (``tf.train.load_checkpoint``)."""
    return CheckpointReader(_of_file_or_folder(ckpt_dir_or_file))


def list_variables(ckpt_dir_or_file):
    """[(name, shape)] of a checkpoint's variables, by name (``tf.train.list_variables``)."""
    return sorted(load_checkpoint(ckpt_dir_or_file).get_variable_to_shape_map().items())


def load_variable(ckpt_dir_or_file, name):
    """The value of one variable of a checkpoint as a numpy array (``tf.train.load_variable``)."""
    return load_checkpoint(ckpt_dir_or_file).get_tensor(name.removesuffix(":0"))
