#!/usr/bin/env python3
"""The reference of everything public as pages of reStructuredText, for the site (tools/website/main.py).

A page for each public module of the Python package, out of signatures and docstrings of what is imported, and one for each public
header, out of its comments. Public is what TensorFlow and Keras show (tools/public_names.txt, written by tools/differ/main.py --public)
and leat has, and OWN. An object is described under one of its names; its other names point there. An operation that
bench/ops/cases.py has a call of shows that call, with dtypes, shapes and first values as it ran; every name says on which pages it is used.
"""
import ast
import collections
import enum
import functools
import glob
import importlib
import inspect
import os
import re
import sys
import types

import numpy

import doc_blocks
import sources

ROOT = sources.ROOT
VALUES = 5     # of a tensor that are shown
PLAIN = (bool, int, float, str, bytes, type(None), tuple)
# What is leat's own, by module; of OWN_MODULES it is everything that they define.
OWN = {
    "tf.config": "set_decode_limits set_read_limits",
    "tf.data": "from_arrow from_iterable from_pandas from_sequence",
    "tf.data.experimental": "global_shuffle numpy_dataset pack quarantine tar_dataset",
    "tf.distribute": "global_rows",
    "tf.image": "cutmix mixup normalize rand_augment random_resized_crop stateless_aug_mix stateless_cutmix stateless_mixup "
                "stateless_rand_augment stateless_random_resized_crop",
    "tf.keras.config": "exact_slices set_exact_slices",
}
OWN_MODULES = ("export", "torch", "jax", "onnx", "ray")
LAST = ("tf.losses.", "tf.metrics.", "tf.optimizers.", "tf.initializers.", "tf.keras.backend.", "tf.keras.optimizers.legacy.",
        "tf.keras.preprocessing.", "tf.compat.")   # other names of what has a better one

Entry = collections.namedtuple("Entry", "name value canonical")


# ---- what is public ----

def resolve(name):
    """What a name of the form tf.a.b stands for; None where it is not there."""
    one = importlib.import_module("leat")
    for word in name.split(".")[1:]:
        one = getattr(one, word, None)
    return one


def better(name):
    """Sorts the names of one object: the one to describe it under in front."""
    return name.startswith(LAST) or ".experimental." in name, name.count("."), len(name), name


def public_names(root=ROOT):
    """The names of each object of TensorFlow and Keras, in the order of `better`."""
    lines = sources.read(root, "tools/public_names.txt").splitlines()
    return [sorted(line.split(), key=better) for line in lines]


def entries():
    """The rows of each module by its name; modules of TensorFlow and Keras as tf.a.b, leat's own as leat.a."""
    found = collections.defaultdict(dict)

    def add(name, value, canonical):
        module, _, word = name.rpartition(".")
        found[module][word] = Entry(name, value, canonical)
    for names in public_names():
        there = [(name, value) for name, value in ((name, resolve(name)) for name in names)
                 if value is not None and not isinstance(value, types.ModuleType)]
        for name, value in there:
            canonical, first = there[0]
            add(name, value, canonical if value is first and not isinstance(value, PLAIN) else name)
    for module, names in OWN.items():
        for word in names.split():
            add(module + "." + word, resolve(module + "." + word), module + "." + word)
    for word in OWN_MODULES:
        module = importlib.import_module("leat." + word)
        for key, value in members(module):
            add("leat.%s.%s" % (word, key), value, "leat.%s.%s" % (word, key))
    return {module: found[module] for module in sorted(found)}


def members(module):
    """(name, value) of what a module defines for others."""
    for key, value in sorted(vars(module).items()):
        if not key.startswith("_") and getattr(value, "__module__", None) == module.__name__:
            yield key, value


# ---- examples ----

@functools.cache
def cases():
    """The first call of each operation in bench/ops/cases.py."""
    sys.path.insert(0, os.path.join(ROOT, "bench", "ops"))
    import cases as table
    found = {}
    for case in table.table().values():
        found.setdefault("tf." + case.operation, case)
    return found


class Constants(ast.NodeTransformer):
    """Puts the numbers that words stand for in their places."""

    def __init__(self, words):
        self.words = words

    def visit_Name(self, node):
        return ast.Constant(self.words[node.id]) if node.id in self.words else node


def kind(value):
    """What a result is, in words: "float32 of shape [2, 3]"."""
    if isinstance(value, (list, tuple)):
        return ", ".join(kind(one) for one in value)
    if not hasattr(value, "dtype"):
        return type(value).__name__
    shape = getattr(value, "shape", ())
    name = getattr(value.dtype, "name", str(value.dtype))
    return "%s%s" % (name, list(shape)) if len(shape) else "%s" % name


