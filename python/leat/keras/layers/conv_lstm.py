"""Recurrent layers over pictures (``keras.layers.ConvLSTM2D`` and its like): LSTM with convolutions for products."""

from leat._graph import ops
from leat.keras import backend, ops as whole, random, tree
from leat.keras._base import registry
from leat.keras._base.input_spec import InputSpec
from leat.keras._base.layer import Layer
from leat.keras.layers.cells import LSTMCell, configuration_of, lstm_states
from leat.keras.layers.recurrent import RNN, _given, _of_cell


def _sizes(value, rank, name):
    """A number for each direction of space. ValueError."""
    found = (value,) * rank if isinstance(value, int) else tuple(value)
    if len(found) != rank or not all(isinstance(one, int) and one > 0 for one in found):
        raise ValueError(f"The `{name}` argument must be a tuple of {rank} integers. Received {name}={value}")
    return found


class _Cell(LSTMCell):
    """One step: the gates are convolutions of the step's picture and of the state, which keeps its size."""

    _names = ("filters", "kernel_size", "strides", "padding", "data_format", "dilation_rate", "activation",
              "recurrent_activation", "use_bias", "unit_forget_bias", "dropout", "recurrent_dropout", "seed")

    def __init__(self, rank, filters, kernel_size, strides, padding, data_format, dilation_rate, **kwargs):
        # Keras draws this seed before those of the initializers.
        super().__init__(filters, generator=random.SeedGenerator(kwargs["seed"]), **kwargs, implementation=1)
        self.rank, self.filters, self.kernel_size = rank, filters, _sizes(kernel_size, rank, "kernel_size")
        self.strides = _sizes(strides, rank, "strides")
        self.dilation_rate = _sizes(dilation_rate, rank, "dilation_rate")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("Specifying `strides > 1` is not compatible with `dilation_rate > 1`. Please provide "
                             "`strides=1` or `dilation_rate=1`. Received: "
                             f"strides={self.strides} and dilation_rate={self.dilation_rate}")
        self.padding, self.data_format = padding.lower(), data_format or backend.image_data_format()
        self.state_size, self.input_spec = -1, InputSpec(ndim=rank + 2)

    def build(self, input_shape=None):
        """Makes the weights for pictures of this shape. ValueError for an unknown size."""
        first = self.data_format == "channels_first"
        space, channels = (input_shape[2:], input_shape[1]) if first else (input_shape[1:-1], input_shape[-1])
        if None in (*space, channels):
            raise ValueError("ConvLSTM layers only support static input shapes for the spatial dimensions and the "
                             f"channels. Received invalid input shape: input_shape={input_shape}")
        self._step_shape = tuple(input_shape[1:])
        self._add("kernel", "kernel", (*self.kernel_size, channels, 4 * self.filters))
        self._add("recurrent_kernel", "recurrent", (*self.kernel_size, self.filters, 4 * self.filters))
        self.bias = None
        if self.use_bias:
            self._add("bias", "bias", (4 * self.filters,))

    def _convolved(self, inputs, masks, kernel, **kwargs):
        """The four gates' convolutions, in one where no dropout tells their inputs apart."""
        axis = 1 if self.data_format == "channels_first" else -1
        kwargs["data_format"] = self.data_format
        if masks is None:
            return ops.FUNCTIONS["split"](whole.conv(inputs, kernel, **kwargs), 4, axis=axis)
        return [whole.conv(inputs * mask, part, **kwargs) for mask, part in zip(masks, self._columns(kernel))]

    def call(self, sequence, states, training=False):
        """The output of a step, and the states behind it."""
        before, carry = states
        drops, drops_states = self.drops_inputs(training), self.drops_states(training)
        inputs = self._convolved(sequence, self.get_dropout_mask(sequence) if drops else None, self.kernel,
                                 strides=self.strides, padding=self.padding, dilation_rate=self.dilation_rate)
        if self.bias is not None:
            ones = (1,) * self.rank
            shape = (1, -1, *ones) if self.data_format == "channels_first" else (1, *ones, -1)
            inputs = [one + ops.FUNCTIONS["reshape"](part, shape)
                      for one, part in zip(inputs, self._columns(self.bias))]
        states = self._convolved(before, self.get_recurrent_dropout_mask(before) if drops_states else None,
                                 self.recurrent_kernel, strides=1, padding="same")
        return lstm_states(self, [one + other for one, other in zip(inputs, states)], carry)

    def compute_output_shape(self, inputs_shape, states_shape=None):
        """The shapes of the output and the states for a step of this shape."""
        first = self.data_format == "channels_first"
        space = []
        for size, width, step, rate in zip(inputs_shape[2:] if first else inputs_shape[1:-1], self.kernel_size,
                                           self.strides, self.dilation_rate):
            reach = (width - 1) * rate if self.padding == "valid" else 0
            space.append(None if size is None else (size - reach - 1) // step + 1)
        shape = (inputs_shape[0], self.filters, *space) if first else (inputs_shape[0], *space, self.filters)
        return shape, [shape, shape]

    def get_initial_state(self, batch_size=None):
        """Zeros for a batch of so many sequences."""
        shape = self.compute_output_shape((batch_size, *self._step_shape))[0]
        return [whole.zeros(shape, dtype=self.compute_dtype) for _ in range(2)]


class _ConvLSTM(RNN):
    """The base of the layers, which differ in how many directions space has."""

    _rank = None
    filters, kernel_size, strides, padding = map(_of_cell, ("filters", "kernel_size", "strides", "padding"))
    data_format, dilation_rate, activation = map(_of_cell, ("data_format", "dilation_rate", "activation"))
    recurrent_activation, use_bias, seed = map(_of_cell, ("recurrent_activation", "use_bias", "seed"))
    unit_forget_bias, dropout, recurrent_dropout = map(_of_cell, ("unit_forget_bias", "dropout", "recurrent_dropout"))

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format=None, dilation_rate=1,
                 activation="tanh", recurrent_activation="sigmoid", use_bias=True, kernel_initializer="glorot_uniform",
                 recurrent_initializer="orthogonal", bias_initializer="zeros", unit_forget_bias=True,
                 kernel_regularizer=None, recurrent_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 kernel_constraint=None, recurrent_constraint=None, bias_constraint=None, dropout=0.0,
                 recurrent_dropout=0.0, seed=None, return_sequences=False, return_state=False, go_backwards=False,
                 stateful=False, **kwargs):
        given, kwargs = _given(locals())
        loop = {name: given.pop(name) for name in ("return_sequences", "return_state", "go_backwards", "stateful",
                                                   "activity_regularizer")}
        super().__init__(_Cell(self._rank, **given, dtype=kwargs.get("dtype"), name="conv_lstm_cell"), **loop, **kwargs)
        self.input_spec = InputSpec(ndim=self._rank + 3)

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        """The shape of the output for sequences of this shape, with those of the states if they are returned."""
        batch, steps = sequences_shape[:2]
        state = self.cell.compute_output_shape((batch, *sequences_shape[2:]))[0]
        output = (batch, steps, *state[1:]) if self.return_sequences else state
        return (output, state, state) if self.return_state else output

    def compute_mask(self, inputs, previous_mask=None):
        """The mask of the sequences, where the outputs of all steps are returned; states have none."""
        mask = tree.flatten(previous_mask)[0] if self.return_sequences else None
        return [mask, None, None] if self.return_state else mask

    def get_config(self):
        """The arguments that make another one like it."""
        others = {"activity_regularizer": registry.serialize_keras_object(self.activity_regularizer)}
        own = configuration_of(self.cell, self.cell._names, others)
        return {**Layer.get_config(self), **self._loop_config(), **own}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        with registry.CustomObjectScope(custom_objects):
            return super(RNN, cls).from_config(config)


class ConvLSTM1D(_ConvLSTM):
    """LSTM over sequences of sequences [batch, steps, length, channels] (``keras.layers.ConvLSTM1D``)."""

    _rank = 1


class ConvLSTM2D(_ConvLSTM):
    """LSTM over sequences of pictures [batch, steps, height, width, channels] (``keras.layers.ConvLSTM2D``)."""

    _rank = 2


class ConvLSTM3D(_ConvLSTM):
    """LSTM over sequences of volumes [batch, steps, depth, height, width, channels] (``keras.layers.ConvLSTM3D``)."""

    _rank = 3
