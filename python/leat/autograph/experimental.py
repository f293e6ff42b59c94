"""``tf.autograph.experimental``."""

import enum
import functools


class Feature(enum.Enum):
    """Optional parts of conversion; of no effect here."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"


def do_not_convert(func=None):
    """A function that runs as Python wrote it when it is traced (``tf.autograph.experimental.do_not_convert``)."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def as_it_is(*args, **kwargs):
        return func(*args, **kwargs)
    as_it_is._leat_as_it_is = True
    return as_it_is


# What takes the options of the loops that are being converted, innermost last.
_loop_options = []


def set_loop_options(parallel_iterations=None, swap_memory=None, maximum_iterations=None, shape_invariants=None):
    """Options of the loop in whose body this stands first: `maximum_iterations`, and `shape_invariants`, a list of
    (variable, shape) for variables whose shape changes. Of no effect outside of converted loops.
    """
    if _loop_options:
        _loop_options[-1](maximum_iterations, shape_invariants or [])
