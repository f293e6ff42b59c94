"""``leat.data.browse``: the first elements of a dataset as a page, for a notebook or a file.

Pictures, texts and numbers are shown as such; of each component of the elements there are shapes, range, mean and a
histogram of what was looked at. All text of the data is escaped, nothing is loaded from anywhere and nothing runs; the
page has a largest size, behind which pictures and texts are left out and said to be.
"""

import base64
import html

import numpy as np

from leat import dtypes, nest
from leat._core.tensor import Tensor, convert_to_tensor
from leat._graph.ops import FUNCTIONS
from leat.data import views
from leat.data.dataset import Dataset
from leat.data.iterator import Iterator

_PIXELS = 128          # of a picture that is shown
_IN_A_BATCH = 4        # pictures, texts and rows that are shown of a batch
_LETTERS = 300         # of a text
_NUMBERS = 12          # of an array
_FILE = 48 << 10       # bytes of a picture that is shown as it is
_PAGE = 2 << 20        # characters of a page
_COUNTED = 1 << 20     # numbers of a component that are counted
_BARS = 24
_STYLE = (".leat-browse{font:13px sans-serif;overflow-x:auto}.leat-browse table{border-collapse:collapse}"
          ".leat-browse td,.leat-browse th{border:1px solid #99a;padding:4px 8px;text-align:left;vertical-align:top}"
          ".leat-browse img{image-rendering:pixelated;margin:1px}"
          ".leat-browse pre{margin:0;white-space:pre-wrap;overflow-wrap:anywhere;max-width:36em}")


def browse(dataset, elements=8):
    """The first `elements` elements: a Browser, which notebooks show as a table and `save` writes as a page.

    dataset: Any; one run through it is begun and ended. An element that fails is shown as its error.
    """
    if not isinstance(dataset, Dataset):
        raise TypeError(f"browse: expected a leat.data.Dataset, found {type(dataset).__name__}")
    if elements < 1:
        raise ValueError(f"browse: elements is {elements}; expected 1 or more")
    rows = []
    with Iterator(dataset) as iterator:
        while len(rows) < elements:
            try:
                rows.append([_value(leaf) for leaf in nest.leaves(next(iterator))])
            except StopIteration:
                break
            except Exception as error:  # the page is to show it
                rows.append(error)
                if len(rows) > 1 and isinstance(rows[-2], Exception):
                    break  # a source that fails for ever
    return Browser(dataset, rows, len(rows) < elements)


class Browser:
    """The first elements of a dataset, as notebooks and pages show them."""

    def __init__(self, dataset, rows, is_all):
        self._title, self._is_all = repr(dataset), is_all
        self._rows = rows
        self._names = _names(dataset.element_spec)
        found = [row for row in rows if not isinstance(row, Exception)]
        self._components = [_Component([row[i] for row in found]) for i in range(len(self._names))]

    def __repr__(self):
        lines = [f"{len(self._rows)} elements of {self._title}"]
        return "\n".join(lines + [f"  {name}: {component.text()}" for name, component in zip(
            self._names, self._components)])

    def _repr_html_(self):
        room = _Room(_PAGE)
        heads = "".join(f"<th>{html.escape(name)}</th>" for name in self._names)
        sums = "".join(f"<td>{component.page()}</td>" for component in self._components)
        out = [f'<div class="leat-browse"><style>{_STYLE}</style><p><code>{html.escape(self._title[:2000])}</code></p>'
               f"<table><tr><th></th>{heads}</tr><tr><th>of these</th>{sums}</tr>"]
        for number, row in enumerate(self._rows):
            if isinstance(row, Exception):
                text = html.escape(f"{type(row).__name__}: {row}"[:2000])
                cells = f'<td colspan="{max(len(self._names), 1)}"><pre>{text}</pre></td>'
            else:
                cells = "".join(f"<td>{room.take(_cell(value))}</td>" for value in row)
            out.append(f"<tr><th>{number}</th>{cells}</tr>")
        end = "that is all of it" if self._is_all else "more follow"
        return "".join(out) + f"</table><p>{len(self._rows)} elements; {end}</p></div>"

    def save(self, path):
        """Writes a page that needs nothing else; it appears whole or not at all."""
        views.write_page(path, "leat: first elements", self._repr_html_())


class _Room:
    """What is left of a page's size."""

    def __init__(self, size):
        self._left = size

    def take(self, text):
        """The text, or that it was left out."""
        self._left -= len(text)
        return text if self._left > 0 else "<em>left out, the page is full</em>"


# ---- values ----

def _names(spec):
    """The components' names: "x", "pair[0]"."""
    def walk(part, name):
        kind = nest._kind_of(part)
        if kind is None:
            return [name or "element"]
        _, children, keys = kind
        keys = getattr(part, "_fields", None) if keys is None else keys
        places = [f"[{i}]" for i in range(len(children))] if keys is None else [f".{key}" for key in keys]
        return [found for place, child in zip(places, children) for found in walk(child, name + place)]
    return [name.removeprefix(".") for name in walk(spec, "")]


def _value(leaf):
    """A component as an array; what has none as a text."""
    if isinstance(leaf, Tensor) and leaf.dtype is not dtypes.variant:
        return np.array(leaf.numpy(), object if leaf.dtype is dtypes.string else None)  # numpy's own drop zeros
    if hasattr(leaf, "to_list"):
        return f"ragged {leaf.to_list()!r}"
    return "None" if leaf is None else repr(leaf)


def _is_numbers(value):
    return isinstance(value, np.ndarray) and value.dtype.kind in "biuf"


def _is_picture(shape):
    return len(shape) == 3 and shape[2] in (1, 3, 4) and min(shape[:2]) >= 4


