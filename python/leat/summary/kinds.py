"""The kinds of summaries: numbers, histograms, pictures, sounds, texts, graphs, and any tensor for a plug-in."""

import contextlib
import re

import numpy as np

from leat import dtypes
from leat._api.modules import get_current_name_scope, name_scope
from leat._core.tensor import Tensor, constant, convert_to_tensor
from leat._files.wire import _put_bytes
from leat._graph import ops, trace
from leat.summary import state

_NOT_IN_SCOPES = re.compile(r"[^-_/.A-Za-z0-9]")


def _field(number, content):
    out = bytearray()
    _put_bytes(out, number, content if isinstance(content, (bytes, bytearray)) else str(content).encode())
    return bytes(out)


def metadata(plugin, description=None, content=b""):
    """A serialised SummaryMetadata that names a plug-in."""
    inner = _field(1, plugin) + (_field(2, content) if content else b"")
    return _field(1, inner) + (_field(3, description) if description else b"")


@contextlib.contextmanager
def summary_scope(name, default_name="summary", values=None):
    """A scope of names for a summary: the block gets (tag, scope) (``tf.summary.experimental.summary_scope``).

    The tag is the name with those of the scopes around in front of it, as it was given.
    """
    name = name or default_name
    around = get_current_name_scope()
    with name_scope(_NOT_IN_SCOPES.sub("", name) or default_name) as scope:
        yield f"{around}/{name}" if around else name, scope


def _as_tensor(value):
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    return value if isinstance(value, Tensor) else convert_to_tensor(value)


def _no_conversion(tensor):
    return tensor


def _record(name, default_name, data, step, described, convert=_no_conversion, buckets=-1):
    with summary_scope(name, default_name) as (tag, _):
        return state.record([data], step, lambda writer, at, values: writer.write(
            tag, at, described, convert(values[0]), buckets))


def write(tag, tensor, step=None, metadata=None, name=None):
    """Writes a tensor under a tag, for the plug-in that `metadata` names (``tf.summary.write``).

    `tensor`: a tensor, or a callable that makes it, called where summaries are recorded. `metadata`: a SummaryMetadata
    message or its bytes. True as a tensor where it was written. ValueError where there is a default writer and no step.
    """
    if state.condition() is False:
        return constant(False)
    if metadata is not None and hasattr(metadata, "SerializeToString"):
        metadata = metadata.SerializeToString()
    described = metadata or b""
    if callable(tensor) and not hasattr(tensor, "_as_tensor"):
        tensor = tensor()
    return state.record([_as_tensor(tensor)], step, lambda writer, at, values: writer.write(
        tag, at, described, values[0]))


def write_raw_pb(tensor, step=None, name=None):
    """Writes serialised Summary messages (``tf.summary.experimental.write_raw_pb``)."""
    def put(writer, at, values):
        for message in np.reshape(np.asarray(values[0].numpy(), object), [-1]):
            writer.message(at, message, False)
    if state.condition() is False:
        return constant(False)
    return state.record([_as_tensor(tensor)], step, put)


def scalar(name, data, step=None, description=None):
    """Writes a number as float32, a point of the curve `name` (``tf.summary.scalar``).

    True as a tensor where it was written. ValueError where there is a default writer and no step, or for other ranks.
    """
    if state.condition() is False:
        return constant(False)
    data = _as_tensor(data)
    if data.shape.rank not in (None, 0):
        raise ValueError(f"Expected scalar shape for tensor, got shape: {tuple(data.shape)}.")
    return _record(name, "scalar_summary", ops.FUNCTIONS["cast"](data, "float32"), step,
                   metadata("scalars", description))


def histogram(name, data, step=None, buckets=None, description=None):
    """Writes how the values of a tensor are spread over `buckets` (30) of equal width (``tf.summary.histogram``).

    Values that are not finite are in no bucket. True as a tensor where it was written.
    """
    if state.condition() is False:
        return constant(False)
    count = 30 if buckets is None else int(buckets)
    described = metadata("histograms", description)
    if count <= 0:
        return _record(name, "histogram_summary", _as_tensor(data), step, described,
                       lambda tensor: constant(np.zeros((0, 3))))
    return _record(name, "histogram_summary", _as_tensor(data), step, described, buckets=count)


def _pictures(data, most):
    """[width, height, PNG, PNG, ...] of pictures [k, height, width, channels]."""
    count = min(len(data), most) if most is not None else len(data)
    if data.dtype is not dtypes.uint8:
        data = ops.FUNCTIONS["image.convert_image_dtype"](data, "uint8", saturate=True)
    shape = data.shape
    encoded = [ops.FUNCTIONS["io.encode_png"](data[place]).numpy() for place in range(count)]
    return constant([str(shape[2]).encode(), str(shape[1]).encode(), *encoded], dtypes.string)


