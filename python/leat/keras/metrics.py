"""``keras.metrics``: the metrics of the library's table, and the base of a program's own."""

import contextlib
import functools
import json
import sys
import warnings

import numpy as np

from leat import dtypes, errors
from leat._core.signatures import REQUIRED, function
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops, trace
from leat.keras import backend, losses
from leat.keras._base import calls, registry, tables
from leat.keras._base.variables import Variable, found_in, name_scope
from leat.keras.losses import _tensor


class Metric:
    """The base of metrics (``keras.metrics.Metric``): `update_state`, `result`, `reset_state`.

    A subclass makes its state with `add_variable`, or keeps variables and other metrics as attributes. Each replica
    updates a copy of its own; reading sums them.
    """

    def __init__(self, dtype=None, name=None):
        self.name = name or tables.auto_name(tables.snake_case(type(self).__name__))
        self._dtype = backend.dtype_of(dtype)
        self._variables = []

    dtype = property(lambda self: self._dtype.name)

    @property
    def variables(self):
        """Its variables, those that are its attributes, and those of the metrics that are."""
        own = found_in(self.__dict__, Variable, self._variables)
        return [*self._variables, *own, *(v for metric in self._metrics() for v in metric.variables)]

    def _metrics(self):
        return found_in(self.__dict__, Metric)

    def _require_init(self):
        if "_variables" not in self.__dict__:
            raise RuntimeError("You forgot to call `super().__init__()` in the `__init__()` method. Go add it!")

    def add_variable(self, shape, initializer, dtype=None, aggregation="sum", name=None):
        """A new variable of the metric's state, float32 where no dtype is given."""
        self._require_init()
        with name_scope(self.name.replace("/", ">")):
            made = Variable(initializer, shape=shape, dtype=dtype or backend.floatx(), trainable=False,
                            aggregation=aggregation, synchronization="on_read", name=name)
        self._variables.append(made)
        return made

    def add_weight(self, shape=(), initializer=None, dtype=None, name=None):
        """The same; zeros by default."""
        return self.add_variable(shape, initializer or "zeros", dtype, name=name)

    def update_state(self, *args, **kwargs):
        """Takes values in; a subclass overrides it."""
        raise NotImplementedError

    def result(self):
        """The metric of all that was taken in; a subclass overrides it."""
        raise NotImplementedError

    def reset_state(self):
        """Forgets all that was taken in."""
        for variable in self.variables:
            variable.assign(ops.FUNCTIONS["zeros"](tuple(variable.shape), variable.dtype))

    reset_states = reset_state

    @contextlib.contextmanager
    def _with_state(self, values):
        """Variables have other values, and behind it their own again."""
        variables = self.variables
        if len(values) != len(variables):
            raise ValueError("Argument `metric_variables` must be a list of tensors corresponding 1:1 to "
                             f"{type(self).__name__}().variables. Received list with length {len(values)}, but "
                             f"expected {len(variables)} variables.")
        kept = [variable.read_value() for variable in variables]
        try:
            for variable, value in zip(variables, values):
                variable.assign(_of_dtype(value, variable.dtype))
            yield
        finally:
            for variable, value in zip(variables, kept):
                variable.assign(value)

    def stateless_update_state(self, metric_variables, *args, **kwargs):
        """The states after an update of these ones; the metric's own stay."""
        with self._with_state(metric_variables):
            self.update_state(*args, **kwargs)
            return [variable.read_value() for variable in self.variables]

    def stateless_result(self, metric_variables):
        """The result of these states; the metric's own stay."""
        with self._with_state(metric_variables):
            return self.result()

    def stateless_reset_state(self):
        """The states after a reset; the metric's own stay."""
        with self._with_state([variable.read_value() for variable in self.variables]):
            self.reset_state()
            return [variable.read_value() for variable in self.variables]

    def __call__(self, *args, **kwargs):
        self._require_init()
        self.update_state(*args, **kwargs)
        return self.result()

    def __reduce__(self):
        return tables.made_of, (type(self), self.get_config(), [variable.numpy() for variable in self.variables])

    def get_config(self):
        """The arguments that make another one like it."""
        return {"name": self.name, "dtype": self.dtype}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        return cls(**config)

    def __repr__(self):
        return f"<{type(self).__name__} name={self.name}>"

    __str__ = __repr__


def _of_dtype(value, dtype):
    value = convert_to_tensor(value._as_tensor() if hasattr(value, "_as_tensor") else value)
    return value if value.dtype is dtype else ops.FUNCTIONS["cast"](value, dtype)


def _is_float(value):
    return "float" in str(getattr(value, "dtype", ""))


