"""``keras.losses``: the losses of the library's table, and the base of a program's own."""

import functools
import sys

from leat import dtypes, errors, nest
from leat._core.signatures import function
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import trace
from leat.keras import backend
from leat.keras._base import calls, masking, registry, tables
from leat.keras._base.named import op as _op

_REDUCTIONS = ("sum_over_batch_size", "sum", "mean", "mean_with_sample_weight", "none", None)
_MEANS = ("sum_over_batch_size", "mean", "mean_with_sample_weight")


def replicas():
    """How many replicas share a batch: means are divided by it, so that their sum is the batch's."""
    module = sys.modules.get("leat.distribute")
    return 1 if module is None else module.get_strategy().num_replicas_in_sync


def _is_ragged(value):
    return hasattr(value, "with_flat_values")


def _tensor(value, dtype, keep_integers=False):
    if _is_ragged(value):
        return value.with_flat_values(_tensor(value.flat_values, dtype, keep_integers))
    value = convert_to_tensor(value._as_tensor() if hasattr(value, "_as_tensor") else value)
    if value.dtype is dtype or keep_integers and value.dtype.is_integer:
        return value
    return _op("cast", value, dtype)


def _tensors(structure, dtype):
    """A tensor, or those of a structure; lists of numbers are one tensor."""
    if isinstance(structure, dict) or any(hasattr(leaf, "shape") for leaf in nest.flatten(structure)):
        return nest.map_structure(lambda leaf: _tensor(leaf, dtype), structure)
    return _tensor(structure, dtype)


def _same_rank(x, y):
    """Two tensors of which one may have one dimension of size 1 more, which is taken away or given to a vector."""
    for _ in range(2):
        if x.shape.rank == y.shape.rank + 1 and x.shape[-1] == 1:
            if y.shape.rank == 1:
                y = _op("expand_dims", y, -1)
            else:
                x = _op("squeeze", x, [-1])
        x, y = y, x
    return x, y


def _are_tensors(*values):
    return all(isinstance(value, Tensor) for value in values)


def apply_mask(sample_weight, mask, dtype, reduction):
    """Weights by which rows that a mask leaves out do not count; where a mean is over all rows, others weigh more."""
    if mask is None:
        return sample_weight
    valid = _op("cast", convert_to_tensor(mask), dtype)
    if reduction in ("mean", "sum_over_batch_size"):
        valid = valid * _op("math.divide_no_nan", _op("cast", _op("size", valid), dtype), _op("reduce_sum", valid))
    if sample_weight is None:
        return valid
    valid, sample_weight = _same_rank(valid, _op("cast", sample_weight, dtype))
    return sample_weight * valid


def reduce_weighted_values(values, sample_weight=None, mask=None, reduction="sum_over_batch_size", dtype=None):
    """Values times weights, reduced as the name says; a mean is divided by the number of replicas."""
    weights = _tensor(sample_weight, values.dtype) if sample_weight is not None else None
    weights = apply_mask(weights, mask, values.dtype, reduction)
    if weights is not None:
        values, weights = _same_rank(values, weights)
        values = values * weights
    if reduction in ("none", None) or values.shape.rank == 0:
        return values
    total = _op("reduce_sum", values)
    if reduction == "sum":
        return total
    if reduction == "mean_with_sample_weight" and weights is not None:
        count = _op("reduce_sum", weights)
    else:
        count = _op("cast", _op("size", values), values.dtype)
    return _shared(_op("math.divide_no_nan", total, count))


def _both(first, second):
    """The mask of rows that two masks let count; None: no mask."""
    if first is None or second is None:
        return first if second is None else second
    return first & second


def _shared(mean):
    count = replicas()
    return mean if count == 1 else mean * (1.0 / count)


class Reduction:
    """Names of reductions (``tf.keras.losses.Reduction``), as losses of Keras 2 took them; AUTO is refused now."""

    AUTO, NONE, SUM, SUM_OVER_BATCH_SIZE = "auto", "none", "sum", "sum_over_batch_size"

    @classmethod
    def all(cls):
        """All of them."""
        return cls.AUTO, cls.NONE, cls.SUM, cls.SUM_OVER_BATCH_SIZE

    @classmethod
    def validate(cls, key):
        """ValueError for what is none of them."""
        if key not in cls.all():
            raise ValueError(f'Invalid Reduction Key: {key}. Expected keys are "{cls.all()}"')


