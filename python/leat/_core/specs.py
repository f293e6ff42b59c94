"""Types of what datasets hold: ``tf.TypeSpec`` and its leaves.

A leaf knows its JSON (the form of docs/PLANS.md), how many tensors of C it stands for, and how to take a value
apart into them and put it together.
"""

from leat._core.later import Hook
from leat._core.shapes import TensorShape, as_shape
from leat.dtypes import DType, as_dtype, by_number, float32, int64, variant

spec_of_value = Hook()  # the TypeSpec of a value: leat.nest
READERS = {}  # key of a leaf's JSON -> what makes the spec of what stands under it: leat._core.element_specs


def _json_shape(shape):
    return None if shape.rank is None else [-1 if d is None else d for d in shape]


def _is_narrower(shape, other):
    """Says the shape all that `other` says?"""
    return other.rank is None or shape.rank == other.rank and all(
        there is None or here == there for here, there in zip(shape, other))


class TypeSpec:
    """The type of a leaf (``tf.TypeSpec``)."""

    __slots__ = ()
    value_class = Hook()  # the class of the values; each kind of spec has its own

    def is_compatible_with(self, other):
        """Could `other`, a value or a spec, be of this type?"""
        other = other if isinstance(other, TypeSpec) else spec_of_value(other)
        return type(self) is type(other) and self._covers(other)

    def is_subtype_of(self, other):
        """Whether every value of this spec is one of `other`."""
        if not isinstance(other, TypeSpec) or not other.is_compatible_with(self):
            return False
        return not hasattr(self, "shape") or _is_narrower(self.shape, other.shape)

    def most_specific_compatible_type(self, other):
        """The narrowest spec that covers both; ValueError where there is none."""
        joined = self.most_specific_common_supertype([other])
        if joined is None:
            raise ValueError(f"No TypeSpec is compatible with both {self} and {other}")
        return joined

    def most_specific_common_supertype(self, others):
        """The narrowest spec that covers this one and `others`; None where there is none."""
        for other in others:
            if type(other) is not type(self) or other.dtype != self.dtype:
                return None
            self = self._with_shape(self.shape.most_specific_compatible_shape(other.shape))
        return self

    @property
    def value_type(self):
        """The class of the values."""
        return type(self).value_class.value

    def _key(self):
        raise NotImplementedError

    def __eq__(self, other):
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self):
        return hash((type(self), self._key()))


class TensorSpec(TypeSpec):
    """A dense tensor: shape and dtype (``tf.TensorSpec``)."""

    __slots__ = ("_shape", "_dtype", "_name")
    value_class = Hook()
    num_components = 1

    def __init__(self, shape, dtype=float32, name=None):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)
        self._name = name

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    name = property(lambda self: self._name)

    @classmethod
    def from_tensor(cls, tensor, name=None):
        """The spec of a tensor's dtype and static shape."""
        return cls(tensor.shape, tensor.dtype, name)

    @classmethod
    def from_spec(cls, spec, name=None):
        """A copy of a spec, under another name where one is given."""
        return cls(spec.shape, spec.dtype, name or getattr(spec, "name", None))

    def _covers(self, other):
        return self._dtype == other._dtype and self._shape.is_compatible_with(other._shape)

    def _with_shape(self, shape):
        return TensorSpec(shape, self._dtype)

    def _key(self):
        return self._shape, self._dtype

    def _json(self):
        return {"dtype": "object" if self._dtype is variant else self._dtype.name, "shape": _json_shape(self._shape)}

    def _take(self, value):
        return [value]

    def _put(self, components):
        return next(components)

    def __repr__(self):
        return f"TensorSpec(shape={self._shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self):
        return TensorSpec, (self._shape, self._dtype, self._name)