class TableMetric(Metric):
    """A metric of the library's table."""

    _has_its_dtype = True  # or are its values and states of floatx, whatever it is given?

    def _setup(self, given, _):
        own = tables.rows(self._entry).get("dtype")
        if own is not None and given.get("dtype") is None:
            given["dtype"] = own["default"]
        Metric.__init__(self, given.get("dtype"), given.get("name"))
        self._value_dtype = self._dtype if self._has_its_dtype else dtypes.as_dtype(backend.floatx())
        self._given = {name: value for name, value in given.items() if name not in ("name", "dtype")}
        if "target_class_ids" in self._given:
            self._given["target_class_ids"] = list(self._given["target_class_ids"])
        tables.refuse_unknown(self._entry, self._given)
        for name, value in self._given.items():
            setattr(self, name, value)
        self._part = tables.part("metric", self._entry, {**self._given, "dtype": self.dtype})
        self._make_states([])
        self._keeps = self._entry["keeps_dtypes"]
        self._sparse = "Sparse" in self._entry["name"]
        self._updating = self._reading = None
        self._complete = None  # are all states made? None: not asked yet

    def _make_states(self, shapes):
        """Makes the states that are known for values of these shapes and are not there yet."""
        for state in json.loads(self._part.states(shapes))[len(self._variables):]:
            name = state["name"]
            made = self.add_variable(state["shape"], state["initializer"], self._value_dtype, name=name)
            setattr(self, "total_cm" if name == "total_confusion_matrix" else name, made)

    def _build(self, *shapes):
        """Makes the states that depend on the shapes of an update's values. ValueError."""
        if self._complete is None:
            try:
                with trace.eagerly():
                    self._make_states([tuple(shape.as_list()) if shape.rank is not None else None for shape in shapes])
            except errors.InvalidArgumentError as error:
                raise ValueError(f"{type(self).__name__}: {error.message}") from None
            self._complete = True

    def _take(self, values, sample_weight):
        is_weighed = sample_weight is not None  # a mask of values themselves is for their weights alone
        mask = calls.mask_of(values[-1]) if self._entry["is_mean"] and (len(values) > 1 or is_weighed) else None
        tensors = [convert_to_tensor(value._as_tensor() if hasattr(value, "_as_tensor") else value) if self._keeps else
                   _tensor(value, self._value_dtype, keep_integers=self._sparse) for value in values]
        self._build(*[tensor.shape for tensor in tensors])
        if sample_weight is not None and self._dtype.is_integer and _is_float(sample_weight):
            warnings.warn(f"{self.name}: the weight is of a float dtype and the metric's dtype is int; casting cuts it "
                          "off. Give integer weights, or the metric a float dtype", stacklevel=3)
        weights = losses.apply_mask(None if sample_weight is None else _tensor(sample_weight, self._value_dtype), mask,
                                    self._value_dtype, "sum")
        if weights is not None:
            tensors.append(weights)
        if trace.is_tracing():
            self._update(tensors)
            return
        if self._updating is None:
            self._updating = calls.Compiled(self._update)
        with trace.unrecorded():
            self._updating(tensors)

    def _update(self, tensors):
        if self._variables:
            self._variables[0]._changes_together(
                self._variables, lambda states, values: calls.update(self._part, values, states), tensors, "metric")
        return []

    def result(self):
        """The metric of all that was taken in since the last reset."""
        if self._complete is None and not self._entry["is_mean"]:
            self._require_states()
        states = [variable._as_tensor() for variable in self._variables]
        if trace.is_tracing():
            return self._result(states)
        if self._reading is None:
            self._reading = calls.Compiled(self._result)
        with trace.unrecorded():
            return self._reading(states)

    def _require_states(self):
        wanted = len(json.loads(self._part.states([(1, 1)] * self._entry["values"])))
        if len(self._variables) < wanted:
            raise ValueError(f"{type(self).__name__} has no result before its first update_state")

    def _result(self, states):
        return calls.result(self._part, states)

    def get_config(self):
        """The arguments that make another one like it."""
        return tables.ordered(self._entry, {**super().get_config(), **self._given})


class ValueMetric(TableMetric):
    """One that takes values."""

    def update_state(self, values, sample_weight=None):
        """Takes values in, with weights that fit their first dimensions."""
        self._take([values], sample_weight)


