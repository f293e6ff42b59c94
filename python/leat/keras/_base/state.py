"""What belongs to a layer among its attributes: variables, generators of random numbers, metrics and other layers.

Attributes are noted as they are set; what lies in lists and dictionaries is looked for when it is asked for, because
they change. Once a layer is built it takes no more of them.
"""

import numpy as np

from leat import dtypes
from leat._core.tracking import WAITING, grown, kept
from leat.keras import constraints, initializers, regularizers
from leat.keras._base.variables import Variable, _scopes, current_path, name_scope
from leat.keras.metrics import Metric
from leat.keras.random import SeedGenerator


def _regularizer(identifier):
    if identifier is None:
        return None
    return regularizers.get(identifier)


def shape_of(value):
    """The shape of a tensor as a tuple; None stands for an unknown dimension."""
    return tuple(value.shape.as_list()) if hasattr(value.shape, "as_list") else tuple(value.shape)


def _leaves(value):
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in _leaves(value[key])]
    return [value]


def _instances(class_, value, seen, around=()):
    """The objects of a class in an attribute: itself, or those of a list, tuple or dictionary. `around`: the containers
    that this one stands in; one of them again adds nothing."""
    if isinstance(value, class_):
        if id(value) not in seen:
            seen.add(id(value))
            yield value
    elif isinstance(value, (list, tuple, dict)) and all(value is not one for one in around):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _instances(class_, item, seen, (*around, value))


def layers_in(value, seen):
    """The layers in an attribute: itself, or those of a list, tuple or dictionary."""
    return _instances(State, value, seen)


_UNBUILT = ("You cannot add new elements of state (variables or sub-layers) to a layer that is already built. All "
            "state must be created in the `__init__()` method or in the `build()` method. Layer '{}' is given '{}'.")
# Attributes that hold what belongs to others, or what is listed already.
_NOT_STATE = frozenset(("_inbound_nodes", "_losses", "_tracked", "_generators", "_given", "_weights", "_build_shapes",
                        "_auto_config", "_compile_config"))


