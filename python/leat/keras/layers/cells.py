"""Cells of recurrent layers: what one step of a sequence computes (``keras.layers.LSTMCell`` and its like)."""

from leat.keras import activations, constraints, initializers, ops as whole, random, regularizers, tree
from leat.keras._base import registry
from leat.keras._base.layer import Layer
from leat.keras._base.named import op as _op

_WEIGHTS = ("kernel", "recurrent", "bias")


class DropoutRNNCell:
    """What cells with dropout share: a mask is drawn once for a sequence, and serves all of its steps.

    A cell has `dropout`, `recurrent_dropout`, `seed_generator`, and where it needs several masks their number,
    `dropout_mask_count`.
    """

    _dropout_mask = _recurrent_dropout_mask = dropout_mask_count = None

    def _create_dropout_mask(self, step_input, rate):
        ones = _op("ones_like", step_input)
        masks = [random.dropout(ones, rate, seed=self.seed_generator) for _ in range(self.dropout_mask_count or 1)]
        return masks if self.dropout_mask_count else masks[0]

    def _kept_mask(self, name, step_input, rate):
        if getattr(self, name) is None and rate > 0:
            object.__setattr__(self, name, self._create_dropout_mask(step_input, rate))
        return getattr(self, name)

    def get_dropout_mask(self, step_input):
        """The mask of the inputs, or one for each gate; None: there is no dropout."""
        return self._kept_mask("_dropout_mask", step_input, self.dropout)

    def get_recurrent_dropout_mask(self, step_input):
        """The same of the states."""
        return self._kept_mask("_recurrent_dropout_mask", step_input, self.recurrent_dropout)

    def reset_dropout_mask(self):
        """The next sequence draws another mask of the inputs."""
        object.__setattr__(self, "_dropout_mask", None)

    def reset_recurrent_dropout_mask(self):
        """The same of the states."""
        object.__setattr__(self, "_recurrent_dropout_mask", None)


def options_of(given):
    """The arguments of a cell's weights as attributes, taken out of `given`."""
    readers = {"initializer": initializers.get, "regularizer": regularizers.get, "constraint": constraints.get}
    return {f"{weight}_{sort}": readers[sort](given.pop(f"{weight}_{sort}")) for sort in readers for weight in _WEIGHTS}


_SERIALIZERS = {"initializer": initializers.serialize, "regularizer": registry.serialize_keras_object,
                "constraint": registry.serialize_keras_object}


def configuration_of(layer, names, others=None):
    """The configuration of a cell's, or a recurrent layer's, arguments of these names, and of its weights, in Keras'
    order. `others`: what a layer has beside its cell."""
    own = {name: activations.serialize(value) if name.endswith("activation") else value
           for name, value in ((name, getattr(layer, name)) for name in names)}
    behind = [] if others is None else ["unit_forget_bias"]  # the initializers
    last = names[names.index("dropout"):]

    def of_weights(sort):
        return {f"{weight}_{sort}": _SERIALIZERS[sort](getattr(layer, f"{weight}_{sort}")) for weight in _WEIGHTS}
    return {**{name: own[name] for name in names if name not in (*behind, *last)}, **of_weights("initializer"),
            **{name: own[name] for name in behind if name in own}, **of_weights("regularizer"), **(others or {}),
            **of_weights("constraint"), **{name: own[name] for name in last}}


