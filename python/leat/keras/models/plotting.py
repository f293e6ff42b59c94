"""``keras.utils.plot_model``: a model drawn as SVG, by a layout of its own.

Layers are boxes in ranks: each below the last of those that it takes values from. Boxes of a rank are ordered so that
lines cross little (by the middle of what they hang on, a few times down and up), and lines that pass a rank keep a
place in it.
"""

import html
import os

from leat._core.paths import anywhere
from leat.errors import UnimplementedError

_CHAR, _LINE, _PAD, _GAP, _DROP = 7.2, 18, 10, 24, 44  # pixels: width of a letter, lines, margins, between boxes, ranks


class _Box:
    """A layer's box, or, without lines, the place where a line passes a rank."""

    def __init__(self, lines, key=None):
        self.lines, self.key = lines, key
        self.width = max((len(text) for text in lines), default=0) * _CHAR + 2 * _PAD if lines else 6
        self.height = len(lines) * _LINE + _PAD if lines else 0
        self.x = self.y = self.rank = 0


def _shape_text(shape):
    if isinstance(shape, list):
        return f"[{', '.join(map(_shape_text, shape))}]"
    return str(tuple(shape)) if shape is not None else "?"


def _lines(layer, shapes, options):
    show_shapes, show_dtype, show_names, show_activations, show_trainable = options
    name = f"{layer.name} ({type(layer).__name__})" if show_names else type(layer).__name__
    lines = [name]
    activation = getattr(layer, "activation", None)
    if show_activations and activation is not None and type(layer).__name__ != "Activation":
        lines.append(f"activation: {getattr(activation, '__name__', activation)}")
    if show_shapes:
        lines.append(f"{_shape_text(shapes[0])} -> {_shape_text(shapes[1])}" if shapes[0] is not None else
                     _shape_text(shapes[1]))
    if show_dtype:
        lines.append(f"dtype: {getattr(layer, 'compute_dtype', '?')}")
    if show_trainable and layer.weights:
        lines.append("trainable" if layer.trainable else "frozen")
    return lines


def _one_or_list(shapes):
    return shapes[0] if len(shapes) == 1 else list(shapes) if shapes else None


def _graph(model, options, expand, prefix=""):
    """([(key, lines)], [(key from, key to)], keys that it starts with, keys that it ends with) of a model."""
    from leat.keras._base.layer import node_of
    graph = getattr(model, "_graph", None)
    nodes, edges = [], []
    if graph is None:  # one layer after the other
        before = []
        for layer in getattr(model, "_sequence", None) or model.layers:
            shapes = [getattr(layer, "_output_shape", None) or getattr(layer, "batch_shape", None)] * 2
            first, last = _add(layer, (None, shapes[1]), options, expand, f"{prefix}{layer.name}", nodes, edges)
            edges += [(one, other) for one in before for other in first]
            before = last
        return nodes, edges, [nodes[0][0]] if nodes else [], before
    ends = {}
    for node in sorted(graph.members, key=_depth(node_of)):
        layer = node.layer
        shapes = [_one_or_list([t.shape for t in tensors]) for tensors in (node.inputs, node.outputs)]
        number = [one for one in layer._inbound_nodes if one in graph.members].index(node)
        key = f"{prefix}{layer.name}" + (f":{number}" if number else "")
        first, last = _add(layer, shapes, options, expand, key, nodes, edges)
        ends[id(node)] = last
        edges += [(one, other) for tensor in node.inputs for one in ends[id(node_of(tensor))] for other in first]
    starts = [nodes[0][0]] if nodes else []
    outputs = [last for tensor in model.outputs for last in ends[id(node_of(tensor))]]
    return nodes, edges, starts, list(dict.fromkeys(outputs))


def _depth(node_of):
    known = {}

    def depth(node):
        if id(node) not in known:
            known[id(node)] = 1 + max((depth(node_of(tensor)) for tensor in node.inputs), default=-1)
        return known[id(node)]
    return depth


def _add(layer, shapes, options, expand, key, nodes, edges):
    """Adds a layer, or what it is made of; the keys that it starts and ends with."""
    if expand and getattr(layer, "layers", None):
        inner, lines, first, last = _graph(layer, options, expand, key + "/")
        nodes += inner
        edges += lines
        return first, last
    nodes.append((key, _lines(layer, shapes, options)))
    return [key], [key]


# ---- where boxes lie ----

def _ranks(nodes, edges):
    """Lists of boxes, rank by rank, and the lines as lists of boxes that they pass."""
    boxes = {key: _Box(lines, key) for key, lines in nodes}
    into = {key: [] for key in boxes}
    for start, end in edges:
        into[end].append(start)
    for key in boxes:  # in the order of the calls, so all before it are placed
        boxes[key].rank = 1 + max((boxes[start].rank for start in into[key]), default=-1)
    ranks = [[] for _ in range(1 + max((box.rank for box in boxes.values()), default=-1))]
    for box in boxes.values():
        ranks[box.rank].append(box)
    lines = []
    for start, end in dict.fromkeys(edges):
        passed = [boxes[start]]
        for rank in range(boxes[start].rank + 1, boxes[end].rank):
            place = _Box([])
            place.rank = rank
            ranks[rank].append(place)
            passed.append(place)
        lines.append([*passed, boxes[end]])
    return ranks, lines