class State:
    """The base of `Layer`: its weights and everything else that calls change."""

    def __setattr__(self, name, value):
        if isinstance(value, (Variable, SeedGenerator, State)):
            self._refuse_if_locked(name)
            if isinstance(value, SeedGenerator):
                self._generators.append(value)
            elif isinstance(value, Variable):
                self._track(value)
        object.__setattr__(self, name, kept(self, value))
        grown(self)

    def __delattr__(self, name):
        value = self.__dict__.get(name)
        object.__delattr__(self, name)
        object.__setattr__(self, "_tracked", [one for one in self._tracked if one is not value])
        object.__setattr__(self, "_generators", [one for one in self._generators if one is not value])

    def _track(self, variable):
        if all(variable is not known for known in self._tracked):
            self._tracked.append(variable)

    def _refuse_if_locked(self, name):
        if self._is_locked and not self._builds_parts:
            raise ValueError(_UNBUILT.format(getattr(self, "name", type(self).__name__), name))

    def _in_containers(self, class_, seen):
        """The objects of a class in lists and dictionaries among the attributes."""
        for name, value in list(self.__dict__.items()):
            if isinstance(value, (list, tuple, dict)) and name not in _NOT_STATE:
                yield from _instances(class_, value, seen)

    @property
    def _own_variables(self):
        return [*self._tracked, *self._in_containers(Variable, {id(one) for one in self._tracked})]

    @property
    def _seed_generators(self):
        return [*self._generators, *self._in_containers(SeedGenerator, {id(one) for one in self._generators})]

    _checkpoint_names = {}  # of weights that Keras has under another name than their own

    def _checkpoint_children(self):
        """The attributes that hold state, then weights that no attribute holds, under Keras' names."""
        found = [(name, value) for name, value in self.__dict__.items()
                 if name not in _NOT_STATE and name != WAITING and not name.startswith("_compile")
                 and next(_instances(Metric, value, set()), None) is None]  # Keras saves no metrics
        held = {id(value) for _, value in found}
        weights = [(one.name, one) for one in self._tracked if id(one) not in held]
        return [(self._checkpoint_names.get(name, name), value) for name, value in [*weights, *found]]

    # ---- weights ----

    def add_weight(self, *args, shape=None, initializer=None, dtype=None, trainable=True, autocast=True,
                   regularizer=None, constraint=None, aggregation="none", overwrite_with_gradient=False, name=None):
        """A new weight of the layer, a `keras.Variable`; by default glorot_uniform for floats and zeros for others.

        `shape`, `initializer` and `dtype` may be given by position. ValueError once the layer is built.
        """
        shape, initializer, dtype = _positions(args, shape=shape, initializer=initializer, dtype=dtype)
        self._require_init()
        self._refuse_if_locked(name)
        dtype = dtypes.as_dtype(dtype or self.variable_dtype)
        initializer = initializer or ("glorot_uniform" if dtype.is_floating else "zeros")
        with _scope_of(self):
            made = Variable(initializers.get(initializer), shape=() if shape is None else shape, dtype=dtype,
                            trainable=trainable and self._trainable, autocast=autocast, aggregation=aggregation,
                            name=name)
        made.regularizer, made.constraint = _regularizer(regularizer), constraints.get(constraint)
        made.overwrite_with_gradient = overwrite_with_gradient
        made._is_weight_trainable = trainable
        self._tracked.append(made)
        return made

    def add_variable(self, shape, initializer, dtype=None, trainable=True, autocast=True, regularizer=None,
                     constraint=None, name=None):
        """The same as `add_weight`."""
        return self.add_weight(shape=shape, initializer=initializer, dtype=dtype, trainable=trainable,
                               autocast=autocast, regularizer=regularizer, constraint=constraint, name=name)

    def _flatten_layers(self, include_self=False):
        seen = {id(self)}
        found = [self] if include_self else []
        for value in list(self.__dict__.values()):
            found.extend(layers_in(value, seen))
        return found

    @property
    def variables(self):
        """All variables: the layer's own, trainable ones first, those of its layers, and states of generators."""
        return self._collect(with_states=True)

    @property
    def weights(self):
        """The variables without the states of generators of random numbers."""
        return self._collect(with_states=False)

    def _collect(self, with_states):
        own = self._sorted_variables()
        if with_states:
            own += [generator.state for generator in self._seed_generators]
        found, seen = [], set()
        for variable in [*own, *(v for layer in self._flatten_layers() for v in layer._collect(with_states))]:
            if id(variable) not in seen:
                seen.add(id(variable))
                found.append(variable)
        return found

    @property
    def trainable_variables(self):
        """The variables that training changes; none where the layer is not trainable."""
        return [variable for variable in self.variables if variable.trainable] if self.trainable else []

    trainable_weights = trainable_variables

    @property
    def non_trainable_variables(self):
        """The variables that training leaves alone."""
        if not self.trainable:
            return self.variables
        return [variable for variable in self.variables if not variable.trainable]

    @property
    def non_trainable_weights(self):
        """The same without the states of generators of random numbers."""
        states = {id(generator.state) for layer in _all_layers(self, set()) for generator in layer._seed_generators}
        return [variable for variable in self.non_trainable_variables if id(variable) not in states]

    @property
    def trainable(self):
        """Does training change the weights? Setting it reaches all layers inside."""
        return self._trainable

    @trainable.setter
    def trainable(self, value):
        value = bool(value)
        self._trainable = value
        for variable in self._own_variables:
            if getattr(variable, "_is_weight_trainable", True):
                variable.trainable = value
        for layer in self._flatten_layers():
            layer.trainable = value

    def get_weights(self):
        """The values of the weights as a list of numpy arrays."""
        return [np.array(variable.numpy()) for variable in self.weights]

    def set_weights(self, weights):
        """Sets the weights to a list of arrays, as get_weights gives them. ValueError on other numbers or shapes."""
        own = self.weights
        if len(own) != len(weights):
            raise ValueError(f"You called `set_weights(weights)` on layer '{self.name}' with a weight list of length "
                             f"{len(weights)}, but the layer was expecting {len(own)} weights.")
        for variable, value in zip(own, weights):
            if tuple(np.shape(value)) != shape_of(variable):
                raise ValueError(f"Layer {self.name} weight shape {shape_of(variable)} is not compatible with provided "
                                 f"weight shape {tuple(np.shape(value))}.")
            variable.assign(value)

    @property
    def metrics(self):
        """The metrics among the attributes, and those of the layers inside."""
        seen = set()
        own = [one for value in list(self.__dict__.values()) for one in _instances(Metric, value, seen)]
        return own + [metric for layer in self._flatten_layers() for metric in layer.metrics]

    @property
    def metrics_variables(self):
        """The states of the metrics."""
        return [variable for metric in self.metrics for variable in metric.variables]

    def _variables_in_files(self):
        """The variables that files have of the layer, in their order."""
        return self._sorted_variables()

    def _value_in_files(self, variable):
        """What files have of one of these."""
        return variable

    def _note_loaded(self):
        """Is called when they were loaded."""

    def save_own_variables(self, store):
        """Writes the layer's own variables into a dictionary: "0", "1" and so on, trainable ones first."""
        for number, variable in enumerate(self._variables_in_files()):
            store[str(number)] = self._value_in_files(variable)

    def load_own_variables(self, store):
        """Sets them from what `save_own_variables` wrote. ValueError on another number or shape."""
        own = self._variables_in_files()
        if len(store.keys()) != len(own):
            never = "" if own or self.built else (
                f"Layer '{self.name}' was never built and thus it doesn't have any variables; build it, or write "
                "`build_from_config()` where its weights depend on more than shapes. ")
            raise ValueError(f"{never}Layer '{self.name}' expected {len(own)} variables, but received "
                             f"{len(store.keys())} variables during loading. Expected: {[v.name for v in own]}")
        for number, variable in enumerate(own):
            variable.assign(store[str(number)])
        self._note_loaded()

    def _sorted_variables(self):
        return sorted(self._own_variables, key=lambda v: not getattr(v, "_is_weight_trainable", v.trainable))

    def count_params(self):
        """The number of values in the weights. ValueError before the layer is built."""
        if not self.built:
            raise ValueError(f"You tried to call `count_params` on layer '{self.name}', but the layer isn't built. You "
                             "can build it manually via: `layer.build(input_shape)`.")
        return sum(int(np.prod(shape_of(variable))) for variable in self.weights)