class Loss:
    """The base of losses (``keras.losses.Loss``): a subclass's `call(y_true, y_pred)` gives one value per row.

    `reduction`: "sum_over_batch_size", "mean", "mean_with_sample_weight", "sum", "none" or None. Inside replicas a mean
    is divided by their number.
    """

    def __init__(self, name=None, reduction="sum_over_batch_size", dtype=None):
        if reduction not in _REDUCTIONS:
            raise ValueError("Invalid value for argument `reduction`. Expected one of {'mean_with_sample_weight', "
                             f"'none', 'sum_over_batch_size', 'sum', 'mean', None}}. Received: reduction={reduction}")
        self.name = name or tables.auto_name(tables.snake_case(type(self).__name__))
        self.reduction = reduction
        self._dtype = backend.dtype_of(dtype)

    dtype = property(lambda self: self._dtype.name)

    def __call__(self, y_true, y_pred, sample_weight=None):
        mask = calls.mask_of(y_pred)
        y_true, y_pred = _tensors(y_true, self._dtype), _tensors(y_pred, self._dtype)
        values = convert_to_tensor(self.call(y_true, y_pred))
        return reduce_weighted_values(values, sample_weight, _both(mask, calls.mask_of(values)), self.reduction,
                                      self._dtype)

    def call(self, y_true, y_pred):
        """One value per row; a subclass overrides it."""
        raise NotImplementedError(f"Loss {type(self).__name__} does not have a `call()` method implemented.")

    def get_config(self):
        """The arguments that make another one like it."""
        return {"name": self.name, "reduction": self.reduction}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)

    def __reduce__(self):
        return tables.made_of, (type(self), self.get_config())


class LossFunctionWrapper(Loss):
    """A function of (y_true, y_pred) as a loss (``keras.losses.LossFunctionWrapper``)."""

    def __init__(self, fn, reduction="sum_over_batch_size", name=None, dtype=None, **kwargs):
        super().__init__(name=name, reduction=reduction, dtype=dtype)
        self.fn, self._fn_kwargs = fn, kwargs

    def call(self, y_true, y_pred):
        """What the function gives."""
        y_true, y_pred = _same_rank(y_true, y_pred) if _are_tensors(y_true, y_pred) else (y_true, y_pred)
        return self.fn(y_true, y_pred, **self._fn_kwargs)

    def get_config(self):
        """The arguments that make another one like it; the function by its name."""
        return {**super().get_config(), "fn": registry.configuration(self.fn), **self._fn_kwargs}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**{**config, "fn": deserialize(config["fn"])} if isinstance(config.get("fn"), dict) else config)

    def __repr__(self):
        return f"<LossFunctionWrapper({self.fn}, kwargs={self._fn_kwargs})>"


_BROADCAST = ("Hinge", "SquaredHinge", "CategoricalHinge", "Huber", "Poisson")  # over any difference of ranks
_STRICT = ("BinaryCrossentropy", "BinaryFocalCrossentropy", "CategoricalCrossentropy")  # their labels do not broadcast


