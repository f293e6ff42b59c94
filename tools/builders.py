#!/usr/bin/env python3
"""Write the builders of all tensor operations that have a name of TensorFlow's, from the tables.

    builders.py TOOL [ROOT]            write include/leat/ops/*.h and src/graph/builders_*.c
    builders.py --check TOOL [ROOT]    say whether they are what the tables say

TOOL is the built `leat`, whose `ops --json` lists the tables. After a change of a descriptor: build, run this, build
again (make builders). The rule: a builder is leat_op_NAME; it takes the inputs and the attributes in TensorFlow's order.
An operation with more than three attributes takes those that must be given and a struct of options. The first output is
returned, others go where a pointer says; a list of outputs goes into an array. Those whose prototypes stand in
include/leat/*.h are written by hand.
"""
import argparse
import glob
import json
import os
import re
import subprocess
import sys
import textwrap

import sources

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
POSITIONAL = 3  # attributes that stand between the parentheses; of more, those without a default
WORDS = {"template", "default", "double", "float", "int", "char", "new", "delete", "this", "class", "register"}
MADE = "/* Made by tools/builders.py from the tables of src/graph/ops: make builders. */\n"
ABOUT = {
    "augment": "pictures changed at random", "array": "shapes, slices and places of values", "control": "checks and control", "linalg": "linear algebra",
    "math": "arithmetic, comparisons, reductions, segments", "nn": "neural networks", "parse": "records and files",
    "picture": "pictures", "random": "random numbers", "replica": "replicas", "text": "strings"}


class Parameter:
    """One parameter of a builder or field of its options: its declarations and how it reaches the arguments."""

    KINDS = {  # row type: C type, setter
        "bool": ("bool ", "bool"), "integer": ("int64_t ", "int"), "number": ("double ", "float"),
        "string": ("const char *", "text"), "dtype": ("leat_dtype ", "dtype"), "shape": ("leat_shape ", "shape"),
        "integer seed": ("const int64_t *", "seed"), "structure of tensors": ("const leat_element *", "element"),
        "list of integers": ("const int64_t *", "ints"),
        "list of numbers": ("const double *", "floats")}

    def __init__(self, row):
        self.row, self.name = row, row["name"]
        self.word = self.name + "_" if self.name in WORDS else self.name
        self.type, self.setter = self.KINDS[row["type"]]
        self.counted = row["type"].startswith("list")

    def declarations(self):
        yield f"{self.type}{self.word}"
        if self.counted:
            yield f"int num_{self.name}"

    def set(self, of=""):
        count = f", {of}num_{self.name}" if self.counted else ""
        return f'    leati_build_{self.setter}(&build, "{self.name}", {of}{self.word}{count});\n'

    def absent(self):
        """What says that the attribute is not given, where it may be left out; None: there is no such value."""
        if self.row["required"]:
            return None
        if self.row["type"] == "dtype":
            return "LEAT_INVALID"
        if self.row["type"] == "shape":
            return "LEAT_UNKNOWN_RANK"
        return "NULL" if self.type.endswith("*") else None

    def default(self):
        """C text of the default; None: it is zero, or NULL."""
        value = self.row.get("default")
        if self.row["type"] == "integer" and value is None and not self.row["required"]:
            return "LEAT_UNSET"
        if self.row["type"] == "dtype":
            return f"LEAT_{value.upper()}" if value else None
        if self.row["type"] == "shape":
            return "{.rank = LEAT_UNKNOWN_RANK}"
        if value in (None, False, 0) or self.counted or self.type.endswith("*") and self.row["type"] != "string":
            return None
        if self.row["type"] == "string":
            return None  # NULL is the default
        return {"inf": "INFINITY", "-inf": "-INFINITY"}.get(value) or json.dumps(value)

    def doc(self):
        """What it means, and what it is by default, without a full stop."""
        text = self.row.get("doc", "").rstrip(".")
        text = text[:1].lower() + text[1:] if text[1:2].islower() or text[:2] == "A " else text
        value = self.row.get("default")
        if self.row["required"]:
            return text
        if self.default() == "LEAT_UNSET" or self.absent() and value is None:
            absent = self.absent() or "LEAT_UNSET"
            return text.replace("none:", absent + ":") + ("" if "none:" in text else f"; {absent}: not given")
        return text + f"; by default {json.dumps(value)}"


