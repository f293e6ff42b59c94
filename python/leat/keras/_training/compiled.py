"""The losses and metrics that ``Model.compile`` was given, for each of a model's outputs."""

import collections
import warnings

from leat import nest
from leat.keras import losses as _losses, metrics as _metrics
from leat.keras._base import tables


def _paths(structure, path=()):
    """The places of the leaves, as keys and indices, in the order of the leaves."""
    if isinstance(structure, dict):
        return [found for key in sorted(structure) for found in _paths(structure[key], (*path, key))]
    if isinstance(structure, (list, tuple)):
        return [found for place, item in enumerate(structure) for found in _paths(item, (*path, place))]
    return [path]


def _at(path, structure):
    """What is at a place of a structure; a leaf stands for all places below it."""
    for step in path:
        if not nest.is_nested(structure):
            return structure
        structure = structure[step]
    return structure


def _shown(structure):
    return nest.map_structure(lambda _: "*", structure)


def _sorts(y_true, y_pred):
    """Do the shapes of labels and predictions speak of two classes, or of labels that are numbers of classes?"""
    true, pred = (tuple(y.shape) if hasattr(y, "shape") else () for y in (y_true, y_pred))
    is_binary = bool(pred) and pred[-1] == 1
    is_sparse = len(true) < len(pred) or (bool(true) and true[-1] == 1 and bool(pred) and pred[-1] != 1)
    return "Binary" if is_binary else "SparseCategorical" if is_sparse else "Categorical"


def _name_of(thing):
    """The name of a function or of an object without one."""
    return getattr(thing, "__name__", None) or tables.snake_case(type(thing).__name__)


# ---- metrics ----

def _metric(identifier, y_true, y_pred):
    """The metric that a name, a function or an object stands for."""
    if identifier is None:
        raise ValueError("Expected metric, received `None`")
    if isinstance(identifier, _metrics.Metric):
        return identifier
    short = identifier.lower() if isinstance(identifier, str) else None
    if short in ("accuracy", "acc", "crossentropy", "ce"):
        kind = "Accuracy" if short in ("accuracy", "acc") else "Crossentropy"
        return getattr(_metrics, _sorts(y_true, y_pred) + kind)(name=identifier)
    found = _metrics.get(identifier)
    if isinstance(found, _metrics.Metric):
        if isinstance(identifier, str):
            found.name = identifier
        return found
    return _metrics.MeanMetricWrapper(found, name=identifier if isinstance(identifier, str) else _name_of(found))


def _along(structure, given):
    """What was given for each leaf of a structure; ValueError where it does not have its structure."""
    if not nest.is_nested(structure):
        return [given]
    if isinstance(structure, dict) and isinstance(given, dict) and set(structure) == set(given):
        return [one for key in sorted(structure) for one in _along(structure[key], given[key])]
    if isinstance(structure, (list, tuple)) and isinstance(given, (list, tuple)) and len(structure) == len(given):
        return [one for inner, item in zip(structure, given) for one in _along(inner, item)]
    raise ValueError(f"{given!r} does not have the structure {_shown(structure)}")


