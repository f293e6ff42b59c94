"""``tf.print``: tensors as TensorFlow prints them, to a stream or a file."""

import sys

import numpy as np

from leat import dtypes, nest
from leat._core import specs
from leat._core.tensor import Tensor, constant
from leat._graph import trace
from leat.strings import format as format_text

_Print = print  # Python's own


def _number(value, dtype):
    if dtype is dtypes.bool:
        return "1" if value else "0"
    if not dtype.is_floating:
        return str(int(value))
    value = float(value)
    if value != value or value in (float("inf"), float("-inf")):
        return "nan" if value != value else "inf" if value > 0 else "-inf"
    if dtype is dtypes.float32:  # six digits where they read as the same number
        short = f"{value:.6g}"
        return short if np.float32(short) == np.float32(value) else f"{value:.9g}"
    if dtype is dtypes.float64:
        short = f"{value:.15g}"
        return short if float(short) == value else f"{value:.17g}"
    return f"{value:.9g}"


def _text(value):
    text = value.decode("utf-8", "backslashreplace")
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t").replace(
        "\r", "\\r") + '"'


def _rows(values, show, summarize, indent):
    """The text of an array; `show` is that of a value."""
    if values.ndim == 0:
        return show(values[()])
    count = len(values)
    whole = summarize < 0 or count <= 2 * summarize
    if values.ndim == 1:
        parts = [show(value) for value in (values if whole else values[:summarize])]
        if not whole:
            parts += ["...", *[show(value) for value in values[count - summarize:]]]
        return "[" + " ".join(parts) + "]"
    rows = list(values) if whole else [*values[:summarize], None, *values[count - summarize:]]
    gap = "\n" * (values.ndim - 1) + " " * (indent + 1)
    return "[" + gap.join("..." if row is None else _rows(row, show, summarize, indent + 1) for row in rows) + "]"


def _of_tensor(tensor, summarize):
    if tensor.dtype is dtypes.string:
        flat = tensor._values()
        values = np.empty(len(flat), object)
        values[:] = flat
        return _rows(values.reshape(tensor._shape), _text, summarize, 0)
    if 0 in tensor._shape:
        return "[]"
    return _rows(np.asarray(tensor.numpy()), lambda value: _number(value, tensor.dtype), summarize, 0)


def _of_lists(values, summarize):
    """The rows of a ragged tensor, whose values read as those of ``tf.strings.as_string``."""
    if isinstance(values, list):
        most = len(values) if summarize < 0 else summarize
        shown = [_of_lists(one, summarize) for one in values]
        return f"[{', '.join(shown if len(shown) <= 2 * most else [*shown[:most], '...', *shown[-most:]])}]"
    if isinstance(values, bytes):
        return f"'{values.decode('utf-8', 'replace')}'"
    return f"{values:f}" if isinstance(values, float) else str(values).lower()


def text_of(value, summarize, top=True):
    """One argument of print."""
    if hasattr(value, "to_list") and hasattr(value, "row_splits"):
        return _of_lists(value.to_list(), summarize)
    if hasattr(value, "dense_shape") and hasattr(value, "indices") and hasattr(value, "_is_leaf_value"):
        parts = [_of_tensor(one, summarize) for one in (value.indices, value.values, value.dense_shape)]
        return "'SparseTensor(indices={}, values={}, shape={})'".format(*parts)
    if hasattr(value, "_values") and hasattr(value, "_is_leaf_value"):  # one for each replica
        return repr(value)
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if isinstance(value, Tensor):
        return _of_tensor(value, summarize)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key!r}: {text_of(item, summarize, False)}" for key, item in value.items()) + "}"
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        inner = ", ".join(text_of(item, summarize, False) for item in value)
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' if len(value) == 1 else ''})"
    if isinstance(value, str):
        return value if top else repr(value)
    return repr(value)


class _Place:
    """Stands in a template for a tensor."""

    def __repr__(self):
        return _PLACE


_PLACE = "\x1a"


def _print_elsewhere(show, inputs, options):
    """The same by ``show(text, stream)`` of a text that an operation composes; False where it cannot."""
    leaves = [leaf._as_tensor() if hasattr(leaf, "_as_tensor") else leaf for leaf in nest.flatten(inputs)]
    if any(hasattr(leaf, "_is_leaf_value") for leaf in leaves):
        return False
    marked = nest.pack_sequence_as(inputs, [_Place() if isinstance(leaf, Tensor) else leaf for leaf in leaves])
    template = options["sep"].join(text_of(value, -1) for value in marked) + options["end"]
    tensors = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
    if template.count(_PLACE) != len(tensors):
        return False
    summarize = -1 if options["summarize"] is None else int(options["summarize"])
    show(format_text(template, tensors, _PLACE, summarize), options["output_stream"])
    return True


def _print_inside(inputs, options):
    """`print` in a function that is traced: each run prints, in the order of its effects."""
    show = getattr(trace.strategy(), "_show", None)
    if show is not None and _print_elsewhere(show, inputs, options):
        return
    leaves = [leaf._as_tensor() if hasattr(leaf, "_as_tensor") else leaf for leaf in nest.flatten(inputs)]
    known = [nest.spec_of_leaf(leaf) if isinstance(leaf, Tensor) or hasattr(leaf, "_is_leaf_value") else None
             for leaf in leaves]
    tensors = [tensor for leaf, spec in zip(leaves, known) if spec is not None for tensor in spec._take(leaf)]

    def run(values):
        rest = iter(values)
        shown = [leaf if spec is None else spec._put(rest) for leaf, spec in zip(leaves, known)]
        print(*nest.pack_sequence_as(inputs, shown), **options)
        return [constant(True)]
    leaves = [leaf if spec is None else None for leaf, spec in zip(leaves, known)]  # holds on to no tensor
    trace.called(run, tensors, tuple(spec for spec in known if spec is not None), specs.TensorSpec([], dtypes.bool))


def print(*inputs, output_stream=None, summarize=3, sep=" ", end="\n", name=None):
    """Prints values (``tf.print``) to sys.stderr, sys.stdout, a function of the text, or "file://path".

    `summarize`: so many values from both ends of each dimension; -1: all.
    """
    if trace.is_tracing():
        options = {"output_stream": output_stream, "summarize": summarize, "sep": sep, "end": end}
        return _print_inside(list(inputs), options)
    summarize = -1 if summarize is None else int(summarize)
    line = sep.join(text_of(value, summarize) for value in inputs) + end
    if isinstance(output_stream, str):
        if not output_stream.startswith("file://"):
            raise ValueError("output_stream is a stream, a function or \"file://\" and a path; found "
                             f"{output_stream!r}")
        with open(output_stream[7:], "a", encoding="utf-8") as file:
            file.write(line)
    elif callable(output_stream):
        output_stream(line)
    else:
        _Print(line, end="", file=output_stream if output_stream is not None else sys.stderr, flush=True)
