"""Operations on ragged and sparse tensors that are operations on their values."""


def dispatch(entry, values, arguments):
    """The result of an operation over composite inputs; NotImplemented where all inputs are dense."""
    for value in values:
        if hasattr(value, "_is_leaf_value"):
            return value._dispatch(entry, values, arguments)
        if type(value) in (list, tuple):
            for part in value:
                if hasattr(part, "_is_leaf_value"):
                    return part._dispatch(entry, values, arguments)
    return NotImplemented
