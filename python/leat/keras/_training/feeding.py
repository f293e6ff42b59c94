"""What models are fed with: arrays, tensors, datasets and generators as batches; results as numbers."""

import itertools
import math
import warnings

import numpy as np

from leat import _native, dtypes, nest
from leat._core.shapes import TensorShape
from leat._core.tensor import Tensor, convert_to_tensor, writable
from leat._graph import ops
from leat._structures import ragged
from leat.keras._base import layer as _layer, policies
from leat.keras._base.symbolic import KerasTensor
from leat.keras._training import sequences


def _is_dataset(value):
    return hasattr(value, "element_spec")


def tensors(structure):
    """Arrays and numbers in a structure as tensors, floats of numpy as floatx."""
    def convert(leaf):
        if leaf is None or isinstance(leaf, Tensor) or hasattr(leaf, "dense_shape") or _is_ragged(leaf):
            return leaf
        if hasattr(leaf, "tocoo"):
            return _sparse_of(leaf.tocoo())
        leaf = np.asarray(leaf)
        return convert_to_tensor(leaf.astype(dtypes.as_dtype(policies.floatx()).as_numpy_dtype)
                                 if leaf.dtype == np.float64 else leaf)
    return _layer._map(convert, structure)


def _is_ragged(leaf):
    return hasattr(leaf, "with_flat_values")


def _sparse_of(matrix):
    """A matrix of scipy's as a sparse tensor."""
    from leat.sparse import SparseTensor, reorder
    places = np.stack([matrix.row, matrix.col], 1).astype(np.int64)
    return reorder(SparseTensor(places, tensors(matrix.data), matrix.shape))


def _as_float(leaf):
    """A tensor of floats as floatx."""
    if leaf is None or not leaf.dtype.is_floating or leaf.dtype.name == policies.floatx():
        return leaf
    if _is_ragged(leaf):
        return leaf.with_flat_values(_as_float(leaf.flat_values))
    if hasattr(leaf, "dense_shape"):
        return type(leaf)(leaf.indices, _as_float(leaf.values), leaf.dense_shape)
    return ops.FUNCTIONS["cast"](leaf, policies.floatx())


def _floats(structure):
    """The same where arrays are all that there is: tensors, too, and floats of half precision."""
    return _layer._map(_as_float, tensors(structure))


def _taken(leaf, rows):
    """Rows of a tensor by their numbers."""
    if leaf is None:
        return None
    if not hasattr(leaf, "dense_shape"):
        return ops.FUNCTIONS["gather"](leaf, rows)
    from leat import ragged
    first = ops.FUNCTIONS["searchsorted"](leaf.indices[:, 0], rows)
    last = ops.FUNCTIONS["searchsorted"](leaf.indices[:, 0], rows, side="right")
    places = ragged.range(first, last)
    others = ops.FUNCTIONS["gather"](leaf.indices, places.flat_values)[:, 1:]
    number = ops.FUNCTIONS["expand_dims"](ops.FUNCTIONS["cast"](places.value_rowids(), "int64"), 1)
    count = ops.FUNCTIONS["expand_dims"](ops.FUNCTIONS["size"](rows, out_type="int64"), 0)
    made = type(leaf)(ops.FUNCTIONS["concat"]([number, others], 1),
                      ops.FUNCTIONS["gather"](leaf.values, places.flat_values),
                      ops.FUNCTIONS["concat"]([count, leaf.dense_shape[1:]], 0))
    return made._known(TensorShape([None, *leaf.shape[1:]]))


def _tuples(structure):
    """Lists as tuples, which datasets take apart."""
    if isinstance(structure, (list, tuple)):
        return tuple(_tuples(item) for item in structure)
    if isinstance(structure, dict):
        return {key: _tuples(item) for key, item in structure.items()}
    return structure


def _trimmed(x, y, sample_weight):
    """The shortest tuple that says the same."""
    if sample_weight is not None:
        return x, y, sample_weight
    if y is not None:
        return x, y
    return (x,) if isinstance(x, (list, tuple)) else x