class RaggedTensorSpec(TypeSpec):
    """A ragged tensor (``tf.RaggedTensorSpec``)."""

    __slots__ = ("_shape", "_dtype", "_ragged_rank", "_row_splits_dtype")
    value_class = Hook()

    def __init__(self, shape=None, dtype=float32, ragged_rank=None, row_splits_dtype=int64, flat_values_spec=None):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(flat_values_spec.dtype if flat_values_spec is not None else dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        if ragged_rank is None:
            if self._shape.rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = self._shape.rank - 1
        self._ragged_rank = ragged_rank
        if self._shape.rank is not None and ragged_rank >= self._shape.rank:
            raise ValueError(f"Argument `ragged_rank` ({ragged_rank}) must be less than rank ({self._shape.rank}).")

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)
    ragged_rank = property(lambda self: self._ragged_rank)
    row_splits_dtype = property(lambda self: self._row_splits_dtype)
    flat_values_spec = property(lambda self: None)
    num_components = property(lambda self: 1 + max(self._ragged_rank, 0))

    def _covers(self, other):
        return (self._dtype == other._dtype and self._ragged_rank == other._ragged_rank
                and self._row_splits_dtype == other._row_splits_dtype and self._shape.is_compatible_with(other._shape))

    def _with_shape(self, shape):
        return RaggedTensorSpec(shape, self._dtype, self._ragged_rank, self._row_splits_dtype)

    def _key(self):
        return self._shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    def _json(self):
        return {"ragged": {"dtype": self._dtype.name, "shape": _json_shape(self._shape),
                           "ragged_rank": self._ragged_rank, "row_splits_dtype": self._row_splits_dtype.name}}

    def _take(self, value):
        if self._ragged_rank <= 0:
            return [value]
        return [value.flat_values, *value.nested_row_splits]

    def _put(self, components):
        values = next(components)
        splits = [next(components) for _ in range(self._ragged_rank)]
        if not splits:
            return values
        made = self.value_class.value.from_nested_row_splits(values, splits, validate=False)
        made._note_uniform(self._shape)
        return made

    def __repr__(self):
        return (f"RaggedTensorSpec({self._shape!r}, {self._dtype!r}, {self._ragged_rank!r}, "
                f"{self._row_splits_dtype!r})")


class SparseTensorSpec(TypeSpec):
    """A sparse tensor (``tf.SparseTensorSpec``)."""

    __slots__ = ("_shape", "_dtype")
    value_class = Hook()
    num_components = 3

    def __init__(self, shape=None, dtype=float32):
        self._shape = as_shape(shape)
        self._dtype = as_dtype(dtype)

    shape = property(lambda self: self._shape)
    dtype = property(lambda self: self._dtype)

    def _covers(self, other):
        return self._dtype == other._dtype and self._shape.is_compatible_with(other._shape)

    def _with_shape(self, shape):
        return SparseTensorSpec(shape, self._dtype)

    def _key(self):
        return self._shape, self._dtype

    def _json(self):
        return {"sparse": {"dtype": self._dtype.name, "shape": _json_shape(self._shape)}}

    def _take(self, value):
        return [value.indices, value.values, value.dense_shape]

    def _put(self, components):
        indices, values, dense_shape = next(components), next(components), next(components)
        return self.value_class(indices, values, dense_shape)._known(self._shape)

    def __repr__(self):
        return f"SparseTensorSpec({self._shape!r}, {self._dtype!r})"


class NoneTensorSpec(TypeSpec):
    """The type of None within an element (``tf.NoneTensorSpec``)."""

    __slots__ = ()
    value_class = Hook()
    num_components = 0

    def _covers(self, other):
        return True

    def most_specific_common_supertype(self, others):
        """This spec, where all others are None too; else None."""
        return self if all(isinstance(other, NoneTensorSpec) for other in others) else None

    def _key(self):
        return ()

    def _json(self):
        return None

    def _take(self, value):
        return []

    def _put(self, components):
        return None

    def __repr__(self):
        return "NoneTensorSpec()"


NoneTensorSpec.value_class.provide(type(None))


def of_json(json):
    """The leaf of its JSON form."""
    if json is None:
        return NoneTensorSpec()
    if "ragged" in json:
        part = json["ragged"]
        return RaggedTensorSpec(_of_json_shape(part["shape"]), part["dtype"], part["ragged_rank"],
                                part["row_splits_dtype"])
    if "sparse" in json:
        return SparseTensorSpec(_of_json_shape(json["sparse"]["shape"]), json["sparse"]["dtype"])
    for key, read in READERS.items():
        if key in json:
            return read(json[key])
    name = json["dtype"]
    return TensorSpec(_of_json_shape(json["shape"]), variant if name == "object" else as_dtype(name))


def _of_json_shape(dims):
    return TensorShape(None if dims is None else [None if d < 0 else d for d in dims])
