"""The loop over the steps of a sequence that recurrent layers of any cell run."""

from leat import dtypes
from leat._core.tensor import constant
from leat._graph import control, ops, trace
from leat._structures.tensor_array import TensorArray
from leat.keras import tree
from leat.keras._base.named import op as _op
from leat.keras._base.state import shape_of


def length_of(tensor, axis):
    """The size of a dimension: a number, or a tensor where it is not known yet."""
    size = shape_of(tensor)[axis]
    return _op("shape", tensor)[axis] if size is None else size


def spread(mask, tensor):
    """A mask [batch, ...] with as many dimensions as a tensor."""
    for _ in range(len(tensor.shape) - len(mask.shape)):
        mask = _op("expand_dims", mask, -1)
    return mask


def chosen(mask, new, old):
    """`new` where the mask, of which a tensor has the first dimensions, lets count, else `old`."""
    return _op("where", spread(mask, new), new, old)


class Loop:
    """``step(inputs, states)``, which gives (output, states), over [batch, steps, ...].

    Where `mask` [batch, steps] leaves a step out the states stay, and the output is that of the step before, or zeros
    with `zeros_masked`.
    """

    def __init__(self, step, mask=None, zeros_masked=False):
        self._step, self._zeros = step, zeros_masked
        self._mask = mask

    def _masked(self, mask, inputs, states, before):
        """One step: (output, states)."""
        output, new = self._step(inputs, states)
        if mask is None:
            return output, new
        output = chosen(mask, output, _op("zeros_like", output) if before is None or self._zeros else before)
        kept = [chosen(mask, one, other) for one, other in zip(tree.flatten(new), tree.flatten(states))]
        return output, tree.pack_sequence_as(states, kept)

    def unrolled(self, inputs, states, all_outputs):
        """(last output, outputs, states) step by step; the number of steps is known."""
        outputs, masks = [], self._mask
        for t in range(shape_of(inputs)[1]):
            output, states = self._masked(None if masks is None else masks[:, t], inputs[:, t], states,
                                          outputs[-1] if outputs else None)
            outputs = [*outputs, output] if all_outputs else [output]
        return outputs[-1], _op("stack", outputs, axis=1), states

    def traced(self, inputs, states, all_outputs):
        """The same as one loop of the function that is traced."""
        count = length_of(inputs, 1)
        by_step = turned(inputs)
        masks = None if self._mask is None else turned(self._mask)
        first, _ = self._step(inputs[:, 0], states)  # says what outputs are; its value is not used
        nothing = _op("zeros_like", first)
        rows = TensorArray(first.dtype, size=count if all_outputs else 1, element_shape=first.shape)

        def body(t, rows, before, *flat):
            output, new = self._masked(None if masks is None else _op("gather", masks, t), _op("gather", by_step, t),
                                       tree.pack_sequence_as(states, list(flat)), before)
            return t + 1, rows.write(t if all_outputs else 0, output), output, *tree.flatten(new)
        start = constant(0, dtypes.int32)
        _, rows, last, *flat = control.while_loop(lambda t, *_: t < count, body,
                                                  (start, rows, nothing, *tree.flatten(states)))
        outputs = rows.stack()
        return last, turned(outputs), tree.pack_sequence_as(states, flat)


def turned(tensor):
    """[batch, steps, ...] as [steps, batch, ...], or the other way."""
    return _op("transpose", tensor, [1, 0, *range(2, len(tensor.shape))])


def over_steps(step, inputs, states, mask=None, go_backwards=False, unroll=False, zeros_masked=False,
               all_outputs=True):
    """(last output, outputs [batch, steps, ...], states) of a step function over a sequence."""
    if go_backwards:
        inputs = _op("reverse", inputs, [1])
        mask = None if mask is None else _op("reverse", mask, [1])
    loop = Loop(step, mask, zeros_masked)
    if not trace.is_tracing() or unroll and shape_of(inputs)[1] is not None:
        return loop.unrolled(inputs, states, all_outputs)
    return loop.traced(inputs, states, all_outputs)
