"""Recurrent layers (``keras.layers.RNN``, ``SimpleRNN``, ``GRU``, ``LSTM``).

The library's cells run as one operation over a whole sequence behind one product with the kernel; other cells step by
step, as a loop of the function that is traced.
"""

from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph import ops
from leat.keras import activations, ops as whole, tree
from leat.keras._base import registry
from leat.keras._base.input_spec import InputSpec
from leat.keras._base.layer import Layer, _context
from leat.keras._base.named import op as _op
from leat.keras._base.state import shape_of
from leat.keras._base.variables import Variable, name_scope
from leat.keras.layers.cells import (DropoutRNNCell, GRUCell, LSTMCell, SimpleRNNCell, StackedRNNCells, build_cell,
                                     configuration_of)
from leat.keras.layers.steps import chosen, length_of, over_steps

# The activations whose slope follows from their value, which the library's operations have.
_FUSED = {getattr(activations, name): name for name in (
    "tanh", "sigmoid", "hard_sigmoid", "hard_tanh", "relu", "relu6", "elu", "softplus", "softsign", "exponential",
    "linear")}


class _Held:
    """What belongs to a layer and is no weight of it."""

    def __init__(self, value):
        self.value = value


class RNN(Layer):
    """Runs a cell, or several above each other, over the steps of sequences (``keras.layers.RNN``).

    A cell has `call(inputs, states)`, which gives (output, states), and `state_size`. `return_sequences`: the outputs
    of all steps; `return_state`: the last states, too; `go_backwards`: from the last step to the first; `stateful`:
    each batch begins with the states behind the one before; `unroll`: without a loop; `zero_output_for_mask`: steps
    that a mask leaves out give zeros, and not the output before.
    """

    _training_default = None

    def __init__(self, cell, return_sequences=False, return_state=False, go_backwards=False, stateful=False,
                 unroll=False, zero_output_for_mask=False, **kwargs):
        if isinstance(cell, (list, tuple)):
            cell = StackedRNNCells(cell)
        if "call" not in dir(cell):
            raise ValueError(f"Argument `cell` should have a `call` method. Received: cell={cell}")
        if "state_size" not in dir(cell):
            raise ValueError("The RNN cell should have a `state_size` attribute (single integer or list of integers, "
                             f"one integer per RNN state). Received: cell={cell}")
        super().__init__(**kwargs)
        self.zero_output_for_mask, self.cell = zero_output_for_mask, cell
        self.return_sequences, self.return_state = return_sequences, return_state
        self.go_backwards, self.stateful, self.unroll = go_backwards, stateful, unroll
        self.supports_masking, self.input_spec = True, None
        self._kept_states, self._expected_batch_size = _Held(None), None
        size = getattr(cell, "state_size", None)
        if size is None:
            raise ValueError("state_size must be specified as property on the RNN cell.")
        if not isinstance(size, (list, tuple, int)):
            raise ValueError("state_size must be an integer, or a list/tuple of integers (one for each state tensor).")
        self.single_state = isinstance(size, int)
        self.state_size = [size] if self.single_state else list(size)

    # ---- shapes and weights ----

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        """The shape of the output for sequences of this shape, with those of the states if they are returned."""
        batch, steps = sequences_shape[:2]
        states = [(batch, size) if isinstance(size, int) else [(batch, one) for one in size]
                  for size in self.state_size]
        size = getattr(self.cell, "output_size", None)
        size = self.state_size[0] if size is None else size
        if not isinstance(size, int):
            raise ValueError("output_size must be an integer.")
        output = (batch, steps, size) if self.return_sequences else (batch, size)
        return (output, *states) if self.return_state else output

    def compute_mask(self, inputs, previous_mask=None):
        """The mask of the sequences, where the outputs of all steps are returned; states have none."""
        mask = tree.flatten(previous_mask)[0] if self.return_sequences else None
        return [mask, *(None for _ in self.state_size)] if self.return_state else mask

    def build(self, sequences_shape=None, initial_state_shape=None):
        """Builds the cell for one step, and makes the states of a stateful layer."""
        build_cell(self.cell, (sequences_shape[0], *sequences_shape[2:]))
        if not self.stateful:
            return
        if self.states is not None:
            self.reset_state()
            return
        if sequences_shape[0] is None:
            raise ValueError("When using `stateful=True` in a RNN, the batch size must be static. Found dynamic batch "
                             f"size: sequence.shape={sequences_shape}")
        with name_scope(self.name):
            self._kept_states.value = tree.map_structure(
                lambda value: Variable(value, trainable=False, dtype=self.variable_dtype, name="rnn_state"),
                self._zeros(sequences_shape[0]))
        self._expected_batch_size = sequences_shape[0]

    def _zeros(self, batch_size):
        from leat._graph import trace
        with trace.eagerly():
            return self.get_initial_state(batch_size)

    @property
    def states(self):
        """The states of a stateful layer, variables; None: there are none yet."""
        return self._kept_states.value

    @states.setter
    def states(self, value):
        self._kept_states.value = value

    def get_initial_state(self, batch_size):
        """The states that sequences begin with: the cell's own, or zeros."""
        make = getattr(self.cell, "get_initial_state", None)
        if make is None:
            return [whole.zeros((batch_size, size), dtype=self.cell.compute_dtype) for size in self.state_size]
        state = make(batch_size=batch_size)
        return list(state) if tree.is_nested(state) else [state]

    def reset_state(self):
        """The states of a stateful layer become zeros."""
        for variable in tree.flatten(self.states) if self.states is not None else ():
            variable.assign(_op("zeros_like", variable))

    def reset_states(self):
        """The same as `reset_state`."""
        self.reset_state()

    # ---- calls ----

    def inner_loop(self, sequences, initial_state, mask, training=False):
        """(last output, outputs, states) over the steps."""
        kwargs = {}
        if isinstance(self.cell, Layer) and self.cell._signature().takes_training:
            kwargs["training"] = training

        def step(inputs, states):
            output, states = self.cell(inputs, states, **kwargs)
            return output, states if tree.is_nested(states) else [states]
        initial_state = initial_state if tree.is_nested(initial_state) else [initial_state]
        return over_steps(step, sequences, initial_state, _bool_mask(mask), self.go_backwards, self.unroll,
                          self.zero_output_for_mask, self.return_sequences)

    def call(self, sequences, initial_state=None, mask=None, training=False):
        """The output of the last step, or of all; and the states if they are returned."""
        if self.unroll and shape_of(sequences)[1] is None and not _context.is_symbolic:
            raise ValueError(
                "Cannot unroll a RNN if the time dimension is undefined. \n- If using a Sequential model, specify the "
                "time dimension by passing an `Input()` as your first layer.\n- If using the functional API, specify "
                "the time dimension by passing a `shape` or `batch_shape` argument to your `Input()`.")
        states = self._first_states(sequences, initial_state)
        self._draw_masks(self.cell, sequences[:, 0], states)
        last, outputs, states = self.inner_loop(sequences=sequences, initial_state=states, mask=mask, training=training)
        output = _cast(_of_steps(outputs, sequences) if self.return_sequences else last, self.compute_dtype)
        states = tree.map_structure(lambda state: _cast(state, self.compute_dtype), states)
        self._forget_masks(self.cell)
        if self.stateful:
            for variable, state in zip(tree.flatten(self.states), tree.flatten(states)):
                variable.assign(state)
        return (output, *states) if self.return_state else output

    def _first_states(self, sequences, given):
        """The states before the first step. ValueError for a stateful layer and another size of batches."""
        if given is None:
            given = self.states if self.stateful else self.get_initial_state(length_of(sequences, 0))
        expected, batch = self._expected_batch_size, shape_of(sequences)[0]
        if self.stateful and None not in (expected, batch) and expected != batch:
            raise ValueError("If an RNN is stateful, the batch size of the input sequences must be the same as the "
                             f"batch size of the initial state. \n- Expected batch size: {expected}\n- Received batch "
                             f"size: {batch}")
        given = list(given) if tree.is_nested(given) else [given]
        return tree.map_structure(lambda state: _cast(state, self.cell.compute_dtype), given)

    def _draw_masks(self, cell, inputs, states):
        """The masks of dropout, before the loop, which may be traced."""
        if isinstance(cell, DropoutRNNCell):
            state = states[0] if isinstance(states, (list, tuple)) else states
            cell.get_dropout_mask(inputs)
            cell.get_recurrent_dropout_mask(state)
        if isinstance(cell, StackedRNNCells):
            for one, state in zip(cell.cells, states):
                self._draw_masks(one, inputs, state)
                call = one.__call__ if callable(one) else one.call
                inputs, _ = call(inputs, list(state) if tree.is_nested(state) else [state])

    def _forget_masks(self, cell):
        if isinstance(cell, DropoutRNNCell):
            cell.reset_dropout_mask()
            cell.reset_recurrent_dropout_mask()
        for one in cell.cells if isinstance(cell, StackedRNNCells) else ():
            self._forget_masks(one)

    # ---- configuration ----

    def _loop_config(self):
        return {"return_sequences": self.return_sequences, "return_state": self.return_state,
                "go_backwards": self.go_backwards, "stateful": self.stateful, "unroll": self.unroll,
                "zero_output_for_mask": self.zero_output_for_mask}

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), **self._loop_config(), "cell": registry.serialize_keras_object(self.cell)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        config = dict(config)
        return cls(registry.deserialize_keras_object(config.pop("cell"), custom_objects), **config)


