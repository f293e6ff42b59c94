"""``keras.metrics``: the metrics of the library's table, and the base of a program's own."""

import json

from leat import dtypes, ops, trace
from leat.keras import calls, losses, tables
from leat.keras.losses import _tensor
from leat.keras.variables import Variable, name_scope
from leat.signatures import REQUIRED, function


class Metric:
    """The base of metrics (``keras.metrics.Metric``): `update_state`, `result`, `reset_state`.

    A subclass makes its state with `add_variable`. Each replica updates a copy of its own; reading sums them.
    """

    def __init__(self, dtype=None, name=None):
        self.name = name or tables.auto_name(tables.snake_case(type(self).__name__))
        self._dtype = dtypes.as_dtype(dtype or "float32")
        self._variables = []

    dtype = property(lambda self: self._dtype.name)
    variables = property(lambda self: [*self._variables, *(v for metric in self._metrics() for v in metric.variables)])

    def _metrics(self):
        return [value for value in self.__dict__.values() if isinstance(value, Metric)]

    def add_variable(self, shape, initializer, dtype=None, aggregation="sum", name=None):
        """A new variable of the metric's state."""
        with name_scope(self.name):
            made = Variable(initializer, shape=shape, dtype=dtype or self._dtype, trainable=False,
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

    def stateless_update_state(self, metric_variables, *args, **kwargs):
        """The states after an update of these ones, which stay."""
        kept = [variable.read_value() for variable in self.variables]
        try:
            for variable, value in zip(self.variables, metric_variables):
                variable.assign(value)
            self.update_state(*args, **kwargs)
            return [variable.read_value() for variable in self.variables]
        finally:
            for variable, value in zip(self.variables, kept):
                variable.assign(value)

    def __call__(self, *args, **kwargs):
        self.update_state(*args, **kwargs)
        return self.result()

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


class TableMetric(Metric):
    """A metric of the library's table."""

    def _setup(self, given, _):
        Metric.__init__(self, given.get("dtype"), given.get("name"))
        self._given = {name: value for name, value in given.items() if name not in ("name", "dtype")}
        tables.refuse_unknown(self._entry, self._given)
        for name, value in self._given.items():
            setattr(self, name, value)
        self._part = tables.part("metric", self._entry, self._given)
        for state in json.loads(self._part.states([])):
            setattr(self, state["name"], self.add_variable(state["shape"], state["initializer"], name=state["name"]))
        self._sparse = "Sparse" in self._entry["name"]
        self._updating = self._reading = None

    def _take(self, values, sample_weight):
        tensors = [_tensor(value, self._dtype, keep_integers=self._sparse) for value in values]
        if sample_weight is not None:
            tensors.append(_tensor(sample_weight, self._dtype))
        if trace.is_tracing():
            self._update(tensors)
            return
        if self._updating is None:
            self._updating = calls.Compiled(self._update)
        with trace.unrecorded():
            self._updating(tensors)

    def _update(self, tensors):
        states = [variable._as_tensor() for variable in self._variables]
        for variable, update in zip(self._variables, calls.update(self._part, tensors, states)):
            if update is not None:
                variable.assign(update)
        return []

    def result(self):
        """The metric of all that was taken in since the last reset."""
        states = [variable._as_tensor() for variable in self._variables]
        if trace.is_tracing():
            return self._result(states)
        if self._reading is None:
            self._reading = calls.Compiled(self._result)
        with trace.unrecorded():
            return self._reading(states)

    def _result(self, states):
        return calls.result(self._part, states)

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), **self._given}


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


_CLASSES = {}
for _entry in tables.entries("metric"):
    _base = ValueMetric if _entry["values"] == 1 else PairMetric
    _class = tables.make_class("metric", _entry, _base, __name__, TableMetric._setup)
    globals()[_entry["name"]] = _class
    _CLASSES[_entry["name"]] = _CLASSES[tables.snake_case(_entry["name"])] = _class


class MeanMetricWrapper(Metric):
    """The mean of a function of (y_true, y_pred) (``keras.metrics.MeanMetricWrapper``)."""

    def __init__(self, fn, name=None, dtype=None, **kwargs):
        super().__init__(dtype=dtype, name=name)
        self._fn, self._fn_kwargs = fn, kwargs
        self._mean = globals()["Mean"](name=self.name, dtype=dtype)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Takes labels and predictions in, with a weight per row."""
        y_true, y_pred = _tensor(y_true, self._dtype, True), _tensor(y_pred, self._dtype, True)
        self._mean.update_state(self._fn(y_true, y_pred, **self._fn_kwargs), sample_weight)

    def result(self):
        """The mean so far."""
        return self._mean.result()

    def get_config(self):
        """The arguments that make another one like it."""
        own = {} if type(self) is not MeanMetricWrapper else {"fn": self._fn}
        return {**super().get_config(), **own, **self._fn_kwargs}


_OF_LOSSES = ("BinaryCrossentropy", "CategoricalCrossentropy", "SparseCategoricalCrossentropy", "MeanSquaredError",
              "MeanAbsoluteError", "MeanAbsolutePercentageError", "MeanSquaredLogarithmicError", "Hinge",
              "SquaredHinge", "CategoricalHinge", "KLDivergence", "Poisson", "LogCosh")


def _of_loss(entry):
    """The mean of a loss of the table as a metric."""
    name = "LogCoshError" if entry["name"] == "LogCosh" else entry["name"]
    fn = getattr(losses, tables.snake_case(entry["name"]))
    own = [(parameter, default) for parameter, default in tables.parameters(entry)
           if parameter not in losses.TableLoss._shared_names]

    def construct(given):
        self = given.pop("self")
        MeanMetricWrapper.__init__(self, fn, given.pop("name"), given.pop("dtype"), **given)
    init = function(f"{name}.__init__", [("self", REQUIRED), ("name", tables.snake_case(name)), ("dtype", None), *own],
                    construct, None, __name__)
    return type(name, (MeanMetricWrapper,), {"__init__": init, "__module__": __name__,
                                             "__doc__": f"The mean of a loss. {entry['doc']}"})


for _entry in tables.entries("loss"):
    if _entry["name"] in _OF_LOSSES:
        _class = _of_loss(_entry)
        globals()[_class.__name__] = _class
        _CLASSES[_class.__name__] = _CLASSES[tables.snake_case(_class.__name__)] = _class
        _loss_function = getattr(losses, tables.snake_case(_entry["name"]))
        globals()[_loss_function.__name__] = _loss_function


_ALIASES = {"acc": "accuracy", "mse": "mean_squared_error", "mae": "mean_absolute_error",
            "rmse": "root_mean_squared_error", "bce": "binary_crossentropy"}


def get(identifier):
    """A metric by name, configuration, or itself (``keras.metrics.get``). ValueError."""
    return tables.by_identifier("metric", _CLASSES, _ALIASES, identifier)


def serialize(metric):
    """The configuration of a metric."""
    return tables.configuration("metrics", metric)


def deserialize(config, custom_objects=None):
    """The metric of a configuration."""
    return tables.from_configuration("metric", _CLASSES.get, config, custom_objects)