def _rows(structure):
    """How many rows arrays have. ValueError where they differ."""
    for leaf in nest.flatten(structure):
        if leaf is not None and len(leaf.shape) == 0:
            raise ValueError(f"Unrecognized data type: expected arrays with a row per sample, found {leaf} without "
                             "dimensions. A list is taken for several inputs: give numbers as one numpy array")
    sizes = {int(leaf.shape[0]) for leaf in nest.flatten(structure) if leaf is not None}
    if len(sizes) != 1:
        shapes = [tuple(leaf.shape) for leaf in nest.flatten(structure)]
        raise ValueError(f"Data cardinality is ambiguous. Make sure all arrays contain the same number of samples. "
                         f"The shapes are {shapes}")
    return sizes.pop()


def class_weights(y, class_weight):
    """The weights of rows by their classes: numbers, a last dimension of 1, or vectors with a 1; others weigh 1."""
    table = np.ones(max(class_weight) + 1, np.float32)
    for number, weight in class_weight.items():
        table[number] = weight
    y = convert_to_tensor(y)
    if y.shape.rank > 1:
        y = ops.FUNCTIONS["squeeze"](y, [-1]) if y.shape[-1] == 1 else ops.FUNCTIONS["math.argmax"](y, -1)
    if y.dtype.is_floating:
        y = ops.FUNCTIONS["math.round"](y)
    places = ops.FUNCTIONS["cast"](y, "int32")
    known = (places >= 0) & (places < len(table))
    inside = ops.FUNCTIONS["where"](known, places, ops.FUNCTIONS["zeros_like"](places))
    weights = ops.FUNCTIONS["gather"](convert_to_tensor(table), inside)
    return ops.FUNCTIONS["where"](known, weights, ops.FUNCTIONS["ones_like"](weights))


def split(data, part):
    """The first rows and the last `part` of them. ValueError for data that are no arrays."""
    data = _layer._map(lambda leaf: np.asarray(leaf) if hasattr(leaf, "iloc") else leaf, data)  # pandas' tables
    leaves = [leaf for leaf in nest.flatten(data) if leaf is not None]
    if any(not isinstance(leaf, (np.ndarray, Tensor)) for leaf in leaves):
        raise ValueError("Argument `validation_split` is only supported for tensors or NumPy arrays. Found "
                         f"incompatible type in the input: {[type(leaf) for leaf in leaves]}")
    count = _rows(data)
    place = int(np.floor(count * (1.0 - part)))
    if place in (0, count):
        raise ValueError(f"Training data contains {count} samples, which is not sufficient to split it into a "
                         f"validation and training set as specified by `validation_split={part}`. Either provide more "
                         "data, or a different value for the `validation_split` argument.")

    def cut(begin, end):
        return _layer._map(lambda leaf: None if leaf is None else leaf[begin:end], data)
    return cut(0, place), cut(place, count)


