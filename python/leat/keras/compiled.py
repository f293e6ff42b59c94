"""The losses and metrics that ``Model.compile`` was given, for each of a model's outputs."""

from leat import nest
from leat.keras import losses as _losses
from leat.keras import metrics as _metrics


def _by_output(given, names, count, what):
    """What was given for each output: a list, a dictionary by name, or one thing for all of them."""
    if isinstance(given, dict):
        unknown = set(given) - set(names or ())
        if names is None or unknown:
            raise ValueError(f"In the dict argument `{what}`, key(s) {sorted(unknown)} do not correspond to any model "
                             f"output. Expected one of {names}")
        return [given.get(name) for name in names]
    if isinstance(given, (list, tuple)) and count > 1:
        if len(given) != count:
            raise ValueError(f"For a model with multiple outputs, when providing the `{what}` argument as a list, it "
                             f"should have as many entries as the model has outputs. Received:\n{what}={given}\nof "
                             f"length {len(given)} whereas the model has {count} outputs.")
        return list(given)
    return [given] * count


def _flat(value, names):
    if isinstance(value, dict):
        return [value[name] for name in (names if names and set(names) == set(value) else sorted(value))]
    return nest.flatten(value)


def _shape(value):
    return tuple(value.shape) if hasattr(value, "shape") else ()


def _accuracy_like(name, y_true, y_pred):
    """"accuracy" and "crossentropy" mean what the shapes of labels and predictions say."""
    true, pred = _shape(y_true), _shape(y_pred)
    is_binary = bool(pred) and pred[-1] == 1
    is_sparse = len(true) < len(pred) or (bool(true) and true[-1] == 1 and bool(pred) and pred[-1] != 1)
    kind = "Binary" if is_binary else "SparseCategorical" if is_sparse else "Categorical"
    return getattr(_metrics, kind + ("Accuracy" if name in ("accuracy", "acc") else "Crossentropy"))


def _metric(identifier, y_true, y_pred):
    """The metric that a name, a function or an object stands for."""
    if isinstance(identifier, _metrics.Metric):
        return identifier
    if isinstance(identifier, str) and identifier.lower() in ("accuracy", "acc", "crossentropy", "ce"):
        return _accuracy_like(identifier.lower(), y_true, y_pred)(name=identifier)
    found = _metrics.get(identifier)
    if isinstance(found, _metrics.Metric):
        if isinstance(identifier, str):
            found.name = identifier
        return found
    name = identifier if isinstance(identifier, str) else getattr(found, "__name__", type(found).__name__)
    return _metrics.MeanMetricWrapper(found, name=name)


class CompileMetrics:
    """The metrics of all outputs; made when the first batch's shapes are known."""

    def __init__(self, metrics, weighted_metrics, output_names):
        for name, given in (("metrics", metrics), ("weighted_metrics", weighted_metrics)):
            if given and not isinstance(given, (list, tuple, dict)):
                raise ValueError(f"Expected `{name}` argument to be a list, tuple, or dict. Received instead: {name}="
                                 f"{given} of type {type(given)}")
        self._given, self._names = (metrics, weighted_metrics), output_names
        self.built = False
        self._sets = ([], [])  # for each output a list of metrics, without and with weights

    def build(self, y_true, y_pred):
        """Makes the metrics for labels and predictions of these shapes."""
        true, pred = _flat(y_true, self._names), _flat(y_pred, self._names)
        for given, made in zip(self._given, self._sets):
            flat = given if isinstance(given, (list, tuple)) and len(pred) == 1 else None
            listed = [flat] if flat is not None else _by_output(given or None, self._names, len(pred), "metrics")
            for place, one in enumerate(listed):
                one = [] if one is None else list(one) if isinstance(one, (list, tuple)) else [one]
                made.append([_metric(identifier, true[min(place, len(true) - 1)], pred[place]) for identifier in one])
        self.built = True

    @property
    def metrics(self):
        """All of them in one list."""
        return [metric for made in self._sets for listed in made for metric in listed]

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Takes a batch in."""
        if not self.built:
            self.build(y_true, y_pred)
        true, pred = _flat(y_true, self._names), _flat(y_pred, self._names)
        weights = _flat(sample_weight, self._names) if sample_weight is not None else [None]
        weights = weights * len(pred) if len(weights) == 1 else weights
        for made, weighted in zip(self._sets, (False, True)):
            for listed, y, p, w in zip(made, true, pred, weights):
                for metric in listed:
                    metric.update_state(y, p, w) if weighted and w is not None else metric.update_state(y, p)

    def results(self):
        """{name: result}; of several outputs with the output's name in front, names that repeat with numbers."""
        out, counts = {}, {}
        for made, weighted in zip(self._sets, (False, True)):
            for place, listed in enumerate(made):
                prefix = f"{self._names[place]}_" if len(made) > 1 and self._names else ""
                for metric in listed:
                    name = prefix + metric.name
                    if weighted and name in counts:
                        name = f"{prefix}weighted_{metric.name}"
                    number = counts.get(name, 0)
                    counts[name] = number + 1
                    out[f"{name}_{number}" if number else name] = metric.result()
        return out


