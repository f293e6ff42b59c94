"""Keras 3, the real one, takes datasets in fit, evaluate and predict, under each of its backends.

Keras chooses what reads its data in one function, `keras.src.trainers.data_adapters.get_data_adapter`, by the classes
that it knows, and takes a DataAdapter as it is. That function is given a reader of leat's datasets when both packages
are imported, whichever comes first; it is asked as before for everything else. Nothing imports Keras.
"""

import functools
import importlib.util
import sys
import warnings

from leat import nest
from leat._core import specs
from leat._core.tensor import Tensor
from leat.data.dataset import Dataset
from leat.data.iterator import Iterator

_MODULE = "keras.src.trainers.data_adapters"


def watch():
    """Has Keras learn of datasets: now, or when a program imports it."""
    if _MODULE in sys.modules:
        _teach(sys.modules[_MODULE])
    else:
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds the one module as the others do, and has it learn of datasets when it is there."""

    def find_spec(self, name, path=None, target=None):
        """The specification of a module that is imported; None for all but the one."""
        if name != _MODULE or self not in sys.meta_path:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        run = spec.loader.exec_module

        def exec_module(module):
            run(module)
            _teach(module)
        spec.loader.exec_module = exec_module
        return spec


def _teach(module):
    known = getattr(module, "get_data_adapter", None)
    if known is None or not hasattr(module, "data_adapter"):
        return  # a Keras of another make says itself that it does not know datasets

    @functools.wraps(known)
    def get_data_adapter(x, y=None, sample_weight=None, batch_size=None, steps_per_epoch=None, shuffle=False,
                         class_weight=None):
        if not isinstance(x, Dataset):
            return known(x, y, sample_weight, batch_size, steps_per_epoch, shuffle, class_weight)
        for name, what, value in (("y", "the targets", y), ("sample_weights", "the sample weights", sample_weight)):
            if value is not None:
                raise ValueError(f"When providing `x` as a leat Dataset, `{name}` should not be passed. Instead, "
                                 f"{what} should be included as part of the leat Dataset.")
        distribution = module.distribution_lib.distribution()
        if getattr(distribution, "_is_multi_process", False) and getattr(distribution, "auto_shard_dataset", False):
            raise ValueError("a leat Dataset is not cut among the processes of a keras.distribution; give each "
                             "process its part (Dataset.shard) and set `distribution.auto_shard_dataset = False`")
        if shuffle:
            warnings.warn("`shuffle=True` was passed, but will be ignored since the data `x` was provided as a leat "
                          "Dataset. The Dataset is expected to already be shuffled (via `.shuffle(buffer_size)`).",
                          stacklevel=2)
        return _adapter_class(module)(x, class_weight)
    module.get_data_adapter = get_data_adapter


@functools.lru_cache(maxsize=None)
def _adapter_class(module):
    utilities = importlib.import_module(_MODULE + ".data_adapter_utils")

    class LeatAdapter(module.data_adapter.DataAdapter):
        """Reads a leat Dataset anew for each epoch."""

        def __init__(self, dataset, class_weight):
            self._dataset, self._class_weight = dataset, class_weight
            _, y, sample_weight = utilities.unpack_x_y_sample_weight(dataset.element_spec)
            if class_weight is not None and sample_weight is not None:
                raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
            if class_weight is not None and (y is None or nest.is_nested(y)):
                raise ValueError("`class_weight` is only supported for Models with a single output.")

        def __iter__(self):
            return self.get_numpy_iterator()

        def get_numpy_iterator(self):
            with Iterator(self._dataset) as iterator:
                for element in iterator:
                    yield self._weighted(nest.map_structure(_array, element))

        def get_jax_iterator(self):
            with Iterator(self._dataset) as iterator:
                for element in iterator:
                    yield self._weighted(nest.map_structure(_jax_array, element))

        def get_torch_dataloader(self):
            return utilities.get_torch_dataloader(self)

        def get_tf_dataset(self):
            import tensorflow
            spec = nest.map_structure(lambda leaf: _tensorflow_spec(tensorflow, leaf), self._dataset.element_spec)
            if self._class_weight is not None:
                spec = (*spec[:2], tensorflow.TensorSpec([None], tensorflow.keras.backend.floatx()))
            made = tensorflow.data.Dataset.from_generator(self.get_numpy_iterator, output_signature=spec)
            count = self.num_batches
            return made if count is None else made.apply(tensorflow.data.experimental.assert_cardinality(count))

        def _weighted(self, batch):
            if self._class_weight is None:
                return batch
            x, y, _ = utilities.unpack_x_y_sample_weight(batch)
            return x, y, utilities.class_weight_to_sample_weights(y, self._class_weight)

        @property
        def num_batches(self):
            count = int(self._dataset.cardinality())
            return None if count < 0 else count

        @property
        def batch_size(self):
            shape = nest.leaves(self._dataset.element_spec)[0].shape
            return shape[0] if shape.rank else None

        @property
        def has_partial_batch(self):
            return None

        @property
        def partial_batch_size(self):
            return None
    return LeatAdapter


# ---- values ----

def _array(leaf):
    """A leaf as numpy's array; sparse values and ragged ones are filled up, as Keras fills TensorFlow's up."""
    if leaf is None or isinstance(leaf, Tensor):
        return None if leaf is None else leaf.numpy()
    if hasattr(leaf, "to_tensor"):
        return leaf.to_tensor().numpy()
    from leat.sparse import to_dense
    return to_dense(leaf).numpy()


def _jax_array(leaf):
    """The same; sparse values as jax's."""
    if leaf is None or isinstance(leaf, Tensor) or hasattr(leaf, "to_tensor"):
        return _array(leaf)
    from jax.experimental import sparse
    return sparse.BCOO((leaf.values.numpy(), leaf.indices.numpy()), shape=tuple(leaf.dense_shape.numpy().tolist()))


def _tensorflow_spec(tensorflow, leaf):
    if isinstance(leaf, specs.NoneTensorSpec):
        return tensorflow.OptionalSpec(None)
    return tensorflow.TensorSpec(leaf.shape.as_list() if leaf.shape.rank is not None else None, leaf.dtype.name)