class CompileMetrics(_metrics.Metric):
    """All metrics of `compile` as one, whose result is a dictionary; made when the first batch's shapes are known."""

    def __init__(self, metrics, weighted_metrics, name="compile_metrics", output_names=None):
        super().__init__(name=name)
        for what, given in (("metrics", metrics), ("weighted_metrics", weighted_metrics)):
            if given and not isinstance(given, (list, tuple, dict)):
                raise ValueError(f"Expected `{what}` argument to be a list, tuple, or dict. Received instead: {what}="
                                 f"{given} of type {type(given)}")
        self._given, self.output_names = {"metrics": metrics, "weighted_metrics": weighted_metrics}, output_names
        self.built = False
        self._order = None  # the keys of several outputs in their order
        self._sets = ([], [])  # for each output (metrics, name), without and with weights

    def build(self, y_true, y_pred):
        """Makes the metrics for labels and predictions of these shapes."""
        count, names = len(nest.flatten(y_pred)), self.output_names
        is_flat = nest.is_nested(y_pred) and len(y_pred) == count
        if is_flat and isinstance(y_pred, dict) and set(names or ()) != set(y_pred):
            names = sorted(y_pred)
        self._order = names if count > 1 and is_flat else None
        self._sets = tuple(self._of_outputs(what, names, y_true, y_pred, is_flat) for what in self._given)
        self.built = True

    def _of_outputs(self, what, names, y_true, y_pred, is_flat):
        given, count = self._given[what], len(nest.flatten(y_pred))
        true, pred = self._flat(y_true), self._flat(y_pred)
        if not given:
            return [([], None)] * count
        if count == 1:
            return [([_metric(one, true[0], pred[0]) for one in nest.flatten(given)], None)]
        if is_flat and isinstance(given, (list, tuple)) and len(given) == count:
            listed = given
        elif is_flat and names and isinstance(given, dict) and set(given) <= set(names):
            listed = [given.get(name) for name in names]
        else:
            try:
                listed = _along(y_pred, given)
            except ValueError as error:
                of_names = f"be a dict or a list matching the output names of the functional model {names}, or "
                raise ValueError(f"Invalid `{what}`: {error}. `{what}` should contain metrics objects and "
                                 f"{of_names if names else ''}match the output structure of the model: "
                                 f"{_shown(y_pred)}. Received: {what}={given}") from None
        made = []
        for place, one in enumerate(listed):
            has_labels = place < len(true)
            one = [] if one is None or not has_labels else one if isinstance(one, (list, tuple)) else [one]
            made.append(([_metric(item, true[place], pred[place]) for item in one], names[place] if names else None))
        return made

    def _flat(self, value):
        if isinstance(value, dict) and self._order is not None:
            return [value[name] for name in self._order]
        return nest.flatten(value)

    @property
    def metrics(self):
        """All of them in one list; empty before they are made."""
        return [metric for made in self._sets for listed, _ in made for metric in listed]

    @property
    def variables(self):
        """The states of all of them."""
        return [variable for metric in self.metrics for variable in metric.variables]

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Takes a batch in; the weights are for the weighted metrics alone."""
        if not self.built:
            self.build(y_true, y_pred)
        true, pred = self._flat(y_true), self._flat(y_pred)
        weights = [None] if sample_weight is None else self._flat(sample_weight)
        weights = weights[:1] * len(true) if len(weights) < len(true) else weights
        for made, is_weighted in zip(self._sets, (False, True)):
            for (listed, _), y, p, w in zip(made, true, pred, weights):
                for metric in listed:
                    metric.update_state(y, p, w) if is_weighted and w is not None else metric.update_state(y, p)

    def reset_state(self):
        """Forgets all that was taken in."""
        for metric in self.metrics:
            metric.reset_state()

    def result(self):
        """{name: result}; of several outputs with the output's name in front, names that repeat with numbers."""
        if not self.built:
            raise ValueError("Cannot get result() since the metric has not yet been built: update_state() has not been "
                             "called")
        out, counts = {}, {}
        for made, is_weighted in zip(self._sets, (False, True)):
            for listed, prefix in made:
                prefix = f"{prefix}_" if prefix else ""
                for metric in listed:
                    name = prefix + metric.name
                    if is_weighted and name in counts:
                        name = f"{prefix}weighted_{metric.name}"
                    number = counts.get(name, 0)
                    counts[name] = number + 1
                    out[f"{name}_{number}" if number else name] = metric.result()
        return out

    def get_config(self):
        """NotImplementedError: a model's configuration has what `compile` was given."""
        raise NotImplementedError("the metrics of `compile` have no configuration; see Model.get_compile_config")


# ---- losses ----

def _loss(identifier, y_true, y_pred):
    """The loss that a name, a function, a configuration or an object stands for; None: no loss."""
    if identifier is None or isinstance(identifier, _losses.Loss):
        return identifier
    name = identifier if isinstance(identifier, str) else None
    if name is not None and name.lower() in ("crossentropy", "ce"):
        identifier = tables.snake_case(_sorts(y_true, y_pred) + "Crossentropy")
    found = _losses.get(identifier)
    if isinstance(found, _losses.Loss):
        return found
    for thing in _losses._CLASSES.values():  # a function of the table: its class looks behind activations
        if isinstance(thing, type) and getattr(_losses, tables.snake_case(thing.__name__), None) is found:
            return thing(name=name or _name_of(found))
    return _losses.LossFunctionWrapper(found, name=name or _name_of(found))