class GatedCell(Layer, DropoutRNNCell):
    """The base of the library's cells: `units` values in `_parts` parts, of which a kernel's columns are made."""

    _parts, _names = 1, ()

    def __init__(self, units, given, seed, implementation=None, generator=None, **kwargs):
        if units <= 0:
            raise ValueError("Received an invalid value for argument `units`, expected a positive integer, got "
                             f"{units}.")
        super().__init__(**kwargs)
        for name, value in options_of(given).items():
            setattr(self, name, value)
        for name in ("dropout", "recurrent_dropout"):
            given[name] = min(1.0, max(0.0, given[name]))
        for name, value in given.items():
            setattr(self, name, activations.get(value) if name.endswith("activation") else value)
        if implementation is not None:
            self.implementation = 1 if self.recurrent_dropout != 0.0 else implementation
            if self.implementation == 1:
                self.dropout_mask_count = self._parts
        self.units, self.seed, self.seed_generator = units, seed, generator or random.SeedGenerator(seed)
        self.state_size = self.output_size = units

    def build(self, input_shape=None):
        """Makes the weights for steps of this shape."""
        self._add("kernel", "kernel", (input_shape[-1], self.units * self._parts))
        self._add("recurrent_kernel", "recurrent", (self.units, self.units * self._parts))
        self.bias = None
        if self.use_bias:
            self._add("bias", "bias", self._bias_shape())

    def _add(self, name, argument, shape):
        setattr(self, name, self.add_weight(
            shape=shape, name=name, initializer=self._initializer_of(argument),
            regularizer=getattr(self, f"{argument}_regularizer"), constraint=getattr(self, f"{argument}_constraint")))

    def _initializer_of(self, argument):
        return getattr(self, f"{argument}_initializer")

    def _bias_shape(self):
        return (self.units * self._parts,)

    def _columns(self, weight):
        """The parts of a kernel or bias."""
        return _op("split", weight, self._parts, axis=-1)

    def drops_inputs(self, training):
        """Are values of the inputs set to 0?"""
        return training and 0.0 < self.dropout < 1.0

    def drops_states(self, training):
        """Are values of the states set to 0?"""
        return training and 0.0 < self.recurrent_dropout < 1.0

    def project(self, inputs, training):
        """The inputs, of one step or of all [batch, steps, values], times the kernel, with the bias that goes with
        them; in training what dropout leaves of them."""
        bias = self._input_bias()
        if not self.drops_inputs(training):
            return _times(inputs, self.kernel, bias)
        steps = len(inputs.shape) == 3
        masks = self.get_dropout_mask(inputs[:, 0] if steps else inputs)
        spread = [_op("expand_dims", mask, 1) if steps else mask for mask in tree.flatten(masks)]
        if self.dropout_mask_count is None:
            return _times(inputs * spread[0], self.kernel, bias)
        biases = [None] * self._parts if bias is None else self._columns(bias)
        return _op("concat", [_times(inputs * mask, kernel, part) for mask, kernel, part in zip(
            spread, self._columns(self.kernel), biases)], axis=-1)

    def _input_bias(self):
        return self.bias

    def _recur(self, state, training):
        """The state before a step times the recurrent kernel, part by part."""
        if not self.drops_states(training):
            return self._columns(_op("matmul", state, self.recurrent_kernel))
        masks = tree.flatten(self.get_recurrent_dropout_mask(state))
        kernels = self._columns(self.recurrent_kernel)
        return [_op("matmul", state * mask, kernel) for mask, kernel in zip(masks, kernels)]

    def get_initial_state(self, batch_size=None):
        """Zeros for a batch of so many sequences."""
        return [whole.zeros((batch_size, size), dtype=self.compute_dtype) for size in tree.flatten(self.state_size)]

    def compute_output_shape(self, *args, **kwargs):
        """NotImplementedError, as of Keras' cells: a call wants states."""
        raise self._lacks("compute_output_shape")

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), **configuration_of(self, self._names)}


def _times(inputs, kernel, bias):
    """A product over all rows at once, of one step or of a sequence."""
    shape, columns = inputs.shape.as_list(), kernel.shape[-1]
    rows = inputs if len(shape) == 2 else _op("reshape", inputs, [-1, kernel.shape[0]])
    made = _op("matmul", rows, kernel)
    if bias is not None:
        made = _op("nn.bias_add", made, bias)
    if len(shape) == 2:
        return made
    if shape[1] is not None:
        return _op("reshape", made, [-1, shape[1], columns])
    return _op("reshape", made, _op("concat", [_op("shape", inputs)[:2], [columns]], axis=0))