class CompileLoss:
    """The sum of the outputs' losses, each times its weight."""

    def __init__(self, loss, loss_weights, output_names):
        self._given, self._weights, self._names = loss, loss_weights, output_names
        self._losses = None
        self.metrics = []  # a mean of each output's loss where there are several

    def build(self, y_pred):
        """Makes the losses for this many outputs."""
        if self._losses is not None:
            return
        count = len(_flat(y_pred, self._names))
        given = _by_output(self._given, self._names, count, "loss")
        weights = _by_output(self._weights, self._names, count, "loss_weights") if self._weights is not None else (
            [None] * count)
        self._losses = [(None if one is None else _loss(one), weight) for one, weight in zip(given, weights)]
        if count > 1:
            self.metrics = [_metrics.Mean(name=f"{self._names[place] if self._names else f'output_{place}'}_loss")
                            for place, (one, _) in enumerate(self._losses) if one is not None]

    def __call__(self, y_true, y_pred, sample_weight=None):
        self.build(y_pred)
        true, pred = _flat(y_true, self._names), _flat(y_pred, self._names)
        if len(true) != len(pred):
            raise ValueError(f"The model has {len(pred)} outputs; labels are given for {len(true)}")
        weights = _flat(sample_weight, self._names) if sample_weight is not None else [None]
        weights = weights * len(pred) if len(weights) == 1 else weights
        total, trackers = None, iter(self.metrics)
        for (loss, weight), y, p, w in zip(self._losses, true, pred, weights):
            if loss is None:
                continue
            value = loss(y, p, sample_weight=w)
            if self.metrics:
                shared = _losses.replicas()
                next(trackers).update_state(value if shared == 1 else value * float(shared))
            value = value if weight is None else value * float(weight)
            total = value if total is None else total + value
        return total


class _FunctionLoss(_losses.Loss):
    """A program's function of (y_true, y_pred) as a loss."""

    def __init__(self, function):
        super().__init__(name=getattr(function, "__name__", "loss"))
        self._function = function

    def call(self, y_true, y_pred):
        """What the function gives."""
        return self._function(y_true, y_pred)


def _loss(identifier):
    """The loss that a name, a function or an object stands for."""
    if isinstance(identifier, str):
        name = _losses._ALIASES.get(identifier.lower(), identifier)
        for entry_name, thing in _losses._CLASSES.items():
            if isinstance(thing, type) and name in (entry_name, _losses.tables.snake_case(entry_name)):
                return thing()
    if isinstance(identifier, _losses.Loss):
        return identifier
    found = _losses.get(identifier)
    for thing in _losses._CLASSES.values():
        if isinstance(thing, type) and getattr(_losses, _losses.tables.snake_case(thing.__name__), None) is found:
            return thing()
    return found if isinstance(found, _losses.Loss) else _FunctionLoss(found)
