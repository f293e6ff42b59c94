"""``tf.TensorShape``: dimensions, of which some or all may be unknown."""


class TensorShape:
    """A shape: ``None`` is an unknown rank, a ``None`` within an unknown dimension."""

    __slots__ = ("_dims",)

    def __init__(self, dims=None):
        if isinstance(dims, TensorShape):
            self._dims = dims._dims
        elif dims is None:
            self._dims = None
        elif hasattr(dims, "__iter__"):
            self._dims = tuple(_dimension(d) for d in dims)
        else:
            self._dims = (_dimension(dims),)

    @property
    def rank(self):
        """The number of dimensions; None where it is unknown."""
        return None if self._dims is None else len(self._dims)

    @property
    def ndims(self):
        """The same as `rank`."""
        return self.rank

    @property
    def dims(self):
        """The dimensions as a list; None where the rank is unknown."""
        return None if self._dims is None else list(self._dims)

    def as_list(self):
        """The dimensions as a list; ValueError where the rank is unknown."""
        if self._dims is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._dims)

    def is_fully_defined(self):
        """Whether the rank and every dimension are known."""
        return self._dims is not None and None not in self._dims

    def num_elements(self):
        """How many values, or None where that is unknown."""
        if not self.is_fully_defined():
            return None
        count = 1
        for d in self._dims:
            count *= d
        return count

    def is_compatible_with(self, other):
        """Whether a tensor could have both shapes."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return True
        return len(self._dims) == len(other._dims) and all(
            a is None or b is None or a == b for a, b in zip(self._dims, other._dims))

    def assert_is_compatible_with(self, other):
        """Raises ValueError where no tensor could have both shapes."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def assert_has_rank(self, rank):
        """Raises ValueError where the rank is known and another one."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank):
        """This shape with that rank; ValueError where it has another one."""
        return self.merge_with(unknown_shape(rank))

    def with_rank_at_least(self, rank):
        """This shape; ValueError where its rank is known and smaller."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """This shape; ValueError where its rank is known and larger."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def assert_same_rank(self, other):
        """Raises ValueError where both ranks are known and differ."""
        other = as_shape(other)
        if None not in (self.rank, other.rank) and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_is_fully_defined(self):
        """Raises ValueError unless rank and dimensions are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def is_subtype_of(self, other):
        """Is `other` known as far as this shape or less?"""
        other = as_shape(other)
        if other.rank is None:
            return True
        return self.rank == other.rank and all(b is None or a == b for a, b in zip(self._dims, other._dims))

    def most_specific_common_supertype(self, others):
        """The narrowest shape that covers this one and a list of others."""
        for other in others:
            self = self.most_specific_compatible_shape(other)
        return self

    def most_specific_compatible_shape(self, other):
        """The narrowest shape that covers both."""
        other = as_shape(other)
        if self.rank is None or other.rank is None or self.rank != other.rank:
            return TensorShape(None)
        return TensorShape([a if a == b else None for a, b in zip(self._dims, other._dims)])

    def merge_with(self, other):
        """What is known of either shape; ValueError where they contradict each other."""
        other = as_shape(other)
        self.assert_is_compatible_with(other)
        if self._dims is None:
            return other
        if other._dims is None:
            return self
        return TensorShape([a if a is not None else b for a, b in zip(self._dims, other._dims)])

    def concatenate(self, other):
        """The dimensions of this shape, then those of `other`."""
        other = as_shape(other)
        if self._dims is None or other._dims is None:
            return TensorShape(None)
        return TensorShape(self._dims + other._dims)

    def __len__(self):
        if self._dims is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._dims)

    def __iter__(self):
        if self._dims is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._dims)

    def __getitem__(self, key):
        if self._dims is None:
            return TensorShape(None) if isinstance(key, slice) else None
        return TensorShape(self._dims[key]) if isinstance(key, slice) else self._dims[key]

    def __bool__(self):
        return self._dims is not None

    def __eq__(self, other):
        try:
            return self._dims == as_shape(other)._dims
        except TypeError:
            return NotImplemented

    def __hash__(self):
        return hash(self._dims)

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def __repr__(self):
        return f"TensorShape({None if self._dims is None else list(self._dims)})"

    def __str__(self):
        if self._dims is None:
            return "<unknown>"
        return f"({self._dims[0]},)" if len(self._dims) == 1 else f"({', '.join(map(str, self._dims))})"

    def __reduce__(self):
        return TensorShape, (self._dims,)


def _dimension(value):
    if value is None:
        return None
    value = getattr(value, "value", value) if type(value).__name__ == "Dimension" else value
    try:
        value = value.__index__()
    except AttributeError:
        raise TypeError(f"Dimension value must be integer or None or have an __index__ method, got {value!r}") from None
    if value < -1:
        raise ValueError(f"Dimension {value} must be >= 0")
    return None if value == -1 else value


def shape_of(dims):
    """The TensorShape of dimensions that the library told: a list of numbers and Nones, or None."""
    out = TensorShape.__new__(TensorShape)
    out._dims = None if dims is None else tuple(dims)
    return out


def as_shape(value):
    """A TensorShape of a TensorShape, a list of dimensions or None."""
    return value if isinstance(value, TensorShape) else TensorShape(value)


def unknown_shape(rank=None):
    """A shape of `rank` unknown dimensions; of unknown rank without one."""
    return TensorShape(None if rank is None else [None] * rank)