def _of_steps(outputs, sequences):
    """The outputs of all steps, whose number is that of the inputs."""
    steps, shape = shape_of(sequences)[1], list(outputs.shape)
    if steps is None or shape[1] is not None:
        return outputs
    return _op("ensure_shape", outputs, [shape[0], steps, *shape[2:]])


def _cast(value, dtype):
    value = value._as_tensor() if hasattr(value, "_as_tensor") and not isinstance(value, Tensor) else value
    value = convert_to_tensor(value)
    return value if value.dtype.name == dtype else _op("cast", value, dtype)


def _bool_mask(mask):
    """A mask [batch, steps] of bool; the first of several."""
    mask = tree.flatten(mask)[0] if mask is not None else None
    if mask is None:
        return None
    mask = convert_to_tensor(mask)
    mask = mask if mask.dtype.is_bool else _op("cast", mask, "bool")
    return _op("squeeze", mask, [2]) if len(mask.shape) == 3 and mask.shape[-1] == 1 else mask


def _of_cell(name):
    """An attribute that is the cell's."""
    return property(lambda self: getattr(self.cell, name), doc=f"The cell's `{name}`.")


class _Recurrent(RNN):
    """The base of the library's recurrent layers, which have one of its cells."""

    _cell_class, _cell_name, _config_names = None, None, ()
    units, activation, use_bias = _of_cell("units"), _of_cell("activation"), _of_cell("use_bias")
    dropout, recurrent_dropout, seed = _of_cell("dropout"), _of_cell("recurrent_dropout"), _of_cell("seed")
    kernel_initializer, recurrent_initializer = _of_cell("kernel_initializer"), _of_cell("recurrent_initializer")
    bias_initializer, kernel_regularizer = _of_cell("bias_initializer"), _of_cell("kernel_regularizer")
    recurrent_regularizer, bias_regularizer = _of_cell("recurrent_regularizer"), _of_cell("bias_regularizer")
    kernel_constraint, recurrent_constraint = _of_cell("kernel_constraint"), _of_cell("recurrent_constraint")
    bias_constraint = _of_cell("bias_constraint")

    def _setup(self, given, kwargs):
        """`given`: the arguments of the cell and of the loop, by name."""
        loop = {name: given.pop(name) for name in ("return_sequences", "return_state", "go_backwards", "stateful",
                                                   "unroll")}
        cudnn = given.pop("use_cudnn", "auto")
        if "activity_regularizer" in given:
            loop["activity_regularizer"] = given.pop("activity_regularizer")
        if "implementation" in kwargs:
            given["implementation"] = kwargs.pop("implementation")
        cell = self._cell_class(**given, dtype=kwargs.get("dtype"), trainable=kwargs.get("trainable", True),
                                name=self._cell_name)
        RNN.__init__(self, cell, **loop, **kwargs)
        self.input_spec = InputSpec(ndim=3)
        if cudnn not in ("auto", True, False):
            raise ValueError("Invalid valid received for argument `use_cudnn`. Expected one of {'auto', True, False}. "
                             f"Received: use_cudnn={cudnn}")
        self.use_cudnn = cudnn

    def call(self, sequences, initial_state=None, mask=None, training=False):
        """The output of the last step, or of all; and the states if they are returned."""
        if isinstance(sequences, Tensor) and sequences.dtype.is_integer:
            sequences = _cast(sequences, self.compute_dtype)
        return super().call(sequences, initial_state=initial_state, mask=mask, training=training)

    def inner_loop(self, sequences, initial_state, mask, training=False):
        """(last output, outputs, states) over the steps: by one operation where the library has it."""
        if self.use_cudnn is True:
            raise ValueError("use_cudnn=True was specified, but cuDNN is not supported for this layer configuration "
                             "with this backend. Pass use_cudnn='auto' to fallback to a non-cuDNN implementation.")
        cell = self.cell
        functions = {name: _FUSED.get(getattr(cell, name, None)) for name in self._config_names
                     if name.endswith("activation")}
        if type(cell) is not self._cell_class or cell.drops_states(training) or None in functions.values():
            return super().inner_loop(sequences, initial_state, mask, training)
        mask, inputs = _bool_mask(mask), cell.project(sequences, training)
        if self.go_backwards:
            inputs, mask = (None if one is None else _op("reverse", one, [1]) for one in (inputs, mask))
        states = tree.flatten(initial_state)
        kernel = cell.recurrent_kernel._as_tensor()
        made = self._run(functions, inputs, kernel, states, [] if mask is None else [mask])
        last = [one[:, -1] for one in made]
        outputs = self._shown(made[0], mask)
        return last[0] if outputs is made[0] else outputs[:, -1], outputs, last

    def _run(self, functions, inputs, kernel, states, masks):
        """The states of all steps, one tensor for each."""
        raise NotImplementedError

    def _shown(self, states, mask):
        """The outputs, which are the states: zeros where nothing has counted yet, or where a mask says so."""
        if mask is None:
            return states
        if not self.zero_output_for_mask:
            mask = _op("cumsum", _op("cast", mask, "int32"), axis=1) > 0
        return chosen(mask, states, _op("zeros_like", states))

    def get_config(self):
        """The arguments that make another one like it."""
        others = {"activity_regularizer": registry.serialize_keras_object(self.activity_regularizer)}
        own = configuration_of(self, self._config_names, others)
        return {**Layer.get_config(self), **self._loop_config(), **own}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        with registry.CustomObjectScope(custom_objects):
            return super(RNN, cls).from_config(config)


