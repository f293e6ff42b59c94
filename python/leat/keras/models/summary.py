"""The table that ``Model.summary`` prints, in the form of Keras'."""

import re
import shutil
import textwrap

from leat.keras._base.layer import is_own, node_of
from leat.keras._base.state import shape_of

_SIZES = {1: "B", 1 << 10: "KB", 1 << 20: "MB", 1 << 30: "GB", 1 << 40: "TB", 1 << 50: "PB"}


def _size(count):
    unit = max(size for size in _SIZES if size == 1 or count >= size)
    return f"{count / unit:.2f} {_SIZES[unit]}"


def _totals(variables):
    counts = [(_count(variable), variable.dtype.size) for variable in variables]
    return sum(count for count, _ in counts), sum(count * size for count, size in counts)


def _count(variable):
    count = 1
    for size in shape_of(variable):
        count *= size
    return count


def _shape_text(shape):
    if shape is None:
        return "?"
    if isinstance(shape, tuple) and all(size is None or isinstance(size, int) for size in shape):
        return f"({', '.join(str(size) for size in shape)})"
    if isinstance(shape, dict):
        return "{" + ", ".join(f"{key}: {_shape_text(one)}" for key, one in shape.items()) + "}"
    inner = ", ".join(_shape_text(one) for one in shape)
    return f"[{inner}]" if isinstance(shape, list) else f"({inner})"


def _output_shape(layer):
    """The shapes of what a layer gives, all in one list where it was called in a model; None where only calls with
    values, which do not say, and no `compute_output_shape` tell them."""
    if layer._inbound_nodes:
        shapes = [tuple(tensor.shape) for tensor in layer._inbound_nodes[-1].outputs]
        return shapes[0] if len(shapes) == 1 else shapes
    says = not is_own(type(layer).call) or is_own(type(layer).compute_output_shape)
    return layer._output_shape if says else None


def _rows(layer, level, expand, show_trainable, graph=None):
    prefix = "   " * level + "└ " if level else ""
    params = f"{layer.count_params():,}" if layer.built else "0 (unbuilt)"
    row = [f"{prefix}{layer.name} ({type(layer).__name__})", _shape_text(_output_shape(layer)), params]
    if graph is not None:
        row.append(_connections(layer, graph))
    if show_trainable:
        row.append("-" if not layer.weights else "Y" if layer.trainable else "N")
    rows = [row]
    if expand:
        for inner in getattr(layer, "operations", getattr(layer, "layers", [])):
            rows += _rows(inner, level + 1, expand, show_trainable, graph)
    return rows


def _connections(layer, graph):
    """Which calls of which layers a layer's calls in the model take their inputs from."""
    found = []
    for node in layer._inbound_nodes:
        for tensor in node.inputs if node in graph.members else ():
            before = node_of(tensor)
            number = before.layer._inbound_nodes.index(before)
            found.append(f"{before.layer.name}[{number}][{before.outputs.index(tensor)}]")
    return ", ".join(found) or "-"


def _branching(model):
    """The calls of a model whose layers do not simply follow each other; None."""
    graph = getattr(model, "_graph", None)
    if graph is None:
        return None
    if any(len(nodes) > 1 or len(nodes[0].inputs) > 1 for nodes in graph.nodes.values()):
        return graph
    shared = any(sum(node in graph.members for node in layer._inbound_nodes) > 1 for layer in model.layers)
    return graph if shared else None


def _widths(positions, length):
    """The widths of the columns between their lines: what is too much is taken off all of them."""
    widths, current = [], 0
    for position in positions:
        width = int(position * length) - current
        if width < 4:
            raise ValueError("Insufficient console width to print summary.")
        widths.append(width + 2)
        current += width
    excess, left = sum(widths) - (length - len(widths) - 1), len(widths)
    for place in range(len(widths)):
        cut = round(excess / left)
        widths[place] -= cut
        excess, left = excess - cut, left - 1
    return widths


def _wrapped(text, width):
    """Lines of at most `width`; a word that is longer ends in dots."""
    lines = textwrap.wrap(text, width, break_on_hyphens=False, break_long_words=False) or [""]
    return [line if len(line) <= width else line[:width - 1] + "…" for line in lines]


def _lines(row, widths, alignment, edge):
    cells = [_wrapped(text, width - 2) for text, width in zip(row, widths)]
    out = []
    for number in range(max(len(cell) for cell in cells)):
        parts = []
        for cell, width, align in zip(cells, widths, alignment):
            text = cell[number] if number < len(cell) else ""
            parts.append(f" {format(text, f'{align}{width - 2}')} ")
        out.append(edge + edge.join(parts) + edge)
    return out


def _chosen(layers, layer_range):
    if layer_range is None:
        return layers
    if len(layer_range) != 2:
        raise ValueError("layer_range must be a list or tuple of length 2. Received: layer_range = "
                         f"{layer_range} of length {len(layer_range)}")
    first = [i for i, layer in enumerate(layers) if re.match(layer_range[0], layer.name)]
    last = [i for i, layer in enumerate(layers) if re.match(layer_range[1], layer.name)]
    if not first or not last:
        raise ValueError(f"Passed layer_names do not match the layer names in the model. Received: {layer_range}")
    return layers[min(first[0], last[0]):max(first[-1], last[-1]) + 1]


def summary(model, line_length, positions, expand_nested, show_trainable, layer_range):
    """The text of the table and of the totals below it."""
    graph = _branching(model)
    header, alignment, standard = ["Layer (type)", "Output Shape", "Param #"], ["<", "<", ">"], 88
    if graph is not None:
        header, alignment, standard = [*header, "Connected to"], [*alignment, "<"], 108
    positions = positions or ([0.45, 0.80, 1.0] if graph is None else [0.3, 0.56, 0.74, 1.0])
    if show_trainable:
        positions = [position * 0.90 for position in positions] + [1.0]
        header, alignment, standard = [*header, "Trainable"], [*alignment, "^"], standard + 12
    widths = _widths(positions, line_length or min(standard, shutil.get_terminal_size().columns - 4))

    def line(left, middle, right, dash):
        return left + middle.join(dash * width for width in widths) + right
    out = [f'Model: "{model.name}"', line("┏", "┳", "┓", "━"), *_lines(header, widths, alignment, "┃"),
           line("┡", "╇", "┩", "━")]
    rows = [row for layer in _chosen(getattr(model, "operations", model.layers), layer_range)
            for row in _rows(layer, 0, expand_nested, show_trainable, graph)]
    for number, row in enumerate(rows):
        out += _lines(row, widths, alignment, "│")
        out.append(line("├", "┼", "┤", "─") if number + 1 < len(rows) else line("└", "┴", "┘", "─"))
    trained, frozen = _totals(model.trainable_weights), _totals(model.non_trainable_weights)
    optimizer = getattr(model, "optimizer", None)
    kept = _totals(optimizer.variables) if optimizer is not None and optimizer.built else (0, 0)
    for name, (count, size) in {"Total": [a + b + c for a, b, c in zip(trained, frozen, kept)], "Trainable": trained,
                                "Non-trainable": frozen, "Optimizer": kept}.items():
        if name != "Optimizer" or count:
            out.append(f" {name} params: {count:,} ({_size(size)})")
    return "\n".join(out)
