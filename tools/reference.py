#!/usr/bin/env python3
"""The reference of everything public, as HTML: `make docs`, or

    PYTHONPATH=build/python reference.py FOLDER          writes FOLDER/source/*.rst and, by Sphinx, FOLDER/html

A page for each module of the Python package, out of signatures and docstrings of what is imported, and one for each public
header, out of its comments. A warning of Sphinx is a failure.
"""
import enum
import glob
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
import types

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HIDDEN = ("_", "lib")  # how names of modules begin that are none of the user's
PLAIN = (bool, int, float, str, bytes, type(None), tuple)
CONF = '''project = "leat"
html_theme = "alabaster"
html_theme_options = {"page_width": "1100px", "sidebar_width": "240px"}
html_show_copyright = False
html_show_sourcelink = False
add_module_names = False
'''


# ---- Python ----

def modules():
    """The public modules by name, those that are reached first in front."""
    leat = importlib.import_module("leat")
    for entry in pkgutil.iter_modules(leat.__path__):
        if not entry.name.startswith(HIDDEN):
            importlib.import_module("leat." + entry.name)
    found, rest = {}, [("leat", leat)]
    for name, module in rest:
        if name in found:
            continue
        found[name] = module
        listed = getattr(module, "__all__", None)
        for key, value in sorted(vars(module).items()):
            if not isinstance(value, types.ModuleType) or key.startswith("_") or value.__name__ != name + "." + key:
                continue
            made_of_tables = not getattr(value, "__file__", None)
            public = not key.startswith(HIDDEN) if name == "leat" else listed is None or key in listed
            if made_of_tables or hasattr(value, "__path__") or public:
                rest.append((name + "." + key, value))
    return found


def members(module):
    """(name, value) of what a module offers: what its stub says, or without one what it defines."""
    offered = stubbed(module.__name__)
    for key in sorted(offered | set(vars(module))):
        value = getattr(module, key, None)    # what is made when it is first asked for, too
        if key.startswith("_") or value is None or isinstance(value, types.ModuleType):
            continue
        if key in offered if offered else getattr(value, "__module__", None) == module.__name__:
            yield key, value


def stubbed(name):
    """The names in the stub of a module; none where it has no stub."""
    path = os.path.join(os.path.dirname(sys.modules["leat"].__path__[0]), *name.split("."))
    for stub in (path + ".pyi", os.path.join(path, "__init__.pyi")):
        if os.path.exists(stub):
            with open(stub, encoding="utf-8") as file:
                text = file.read()
            return set(re.findall(r"(?m)^(?:def |class |from \S+ import \w+ as )?(\w+)(?=[:(]|$)", text))
    return set()


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


def described(kind, name, text, doc, margin):
    """An entry of Sphinx's Python domain."""
    return ["%s.. py:%s:: %s%s" % (margin, kind, name, text), "", *prose(doc, margin + "   ")]


def class_lines(name, value):
    # The signature of an enumeration is that of its making, and nobody's business.
    text = "" if issubclass(value, enum.Enum) else "(%s)" % ", ".join(value._fields) if hasattr(value, "_fields") else (
        signature(value.__init__, True) if "__init__" in vars(value) else "")
    lines = described("class", name, text, own_doc(value), "")
    parts = {}
    for base in reversed(value.__mro__):
        if base.__module__.startswith("leat"):
            parts.update((key, part) for key, part in vars(base).items() if not key.startswith("_"))
    for key, part in sorted(parts.items()):
        function = part.__func__ if isinstance(part, (classmethod, staticmethod)) else part
        if isinstance(part, property):
            lines += described("property", key, "", part.__doc__, "   ")
        elif inspect.isroutine(function):
            kind = {classmethod: "classmethod", staticmethod: "staticmethod"}.get(type(part), "method")
            lines += described(kind, key, signature(function, kind != "staticmethod"), function.__doc__, "   ")
        elif isinstance(part, (value, *PLAIN)):
            lines += described("attribute", key, "", "", "   ")
    return lines


def own_doc(value):
    """The docstring of a class that was written for it; data classes make one of their fields."""
    doc = vars(value).get("__doc__")
    return None if doc and doc.startswith(value.__name__ + "(") else doc


def module_page(name, module):
    lines = [name, "=" * len(name), "", ".. py:module:: " + name, "", *prose(module.__doc__, "")]
    for key, value in members(module):
        if inspect.isclass(value):
            lines += class_lines(key, value)
        elif callable(value) and (inspect.isroutine(value) or not isinstance(value, PLAIN)):
            lines += described("function", key, signature(value), getattr(value, "__doc__", ""), "")
        else:
            lines += described("data", key, "", "", "")
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


def write_sources(folder):
    """The pages as reStructuredText; returns the names of those of Python and of C."""
    os.makedirs(folder, exist_ok=True)
    for old in glob.glob(os.path.join(folder, "*.rst")):
        os.remove(old)
    found = modules()
    for name, module in found.items():
        write(folder, name + ".rst", module_page(name, module))
    headers = sorted(glob.glob(os.path.join(ROOT, "include", "leat", "*.h")))
    for path in headers:
        write(folder, "c-%s.rst" % os.path.basename(path)[:-2], header_page(path))
    pages = list(found), ["c-%s" % os.path.basename(path)[:-2] for path in headers]
    index = ["leat", "====", "", "The reference of the Python package and of the C library.", ""]
    for title, names in zip(("Python", "C"), pages):
        index += [".. toctree::", "   :maxdepth: 1", "   :caption: " + title, "", *("   " + name for name in names), ""]
    write(folder, "index.rst", index)
    with open(os.path.join(folder, "conf.py"), "w", encoding="utf-8") as file:
        file.write(CONF)
    return pages


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__.strip())
    source, html = (os.path.join(sys.argv[1], part) for part in ("source", "html"))
    pages = write_sources(source)
    code = subprocess.run([sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-E", source, html]).returncode
    if code:
        sys.exit(code)
    print("%d pages of Python, %d of C: %s" % (len(pages[0]), len(pages[1]), os.path.join(html, "index.html")))


if __name__ == "__main__":
    main()