class PairMetric(TableMetric):
    """One that takes labels and predictions."""

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Takes labels and predictions in, with a weight per row."""
        self._take([y_true, y_pred], sample_weight)


class ThresholdMetric(PairMetric):
    """One that compares predictions with thresholds: `thresholds` are all of them."""

    _has_its_dtype = False

    def _setup(self, given, others):
        if None in _listed(given.get("thresholds", ())) and given["thresholds"] is not None:
            raise ValueError(f"Threshold values must be in [0, 1]. Received: {given['thresholds']}")
        super()._setup(given, others)
        self.init_thresholds = self._given.get("thresholds")
        count = self._given.get("num_thresholds")
        if count is not None:
            self.thresholds = [place / (count - 1) for place in range(count)] if count > 1 else [0.5]
        elif self.init_thresholds is not None:
            self.thresholds = _listed(self.init_thresholds)
        else:
            self.thresholds = [0.5 if self._given.get("top_k") is None else -1e10]

    def _take(self, values, sample_weight):
        if self._given.get("class_id") is not None:
            shape = values[-1].shape if isinstance(values[-1], Tensor) else np.shape(values[-1])
            if (shape.rank if isinstance(values[-1], Tensor) else len(shape)) == 1:
                raise ValueError("When class_id is provided, y_pred must be a 2D array with shape (num_samples, "
                                 f"num_classes), found shape: {tuple(shape)}")
        super()._take(values, sample_weight)


class ScoreMetric(PairMetric):
    """One of precision and recall with a weight `beta` and a `threshold`, which are floats."""

    def _setup(self, given, others):
        for name, may_lack in (("beta", False), ("threshold", True)):
            value = given.get(name, 1.0)
            if not isinstance(value, float) and not (may_lack and value is None):
                raise ValueError(f"Invalid `{name}` argument value. It should be a Python float. Received: "
                                 f"{name}={value} of type '{type(value)}'")
        super()._setup(given, others)


class CurveMetric(PairMetric):
    """One of the area below a curve: `thresholds` are all of its points, one below 0 and one above 1 too."""

    _has_its_dtype = False

    def _setup(self, given, others):
        if given["thresholds"] is not None:
            given["thresholds"] = sorted(float(value) for value in _listed(given["thresholds"]))
            given["num_thresholds"] = len(given["thresholds"]) + 2
        if given["label_weights"] is not None:
            given["label_weights"] = [float(value) for value in _listed(given["label_weights"])]
        super()._setup(given, others)
        count = self.num_thresholds
        inner = self._given["thresholds"] or [place / (count - 1) for place in range(1, count - 1)]
        self.thresholds = [-backend.epsilon(), *inner, 1.0 + backend.epsilon()]
        self._given["curve"] = self.curve = self.curve.upper()
        self._given["summation_method"] = self.summation_method = self.summation_method.lower()

    def get_config(self):
        """The arguments that make another one like it."""
        config = super().get_config()
        if config["thresholds"] is None:
            del config["thresholds"]
        return config


def _listed(values):
    values = values.tolist() if hasattr(values, "tolist") else values
    return list(values) if isinstance(values, (list, tuple)) else [values]


def _base_of(entry):
    """The class that a metric of the table derives from."""
    if entry["values"] == 1:
        return ValueMetric
    known = tables.rows(entry)
    if "curve" in known:
        return CurveMetric
    if "threshold" in known and "average" in known:
        return ScoreMetric
    return ThresholdMetric if "thresholds" in known or "num_thresholds" in known else PairMetric


class Mean(ValueMetric):
    """The mean of values (``keras.metrics.Mean``), each with its weight."""

    _entry = tables.entry_of("metric", "Mean")
    __init__ = tables.constructor(_entry, __name__, ValueMetric._setup)


_CLASSES = {}
for _entry in tables.entries("metric"):
    _base = _base_of(_entry)
    _class = Mean if _entry is Mean._entry else tables.make_class("metric", _entry, _base, __name__, _base._setup)
    globals()[_entry["name"]] = _class
    _CLASSES[_entry["name"]] = _CLASSES[tables.snake_case(_entry["name"])] = _class


class MeanMetricWrapper(Mean):
    """The mean of a function of (y_true, y_pred) (``keras.metrics.MeanMetricWrapper``)."""

    _takes_function = True

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(name=name, dtype=dtype)
        self._fn, self._fn_kwargs = fn, kwargs

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Takes labels and predictions in, with a weight per row."""
        mask = calls.mask_of(y_pred)
        y_true, y_pred = _tensor(y_true, self._dtype, True), _tensor(y_pred, self._dtype, True)
        weights = losses.apply_mask(None if sample_weight is None else _tensor(sample_weight, self._value_dtype), mask,
                                    self._value_dtype, "sum")
        super().update_state(self._fn(y_true, y_pred, **self._fn_kwargs), weights)

    def get_config(self):
        """The arguments that make another one like it; the function by its name."""
        own = {"fn": registry.configuration(self._fn)} if self._takes_function else {}
        return {**super().get_config(), **own, **self._fn_kwargs}

    @classmethod
    def from_config(cls, config):
        """One of these arguments."""
        if not isinstance(config.get("fn"), dict):
            return cls(**config)

        def find(name):
            return losses._CLASSES.get(name) or registry.public(sys.modules[__name__], name)
        return cls(**{**config, "fn": registry.from_configuration("metric", find, config["fn"])})