class TableLoss(Loss):
    """A loss of the library's table."""

    _shared_names = ("name", "reduction", "dtype")

    def _setup(self, given, _):
        Loss.__init__(self, given.get("name"), given.get("reduction", "sum_over_batch_size"), given.get("dtype"))
        self._given = {name: value for name, value in given.items() if name not in self._shared_names}
        tables.refuse_unknown(self._entry, self._given)
        for name, value in self._given.items():
            setattr(self, name, value)
        self._part = tables.part("loss", self._entry, {**self._given, "reduction": self.reduction})
        self._is_sparse = self._entry["labels"] != "predictions"
        self._compiled = self._by_row = None

    def __call__(self, y_true, y_pred, sample_weight=None):
        if type(self).call is not TableLoss.call or _is_ragged(y_true) or _is_ragged(y_pred):
            return super().__call__(y_true, y_pred, sample_weight)
        value = self._value(self._part, "_compiled", y_true, y_pred, sample_weight)
        return _shared(value) if self.reduction in _MEANS else value

    def call(self, y_true, y_pred):
        """One value per row."""
        if _is_ragged(y_true) or _is_ragged(y_pred):
            return self._of_ragged(y_true, y_pred)
        if self._by_row is None:
            part = tables.part("loss", self._entry, {**self._given, "reduction": "none"})
            self._by_row = [part, None]
        return self._value(self._by_row[0], None, y_true, y_pred, None)

    def _of_ragged(self, y_true, y_pred):
        distance = {"MeanSquaredError": "square", "MeanAbsoluteError": "abs"}.get(self._entry["name"])
        if distance is None or not (_is_ragged(y_true) and _is_ragged(y_pred)):
            raise ValueError(f"{self._entry['name']} takes no ragged tensors; give it `to_tensor()` of them, or use "
                             "the mean squared or absolute error of two")
        return _op("reduce_mean", _op(distance, y_true - y_pred), -1)

    def _value(self, part, compiled, y_true, y_pred, sample_weight):
        mask = calls.mask_of(y_pred) if compiled is not None else None
        activation, logits = calls.logits_of(y_pred) if isinstance(y_pred, Tensor) else (None, None)
        y_true = _tensor(y_true, self._dtype, self._is_sparse)
        y_pred = _tensor(logits if activation is not None else y_pred, self._dtype)
        if self._entry["name"] in _BROADCAST:
            y_true, y_pred = _of_one_rank(y_true, y_pred), _of_one_rank(y_pred, y_true)
        tensors = [y_true, y_pred]
        if sample_weight is not None:
            tensors.append(_tensor(sample_weight, self._dtype))
        if mask is not None:
            tensors.append(_op("cast", convert_to_tensor(mask), "bool"))
        self._check(y_true.shape, y_pred.shape)
        if compiled is None or not calls.is_plain(tensors) or 0 in y_pred.shape.as_list():
            return self._compute(part, activation, tensors)
        if self._compiled is None:
            self._compiled = calls.Compiled(self._compute_own)
        return self._compiled(activation, tensors)

    def _compute_own(self, activation, tensors):
        return self._compute(self._part, activation, tensors)

    def _compute(self, part, activation, tensors):
        if activation is not None and trace.is_tracing():
            tensors = [tensors[0], activation(tensors[1]), *tensors[2:]]
        elif activation is not None:  # recorded, or computed at once: the library looks behind one graph's values
            return _behind(part, activation, tensors)
        return calls.call(part, tensors, [])[0]

    def _check(self, true, pred):
        if true.rank is None or pred.rank is None or self._entry["labels"] == "sequences":
            return
        if self._entry["name"] == "SparseCategoricalCrossentropy" and self.axis not in (-1, pred.rank - 1):
            raise ValueError(f"Only axis=-1 is currently supported. Received: axis={self.axis}")
        is_strict = self._is_sparse or self._entry["name"] in _STRICT
        squeezed = pred.rank - 1 if self._is_sparse else pred.rank
        rank = true.rank - 1 if self._is_sparse and true.rank == pred.rank and true[-1] in (1, None) else true.rank
        longer = true if rank > squeezed else pred
        fits = rank == squeezed or not self._is_sparse and abs(rank - squeezed) == 1 and (
            not is_strict or longer[-1] in (1, None))
        fits = fits and (rank != squeezed or all(None in (a, b) or a == b or not is_strict and 1 in (a, b)
                                                 for a, b in zip(true.as_list()[:rank], pred.as_list()[:rank])))
        if fits:
            return
        hint = "" if squeezed <= rank else (
            "; a model whose output keeps the dimensions of its input lacks a Flatten layer before its first Dense")
        if self._is_sparse:
            raise ValueError("Arguments `target` and `output` must have the same shape up until the last dimension: "
                             f"target.shape={tuple(true)}, output.shape={tuple(pred)}{hint}")
        raise ValueError("Arguments `target` and `output` must have the same shape. Received: "
                         f"target.shape={tuple(true)}, output.shape={tuple(pred)}{hint}")

    @property
    def fn(self):
        """The loss as a function."""
        return _CLASSES[tables.snake_case(self._entry["name"])]

    def get_config(self):
        """The arguments that make another one like it."""
        return tables.ordered(self._entry, {**super().get_config(), **self._given})

    def __repr__(self):
        return f"<LossFunctionWrapper({self.fn}, kwargs={self._given})>"


def _of_one_rank(value, other):
    """With dimensions of 1 in front, where the other one has at least two more."""
    ranks = value.shape.rank, other.shape.rank
    for _ in range(ranks[1] - ranks[0] if None not in ranks and ranks[1] - ranks[0] > 1 else 0):
        value = _op("expand_dims", value, 0)
    return value


def _behind(part, activation, tensors):
    """The loss of probabilities whose logits are known, outside of a graph that is traced."""
    from leat._graph.traced import Function
    return Function(lambda given: calls.call(part, [given[0], activation(given[1]), *given[2:]], [])[0],
                    autograph=False)(tensors)


@functools.cache
def _instance(class_, arguments, dtype):
    return class_(reduction="none", dtype=dtype, **dict(arguments))


def _rows_that_count(labels, losses, ignored):
    """Which rows have another label than the one that is ignored; in the shape of their losses."""
    counts = _op("not_equal", _tensor(labels, dtypes.int64), convert_to_tensor(ignored, dtypes.int64))
    return _op("reshape", counts, _op("shape", losses))


