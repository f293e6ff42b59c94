"""``tf.autograph``: Python's control flow over tensors, in functions that are traced.

`if`, `while`, `for`, `and`, `or`, `not`, `assert` and conditional expressions over tensors without values become
conditions and loops of the traced function; over everything else they are Python's own. The work is done by
`leat.autograph.convert` (which functions, and their source), `leat.autograph.rewrite` (the source's tree) and
`leat.autograph.operators` (what stands in the place of a statement).
"""

from leat.autograph import experimental
from leat.autograph.experimental import do_not_convert

__all__ = ["do_not_convert", "experimental", "set_verbosity", "to_code", "to_graph", "trace"]

_verbosity = 0


def set_verbosity(level, alsologtostdout=False):
    """How much conversion says; leat only says which functions are called in Python."""
    global _verbosity
    _verbosity = level


def trace(*args):
    """Prints while a function is traced, not when it runs."""
    print(*args)


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The converted function (``tf.autograph.to_graph``); the function itself where there is nothing to convert."""
    from leat.autograph import convert
    return convert.converted(entity)


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The converted function's source (``tf.autograph.to_code``)."""
    from leat.autograph import convert
    return convert.source_of(entity)
