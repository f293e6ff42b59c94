"""Types of what holds elements of its own: datasets, iterators and optional values."""

from leat import nest
from leat._core.later import Hook
from leat._core.shapes import as_shape
from leat._core.specs import READERS, TypeSpec


class _ElementSpec(TypeSpec):
    """The type of what holds elements of one spec."""

    __slots__ = ("_element_spec",)

    def __init__(self, element_spec):
        self._element_spec = element_spec

    @classmethod
    def from_value(cls, value):
        """The spec of a value."""
        return cls(value.element_spec)

    element_spec = property(lambda self: self._element_spec)

    def _covers(self, other):
        return nest.compatible(self._element_spec, other._element_spec)

    def most_specific_common_supertype(self, others):
        """This spec, where all others are equal; else None."""
        return self if all(self == other for other in others) else None

    def _key(self):
        return nest.key(self._element_spec)


class DatasetSpec(_ElementSpec):
    """A dataset as an element of another one (``tf.data.DatasetSpec``)."""

    __slots__ = ("_dataset_shape",)
    value_class = Hook()
    num_components = 1

    def __init__(self, element_spec, dataset_shape=()):
        super().__init__(element_spec)
        self._dataset_shape = as_shape(dataset_shape)

    def _json(self):
        return {"dataset": nest.to_json(self._element_spec)}

    def _take(self, value):
        return [value._as_value()]

    def _put(self, components):
        return self.value_class.value._of_value(next(components), self._element_spec)

    def __repr__(self):
        return f"DatasetSpec({self._element_spec!r}, {self._dataset_shape!r})"


class IteratorSpec(_ElementSpec):
    """The type of an iterator (``tf.data.IteratorSpec``)."""

    __slots__ = ()
    value_class = Hook()  # of those in functions that are traced
    num_components = 1

    def is_compatible_with(self, other):
        """Could `other`, an iterator or a spec, be of this type?"""
        return (isinstance(other, IteratorSpec) or hasattr(other, "get_next_as_optional")) and nest.compatible(
            self._element_spec, other.element_spec)

    def _json(self):
        return {"dtype": "int64", "shape": []}

    def _take(self, value):
        return [value._inside()._value]

    def _put(self, components):
        return self.value_class(next(components), self._element_spec)

    def __repr__(self):
        return f"IteratorSpec({self._element_spec!r},)"


class OptionalSpec(_ElementSpec):
    """A value that may be absent (``tf.OptionalSpec``)."""

    __slots__ = ()
    value_class = Hook()
    num_components = 1

    def _json(self):
        return {"optional": nest.to_json(self._element_spec)}

    def __repr__(self):
        return f"OptionalSpec({self._element_spec!r})"


READERS["dataset"] = lambda json: DatasetSpec(nest.from_json(json))
READERS["optional"] = lambda json: OptionalSpec(nest.from_json(json))