def _given(values):
    """The arguments of a constructor and the others, of its local names."""
    return {name: value for name, value in values.items() if name not in ("self", "kwargs", "__class__")}, values[
        "kwargs"]


class SimpleRNN(_Recurrent):
    """Each step's output is f(inputs kernel + bias + output before recurrent_kernel) (``keras.layers.SimpleRNN``)."""

    _cell_class, _cell_name = SimpleRNNCell, "simple_rnn_cell"
    _config_names = ("units", "activation", "use_bias", "dropout", "recurrent_dropout")

    def __init__(self, units, activation="tanh", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", kernel_regularizer=None,
                 recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
                 recurrent_constraint=None, bias_constraint=None, dropout=0.0, recurrent_dropout=0.0,
                 return_sequences=False, return_state=False, go_backwards=False, stateful=False, unroll=False,
                 seed=None, **kwargs):
        given, others = _given(locals())
        given.pop("activity_regularizer")  # Keras leaves it unused, too
        self._setup(given, others)

    def _run(self, functions, inputs, kernel, states, masks):
        return ops.call("simple_rnn", functions, [inputs, kernel, states[0], *masks])


class GRU(_Recurrent):
    """Gated recurrent units (``keras.layers.GRU``); `reset_after`: the reset gate multiplies behind the product."""

    _cell_class, _cell_name = GRUCell, "gru_cell"
    _config_names = ("units", "activation", "recurrent_activation", "use_bias", "dropout", "recurrent_dropout",
                     "reset_after", "seed")
    recurrent_activation, reset_after = _of_cell("recurrent_activation"), _of_cell("reset_after")

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False, go_backwards=False,
                 stateful=False, unroll=False, reset_after=True, use_cudnn="auto", **kwargs):
        self._setup(*_given(locals()))

    def _run(self, functions, inputs, kernel, states, masks):
        bias = self.cell.recurrent_bias()
        if bias is None:
            bias = _op("zeros", [3 * self.units], inputs.dtype)
        attributes = {**functions, "reset_after": bool(self.reset_after)}
        return ops.call("gru", attributes, [inputs, kernel, bias, states[0], *masks])[:1]


class LSTM(_Recurrent):
    """Long short-term memory (``keras.layers.LSTM``); `unit_forget_bias`: the forget gate's bias begins at 1."""

    _cell_class, _cell_name = LSTMCell, "lstm_cell"
    _config_names = ("units", "activation", "recurrent_activation", "use_bias", "unit_forget_bias", "dropout",
                     "recurrent_dropout", "seed")
    recurrent_activation, unit_forget_bias = _of_cell("recurrent_activation"), _of_cell("unit_forget_bias")

    def __init__(self, units, activation="tanh", recurrent_activation="sigmoid", use_bias=True,
                 kernel_initializer="glorot_uniform", recurrent_initializer="orthogonal", bias_initializer="zeros",
                 unit_forget_bias=True, kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, recurrent_constraint=None, bias_constraint=None,
                 dropout=0.0, recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False,
                 go_backwards=False, stateful=False, unroll=False, use_cudnn="auto", **kwargs):
        self._setup(*_given(locals()))

    def _run(self, functions, inputs, kernel, states, masks):
        return ops.call("lstm", functions, [inputs, kernel, *states, *masks])[:2]