def _order(ranks, lines):
    """Orders each rank by the middle of what its boxes hang on, down and up by turns."""
    above, below = {}, {}
    for passed in lines:
        for one, other in zip(passed, passed[1:]):
            above.setdefault(id(other), []).append(one)
            below.setdefault(id(one), []).append(other)
    for turn in range(4):
        neighbours = above if turn % 2 == 0 else below
        for rank in ranks if turn % 2 == 0 else reversed(ranks):
            place = {id(box): number for other in ranks for number, box in enumerate(other)}

            def middle(box):
                found = [place[id(one)] for one in neighbours.get(id(box), ())]
                return sum(found) / len(found) if found else place[id(box)]
            rank.sort(key=middle)


def _place(ranks):
    """Gives every box its place; (width, height) of the whole."""
    widths = [sum(box.width for box in rank) + _GAP * (len(rank) - 1) for rank in ranks]
    whole, y = max(widths, default=0) + 2 * _PAD, _PAD
    for rank, width in zip(ranks, widths):
        x, height = (whole - width) / 2, max((box.height for box in rank), default=0)
        for box in rank:
            box.x, box.y = x, y + (height - box.height) / 2
            x += box.width + _GAP
        y += height + _DROP
    return whole, y - _DROP + _PAD


def _svg(ranks, lines, turned):
    width, height = _place(ranks)
    size = (height, width) if turned else (width, height)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{size[0]:.0f}" height="{size[1]:.0f}" '
           f'viewBox="0 0 {size[0]:.0f} {size[1]:.0f}" font-family="monospace" font-size="12">',
           '<defs><marker id="arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
           'orient="auto"><path d="M0,0 L8,4 L0,8 z"/></marker></defs>']

    def point(x, y):
        return f"{y:.1f},{x:.1f}" if turned else f"{x:.1f},{y:.1f}"
    for passed in lines:
        ends = [(box.x + box.width / 2, box.y + (box.height if number == 0 else 0))
                for number, box in enumerate(passed)]
        out.append('<polyline fill="none" stroke="black" marker-end="url(#arrow)" points="'
                   + " ".join(point(*end) for end in ends) + '"/>')
    for box in (box for rank in ranks for box in rank if box.lines):
        corner, sides = ((box.y, box.x), (box.height, box.width)) if turned else ((box.x, box.y),
                                                                                  (box.width, box.height))
        out.append(f'<rect x="{corner[0]:.1f}" y="{corner[1]:.1f}" width="{sides[0]:.1f}" height="{sides[1]:.1f}" '
                   'fill="#eef3fb" stroke="black" rx="3"/>')
        for number, text in enumerate(box.lines):
            x, y = corner[0] + sides[0] / 2, corner[1] + _PAD / 2 + _LINE * (number + 0.75)
            out.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="middle">{html.escape(text)}</text>')
    return "\n".join([*out, "</svg>", ""])


def plot_model(model, to_file="model.svg", show_shapes=False, show_dtype=False, show_layer_names=False, rankdir="TB",
               expand_nested=False, dpi=200, show_layer_activations=False, show_trainable=False, splines="ortho",
               **kwargs):
    """Draws a model into an SVG file, or PNG where the package cairosvg is there (``keras.utils.plot_model``); the
    SVG's text.

    `rankdir`: "TB" from top to bottom, "LR" from left to right. `dpi`: of a PNG; `splines` changes nothing. ValueError
    for a model that is not built, and for a `to_file` that ends in neither ".svg" nor ".png"; None: no file.
    """
    from leat._files.replacing import replace
    if kwargs:
        raise ValueError(f"Unrecognized keyword arguments: {kwargs}")
    if not model.built:
        raise ValueError("This model has not yet been built. Build the model first by calling `build()` or by calling "
                         "the model on a batch of data.")
    if rankdir not in ("TB", "LR"):
        raise ValueError(f'rankdir is "TB" or "LR". Received: {rankdir!r}')
    ending = ".svg" if to_file is None else os.path.splitext(anywhere(to_file))[1].lower()
    if ending not in (".svg", ".png"):
        raise ValueError(f"leat draws SVG and PNG; name a file that ends in `.svg` or `.png`. Received: to_file="
                         f"{to_file}")
    to_png = _png_maker(to_file) if ending == ".png" else None
    options = (show_shapes, show_dtype, show_layer_names, show_layer_activations, show_trainable)
    nodes, edges, _, _ = _graph(model, options, expand_nested)
    if rankdir == "LR":  # boxes are turned, so that their sides change places
        ranks, lines = _ranks(nodes, edges)
        for box in (box for rank in ranks for box in rank):
            box.width, box.height = box.height or 6, box.width if box.lines else 0
    else:
        ranks, lines = _ranks(nodes, edges)
    _order(ranks, lines)
    text = _svg(ranks, lines, rankdir == "LR")
    if to_file is not None:
        replace(anywhere(to_file), text.encode() if to_png is None else to_png(
            bytestring=text.encode(), dpi=96, scale=dpi / 96, background_color="white"))
    return text


def _png_maker(to_file):
    """What makes PNG of SVG, known before anything is drawn."""
    try:
        import cairosvg
    except (ImportError, OSError) as error:  # the latter where the library cairo is missing
        raise ImportError(f"a PNG needs the package cairosvg ({error}); install it (pip install cairosvg), or name a "
                          f"file that ends in `.svg`. Received: to_file={to_file}") from None
    return cairosvg.svg2png


def model_to_dot(model, *args, **kwargs):
    """UnimplementedError: leat makes no graphviz graphs (``keras.utils.model_to_dot``)."""
    raise UnimplementedError(None, None, "leat makes no graphs of graphviz's package pydot; plot_model draws the model "
                             "as SVG without it")