_CLASSES["MeanMetricWrapper"] = MeanMetricWrapper
_OF_LOSSES = ("BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "MeanSquaredError",
              "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Hinge",
              "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "LogCosh")
_FUNCTIONS_OF_LOSSES = ("BinaryFocalCrossentropy", "CategoricalFocalCrossentropy", "Huber")


def _of_loss(entry):
    """The mean of a loss of the table as a metric."""
    name = "LogCoshError" if entry["name"] == "LogCosh" else entry["name"]
    fn = getattr(losses, tables.snake_case(entry["name"]))
    own = [(parameter, default) for parameter, default in tables.parameters(entry)
           if parameter not in losses.TableLoss._shared_names and (name, parameter) != ("BinaryCrossentropy", "axis")]

    def construct(given):
        self = given.pop("self")
        MeanMetricWrapper.__init__(self, fn, given.pop("name"), given.pop("dtype"), **given)
        for argument, value in given.items():
            setattr(self, argument, value)
    short = "logcosh" if name == "LogCoshError" else tables.snake_case(name)
    init = function(f"{name}.__init__", [("self", REQUIRED), ("name", short), ("dtype", None), *own], construct, None,
                    __name__)
    return type(name, (MeanMetricWrapper,), {"__init__": init, "__module__": __name__, "_takes_function": False,
                                             "__doc__": f"The mean of a loss. {entry['doc']}"})


for _entry in tables.entries("loss"):
    if _entry["name"] in _OF_LOSSES:
        _class = _of_loss(_entry)
        globals()[_class.__name__] = _class
        _CLASSES[_class.__name__] = _CLASSES[tables.snake_case(_class.__name__)] = _class
    if _entry["name"] in _OF_LOSSES + _FUNCTIONS_OF_LOSSES:
        _loss_function = getattr(losses, tables.snake_case(_entry["name"]))
        globals()[_loss_function.__name__] = _loss_function


# ---- what means are taken of, as functions ----

@functools.cache
def _part_of(name, arguments):
    return tables.part("metric", _CLASSES[name]._entry, dict(arguments))


def _make_function(entry):
    """What a metric takes the mean of, as a function of labels and predictions."""
    given = [(name, default) for name, default in tables.parameters(entry) if name not in ("name", "dtype")]
    keeps_integers = "Sparse" in entry["name"]

    def call(values):
        y_pred = _tensor(values.pop("y_pred"), dtypes.float32)
        y_true = _tensor(values.pop("y_true"), dtypes.float32, keeps_integers)
        tables.refuse_unknown(entry, values)
        part = _part_of(entry["name"], tuple((name, tables.tupled(value)) for name, value in values.items()))
        found = calls.call(part, [y_true, y_pred], [])[0]
        return ops.FUNCTIONS["stop_gradient"](found) if entry["name"].endswith("Accuracy") else found
    return function(tables.snake_case(entry["name"]), [("y_true", REQUIRED), ("y_pred", REQUIRED), *given], call,
                    f"{entry['doc']} One value per row.", __name__)


for _entry in tables.entries("metric"):
    if _entry["is_mean"] and _entry["name"] in ("BinaryAccuracy", "CategoricalAccuracy", "SparseCategoricalAccuracy",
                                                "TopKCategoricalAccuracy", "SparseTopKCategoricalAccuracy",
                                                "PearsonCorrelation", "ConcordanceCorrelation"):
        globals()[tables.snake_case(_entry["name"])] = _make_function(_entry)


mse, mae, mape, msle, kld, logcosh = (getattr(losses, _name) for _name in "mse mae mape msle kld logcosh".split())
MSE, MAE, MAPE, MSLE, KLD, kullback_leibler_divergence = mse, mae, mape, msle, kld, kld
_ALIASES = {"acc": "accuracy", "mse": "mean_squared_error", "mae": "mean_absolute_error",
            "mape": "mean_absolute_percentage_error", "msle": "mean_squared_logarithmic_error",
            "rmse": "root_mean_squared_error", "bce": "binary_crossentropy"}


def get(identifier):
    """A metric by name, configuration, or itself (``keras.metrics.get``). ValueError."""
    return registry.by_identifier("metric", _CLASSES, _ALIASES, identifier)


def serialize(metric):
    """The configuration of a metric."""
    return registry.configuration(metric)


def deserialize(config, custom_objects=None):
    """The metric of a configuration."""
    return registry.from_configuration("metric", _CLASSES.get, config, custom_objects)