class Source:
    """The batches of `fit`, `evaluate` and `predict`, an epoch at a time; `steps` in one, None while unknown."""

    def __init__(self, x, y, sample_weight, batch_size, steps, shuffle, class_weight, strategy):
        self._steps, self._strategy, self._iterator, self._seen = _at_most(steps), strategy, None, 0
        self._given = self._dataset = self._generator = self._sequence = None
        self._class_weight, self._shuffle = class_weight, shuffle
        if class_weight is not None and sample_weight is not None:
            raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
        if _is_dataset(x) or _is_distributed(x):
            self._refuse("tf.data.Dataset", y, sample_weight)
            self._dataset = x
            if shuffle and strategy is None and _is_dataset(x):  # else the library says so as it distributes them
                _warn_of_batches_that_stay(x)
        elif isinstance(x, (np.ndarray, Tensor, list, tuple, dict)) or any(
                hasattr(x, name) for name in ("__array__", "dense_shape", "tocoo", "with_flat_values")):
            if class_weight is not None and nest.is_nested(y):
                raise ValueError("`class_weight` is only supported for Models with a single output.")
            sample_weight = _for_outputs(sample_weight, y)
            self._dataset = self._of_arrays(_trimmed(*(_tuples(_floats(part)) for part in (x, y, sample_weight))),
                                            batch_size, shuffle)
        elif isinstance(x, sequences.PyDataset) or hasattr(x, "__getitem__") and hasattr(x, "__len__") and (
                not isinstance(x, (str, bytes))):
            self._refuse("PyDataset", y, sample_weight)
            self._sequence = x
        elif hasattr(x, "__iter__") and not isinstance(x, (str, bytes)):
            self._refuse("generator", y, sample_weight)
            self._generator = iter(x)
        else:
            raise ValueError(f"Unrecognized data type: x={x} (of type {type(x)})")
        if class_weight is not None and _is_dataset(self._dataset):
            self._dataset = self._dataset.map(self._weighted)
        self._draws = strategy is None and _draws_anew(self._dataset)
        if strategy is not None and _is_dataset(self._dataset) and not _is_distributed(self._dataset):
            self._dataset = strategy.experimental_distribute_dataset(self._dataset)

    @staticmethod
    def _refuse(kind, y, sample_weight):
        for name, what, value in (("y", "the targets", y), ("sample_weights", "the sample weights", sample_weight)):
            if value is not None:
                raise ValueError(f"When providing `x` as a {kind}, `{name}` should not be passed. Instead, {what} "
                                 f"should be included as part of the {kind}.")

    def _of_arrays(self, data, batch_size, shuffle):
        from leat.data import Dataset
        count = _rows(data)
        batch_size = batch_size or (math.ceil(count / self._steps) if self._steps else 32)
        if shuffle != "batch" and not (shuffle and _native.has_seed()):
            dataset = Dataset.from_tensor_slices(data)
            if shuffle:
                dataset = dataset.shuffle(count)
            return dataset.batch(batch_size).prefetch(2)
        # Keras draws places in a function of a dataset. Under a global seed it draws the same ones in every epoch.
        places = np.arange(count)
        if shuffle != "batch":
            drawn = Dataset.from_tensors(places).map(ops.FUNCTIONS["random.shuffle"])
            places = drawn.get_single_element().numpy()
        batches = Dataset.from_tensor_slices(places).batch(batch_size)
        if shuffle == "batch":
            batches = batches.map(ops.FUNCTIONS["random.shuffle"])
        return batches.map(lambda rows: nest.map_structure(lambda leaf: _taken(leaf, rows), data)).prefetch(2)

    def _weighted(self, *data):
        if len(data) == 3:
            raise ValueError("You cannot `class_weight` and `sample_weight` at the same time.")
        if len(data) != 2:
            raise ValueError(f"`class_weight` needs data of (x, y); found {len(data)} parts")
        if nest.is_nested(data[1]):
            raise ValueError("`class_weight` is only supported for Models with a single output.")
        return (*data, class_weights(data[1], self._class_weight))

    @property
    def steps(self):
        """Batches of an epoch; None while unknown."""
        return self._steps if self._steps is not None else self.known

    @property
    def known(self):
        """Batches that the data have; None while unknown or without end."""
        if self._sequence is not None:
            return sequences.count_of(self._sequence)
        if self._dataset is None:
            return None
        if _is_dataset(self._dataset):
            count = int(self._dataset.cardinality())
        else:
            try:
                count = len(self._dataset)
            except TypeError:
                count = -2
        return count if count >= 0 else None

    def example(self):
        """What a batch looks like: KerasTensors, or the first batch that Python makes."""
        if self._dataset is not None:
            spec = self._dataset.element_spec
            if _is_distributed(self._dataset):
                spec = nest.map_structure(lambda one: getattr(one, "_value_specs", (one,))[0], spec)
            return nest.map_structure(
                lambda one: KerasTensor(_static(one.shape), one.dtype.name, ragged=hasattr(one, "ragged_rank"))
                if hasattr(one, "shape") else None, spec)
        if self._sequence is not None:
            return self._checked(self._sequence[0])
        if self._given is None:
            try:
                self._given = self._following()
            except StopIteration:
                raise ValueError("When passing a Python generator to a Keras model, the generator must yield at least "
                                 "one batch. Received an empty generator.") from None
        return self._given

    def _checked(self, batch):
        """A batch that Python made, as tensors."""
        batch = tensors(sequences.checked(batch) if self._sequence is not None else batch)
        if isinstance(batch, list):
            batch = tuple(batch)
        if self._class_weight is not None:
            batch = self._weighted(*batch)
        return batch

    def _following(self):
        """The next batch; StopIteration at the end of the data."""
        if self._given is not None:
            given, self._given = self._given, None
            return given
        if self._generator is not None:
            return self._checked(next(self._generator))
        if self._iterator is None:
            self._iterator = iter(self._dataset) if self._sequence is None else (
                sequences.batches(self._sequence, self._shuffle))
        batch = next(self._iterator)
        return batch if self._sequence is None else self._checked(batch)

    def epoch(self, together):
        """(number of the first, list of up to `together` batches) of one epoch. Where the steps of an epoch were given,
        each takes all of `together`, and the data go on over epochs."""
        count = self.known
        if self._steps is None:
            self._start()
        steps, had_any = self._steps or count, False
        self._tell("on_epoch_begin")
        for number in itertools.count(0, together) if steps is None else range(0, steps, together):
            if self._steps is not None and count and self._seen >= count:
                _warn_short()
                break
            batches = self._at_most(together)
            self._seen += together
            if batches:
                had_any = True
                yield number, batches
            if len(batches) < together:
                if self._steps is not None or not had_any:
                    _warn_short()
                    self._start()
                break
        if count and self._seen >= count:
            self._start()
            self._pass_over()
        self._tell("on_epoch_end")

    def _tell(self, what):
        if self._sequence is not None:
            getattr(self._sequence, what, int)()

    def _start(self):
        """The data start anew, those of a generator go on."""
        self._iterator, self._seen = None, 0

    def _pass_over(self):
        """Draws what Keras draws at the end of an epoch, where it begins an iterator that no epoch reads."""
        if self._steps is None and self._draws:
            iter(self._dataset)

    def _at_most(self, count):
        batches = []
        try:
            while len(batches) < count:
                batches.append(self._following())
        except StopIteration:
            pass
        return batches


