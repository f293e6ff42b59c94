"""Layers of products with a kernel whose class the table alone does not make."""

from leat.keras._base import tables
from leat.keras.initializers import ScaledInitializer
from leat.keras.layers.low_rank import LowRank


class EinsumDense(LowRank):
    """Sums of products of input and kernel, by a text that names dimensions (``keras.layers.EinsumDense``)."""

    _entry = tables.entry_of("layer", "EinsumDense")

    def _of_weight(self, name, sort):
        """What was given for a weight; an initializer of the kernel counts inputs and outputs by the equation."""
        given = super()._of_weight(name, sort)
        if (name, sort) != ("kernel", "initializer") or not isinstance(given, ScaledInitializer) or (
                given.input_axes is not None and given.output_axes is not None):
            return given
        letters, made = self.equation.partition(",")[2].split("->")
        axes = {"input_axes": [i for i, letter in enumerate(letters) if letter not in made],
                "output_axes": [i for i, letter in enumerate(letters) if letter in made]}
        return type(given).from_config({**given.get_config(), "seed": given.seed, **axes})