class Builder:
    """The builder of one operation."""

    def __init__(self, op):
        self.op, self.name = op, op["name"]
        inputs = {i["name"] for i in op["inputs"]}
        rows = {r["name"]: Parameter(r) for r in op["arguments"]}
        order = [s["name"] for s in op["signature"] if s["name"] in inputs or s["name"] in rows]
        order += [i["name"] for i in op["inputs"] if i["name"] not in order] + [r for r in rows if r not in order]
        many = len(rows) > POSITIONAL
        self.options = [p for p in rows.values() if many and not p.row["required"]]
        self.given = [rows.get(n, n) for n in order if rows.get(n) not in self.options]
        self.list = op["max_inputs"] == -1
        self.listed = op["result"] == "list" or op["outputs"][0].startswith("*")
        self.inputs = [i["name"] for i in op["inputs"]]
        # Where the number of inputs decides what the first one is, all are given.
        fixed = self.list or "counts from zero" in op["flags"]
        self.optional = [] if fixed else self.inputs[op["min_inputs"]:]
        assert len(self.optional) <= 1, f"{self.name}: of several inputs, those that follow would move up"

    def parameters(self):
        if self.op["max_inputs"] == 0:
            yield "leat_graph *graph"
        for item in self.given:
            if isinstance(item, Parameter):
                yield from item.declarations()
            elif self.list:
                yield from (f"const leat_value *{item}", f"int num_{item}")
            else:
                yield f"leat_value {item}"
        if self.options:
            yield f"const leat_op_{self.name}_options *options"
        if self.listed:
            yield from ("leat_value *outputs", "int capacity")
        else:
            for output in self.op["outputs"][1:]:
                yield f"leat_value *{self.out(output)}"

    def out(self, output):
        taken = {p.name for p in self.given if isinstance(p, Parameter)} | set(self.inputs)
        return f"{output}_out" if output in taken or output in WORDS else output

    def head(self):
        result = "int" if self.listed else "leat_value"
        return f"{result} leat_op_{self.name}({', '.join(self.parameters())})"

    def comment(self):
        parts = [self.op["doc"]]
        parts += [f"`{p.word}`: {p.doc()}." for p in self.given if isinstance(p, Parameter)]
        if self.optional:
            parts.append(f"{' and '.join(f'`{n}`' for n in self.optional)} may be {{0}}: none.")
        if self.options:
            parts.append("`options`: NULL for the defaults.")
        if self.listed:
            parts.append("Fills `outputs`, and returns how many there are, or -1.")
        elif len(self.op["outputs"]) > 1:
            names = [f"`{self.out(o)}`" for o in self.op["outputs"]]
            parts.append(f"Returns {names[0]}; {' and '.join(names[1:])} may be NULL.")
        return comment(*parts)

    def header(self):
        text = ""
        if self.options:
            name = f"leat_op_{self.name}_options"
            text += f"typedef struct {name} {{\n    size_t size; /* set by the macro below */\n"
            for field in self.options:
                text += indent(comment(field.doc()[:1].upper() + field.doc()[1:] + "."))
                text += "".join(f"    {d};\n" for d in field.declarations())
            text += f"}} {name};\n"
            values = [f".size = sizeof({name})"]
            values += [f".{p.word} = {p.default()}" for p in self.options if p.default() is not None]
            text += f"#define LEAT_OP_{self.name.upper()}_DEFAULTS " + ", ".join(values) + "\n"
        return text + self.comment() + f"LEAT_API {self.head()};\n"

    def plain(self):
        """Whether it has nothing but one to three inputs and one output."""
        return (not self.op["arguments"] and not self.list and not self.optional and 1 <= len(self.inputs) <= 3 and
                len(self.op["outputs"]) == 1 and not self.listed)

    def body(self):
        text = f"{self.head()} {{\n"
        text += "    leati_build build;\n"
        graph = "graph" if self.op["max_inputs"] == 0 else "NULL"
        text += f"    leati_build_begin(&build, &leati_tensor_op_{self.name}, {graph});\n"
        for name in self.inputs:
            if self.list:
                text += f"    leati_build_inputs(&build, {name}, num_{name});\n"
            else:
                call = "input_if" if name in self.optional else "input"
                text += f"    leati_build_{call}(&build, {name});\n"
        text += "".join(p.set() for p in self.given if isinstance(p, Parameter))
        if self.options:
            name = f"leat_op_{self.name}_options"
            text += f"    {name} own = {{LEAT_OP_{self.name.upper()}_DEFAULTS}};\n"
            text += f'    leati_build_options(&build, &own, sizeof own, options, "{name}");\n'
            text += "".join(p.set("own.") for p in self.options)
        if self.listed:
            return text + "    return leati_build_list(&build, outputs, capacity);\n}\n"
        others = self.op["outputs"][1:]
        if not others:
            return text + "    return leati_build_end(&build);\n}\n"
        text += "    leat_value first = leati_build_end(&build);\n"
        for place, output in enumerate(others):
            text += f"    leati_build_output(&build, {place + 1}, {self.out(output)});\n"
        return text + "    return first;\n}\n"