def _mean(name):
    """A mean of a name that may have slashes, which names of variables may not."""
    mean = _metrics.Mean(name=name.replace("/", ">"))
    mean.name = name
    return mean


_Entry = collections.namedtuple("_Entry", "path loss weight name")


class CompileLoss(_losses.Loss):
    """The sum of the outputs' losses, each times its weight; `metrics` has the mean of each where there are several."""

    def __init__(self, loss, loss_weights=None, reduction="sum_over_batch_size", output_names=None):
        super().__init__(name="compile_loss", reduction=reduction)
        if loss_weights and not isinstance(loss_weights, (list, tuple, dict, float)):
            raise ValueError("Expected `loss_weights` argument to be a float (single output case) or a list, tuple, or "
                             f"dict (multiple output case). Received instead: loss_weights={loss_weights} of type "
                             f"{type(loss_weights)}")
        self._given, self._weights, self.output_names = loss, loss_weights, output_names
        self.built = False
        self.metrics = []
        self._entries = self._structure = None

    variables = property(lambda self: [variable for metric in self.metrics for variable in metric.variables])

    def build(self, y_true, y_pred):
        """Finds the loss of each output. KeyError and ValueError where losses and outputs do not fit."""
        given, names = self._by_name(y_pred)
        places = _paths(y_pred)
        if not nest.is_nested(given):
            listed = [(path, given, self._one_weight(given)) for path in places]
        else:
            listed = list(self._listed(given, self._fitting_weights(given), y_pred, ()))
        self._entries = []
        for path, identifier, weight in listed:
            if identifier is None:
                continue
            self._check(path, y_true, y_pred)
            loss = _loss(identifier, _at(path, y_true), _at(path, y_pred))
            self._entries.append(_Entry(path, loss, weight, self._name(path, places, names, loss)))
        if len(self._entries) > 1 and not nest.is_nested(y_pred):
            warnings.warn(f"{len(self._entries)} losses were given for one output; the first alone counts, as in Keras",
                          stacklevel=2)
            self._entries = self._entries[:1]
        if len(self._entries) > 1:
            self.metrics = [_mean(f"{entry.name}_loss") for entry in self._entries]
        self._structure = _shown(y_pred)
        self.built = True

    def _by_name(self, y_pred):
        """What was given, by output in place of by name where the outputs are no dictionary; the outputs' names."""
        given, names = self._given, self.output_names
        if isinstance(given, dict) and names and not isinstance(y_pred, dict):
            if set(given) != set(names):
                raise ValueError(f"Expected keys {list(names)} in loss dict, but found loss.keys()={list(given)}")
            given = [given[name] for name in names]
        return given, names

    def _one_weight(self, given):
        weights = nest.flatten(self._weights)
        if len(weights) != 1:
            self._refuse_weights(given)
        return weights[0]

    def _refuse_weights(self, given):
        raise ValueError(f"`loss_weights` must match the number of losses, got {len(nest.flatten(given))} losses and "
                         f"{len(nest.flatten(self._weights))} weights.")

    def _fitting_weights(self, given):
        """The weights in the structure of the losses."""
        weights = self._weights
        if weights is None:
            return nest.map_structure(lambda _: None, given)
        if isinstance(weights, dict) and isinstance(self._given, dict) and not isinstance(given, dict):
            if set(weights) != set(self._given):
                self._refuse_weights(given)
            weights = [weights[name] for name in self.output_names]
        leaves = nest.flatten(weights)
        if len(leaves) != len(nest.flatten(given)):
            self._refuse_weights(given)
        return nest.pack_sequence_as(given, leaves)

    def _listed(self, given, weights, y_pred, path):
        """(path, loss, weight) of losses in a list, tuple or dictionary."""
        if not nest.is_nested(given):
            yield path, given, weights
            return
        if isinstance(given, (list, tuple)):
            places = _paths(y_pred, path)
            if len(given) == len(places) and not any(nest.is_nested(one) for one in given):
                yield from zip(places, given, weights)  # one for each of the outputs, however they are nested
                return
            if not isinstance(y_pred, type(given)):  # several of the same output, or of all of them
                for one, weight in zip(given, weights):
                    yield from self._listed(one, weight, y_pred, path)
                return
        if isinstance(given, dict) != isinstance(y_pred, dict) or not nest.is_nested(y_pred):
            raise KeyError(f"The path: {path} in the `loss` argument, can't be found in the model's output (`y_pred`), "
                           f"which is {_shown(y_pred)}")
        for key in given if isinstance(given, dict) else range(len(given)):
            if given[key] is None:
                continue
            if key not in y_pred if isinstance(given, dict) else key >= len(y_pred):
                raise KeyError(f"The path: {(*path, key)} in the `loss` argument, can't be found in either the model's "
                               f"output (`y_pred`) or in the labels (`y_true`); the output is {_shown(y_pred)}")
            yield from self._listed(given[key], weights[key], y_pred[key], (*path, key))

    @staticmethod
    def _check(path, y_true, y_pred):
        try:
            _at(path, y_true)
        except (KeyError, IndexError):
            raise KeyError(f"The path: {path} in the `loss` argument, can't be found in either the model's output "
                           f"(`y_pred`) or in the labels (`y_true`), which are {_shown(y_true)}") from None

    @staticmethod
    def _name(path, places, names, loss):
        """A dictionary's keys, and for a place in a list the output's name, or the loss's where it has none."""
        known = path in places
        own = names[places.index(path)] if names and known and len(names) == len(places) else loss.name
        if not path and len(places) > 1:  # of all outputs together
            return "_".join(dict.fromkeys(place[0] for place in places) if isinstance(places[0][0], str) else
                            names or [loss.name])
        if not path:
            return own
        if isinstance(path[-1], int) and known:
            path = (*path[:-1], own)
        return "/".join(str(step) for step in path)

    def labels(self, y_true, y_pred):
        """The labels in the structure of the predictions. ValueError where they have another one."""
        places = _paths(y_pred)
        if _paths(y_true) == places:
            return nest.pack_sequence_as(y_pred, nest.flatten(y_true))
        if isinstance(y_pred, (list, tuple)):
            if isinstance(y_true, dict) and set(self.output_names or ()) == set(y_true):
                return [y_true[name] for name in self.output_names]
        if not nest.is_nested(y_true) and len(places) == 1:
            return nest.pack_sequence_as(y_pred, [y_true])
        leaves = nest.flatten(y_true)
        if len(leaves) == len(places) and isinstance(y_true, (list, tuple)) and len(y_true) == len(leaves):
            return nest.pack_sequence_as(y_pred, leaves)
        given = nest.flatten(self._given)
        if nest.is_nested(self._given) and len(leaves) == sum(one is not None for one in given) and (
                not isinstance(y_true, dict) or isinstance(self._given, dict) and set(y_true) <= set(self._given)):
            rest = iter(leaves)  # labels of the outputs that have a loss
            return nest.pack_sequence_as(self._given, [None if one is None else next(rest) for one in given])
        raise ValueError("y_true and y_pred have different structures.\n"
                         f"y_true: {_shown(y_true)}\ny_pred: {_shown(y_pred)}\n")

    def __call__(self, y_true, y_pred, sample_weight=None):
        return self.call(y_true, y_pred, sample_weight)

    def call(self, y_true, y_pred, sample_weight=None):
        """The sum; None where no output has a loss."""
        y_true = self.labels(y_true, y_pred)
        if not self.built:
            self.build(y_true, y_pred)
        if _shown(y_pred) != self._structure and len(nest.flatten(y_pred)) == len(nest.flatten(self._structure)):
            y_true, y_pred = (nest.pack_sequence_as(self._structure, nest.flatten(y)) for y in (y_true, y_pred))
        total = None
        for number, (path, loss, weight, _) in enumerate(self._entries):
            pred = _at(path, y_pred)
            value = loss(_at(path, y_true), pred, sample_weight=self._row_weights(path, sample_weight))
            if self.metrics:
                shared = _losses.replicas()
                self.metrics[number].update_state(value if shared == 1 else value * float(shared))
            value = value if weight is None else value * weight
            total = value if total is None else total + value
        return total

    @staticmethod
    def _row_weights(path, sample_weight):
        return _at(path, sample_weight) if nest.is_nested(sample_weight) else sample_weight

    def get_config(self):
        """NotImplementedError: a model's configuration has what `compile` was given."""
        raise NotImplementedError("the losses of `compile` have no configuration; see Model.get_compile_config")
