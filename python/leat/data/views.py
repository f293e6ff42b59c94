"""How plans and what they did are shown: trees of text, tables, and drawings for notebooks."""

import html
import json
import os
import re
import sys

from leat._files import replacing

_SAMPLE = re.compile(r'leat_(\w+?)\{(.*?)\} (\S+)$', re.MULTILINE)
_LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')
_LONGEST = 40  # characters of an argument
_WIDTH, _HEIGHT, _GAP_X, _GAP_Y = 168, 78, 34, 14  # of a box in the drawing, pixels


def write_page(path, title, body):
    """Writes what a notebook shows as a page that needs nothing else; it appears whole or not at all."""
    replacing.replace(path, (
        f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>{html.escape(title)}</title>'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
        f"style-src 'unsafe-inline'\"></head><body>{body}</body></html>\n").encode())


# ---- plans ----

def describe(op, args, functions, elements):
    """What a node says of itself: `op` and its arguments as text; functions by name and line, values by type."""
    def argument(value):
        if isinstance(value, dict) and "function" in value:
            return _of_function(functions[value["function"]])
        if isinstance(value, dict) and "given" in value:
            return _of_spec(json.loads(elements[value["given"]]))
        if isinstance(value, dict) and "ref" in value:
            return "a dataset"
        return repr(value)
    shown = []
    for name, value in args.items():
        text = argument(value)
        shown.append(f"{name}={text if len(text) <= _LONGEST else text[:_LONGEST - 3] + '...'}")
    return f"{op}({', '.join(shown)})"


def _of_spec(spec):
    if spec is None:
        return "None"
    if "tuple" in spec:
        return f"({', '.join(map(_of_spec, spec['tuple']))})"
    if "dict" in spec:
        return "{" + ", ".join(f"{key}: {_of_spec(child)}" for key, child in spec["dict"].items()) + "}"
    for kind in ("ragged", "sparse"):
        if kind in spec:
            return f"{kind} {_of_spec(spec[kind])}"
    if "dtype" not in spec:
        return next(iter(spec))
    shape = spec["shape"]
    return f"{spec['dtype']}{'' if shape == [] else '[?]' if shape is None else str(shape).replace('-1', '?')}"


def _of_function(code):
    """A function's name, and the line that it stands in where it has one."""
    return code if isinstance(code, str) else (
        f"{code.co_name} at {code.co_filename.rsplit('/', 1)[-1]}:{code.co_firstlineno}")


def _of_dataset(dataset):
    node = getattr(dataset, "_node", None)
    return f"{dataset._name}Dataset()" if node is None else describe(*node)


def plan_text(dataset):
    """The tree of a plan, the operator that gives the elements first."""
    lines = []

    def walk(node, first, rest):
        lines.append(first + _of_dataset(node))
        for i, child in enumerate(node._inputs):
            last = i == len(node._inputs) - 1
            walk(child, rest + ("└─ " if last else "├─ "), rest + ("   " if last else "│  "))
    walk(dataset, "", "")
    return "\n".join(lines)


def plan_html(dataset):
    """A drawing of a plan."""
    rows = []

    def walk(node, place):
        whole = _of_dataset(node)
        op, _, rest = whole.partition("(")
        rows.append({"place": place, "operator": op, "title": whole, "share": 0,
                     "lines": _wrap(rest.removesuffix(")"))})
        for i, child in enumerate(node._inputs):
            walk(child, f"{place}.{i}")
    walk(dataset, "0")
    return (f"<div><code>{html.escape(repr(dataset))}</code></div>{_svg(rows)}")


def _wrap(text):
    """At most three lines that fit a box."""
    parts, lines = text.split(", ") if text else [], []
    for part in parts:
        lines.append(part if len(part) <= 26 else part[:25] + "…")
    return lines if len(lines) <= 3 else lines[:2] + ["…"]


# ---- what ran ----

class Explanation(str):
    """What each operator of an iterator did: a table as text, in a notebook a drawing with the figures.

    `operators` is a list of dictionaries, one for each operator in the order of the table: place ("0" gives the
    elements, "0.0" is its first input), operator, elements, errors, callbacks, recovered (pictures that were cut short
    and filled), busy_seconds, waiting_seconds, full_seconds, buffered_elements, buffer_limit, held_bytes, parallelism.
    """

    def __new__(cls, text, metrics):
        made = super().__new__(cls, text)
        made._metrics = metrics
        return made

    @property
    def operators(self):
        """The figures by operator."""
        return _parse(self._metrics)[0]

    @property
    def pipeline(self):
        """Figures of the whole: seconds, next_seconds_total, memory_bytes, memory_limit_bytes."""
        return _parse(self._metrics)[1]

    @property
    def verdict(self):
        """The sentence on what bounds the pipeline."""
        lines = self.rstrip().splitlines()
        return next((line for line in lines if line.startswith(("bottleneck", "bound by"))), lines[-1])

    def __repr__(self):
        return str(self).rstrip()

    def _drawing(self):
        operators, pipeline = self.operators, self.pipeline
        seconds = pipeline.get("seconds") or 1
        for row in operators:
            row["share"] = min(row["busy_seconds"] / (seconds * max(row["parallelism"], 1)), 1)
            row["lines"] = [f"{row['elements']:,} elements, {_rate(row['elements'] / seconds)}/s",
                            f"busy {row['busy_seconds'] / seconds:.0%}, waits {row['waiting_seconds'] / seconds:.0%}",
                            _last_line(row)]
            row["title"] = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in row.items()
                                     if key not in ("lines", "share"))
        return _svg(operators)

    def _repr_html_(self):
        table = html.escape(str(self).rstrip())
        return (f"<div>{html.escape(self.verdict)}</div>{self._drawing()}"
                f"<details><summary>Table</summary><pre>{table}</pre></details>")

    def save(self, path):
        """Writes the drawing and the table as a page that needs nothing else; of a name that ends in ".svg" the drawing
        alone."""
        if os.fsdecode(path).endswith(".svg"):
            replacing.replace(path, (self._drawing() + "\n").encode())
            return
        write_page(path, "leat: what a pipeline did", self._repr_html_())

    def show(self):
        """Prints the table where no shell or notebook shows the value of an expression by itself; returns itself."""
        if not hasattr(sys, "ps1") and "ipykernel" not in sys.modules:
            print(str(self).rstrip())
        return self