def shown(value):
    """`kind` of a tensor, and its first values: "float32[2, 3]: 0.5, 1, -2, ..."."""
    if isinstance(value, (list, tuple)):
        return "; ".join(shown(one) for one in value)
    array = value.numpy() if hasattr(value, "numpy") and not hasattr(value, "row_splits") else None
    if array is None or getattr(value, "dtype", None) is None or value.dtype.name == "variant":
        return kind(value)
    flat = numpy.asarray(array).ravel()
    texts = ["%.4g" % one if isinstance(one, (float, numpy.floating)) else repr(one) if isinstance(one, bytes) else str(one)
             for one in (flat[:VALUES].astype(float) if value.dtype.name == "bfloat16" else flat[:VALUES]).tolist()]
    cut = [text if len(text) <= 24 else text[:21] + "..." for text in texts] + (["..."] if flat.size > VALUES else [])
    return "%s: %s" % (kind(value), ", ".join(cut))


def example(names):
    """The lines of a call of an operation that has one of these names; without one none."""
    case = next((cases()[name] for name in names if name in cases()), None)
    if case is None:
        return []
    tf = importlib.import_module("leat")
    tf.random.set_seed(1)
    inputs = case.inputs(tf, "small")
    result = case.function(tf, "small")(*inputs)
    given = ["# %s is %s" % (name, shown(value)) for (name, _), value in zip(case.made, inputs)]
    call = ast.unparse(Constants(case.words("small")).visit(ast.parse(case.call, mode="eval")))
    return ["Example:", "", ".. code-block:: python", "", *("   " + line for line in given), "   " + call,
            "   # " + shown(result), ""]


@functools.cache
def uses():
    """The pages whose code has a name, by the name: guides first."""
    found = collections.defaultdict(list)
    pages = [page for page in doc_blocks.pages() if page.startswith("docs/")]
    methods = {word for word in dir(resolve("tf.data.Dataset")) if not word.startswith("_")}
    for page in sorted(pages, key=lambda page: (not page.startswith("docs/guides/"), page)):
        code = "\n".join(block.text for block in doc_blocks.blocks(page, sources.read(ROOT, page)) if block.language == "python")
        code = re.sub(r"(?<![.\w])keras\.", "tf.keras.", code)
        names = {re.sub("^leat", "tf", name) for name in re.findall(r"(?<![.\w])(?:tf|leat)(?:\.\w+)+", code)}
        names |= {"leat" + name[2:] for name in names}
        if "Dataset" in code:
            names |= {"tf.data.Dataset." + word for word in re.findall(r"\.(\w+)\(", code) if word in methods}
        for name in sorted(names):
            found[name].append(page)
    return found


def used_on(names):
    """A line with links to pages that use one of the names."""
    pages = list(dict.fromkeys(page for name in names for page in uses().get(name, ())))[:4]
    links = ", ".join(":doc:`/%s`" % page[len("docs/"):-len(".md")] for page in pages)
    return ["Used on: " + links + ".", ""] if pages else []


# ---- Python ----

def signature(function, skip_first=False):
    """The parameters as text; what has no short form as a default is `...`."""
    try:
        found = inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
    parameters = [p.replace(annotation=p.empty, default=p.default if p.default is p.empty or isinstance(p.default, PLAIN) else Ellipsis)
                  for p in found.parameters.values()]
    return str(found.replace(parameters=parameters[skip_first:], return_annotation=found.empty)).replace("Ellipsis", "...")


def escaped(text):
    """Text in which reStructuredText finds no markup but ``code``."""
    parts = re.split(r"(``[^`]+``)", text)
    return "".join(part if i % 2 else re.sub(r"([\\*`|_])", r"\\\1", part) for i, part in enumerate(parts))


def prose(text, margin):
    """A docstring: paragraphs, indented parts as they are, and lines `name: what it is` as a list."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", inspect.cleandoc(text or "")):
        if paragraph.startswith("    "):
            lines += ["::", "", *("    " + line for line in paragraph.split("\n")), ""]
            continue
        for line in paragraph.split("\n"):
            row = re.match(r"(\w+(?:, \w+)*): (.*)", line)
            if row:
                lines += ["", "* **%s**: %s" % (escaped(row[1]), escaped(row[2]))]
            elif lines and lines[-1].startswith(("* ", "  ")):
                lines.append("  " + escaped(line.strip()))
            else:
                lines.append(escaped(line.strip()))
        lines.append("")
    return [margin + line if line else "" for line in lines] + [""]


def described(kind, name, text, doc, margin, more=()):
    """An entry of Sphinx's Python domain."""
    return ["%s.. py:%s:: %s%s" % (margin, kind, name, text), "", *prose(doc, margin + "   "),
            *(margin + "   " + line if line else "" for line in more)]