class SimpleRNNCell(GatedCell):
    """One step of a SimpleRNN (``keras.layers.SimpleRNNCell``): f(inputs kernel + bias + state recurrent_kernel)."""

    _names = ("units", "activation", "use_bias", "dropout", "recurrent_dropout", "seed")

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None, recurrent_constraint=None,
                 bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, seed=None, **kwargs):
        given = dict(
            activation=activation, use_bias=use_bias, kernel_initializer=kernel_initializer,
            recurrent_initializer=recurrent_initializer, bias_initializer=bias_initializer,
            kernel_regularizer=kernel_regularizer, recurrent_regularizer=recurrent_regularizer,
            bias_regularizer=bias_regularizer, kernel_constraint=kernel_constraint,
            recurrent_constraint=recurrent_constraint, bias_constraint=bias_constraint, dropout=dropout,
            recurrent_dropout=recurrent_dropout)
        # Its seed is drawn before those of the initializers, as in Keras.
        super().__init__(units, given, seed, generator=random.SeedGenerator(seed), **kwargs)

    def drops_inputs(self, training):
        """Are values of the inputs set to 0?"""
        return training and self.dropout > 0

    def drops_states(self, training):
        """Are values of the states set to 0?"""
        return training and self.recurrent_dropout > 0

    def call(self, sequence, states, training=False):
        """The output of a step, and the state behind it."""
        state = states[0] if isinstance(states, (list, tuple)) else states
        # Masks are drawn in inference, too, as in Keras, where a cell stands alone.
        self.get_dropout_mask(sequence), self.get_recurrent_dropout_mask(state)
        output = self.activation(self.project(sequence, training) + self._recur(state, training)[0])
        return output, [output] if isinstance(states, (list, tuple)) else output


class GRUCell(GatedCell):
    """One step of a GRU (``keras.layers.GRUCell``); `reset_after`: the reset gate multiplies behind the product."""

    _parts = 3
    _names = ("units", "activation", "recurrent_activation", "use_bias", "dropout", "recurrent_dropout", "reset_after",
              "seed")

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0, reset_after=True,
                 seed=None, **kwargs):
        given = dict(
            activation=activation, recurrent_activation=recurrent_activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer, kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint, dropout=dropout, recurrent_dropout=recurrent_dropout,
            reset_after=reset_after)
        super().__init__(units, given, seed, kwargs.pop("implementation", 2), **kwargs)

    def _bias_shape(self):
        return (2, 3 * self.units) if self.reset_after else (3 * self.units,)

    def _input_bias(self):
        return self.bias[0] if self.use_bias and self.reset_after else self.bias

    def recurrent_bias(self):
        """What is added to the state's products; None: nothing."""
        return self.bias[1] if self.use_bias and self.reset_after else None

    def call(self, inputs, states, training=False):
        """The output of a step, and the state behind it."""
        state = states[0] if tree.is_nested(states) else states
        x_z, x_r, x_h = self._columns(self.project(inputs, training))
        if self.reset_after:
            inner = self._recur(state, training)
            if self.use_bias:
                inner = [one + bias for one, bias in zip(inner, self._columns(self.recurrent_bias()))]
            z, r = self.recurrent_activation(x_z + inner[0]), self.recurrent_activation(x_r + inner[1])
            candidate = r * inner[2]
        else:
            kernels = self._columns(self.recurrent_kernel)
            masks = self.get_recurrent_dropout_mask(state) if self.drops_states(training) else None
            kept = [state] * 3 if masks is None else [state * mask for mask in masks]
            z = self.recurrent_activation(x_z + _op("matmul", kept[0], kernels[0]))
            r = self.recurrent_activation(x_r + _op("matmul", kept[1], kernels[1]))
            candidate = _op("matmul", r * kept[2], kernels[2])
        output = z * state + (1 - z) * self.activation(x_h + candidate)
        return output, [output] if tree.is_nested(states) else output


class LSTMCell(GatedCell):
    """One step of an LSTM (``keras.layers.LSTMCell``); `unit_forget_bias`: the forget gate's bias begins at 1."""

    _parts = 4
    _names = ("units", "activation", "recurrent_activation", "use_bias", "unit_forget_bias", "dropout",
              "recurrent_dropout", "seed")

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, **kwargs):
        given = dict(
            activation=activation, recurrent_activation=recurrent_activation, use_bias=use_bias,
            kernel_initializer=kernel_initializer, recurrent_initializer=recurrent_initializer,
            bias_initializer=bias_initializer, unit_forget_bias=unit_forget_bias, kernel_regularizer=kernel_regularizer,
            recurrent_regularizer=recurrent_regularizer, bias_regularizer=bias_regularizer,
            kernel_constraint=kernel_constraint, recurrent_constraint=recurrent_constraint,
            bias_constraint=bias_constraint, dropout=dropout, recurrent_dropout=recurrent_dropout)
        super().__init__(units, given, seed, kwargs.pop("implementation", 2), **kwargs)
        self.state_size = [units, units]

    def _initializer_of(self, argument):
        if argument == "bias" and self.unit_forget_bias:
            return forgetful(self.bias_initializer, self.units)
        return super()._initializer_of(argument)

    def call(self, inputs, states, training=False):
        """The output of a step, and the two states behind it."""
        state, carry = states[0], states[1]
        projected = self._columns(self.project(inputs, training))
        return lstm_states(self, [one + other for one, other in zip(projected, self._recur(state, training))], carry)