def _at_most(steps):
    """The steps of an epoch, no more than keras.config.set_max_steps_per_epoch allows."""
    from leat.keras import config
    bound = config.max_steps_per_epoch()
    if not bound or steps and steps <= bound:
        return steps
    warnings.warn(f"Limiting steps_per_epoch to {bound}", stacklevel=5)
    return bound


def _for_outputs(sample_weight, y):
    """The weights of rows for each of several outputs. ValueError where they do not fit."""
    if sample_weight is None or not nest.is_nested(y):
        return sample_weight
    leaves = nest.flatten(y)
    if not nest.is_nested(sample_weight):
        if len(np.shape(sample_weight)) > 1 and len(leaves) > 1:
            raise ValueError("For a model with multiple outputs, when providing a single `sample_weight` array, it "
                             "should only have one scalar score per sample (i.e. shape `(num_samples,)`). If you want "
                             "to use non-scalar sample weights, pass a `sample_weight` argument with one array per "
                             "model output.")
        return nest.map_structure(lambda _: sample_weight, y)
    if isinstance(sample_weight, dict) != isinstance(y, dict) or len(nest.flatten(sample_weight)) != len(leaves):
        raise ValueError("You should provide one `sample_weight` array per output in `y`; y has "
                         f"{len(leaves)} and sample_weight {len(nest.flatten(sample_weight))} arrays.")
    return sample_weight


def _draws_anew(dataset):
    """Has a plan something that each iterator draws another order of?"""
    return getattr(dataset, "_name", None) in ("Shuffle", "Random") or any(
        _draws_anew(one) for one in getattr(dataset, "_inputs", ()))


