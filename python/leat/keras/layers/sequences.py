"""Layers around layers of sequences: Bidirectional and TimeDistributed."""

from leat import dtypes
from leat._core.tensor import constant, convert_to_tensor
from leat._graph import control, ops
from leat._structures.tensor_array import TensorArray
from leat.keras import tree
from leat.keras._base import registry
from leat.keras._base.layer import Layer
from leat.keras._base.named import op as _op
from leat.keras._base.state import _scope_of, shape_of
from leat.keras.layers.steps import length_of, turned
from leat.keras.layers.wrappers import Wrapper

_MERGES = {
    "concat": lambda one, other: _op("concat", [one, other], axis=-1),
    "sum": lambda one, other: one + other,
    "ave": lambda one, other: (one + other) / 2,
    "mul": lambda one, other: one * other,
    None: lambda one, other: (one, other),
}


def _copy_of(layer, prefix, **changed):
    """A new layer of the configuration of another, with `prefix` before its name."""
    config = registry.serialize_keras_object(layer)
    config["config"].update(changed, name=prefix + layer.name.removeprefix(prefix))
    config.pop("build_config", None)
    return registry.deserialize_keras_object(config)


class Bidirectional(Layer):
    """A recurrent layer over sequences from both ends (``keras.layers.Bidirectional``).

    `merge_mode`: how both outputs become one: concat, sum, ave, mul; None: both are returned. `backward_layer`: what
    goes backwards; without it a copy of `layer` does.
    """

    def __init__(self, layer, merge_mode="concat", weights=None, backward_layer=None, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError("Please initialize `Bidirectional` layer with a `keras.layers.Layer` instance. Received: "
                             f"{layer}")
        if backward_layer is not None and not isinstance(backward_layer, Layer):
            raise ValueError("`backward_layer` need to be a `keras.layers.Layer` instance. Received: "
                             f"{backward_layer}")
        if merge_mode not in _MERGES:
            raise ValueError(f"Invalid merge mode. Received: {merge_mode}. Merge mode should be one of "
                             '{"sum", "mul", "ave", "concat", None}')
        super().__init__(**kwargs)
        self.forward_layer = _copy_of(layer, "forward_")
        self.backward_layer = backward_layer
        if backward_layer is None:
            self.backward_layer = _copy_of(layer, "backward_", go_backwards=True)
        if hasattr(layer, "use_cudnn"):
            self.forward_layer.use_cudnn = self.backward_layer.use_cudnn = layer.use_cudnn
        self._check_layers()
        for one in (self.forward_layer, self.backward_layer):
            if getattr(one, "zero_output_for_mask", None) is not None:
                one.zero_output_for_mask = one.return_sequences
        self.merge_mode = merge_mode
        if weights:
            half = len(weights) // 2
            self.forward_layer.initial_weights, self.backward_layer.initial_weights = weights[:half], weights[half:]
        self.stateful, self.return_sequences = layer.stateful, layer.return_sequences
        self.return_state = layer.return_state
        self.supports_masking, self.input_spec = True, layer.input_spec

    def _check_layers(self):
        """ValueError where the two layers do not go together."""
        forward, backward = self.forward_layer, self.backward_layer
        if forward.go_backwards == backward.go_backwards:
            raise ValueError("Forward layer and backward layer should have different `go_backwards` value. Received: "
                             f"forward_layer.go_backwards {forward.go_backwards}, "
                             f"backward_layer.go_backwards={backward.go_backwards}")
        for name in ("stateful", "return_sequences", "return_state"):
            values = getattr(forward, name), getattr(backward, name)
            if values[0] != values[1]:
                raise ValueError("Forward layer and backward layer are expected to have the same value for attribute "
                                 f'"{name}", got "{values[0]}" for forward layer and "{values[1]}" for backward layer')

    def compute_output_shape(self, sequences_shape, initial_state_shape=None):
        """The shape of the output for sequences of this shape, with those of the states if they are returned."""
        output, states = self.forward_layer.compute_output_shape(sequences_shape), ()
        if self.return_state:
            output, states = output[0], tuple(output[1:])
        if self.merge_mode == "concat":
            output = (*output[:-1], output[-1] * 2)
        if self.merge_mode is None:
            return (output, output, *states, *states) if self.return_state else (output, output)
        return (output, *states, *states) if self.return_state else tuple(output)

    def build(self, sequences_shape=None, initial_state_shape=None):
        """Builds both layers."""
        for layer in (self.forward_layer, self.backward_layer):
            if not layer.built:
                layer.build(sequences_shape)
                layer.built = True

    def call(self, sequences, initial_state=None, mask=None, training=None):
        """Both outputs as one; and the states of both if they are returned."""
        outputs, halves = [], (None, None)
        if initial_state is not None:
            half = len(initial_state) // 2
            halves = initial_state[:half], initial_state[half:]
        for layer, state in zip((self.forward_layer, self.backward_layer), halves):
            signature = layer._signature()
            kwargs = {"training": training} if signature.takes_training else {}
            kwargs.update({"mask": mask} if signature.takes_mask else {})
            outputs.append(layer(sequences, initial_state=state, **kwargs))
        states = ()
        if self.return_state:
            states = (*outputs[0][1:], *outputs[1][1:])
            outputs = [one[0] for one in outputs]
        outputs = [_op("cast", one, self.compute_dtype) for one in outputs]
        if self.return_sequences:
            outputs[1] = _op("reverse", outputs[1], [1])
        output = _MERGES[self.merge_mode](*outputs)
        if not self.return_state:
            return output
        return (*output, *states) if self.merge_mode is None else (output, *states)

    def compute_mask(self, inputs, previous_mask=None):
        """The mask of the sequences, where the outputs of all steps are returned; states have none."""
        mask = tree.flatten(previous_mask)[0] if self.return_sequences else None
        masks = (mask,) if self.merge_mode is not None else (mask, mask)
        if self.return_state:
            return [*masks, *(None for _ in range(2 * len(getattr(self.forward_layer, "state_size", ()))))]
        return masks if self.merge_mode is None else mask

    def reset_state(self):
        """The states of both layers become zeros. AttributeError where they are not stateful."""
        if not self.stateful:
            raise AttributeError("Layer must be stateful.")
        self.forward_layer.reset_state()
        self.backward_layer.reset_state()

    def reset_states(self):
        """The same as `reset_state`."""
        self.reset_state()

    @property
    def states(self):
        """The states of both layers; None: there are none."""
        if self.forward_layer.states and self.backward_layer.states:
            return (*self.forward_layer.states, *self.backward_layer.states)
        return None

    def get_config(self):
        """The arguments that make another one like it."""
        return {**super().get_config(), "merge_mode": self.merge_mode,
                "layer": registry.serialize_keras_object(self.forward_layer),
                "backward_layer": registry.serialize_keras_object(self.backward_layer)}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """One of these arguments."""
        config = dict(config)
        for name in ("layer", "backward_layer"):
            if config.get(name) is not None:
                config[name] = registry.deserialize_keras_object(config[name], custom_objects)
        return cls(**config)


class TimeDistributed(Wrapper):
    """A layer applied to each step of sequences (``keras.layers.TimeDistributed``)."""

    def __init__(self, layer, **kwargs):
        if not isinstance(layer, Layer):
            raise ValueError("Please initialize `TimeDistributed` layer with a `keras.layers.Layer` instance. "
                             f"Received: {layer}")
        super().__init__(layer, **kwargs)
        self.supports_masking = True

    @staticmethod
    def _step_shape(input_shape):
        if not isinstance(input_shape, (tuple, list)) or len(input_shape) < 3:
            raise ValueError("`TimeDistributed` Layer should be passed an `input_shape` with at least 3 dimensions, "
                             f"received: {input_shape}")
        return (input_shape[0], *input_shape[2:])

    def compute_output_shape(self, input_shape):
        """The shape of the output for sequences of this shape."""
        made = self.layer.compute_output_shape(self._step_shape(input_shape))
        return (made[0], input_shape[1], *made[1:])

    def build(self, input_shape=None):
        """Builds the layer inside for one step."""
        super().build(self._step_shape(input_shape))

    def _check_mask(self, mask, inputs):
        """ValueError for a mask that is not [batch, steps, ...]."""
        found, wanted = shape_of(mask), shape_of(inputs)
        if len(found) < 2:
            raise ValueError("The `mask` passed to the `TimeDistributed` layer must be at least 2D (e.g., "
                             f"`(batch_size, timesteps)`), but it has {len(found)} dimension(s) with shape {found}.")
        if any(None not in pair and pair[0] != pair[1] for pair in zip(found[:2], wanted[:2])):
            raise ValueError(f"The `mask` passed to the `TimeDistributed` layer has a shape {found} that is "
                             f"incompatible with the input shape {wanted}. The first two dimensions of the mask (batch "
                             "size and timesteps) must match the input's first two dimensions. Expected mask shape "
                             f"prefix: ({wanted[0]}, {wanted[1]}).")

    def call(self, inputs, training=None, mask=None):
        """What the layer gives for each step."""
        signature, count = self.layer._signature(), shape_of(inputs)[1]
        if mask is not None:
            mask = convert_to_tensor(mask)
            self._check_mask(mask, inputs)

        def step(values, kept):
            kwargs = {"training": training} if signature.takes_training else {}
            if signature.takes_mask and kept is not None:
                kwargs["mask"] = kept
            with _scope_of(self.layer):
                return self.layer.call(values, **kwargs)
        if count is not None:
            return _op("stack", [step(inputs[:, t], None if mask is None else mask[:, t]) for t in range(count)],
                       axis=1)
        return self._looped(step, turned(inputs), None if mask is None else turned(mask))

    @staticmethod
    def _looped(step, inputs, mask):
        """The same as a loop, of a number of steps that is not known while the function is traced."""
        first, count = step(inputs[0], None if mask is None else mask[0]), length_of(inputs, 0)
        rows = TensorArray(first.dtype, size=count, element_shape=first.shape)

        def body(t, rows):
            kept = None if mask is None else _op("gather", mask, t)
            return t + 1, rows.write(t, step(_op("gather", inputs, t), kept))
        _, rows = control.while_loop(lambda t, _: t < count, body, (constant(0, dtypes.int32), rows))
        return turned(rows.stack())