def _make_function(class_):
    entry = class_._entry
    name = tables.snake_case(entry["name"])
    given = [(parameter, default) for parameter, default in tables.parameters(entry)
             if parameter not in TableLoss._shared_names]

    def call(values):
        y_true, y_pred = values.pop("y_true"), values.pop("y_pred")
        y_pred = convert_to_tensor(y_pred._as_tensor() if hasattr(y_pred, "_as_tensor") else y_pred)
        dtype = y_pred.dtype
        if dtype.is_complex:
            raise errors.UnimplementedError(None, None, f"{name} is given {dtype.name}; expected floats; give it the "
                                            "parts, tf.math.real and tf.math.imag")
        # A function computes in what it is given; Keras' logarithmic one in float32 at least.
        is_kept = dtype.is_floating and (dtype.size > 2 or name != "mean_squared_logarithmic_error")
        dtype = dtype.name if is_kept else "float32"
        made = _instance(class_, tuple(values.items()), dtype).call(y_true, y_pred)
        if values.get("ignore_class") is not None:
            masking.set_mask(made, _rows_that_count(y_true, made, values["ignore_class"]))
        return made
    from leat._core.signatures import REQUIRED
    return function(name, [("y_true", REQUIRED), ("y_pred", REQUIRED), *given], call,
                    f"{entry['doc']} One value per row.", __name__)


_CLASSES = {}
for _entry in tables.entries("loss"):
    _class = tables.make_class("loss", _entry, TableLoss, __name__, TableLoss._setup)
    _function = _make_function(_class)
    globals()[_entry["name"]], globals()[_function.__name__] = _class, _function
    _CLASSES[_entry["name"]], _CLASSES[_function.__name__] = _class, _function


def _around_references(y_true, y_pred, ref_labels, ref_embeddings, remove_diagonal, gamma, margin):
    """What ``circle`` is with rows and references apart."""
    from leat.math import reduce_logsumexp
    rows = _tensor(y_pred, dtypes.float32)
    labels, others = (_op("cast", convert_to_tensor(one), dtypes.int64) for one in (y_true, ref_labels))
    same = _op("equal", _op("reshape", labels, (-1, 1)), _op("reshape", others, (1, -1)))
    different = _op("math.logical_not", same)
    if remove_diagonal:
        count = [_op("size", one) for one in (labels, others)]
        same = same & _op("math.logical_not", _op("equal", *(
            _op("reshape", _op("range", size), shape) for size, shape in zip(count, ((-1, 1), (1, -1))))))
    distance = _op("math.maximum", 1.0 - _op("matmul", rows, _tensor(ref_embeddings, dtypes.float32),
                                             transpose_b=True), 0.0)
    near = -gamma * _op("math.maximum", margin + distance, 0.0) * (margin - distance)
    far = gamma * _op("math.maximum", 1 + margin - distance, 0.0) * (1 - margin - distance)
    sums = [reduce_logsumexp(_op("where", chosen, value, float("-inf")), 1)
            for chosen, value in ((same, near), (different, far))]
    return _op("nn.softplus", sums[0] + sums[1])


_circle = _CLASSES["circle"]  # of the table


def circle(y_true, y_pred, ref_labels=None, ref_embeddings=None, remove_diagonal=True, gamma=80, margin=0.4):
    """How much nearer embeddings of another label are than those of the same, for each row.

    They are compared with `ref_embeddings` of `ref_labels`; None: with each other.
    """
    if ref_labels is None and ref_embeddings is None:
        return _circle(y_true, y_pred, gamma, margin, remove_diagonal)
    return _around_references(y_true, y_pred, y_true if ref_labels is None else ref_labels,
                              y_pred if ref_embeddings is None else ref_embeddings, remove_diagonal, gamma, margin)


_CLASSES["circle"] = circle
mse = MSE = globals()["mean_squared_error"]
mae = MAE = globals()["mean_absolute_error"]
mape = MAPE = globals()["mean_absolute_percentage_error"]
msle = MSLE = globals()["mean_squared_logarithmic_error"]
kld = KLD = kullback_leibler_divergence = globals()["kl_divergence"]
logcosh = globals()["log_cosh"]
_ALIASES = {"mse": "mean_squared_error", "mae": "mean_absolute_error", "mape": "mean_absolute_percentage_error",
            "msle": "mean_squared_logarithmic_error", "bce": "binary_crossentropy", "kld": "kl_divergence"}


def full_name(name):
    """The name of the function that a short name such as "mse" stands for; others as they are."""
    return _ALIASES.get(name.lower(), name)


def get(identifier):
    """A loss by name, configuration, or itself (``keras.losses.get``). ValueError."""
    return registry.by_identifier("loss", _CLASSES, _ALIASES, identifier)


def serialize(loss):
    """The configuration of a loss."""
    return registry.configuration(loss)


def deserialize(name, custom_objects=None):
    """The loss of a configuration, or of a name."""
    return registry.from_configuration("loss", _CLASSES.get, name, custom_objects)
