"""``tf.autodiff.ForwardAccumulator``: how what is computed changes along a direction.

Gradients are linear in what is upstream of them, so their derivatives by it are changes along a direction: what a tape
recorded is gone through backward, and that backward again. This costs some three times what the computation does, and
needs the gradients of the gradients of its operations.
"""

import contextlib

from leat import nest
from leat._core.tensor import convert_to_tensor
from leat._graph import ops, tape, trace


class ForwardAccumulator:
    """Products of Jacobians and of a direction, `tangents` of the structure of `primals`, tensors or variables, for
    what its block computes (``tf.autodiff.ForwardAccumulator``). ValueError where a primal is given twice."""

    def __init__(self, primals, tangents):
        nest.assert_same_structure(primals, tangents)
        self._primals = nest.flatten(primals)
        for i, primal in enumerate(self._primals):
            if any(primal is other for other in self._primals[:i]):
                raise ValueError(f"Tensor {primal} was specified as a primal multiple times. This may indicate an "
                                 "error. If it was intended, please sum the corresponding tangents.")
        self._tangents = []
        for primal, tangent in zip(self._primals, nest.flatten(tangents)):
            tangent = convert_to_tensor(tangent, dtype=primal.dtype)
            if not tangent.shape.is_compatible_with(primal.shape):
                raise ValueError(f"A tangent has the shape of its primal, {primal.shape}: found {tangent.shape}")
            self._tangents.append(tangent)
        self._tape = tape.GradientTape(persistent=True, watch_accessed_variables=False)
        self._around = []  # tapes in whose block this one records; what it computes is theirs too
        self._is_recording = False

    def __enter__(self):
        if self._is_recording:
            raise ValueError("Accumulator is already recording.")
        self._around = list(trace._state.tapes)
        self._tape.__enter__()
        self._tape.watch(self._primals)
        self._is_recording = True
        return self

    def __exit__(self, *error):
        self._is_recording = False
        self._tape.__exit__(*error)

    def jvp(self, primals, unconnected_gradients=tape.UnconnectedGradients.NONE):
        """How each of `primals` changes along the tangents, in their structure; None, or zeros on request, where it
        does not depend on what is watched."""
        zero = tape.UnconnectedGradients(unconnected_gradients) is tape.UnconnectedGradients.ZERO
        return nest.map_structure(lambda target: self._change(target, zero), primals)

    def _change(self, target, zero):
        for primal, tangent in zip(self._primals, self._tangents):
            if target is primal:
                return tangent
        found = None
        if target.dtype._is_trainable and self._tape._recording is not None:
            known = set(self._tape.recorded)
            with contextlib.ExitStack() as blocks:
                for around in (*self._around, self._tape):
                    if around._recording is not None and around._recording.is_user(around):
                        blocks.enter_context(around._resumed())
                found = self._along(target)
            self._tape.recorded = known  # what changes has no change here, but in those around
        return ops.FUNCTIONS["zeros_like"](target) if found is None and zero else found

    def _along(self, target):
        with tape.GradientTape(watch_accessed_variables=False) as outer:
            upstream = ops.FUNCTIONS["zeros_like"](target)
            outer.watch(upstream)
            back = self._tape.gradient(target, self._primals, output_gradients=upstream)
            parts = [ops.FUNCTIONS["reduce_sum"](one * _conjugated(tangent))
                     for one, tangent in zip(back, self._tangents) if one is not None]
            if not parts:
                return None
            along = ops.FUNCTIONS["add_n"](parts)
        return outer.gradient(along, upstream, unconnected_gradients="zero")


def _conjugated(x):
    return ops.conjugated(x) if x.dtype.is_complex else x