_BATCHES = ("Batch", "PaddedBatch", "RaggedBatch", "ParallelBatch")
_ROWS = ("Unbatch", "FlatMap", "Interleave", "Window")
_warned = []


def _warn_of_batches_that_stay(dataset):
    """Says once, in training, that rows which shuffling finds in a batch stay together in every epoch."""
    import logging
    shuffled = False
    while not _warned and getattr(dataset, "_inputs", ()) and dataset._name not in _ROWS:
        if shuffled and dataset._name in _BATCHES:
            _warned.append(True)
            logging.getLogger("leat").warning(
                "fit: the dataset is shuffled after it was batched, so that only the order of the batches changes and "
                "the same rows meet in every epoch; shuffle first: dataset.shuffle(buffer_size).batch(batch_size)")
        shuffled = shuffled or dataset._name == "Shuffle"
        dataset = dataset._inputs[0]


def _warn_short():
    warnings.warn("Your input ran out of data; interrupting training. Make sure that your dataset or generator can "
                  "generate at least `steps_per_epoch * epochs` batches. You may need to use the `.repeat()` function "
                  "when building your dataset.", stacklevel=4)


def _is_distributed(value):
    return type(value).__name__.startswith("Distributed") and hasattr(value, "__iter__")


def _static(shape):
    return tuple(shape.as_list()) if shape.rank is not None else (None,)


def symbolic(model, x):
    """KerasTensors of a model's outputs for a batch of KerasTensors or tensors; builds it."""
    def place(leaf):
        if leaf is None or isinstance(leaf, KerasTensor):
            return leaf
        is_sparse = hasattr(leaf, "dense_shape")
        if not isinstance(leaf, Tensor) and not is_sparse and not _is_ragged(leaf):
            leaf = getattr(leaf, "values", (leaf,))[0]
        return KerasTensor((None, *_static(leaf.shape)[1:]), leaf.dtype.name, sparse=is_sparse,
                           ragged=_is_ragged(leaf))
    kwargs = {"training": False} if model._signature().takes_training else {}
    return _layer.symbolic_outputs(model, [_layer._map(place, x)], kwargs)


def plain(results):
    """{name: number} of tensors, in the order of the names; a dictionary's results join the others."""
    out = {}
    for name, value in sorted(results.items()):
        if isinstance(value, dict):
            out.update(plain(value))
            continue
        value = value.numpy() if hasattr(value, "numpy") else np.asarray(value)
        out[name] = float(value) if np.ndim(value) == 0 and value.dtype.kind in "biuf" else value
    return out


def rows_of(strategy, leaf):
    """A batch's outputs as an array, or as the ragged tensor that they are; those of replicas one behind the other."""
    if _is_ragged(leaf):
        return leaf
    several = strategy is not None and hasattr(leaf, "values") and not isinstance(leaf, Tensor)
    parts = leaf.values if several else (leaf,)
    return np.concatenate([np.asarray(part) for part in parts]) if len(parts) > 1 else np.asarray(parts[0])


def joined(structure, parts):
    """The outputs of batches, lists of arrays, one behind the other in a structure; numbers as a vector."""
    return nest.pack_sequence_as(structure, [_joined(rows) for rows in zip(*parts)])


def _joined(rows):
    if _is_ragged(rows[0]):
        return rows[0] if len(rows) == 1 else ops.FUNCTIONS["concat"](list(rows), 0)
    if rows[0].ndim == 0:
        return np.stack(rows)
    return writable(rows[0]) if len(rows) == 1 else _one_behind_the_other(rows)


def _one_behind_the_other(rows):
    """Batches as one array; a ragged tensor where they differ in more than their number of rows."""
    differs = [len(set(sizes)) > 1 for sizes in zip(*(one.shape[1:] for one in rows))]
    if not any(differs):
        return np.concatenate(rows)
    inner = differs[::-1].index(True)
    return ragged.constant([row.tolist() for one in rows for row in one], dtype=rows[0].dtype,
                           inner_shape=rows[0].shape[rows[0].ndim - inner:] if inner else None)