def _positions(args, **named):
    """The first three arguments of add_weight, by position or by name."""
    if len(args) > len(named):
        raise TypeError(f"add_weight() takes at most {len(named)} positional arguments but {len(args)} were given.")
    if args and isinstance(args[0], str):
        raise ValueError(f"`name` must be passed as a keyword argument. Received: add_weight('{args[0]}', ...). Use: "
                         f"add_weight(shape=..., name='{args[0]}').")
    for name, value in zip(named, args):
        if named[name] is not None:
            raise ValueError(f"`{name}` was passed both positionally and as a keyword argument.")
        named[name] = value
    return named.values()


class _scope_of(name_scope):
    """The scope of a layer's name, unless it is the innermost one already."""

    def __init__(self, layer):
        super().__init__(layer.name)
        self._layer = layer

    def __enter__(self):
        if self._layer._parent_path is None:
            self._layer._parent_path = current_path()
        self._around, _scopes.names = _scopes.names, [part for part in (self._layer._parent_path, self.name) if part]
        return self

    def __exit__(self, *error):
        _scopes.names = self._around


def has_unbuilt(layer):
    """Are there layers in one that was not called yet, themselves not built?"""
    return layer._output_shape is None and any(not one.built for one in _all_layers(layer, set()))


def _all_layers(layer, seen):
    if id(layer) in seen:
        return []
    seen.add(id(layer))
    return [layer, *(inner for child in layer._flatten_layers() for inner in _all_layers(child, seen))]
