"""Types of what holds elements of its own: datasets, iterators and optional values."""

from leat import nest
from leat._core.later import Hook
from leat._core.shapes import as_shape
from leat._core.specs import READERS, TypeSpec


def _joined(one, other):
    """The narrowest structure of specs that covers both; ValueError or TypeError where there is none."""
    return nest._map(lambda a, b: a.most_specific_compatible_type(b), one, other)


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

    def is_subtype_of(self, other):
        """Whether every value of this spec is one of `other`."""
        return type(self) is type(other) and self.is_compatible_with(other) and all(
            one.is_subtype_of(there) for one, there in zip(nest.leaves(self._element_spec),
                                                           nest.leaves(other._element_spec)))

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

    def _covers(self, other):
        return self._dataset_shape == other._dataset_shape and super()._covers(other)

    def _key(self):
        return self._dataset_shape, super()._key()

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and `others`; None where there is none."""
        joined, shape = self._element_spec, self._dataset_shape
        for other in others:
            if type(other) is not DatasetSpec:
                return None
            shape = shape.most_specific_compatible_shape(other._dataset_shape)
            try:
                joined = _joined(joined, other._element_spec)
            except (TypeError, ValueError):
                return None
        return DatasetSpec(joined, shape)

    def _with_elements(self, element_spec):
        """The same for other elements."""
        return DatasetSpec(element_spec, self._dataset_shape)

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


def _optional_of(parts):
    if parts[0].shape.rank != 0:
        raise TypeError("optional values cannot be batched; get their values first")
    return OptionalSpec(parts[1])


class OptionalSpec(_ElementSpec):
    """A value that may be absent (``tf.OptionalSpec``)."""

    __slots__ = ()
    value_class = Hook()

    @property
    def num_components(self):
        """Whether there is a value, and its tensors."""
        return 1 + sum(leaf.num_components for leaf in nest.leaves(self._element_spec))

    def _json(self):
        tag = nest.leaf_tag("Optional", _optional_of)
        return {"tuple": [{"dtype": "bool", "shape": []}, nest.to_json(self._element_spec)], "tag": tag}

    def _take(self, value):
        return [value.has_value(), *nest.components(value._value_or_zeros(), self._element_spec)]

    def _put(self, components):
        present = next(components)
        return self.value_class.value(nest.assemble(self._element_spec, components), self._element_spec, present)

    def __repr__(self):
        return f"OptionalSpec({self._element_spec!r},)"


READERS["dataset"] = lambda json: DatasetSpec(nest.from_json(json))
READERS["optional"] = lambda json: OptionalSpec(nest.from_json(json))