def forgetful(initializer, units):
    """The initializer of a bias whose second part begins at 1, the others as `initializer` says."""
    def initialize(_, *args, **kwargs):
        ones = initializers.get("ones")
        return _op("concat", [initializer((units,), *args, **kwargs), ones((units,), *args, **kwargs),
                              initializer((units * 2,), *args, **kwargs)], axis=0)
    return initialize


def lstm_states(cell, parts, carry):
    """What an LSTM's step makes of the sums of its four parts: (output, [state, carry])."""
    i, f, o = (cell.recurrent_activation(parts[number]) for number in (0, 1, 3))
    carry = f * carry + i * cell.activation(parts[2])
    state = o * cell.activation(carry)
    return state, [state, carry]


class StackedRNNCells(Layer):
    """Cells one above the other as one cell (``keras.layers.StackedRNNCells``)."""

    def __init__(self, cells, **kwargs):
        super().__init__(**kwargs)
        for cell in cells:
            for name, what in (("call", "`call` method"), ("state_size", "`state_size`")):
                if name not in dir(cell):
                    kind = what if name == "call" else "`state_size` attribute"
                    raise ValueError(f"All cells must have a {kind}. Received cell without a {what}: {cell}")
        self.cells = cells

    @property
    def state_size(self):
        """The sizes of all cells' states."""
        return [cell.state_size for cell in self.cells]

    @property
    def output_size(self):
        """The size of the last cell's output."""
        return _output_size(self.cells[-1])

    def get_initial_state(self, batch_size=None):
        """Each cell's own, or zeros."""
        states = []
        for cell in self.cells:
            make = getattr(cell, "get_initial_state", None)
            states.append(make(batch_size=batch_size) if make else tree.map_structure(
                lambda size: whole.zeros((batch_size, size), dtype=self.compute_dtype), cell.state_size))
        return states

    def call(self, inputs, states, training=False, **kwargs):
        """The last cell's output of a step, and the states of all."""
        made = []
        for cell, state in zip(self.cells, states):
            is_list = tree.is_nested(state)
            takes = isinstance(cell, Layer) and cell._signature().takes_training
            call = cell if callable(cell) else cell.call
            inputs, state = call(inputs, list(state) if is_list else [state],
                                 **{**kwargs, **({"training": training} if takes else {})})
            made.append(state[0] if len(state) == 1 and not is_list else state)
        return inputs, made[0] if len(made) == 1 else made

    def build(self, input_shape=None):
        """Builds each cell for what the one below gives."""
        for cell in self.cells:
            build_cell(cell, input_shape)
            input_shape = (input_shape[0], _output_size(cell))

    def compute_output_shape(self, *args, **kwargs):
        """NotImplementedError, as of Keras' cells: a call wants states."""
        raise self._lacks("compute_output_shape")

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "cells": [registry.serialize_keras_object(cell) for cell in self.cells]}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        config = dict(config)
        cells = [registry.deserialize_keras_object(one, custom_objects) for one in config.pop("cells")]
        return cls(cells, **config)


def _output_size(cell):
    """The size of a cell's output; where it does not say, that of its first state."""
    size = getattr(cell, "output_size", None)
    return tree.flatten(cell.state_size)[0] if size is None else size


def build_cell(cell, input_shape):
    """Builds a cell that is a layer and is not built; one without a `build` builds its layers when it is called."""
    if isinstance(cell, Layer) and not cell.built:
        if type(cell).build is not Layer.build:
            cell.build(input_shape)
        cell.built = True