def _is_grey(value):
    return value.ndim == 2 and value.dtype == np.uint8 and min(value.shape) >= 8


class _Component:
    """What the values of one component have in common."""

    def __init__(self, values):
        self.kinds = sorted({("string" if value.dtype.kind == "O" else value.dtype.name) if isinstance(
            value, np.ndarray) else value.split(" ")[0] for value in values})
        self.shapes = list(dict.fromkeys(value.shape for value in values if isinstance(value, np.ndarray)))
        numbers = [value.astype(np.float64).ravel()[:_COUNTED // max(len(values), 1)] for value in values
                   if _is_numbers(value) or isinstance(value, np.ndarray) and value.dtype.name == "bfloat16"]
        self.numbers = np.concatenate(numbers) if numbers else np.zeros(0)
        self.lengths = [len(text) for value in values if isinstance(value, np.ndarray) and value.dtype.kind == "O"
                        for text in value.ravel()[:1000].tolist()]

    def text(self):
        """Types, shapes and range."""
        shapes = ", ".join(map(str, self.shapes[:4])) + (", ..." if len(self.shapes) > 4 else "")
        said = " ".join(self.kinds) + (f" {shapes}" if shapes else "")
        finite = self.numbers[np.isfinite(self.numbers)]
        if finite.size:
            said += f", {finite.min():.6g} to {finite.max():.6g}, mean {finite.mean():.6g}"
        if finite.size < self.numbers.size:
            said += f", {self.numbers.size - finite.size} not finite"
        if self.lengths:
            said += f", {min(self.lengths)} to {max(self.lengths)} bytes"
        return said

    def page(self):
        """The same, with a histogram."""
        finite = self.numbers[np.isfinite(self.numbers)]
        finite = finite if finite.size else np.asarray(self.lengths, np.float64)
        return html.escape(self.text()) + (f"<br>{_histogram(finite)}" if finite.size else "")


def _histogram(numbers):
    """Bars of how many numbers lie where."""
    with np.errstate(over="ignore", invalid="ignore"):
        low, high = float(numbers.min()), float(numbers.max())
        if not np.isfinite(high - low):
            return ""
        counts, _ = np.histogram(numbers, _BARS, (low, high) if high > low else (low - 0.5, low + 0.5))
    most = max(int(counts.max()), 1)
    bars = "".join(f'<rect x="{i * 7}" y="{36 - 36 * int(count) / most:.1f}" width="6" '
                   f'height="{36 * int(count) / most:.1f}"/>' for i, count in enumerate(counts))
    return (f'<svg width="{_BARS * 7}" height="38" fill="#58a" role="img"><title>{low:.6g} to {high:.6g}</title>'
            f"{bars}</svg>")


# ---- cells ----

def _cell(value):
    if not isinstance(value, np.ndarray):
        return f"<pre>{html.escape(_shortened(value))}</pre>"
    if value.dtype.kind == "O":
        texts = value.ravel()[:_IN_A_BATCH].tolist() if value.ndim else [value.item()]
        return "<br>".join(map(_text, texts)) + ("<br>..." if value.size > len(texts) else "")
    if value.dtype.kind in "biuf" and value.size:
        if _is_picture(value.shape) or _is_grey(value):
            return _picture(value)
        if value.ndim == 4 and _is_picture(value.shape[1:]):
            return "".join(map(_picture, value[:_IN_A_BATCH])) + (" ..." if len(value) > _IN_A_BATCH else "")
    shown = np.array2string(value, threshold=_NUMBERS, edgeitems=3, precision=6)
    return f"<pre>{html.escape(_shortened(shown))}</pre>"


def _shortened(text):
    return text if len(text) <= _LETTERS else text[:_LETTERS] + "..."


def _text(data):
    """Bytes as a picture where they are one, else as text."""
    data = data if isinstance(data, bytes) else str(data).encode()
    kind = "png" if data.startswith(b"\x89PNG\r\n\x1a\n") else "jpeg" if data.startswith(b"\xff\xd8\xff") else None
    if kind is not None:
        said = f"{len(data)} bytes of {kind.upper()}"
        return said if len(data) > _FILE else f'{_image(data, kind)}<br>{said}'
    text = data[:4 * _LETTERS].decode("utf-8", "backslashreplace")
    shown = "".join(letter if letter.isprintable() else letter.encode("unicode_escape").decode() for letter in text)
    return f"<pre>{html.escape(_shortened(shown))}</pre>"


def _image(data, kind):
    return (f'<img alt="" style="max-width:{_PIXELS}px;max-height:{_PIXELS}px" '
            f'src="data:image/{kind};base64,{base64.b64encode(data).decode()}">')


def _picture(value):
    """Pixels as PNG: every n-th where there are many; numbers other than bytes by their range."""
    step = max(1, -(-max(value.shape[:2]) // _PIXELS))
    pixels = value[::step, ::step]
    pixels = pixels[..., None] if pixels.ndim == 2 else pixels
    if pixels.dtype != np.uint8:
        pixels = pixels.astype(np.float64)
        finite = pixels[np.isfinite(pixels)]
        low, high = (finite.min(), finite.max()) if finite.size else (0.0, 1.0)
        if low >= 0 and high <= 255:
            low, high = 0.0, 1.0 if high <= 1 else 255.0
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = np.nan_to_num((pixels - low) / ((high - low) or 1.0), nan=0.0, posinf=1.0, neginf=0.0)
        pixels = np.clip(np.round(scaled * 255), 0, 255).astype(np.uint8)
    data = FUNCTIONS["io.encode_png"](convert_to_tensor(np.ascontiguousarray(pixels))).numpy()
    return _image(data, "png")