def image(name, data, step=None, max_outputs=3, description=None):
    """Writes up to `max_outputs` pictures [k, height, width, channels] as PNGs (``tf.summary.image``).

    1 to 4 channels; floats lie between 0 and 1, uint8 between 0 and 255. True as a tensor where it was written.
    """
    if state.condition() is False:
        return constant(False)
    data = _of_rank(data, 4, "[k, height, width, channels]")
    most = int(max_outputs)
    if most < 0:
        raise ValueError(f"max_outputs is a number of pictures; found {max_outputs}")
    return _record(name, "image_summary", data, step, metadata("images", description),
                   lambda tensor: _pictures(tensor, most))


def _of_rank(data, rank, what):
    data = _as_tensor([_as_tensor(one) for one in data] if isinstance(data, (list, tuple)) else data)
    if data.shape.rank not in (None, rank):
        raise ValueError(f"data must have rank {rank}, {what}. Received rank {data.shape.rank}, shape "
                         f"{tuple(data.shape)}")
    return data


def audio(name, data, sample_rate, step=None, max_outputs=3, encoding=None, description=None):
    """Writes up to `max_outputs` sounds [k, frames, channels] of values from -1 to 1 as WAV (``tf.summary.audio``)."""
    if encoding not in (None, "wav"):
        raise ValueError(f"Unknown encoding: {encoding!r}")
    if state.condition() is False:
        return constant(False)
    rate, most = int(sample_rate), int(max_outputs)

    def sounds(tensor):
        encoded = [ops.FUNCTIONS["audio.encode_wav"](tensor[place], rate).numpy()
                   for place in range(min(len(tensor), most))]
        return constant(np.array([[one, b""] for one in encoded], object).reshape(-1, 2), dtypes.string)
    return _record(name, "audio_summary", _of_rank(data, 3, "[k, frames, channels]"), step,
                   metadata("audio", description, b"\x10\x0b"), sounds)


def text(name, data, step=None, description=None):
    """Writes texts, Markdown: a string tensor of any shape (``tf.summary.text``). TypeError for another dtype."""
    if state.condition() is False:
        return constant(False)
    data = _as_tensor(data)
    if data.dtype is not dtypes.string:
        raise TypeError(f"tf.summary.text: expected a tensor of strings, found {data.dtype.name}")
    return _record(name, "text_summary", data, step, metadata("text", description))


def graph(graph_data):
    """Writes a graph, the `graph` of a ConcreteFunction or a GraphDef message, at step 0 (``tf.summary.graph``).

    True as a tensor where it was written; ValueError in a function that is traced, and for what is no graph.
    """
    if trace.is_tracing():
        raise ValueError("graph() cannot be invoked inside a graph context.")
    if not state.condition():
        return constant(False)
    if hasattr(graph_data, "as_graph_def"):
        graph_data = graph_data.as_graph_def()
    if not hasattr(graph_data, "SerializeToString"):
        raise ValueError("Argument 'graph_data' is not tf.Graph or tf.compat.v1.GraphDef. Received graph_data="
                         f"{graph_data} of type {type(graph_data).__name__}.")
    state._state.writer.message(0, graph_data.SerializeToString(), True)
    return constant(True)


# ---- graphs of what runs ----

_FUNCTION_GRAPHS = 4  # RunMetadata's; of one: 1 partition_graphs, 2 and 3 before and after optimisation


def trace_on(graph=True, profiler=False, profiler_outdir=None):
    """From here on the graphs of functions that run are kept, for `trace_export` (``tf.summary.trace_on``).

    There is no profiler: asked for it, this warns and keeps the graphs (``leat.experimental`` and `leat explain` say
    where time goes).
    """
    from leat._graph import traced
    if trace.is_tracing():
        _warn("Cannot enable trace inside a tf.function.")
    elif traced.collected() is not None:
        _warn("Trace already enabled")
    else:
        if profiler:
            _warn("leat has no profiler for TensorBoard; the graphs are traced alone")
        traced.collect(True)


def trace_export(name, step=None, profiler_outdir=None):
    """Writes the graphs that were kept, under `name`, and keeps no more (``tf.summary.trace_export``).

    ValueError where nothing is traced, or where there is a default writer and no step.
    """
    from leat._graph import traced
    if trace.is_tracing():
        _warn("Cannot export trace inside a tf.function.")
        return
    functions = traced.collected()
    if functions is None:
        raise ValueError("Must enable trace before export through tf.summary.trace_on.")
    graphs = b"".join(
        _field(_FUNCTION_GRAPHS, _field(1, made) + _field(2, made) + _field(3, made))
        for made in (native.to_graph_def() for native in functions))
    with summary_scope(name, "graph_run_metadata_graph") as (tag, _):
        write(tag, constant(graphs, dtypes.string), step, metadata("graph_run_metadata_graph", content=b"1"))
    trace_off()


def trace_off():
    """Keeps no more graphs and forgets those that were kept (``tf.summary.trace_off``)."""
    from leat._graph import traced
    traced.collect(False)


def _warn(text):
    import logging
    logging.getLogger("leat").warning(text)