def _last_line(row):
    parts = []
    if row["buffer_limit"]:
        parts.append(f"buffer {row['buffered_elements']}/{row['buffer_limit']}")
    if row["parallelism"]:
        parts.append(f"{row['parallelism']} at a time")
    if row["callbacks"]:
        parts.append(f"{row['callbacks']:,} callbacks")
    if row["errors"]:
        parts.append(f"{row['errors']:,} errors")
    return ", ".join(parts)


def _rate(value):
    for limit, name in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= limit:
            return f"{value / limit:.3g} {name}"
    return f"{value:.3g}"


def _parse(metrics):
    """(figures by operator, figures of the whole) of text in Prometheus' format."""
    operators, pipeline = {}, {}
    for name, labels, value in _SAMPLE.findall(metrics):
        labels = dict(_LABEL.findall(labels))
        number = float(value) if "second" in name else int(float(value))
        if name.startswith("operator_"):
            row = operators.setdefault(labels["place"], {"place": labels["place"], "operator": labels["operator"]})
            row[name.removeprefix("operator_").removesuffix("_total")] = number
        else:
            pipeline[name.removeprefix("pipeline_")] = number
    return list(operators.values()), pipeline


# ---- drawings ----

def _layout(rows):
    """{place: (column, row)}: sources on the left, the consumer on the right; second children in new rows."""
    deepest = max(row["place"].count(".") for row in rows)
    places, free = {}, 0
    for row in rows:  # a parent comes before its children
        place = row["place"]
        parent, _, number = place.rpartition(".")
        if parent and int(number) > 0:
            free += 1
        places[place] = deepest - place.count("."), free if parent and int(number) > 0 else (
            places[parent][1] if parent else 0)
    return places


def _svg(rows):
    places = _layout(rows)
    columns = max(column for column, _ in places.values()) + 1
    lines = max(line for _, line in places.values()) + 1
    width, height = columns * (_WIDTH + _GAP_X) + 60, lines * (_HEIGHT + _GAP_Y) + 4
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
           'font-family="sans-serif" font-size="11" role="img">',
           '<defs><marker id="leat-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
           'orient="auto"><path d="M0,0 L8,4 L0,8 z" fill="#667"/></marker></defs>']
    for row in rows:
        column, line = places[row["place"]]
        x, y = 2 + column * (_WIDTH + _GAP_X), 2 + line * (_HEIGHT + _GAP_Y)
        parent = row["place"].rpartition(".")[0]
        to_column, to_line = places[parent] if parent else (column + 1, line)
        to_x, to_y = 2 + to_column * (_WIDTH + _GAP_X), 2 + to_line * (_HEIGHT + _GAP_Y) + _HEIGHT / 2
        out.append(f'<path d="M{x + _WIDTH},{y + _HEIGHT / 2} L{to_x},{to_y}" stroke="#667" fill="none" '
                   'marker-end="url(#leat-arrow)"/>')
        heat = round(row["share"] * 100)
        out.append(f'<g><title>{html.escape(row["title"])}</title><rect x="{x}" y="{y}" width="{_WIDTH}" '
                   f'height="{_HEIGHT}" rx="6" fill="hsl({60 - heat * 6 // 10},90%,{96 - heat // 4}%)" stroke="#667"/>'
                   f'<text x="{x + 8}" y="{y + 18}" font-weight="bold" font-size="13" fill="#112">'
                   f'{html.escape(row["operator"][:22])}</text>')
        for i, text in enumerate(row["lines"]):
            out.append(f'<text x="{x + 8}" y="{y + 36 + 15 * i}" fill="#334">{html.escape(text)}</text>')
        out.append("</g>")
    x, y = 2 + columns * (_WIDTH + _GAP_X) + 4, 2 + _HEIGHT / 2 + 4
    out.append(f'<text x="{x}" y="{y}" fill="#334">next</text></svg>')
    return "".join(out)