def comment(*parts):
    """The parts as a comment, each on lines of its own."""
    lines = []
    for part in parts:
        lines += textwrap.wrap(part, 96, initial_indent=" * " if lines else "/* ", subsequent_indent=" * ",
                               break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines) + (" */\n" if len(lines[-1]) <= 97 else "\n */\n")


def indent(text):
    return textwrap.indent(text, "    ")


def header(family, builders):
    guard = f"LEAT_OPS_{family.upper()}_H"
    text = MADE + f"/* Builders of tensor operations: {ABOUT[family]}; see leat/ops.h. */\n"
    text += f"#ifndef {guard}\n#define {guard}\n\n#include <leat/graph.h>\n"
    made = "\n".join(b.header() for b in builders)
    text += "#include <math.h>\n\n" if "INFINITY" in made else "\n"
    text += '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
    return text + made + "\n#ifdef __cplusplus\n}\n#endif\n#endif\n"


def bodies(part, builders):
    plain = "".join(f"LEATI_BUILDER_{len(b.inputs)}({b.name})\n" for b in builders if b.plain())
    text = MADE + f'#include "graph/build.h"\n#include <leat/ops/{part}.h>\n\n'
    text = formatted("builders.c", text + "\n".join(b.body() for b in builders if not b.plain()))
    return text + f"\n/* clang-format off */\n{plain}/* clang-format on */\n" if plain else text


def part_of(op):
    """The header that has the builder: its family's, or `augment` for pictures that draw numbers."""
    draws = "random" in op["flags"] or any(i["name"] == "seed" for i in op["inputs"])
    return "augment" if op["family"] == "picture" and draws else op["family"]


def formatted(name, text):
    done = subprocess.run(["clang-format", "--assume-filename=" + os.path.join(ROOT, name)], input=text, text=True,
                          capture_output=True, check=True, cwd=ROOT)
    return done.stdout


def by_hand():
    """The operations whose builders stand in the headers that people write."""
    names = set()
    for path in glob.glob(os.path.join(ROOT, "include", "leat", "*.h")):
        with open(path, encoding="utf-8") as file:
            names.update(re.findall(r"\bleat_op_(\w+)\(", sources.without_comments(file.read())))
    return names


def files(tool):
    """The text of every file by its name."""
    listed = json.loads(subprocess.run([tool, "ops", "--json"], capture_output=True, text=True, check=True).stdout)
    own, rooms = by_hand(), {}
    for op in listed["tensor_operations"]:
        said = op["names"] or op["inputs"]
        if said and op["name"] not in own and all(r["type"] in Parameter.KINDS for r in op["arguments"]):
            rooms.setdefault(part_of(op), []).append(Builder(op))
    for builders in rooms.values():
        builders.sort(key=lambda b: b.name)
    made = {f"include/leat/ops/{family}.h": header(family, builders) for family, builders in rooms.items()}
    made = {name: formatted(name, text) for name, text in made.items()}
    for part, builders in rooms.items():
        made[f"src/graph/builders_{part}.c"] = bodies(part, builders)
    return made


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("tool")
    parser.add_argument("root", nargs="?", default=ROOT)
    args = parser.parse_args()
    wrong = 0
    for name, text in sorted(files(args.tool).items()):
        path = os.path.join(args.root, name)
        there = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
        if there != text and args.check:
            print(f"{name}: not what the tables say; run make builders")
            wrong += 1
        elif there != text:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