def own_parts(value, public):
    """The members that a class has beyond the first public class above it, and the name of that class."""
    parts, above = [], None
    for base in value.__mro__:
        if base is not value and public.get(id(base)):
            above = public[id(base)]
            break
        if base.__module__.startswith("leat"):
            parts.append(base)
    found = {}
    for base in reversed(parts):
        found.update((key, part) for key, part in vars(base).items() if not key.startswith("_"))
    return sorted(found.items()), above


def class_lines(entry, public, more):
    value, name = entry.value, entry.name
    # The signature of an enumeration is that of its making, and nobody's business.
    text = "" if issubclass(value, enum.Enum) else "(%s)" % ", ".join(value._fields) if hasattr(value, "_fields") else (
        signature(value.__init__, True) if "__init__" in vars(value) else "")
    parts, above = own_parts(value, public)
    base = ["Below :py:obj:`%s`." % above, ""] if above else []
    lines = described("class", name, text, own_doc(value), "", [*base, *more])
    for key, part in parts:
        function = part.__func__ if isinstance(part, (classmethod, staticmethod)) else part
        used = used_on(["%s.%s" % (name, key)])
        if isinstance(part, property):
            lines += described("property", key, "", part.__doc__, "   ", used)
        elif inspect.isroutine(function):
            kind = {classmethod: "classmethod", staticmethod: "staticmethod"}.get(type(part), "method")
            lines += described(kind, key, signature(function, kind != "staticmethod"), function.__doc__, "   ", used)
        elif isinstance(part, (value, *PLAIN)):
            lines += described("attribute", key, "", "", "   ")
    return lines


def own_doc(value):
    """The docstring of a class that was written for it; data classes make one of their fields."""
    doc = vars(value).get("__doc__")
    return None if doc and doc.startswith(value.__name__ + "(") else doc


def module_page(name, rows, public, others):
    """A module's page. others: the names that each described object has beside its first one."""
    module = resolve("tf" + name[4:] if name.startswith("leat.") else name)
    lines = [name, "=" * len(name), "", *prose(module.__doc__ if isinstance(module, types.ModuleType) else "", "")]
    if name == "tf":
        lines += ["``import leat as tf`` gives these names.", ""]
    for entry in (rows[word] for word in sorted(rows)):
        value, names = entry.value, [entry.name, *others.get(entry.name, ())]
        if entry.canonical != entry.name:
            lines += described("data", entry.name, "", "", "", ["The same as :py:obj:`%s`." % entry.canonical, ""])
            continue
        aliases = ["Also: %s." % ", ".join("``%s``" % other for other in names[1:]), ""] if names[1:] else []
        if inspect.isclass(value):
            lines += class_lines(entry, public, [*aliases, *used_on(names)])
        elif callable(value) and (inspect.isroutine(value) or not isinstance(value, PLAIN)):
            lines += described("function", entry.name, signature(value), getattr(value, "__doc__", ""), "",
                               [*aliases, *example(names), *used_on(names)])
        else:
            lines += described("data", entry.name, "", "", "", [*aliases, *used_on(names)])
    return lines


# ---- C ----

def header_page(path):
    """A header's paragraphs: each comment at the margin as text, and what it is about as code."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    title = "leat/" + os.path.basename(path)
    lines = [title, "=" * len(title), ""]
    for paragraph in re.split(r"\n[ \t]*\n", text.strip()):
        comment = re.match(r"/\*(.*?)\*/\n?", paragraph, re.S)
        code = paragraph[comment.end():] if comment else paragraph
        code = "\n".join(line for line in code.split("\n") if not re.match(r"#|extern \"C\"|}$|$", line))
        if comment:
            said = [re.sub(r"^ \* ?", "", line).strip() for line in comment[1].split("\n")]
            part = re.match(r"---- ([^:]*)(?:: (.*))? ----$", " ".join(said).strip())
            if part:
                lines += [escaped(part[1]), "-" * len(escaped(part[1])), ""]
                said = [part[2] or ""]
            lines += [escaped(line) for line in said] + [""]
        if code:
            lines += [".. code-block:: c", "", *("   " + line for line in code.split("\n")), ""]
    return lines


# ---- all of it ----

def write(folder, name, lines):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")


def write_pages(folder):
    """The pages into a folder; returns the names of those of Python and of C."""
    found, public, others = entries(), {}, collections.defaultdict(list)
    for rows in found.values():
        for entry in rows.values():
            if entry.canonical != entry.name:
                others[entry.canonical].append(entry.name)
            elif inspect.isclass(entry.value):
                public[id(entry.value)] = entry.name
    for name, rows in found.items():
        write(folder, name + ".rst", module_page(name, rows, public, others))
    headers = sorted(glob.glob(os.path.join(ROOT, "include", "leat", "*.h")))
    for path in headers:
        write(folder, "c-%s.rst" % os.path.basename(path)[:-2], header_page(path))
    pages = sorted(found, key=lambda name: (name.startswith("leat"), name)), ["c-%s" % os.path.basename(path)[:-2] for path in headers]
    return pages
