"""The floors of the Python package, which check_layers.py holds: imports point down, and none run in a circle.

python/floors lists the drawers, the lowest first: a line is one floor, `name: patterns`, and a module lies on the floor of the
longest pattern that fits it (`leat.data.*` is the package leat.data and all below it). A module imports its own drawer and
lower floors. An import counts wherever it stands, in a function too, but under `if TYPE_CHECKING`, which never runs. So does the
name of a module as a key of a dictionary or an argument of `at`, `get` or `import_module` (what is imported when it is first
asked for), and `leat.linalg` in the code of a module that says ``import leat``. That a package finds its own modules by
name, as ``leat.keras`` after ``import leat``, is no import of the package's.
"""
import ast
import re

import sources

FOLDER, FLOORS = "python/", "python/floors"
LATE = ("at", "get", "import_module")  # functions to which a name of a module is an import


def module_of(name):
    """The module of a file, and whether it is a package."""
    parts = name.removeprefix(FOLDER).removesuffix(".py").split("/")
    return (".".join(parts[:-1]), True) if parts[-1] == "__init__" else (".".join(parts), False)


def fits(pattern, module):
    """How closely a pattern fits a module; 0 where it does not."""
    stem = pattern.removesuffix(".*")
    inside = module == stem or stem != pattern and module.startswith(stem + ".")
    return len(stem) * 2 + (stem == pattern) if inside else 0


class Floors:
    """The table of drawers."""

    def __init__(self, text):
        self.lines = []
        for line in text.split("\n"):
            name, colon, patterns = line.partition("#")[0].partition(":")
            if colon:
                self.lines.append((name.strip(), patterns.split()))
            elif name.strip() and self.lines:
                self.lines[-1][1].extend(name.split())

    def of(self, module):
        """(number, name) of the floor of a module; None where it has none."""
        found = [(fits(pattern, module), number, name) for number, (name, patterns) in enumerate(self.lines)
                 for pattern in patterns]
        best = max(found, default=(0, 0, ""))
        return best[1:] if best[0] else None

    def unused(self, modules):
        """Patterns that fit no module."""
        for name, patterns in self.lines:
            for pattern in patterns:
                if not any(fits(pattern, module) for module in modules):
                    yield "%s: %s: %s fits no module" % (FLOORS, name, pattern)


class Imports(ast.NodeVisitor):
    """{imported module: line} of one file."""

    def __init__(self, module, is_package, modules):
        self.package = module.split(".") if is_package else module.split(".")[:-1]
        self.module, self.modules = module, modules
        self.found, self.aliases = {}, {}

    def add(self, target, line):
        """Notes the innermost module of a dotted name."""
        while target and target not in self.modules:
            target = target.rpartition(".")[0]
        if target and target != self.module:
            self.found.setdefault(target, line)

    def visit_If(self, node):
        if re.fullmatch(r"(typing\.)?TYPE_CHECKING", ast.unparse(node.test)):
            for child in node.orelse:
                self.visit(child)
        else:
            self.generic_visit(node)

    def visit_Import(self, node):
        for name in node.names:
            root = name.name.split(".")[0]
            self.aliases[name.asname or root] = name.name if name.asname else root
            if name.asname or "." in name.name:
                self.add(name.name, node.lineno)

    def visit_ImportFrom(self, node):
        above = self.package[:len(self.package) - node.level + 1] if node.level else []
        base = ".".join(above + ([node.module] if node.module else []))
        for name in node.names:
            whole = base + "." + name.name
            self.add(whole, node.lineno)
            if whole in self.modules:
                self.aliases[name.asname or name.name] = whole

    def add_texts(self, nodes):
        """Notes the texts among some expressions that are names of modules."""
        for node in nodes:
            if isinstance(node, ast.Constant) and node.value in self.modules:
                self.add(node.value, node.lineno)

    def visit_Dict(self, node):
        self.add_texts(node.keys)
        self.generic_visit(node)

    def visit_Call(self, node):
        if getattr(node.func, "attr", getattr(node.func, "id", None)) in LATE:
            self.add_texts(node.args)
        self.generic_visit(node)

    def visit_Attribute(self, node):
        names, inner = [], node
        while isinstance(inner, ast.Attribute):
            names.insert(0, inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name) and inner.id in self.aliases:
            self.add(".".join([self.aliases[inner.id], *names]), node.lineno)
        self.visit(inner)


def circles(graph):
    """The strongly connected components of several modules, each sorted."""
    index, low, stack, out = {}, {}, [], []

    def enter(module):
        index[module] = low[module] = len(index)
        stack.append(module)

    def leave(module):
        if low[module] == index[module]:
            at = stack.index(module)
            if len(stack) - at > 1:
                out.append(sorted(stack[at:]))
            for done in stack[at:]:
                low[done] = len(graph)
            del stack[at:]

    for root in graph:
        path = []
        if root not in index:
            enter(root)
            path.append((root, iter(graph[root])))
        while path:
            module, rest = path[-1]
            target = next(rest, None)
            if target is None:
                path.pop()
                leave(module)
                if path:
                    low[path[-1][0]] = min(low[path[-1][0]], low[module])
            elif target not in index:
                enter(target)
                path.append((target, iter(graph[target])))
            else:
                low[module] = min(low[module], low[target])
    return sorted(out)


def shortest_way(graph, start, members):
    """The modules of a shortest circle through `start` within a component."""
    ways = [[start]]
    for way in ways:
        for target in graph[way[-1]]:
            if target == start:
                return way + [start]
            if target in members and not any(target in other for other in ways):
                ways.append(way + [target])
    return [start]


def check(root):
    """(complaints, how many modules were looked at)."""
    names = [n for n in sources.listed(root) if n.startswith(FOLDER + "leat/") and n.endswith(".py")]
    if not names:
        return [], 0
    modules = {module_of(name)[0]: name for name in names} | {"leat._native": "python/native/module.c"}
    floors = Floors(sources.read(root, FLOORS))
    problems, graph = list(floors.unused(modules)), {}
    for name in names:
        module, is_package = module_of(name)
        visitor = Imports(module, is_package, modules)
        visitor.visit(ast.parse(sources.read(root, name)))
        graph[module] = visitor.found
        own = floors.of(module)
        if own is None:
            problems.append("%s: %s is on no floor of %s" % (name, module, FLOORS))
            continue
        for target, line in visitor.found.items():
            other = floors.of(target)
            if other is not None and other[0] > own[0]:
                problems.append("%s:%d: %s (%s) may not import %s (%s)" % (name, line, module, own[1], target, other[1]))
    graph.setdefault("leat._native", {})
    for members in circles(graph):
        way = min((shortest_way(graph, member, set(members)) for member in members), key=lambda way: (len(way), way))
        problems.append("%s:%d: %d modules import each other: %s" % (
            modules[way[0]], graph[way[0]][way[1]], len(members), " -> ".join(way)))
    return problems, len(names)
