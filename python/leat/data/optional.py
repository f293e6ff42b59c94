"""``tf.experimental.Optional``: a value, or none."""

from leat import nest
from leat._core import specs
from leat._core.element_specs import OptionalSpec
from leat._core.tensor import Tensor, convert_to_tensor
from leat.errors import InvalidArgumentError


class Optional:
    """A value that may be absent. Made by ``from_value``, ``empty`` and ``Iterator.get_next_as_optional``."""

    _is_leaf_value = True

    def __init__(self, value, element_spec, present):
        self._value = value
        self._element_spec = element_spec
        self._present = present

    @staticmethod
    def from_value(value):
        """An optional that holds the structure `value`."""
        value = nest.normalize(value)
        return Optional(value, nest.spec_of(value), True)

    @staticmethod
    def empty(element_spec):
        """An optional of that spec without a value."""
        return Optional(None, element_spec, False)

    @property
    def element_spec(self):
        """The structure of TypeSpecs of the value."""
        return self._element_spec

    @property
    def _type_spec(self):
        return OptionalSpec(self._element_spec)

    def has_value(self, name=None):
        """A bool scalar: whether there is a value."""
        return self._present if isinstance(self._present, Tensor) else convert_to_tensor(self._present)

    def get_value(self, name=None):
        """The value; InvalidArgumentError where there is none."""
        if isinstance(self._present, Tensor) and not self._present._has_values:
            from leat._graph.control import guarded_by
            return guarded_by(self._present, "The given optional does not have a value.", self._value)
        if not self._present:
            raise InvalidArgumentError(None, None, "The given optional does not have a value.")
        return self._value

    def _value_or_zeros(self):
        """The value; where there is none, zeros in its place."""
        if self._value is not None or nest.key(self._element_spec) == nest.key(specs.NoneTensorSpec()):
            return self._value
        from leat.data.functions import zeros
        return zeros(self._element_spec)

    def __repr__(self):
        made = f"from_value({self._value!r})" if self._present else "empty()"
        return f"tf.experimental.Optional.{made}"
