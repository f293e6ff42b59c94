"""Where a Python test compares several words of what a failure says; read by check_strings.py.

That is an exception's text, a warning's, a line of the log, or what a process wrote to standard error. It is asked for in
`match=` of pytest, in a comparison or a search of `str(error)` and the like, and by unittest's methods. What is compared may
be a literal or a name: its words are looked up where the same file binds it (an assignment, a loop, a parametrized test, a
helper's call). A text that a golden file holds is no literal.

One word, one number, one shape or one name is a keyword. Several words are a phrase, and so are words that a regular
expression joins.
"""
import ast
import re
import textwrap

JOINED = re.compile(r"[^,\s]\s+\S|\.[*+]|(?<!\\)\||\\s")
ASKED = re.compile(r"match=|Regex|str\(|\.message\b|__notes__|caplog\.text|stderr|fail_with|getMessage")
MATCHING = ("assertRaisesRegex", "assertWarnsRegex", "fail_with")  # the text is their second argument
ERRORS = ("value", "exception")


def several(text):
    """Is a text more than a keyword? Only a shape has blanks, behind its commas."""
    return bool(JOINED.search(text.strip()))


class Bindings:
    """What the names of a file can stand for, as far as its literals say."""

    def __init__(self, tree):
        self.tree = tree
        self.caught = {"error"}
        for node in ast.walk(tree):
            if isinstance(node, ast.ExceptHandler) and node.name:
                self.caught.add(node.name)
            elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute) and node.value.attr in ERRORS:
                self.caught.update(target.id for target in node.targets if isinstance(target, ast.Name))
        self.asked, self.inside = [], {}
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                child.parent = node

    def texts(self, node, depth=4):
        """The texts that an expression can stand for."""
        if isinstance(node, ast.Constant):
            return [node.value if isinstance(node.value, str) else node.value.decode("latin-1")
                    ] if isinstance(node.value, (str, bytes)) else []
        if isinstance(node, ast.JoinedStr):
            return ["".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)]
        if isinstance(node, ast.BinOp):
            left, right = self.texts(node.left, depth), self.texts(node.right, depth)
            return [a + b for a in left or ["x"] for b in right or ["x"]]
        if isinstance(node, ast.IfExp):
            return self.texts(node.body, depth) + self.texts(node.orelse, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "escape":
            return self.texts(node.args[0], depth)
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return [text for part in node.elts for text in self.texts(part, depth)]
        if isinstance(node, ast.Name) and depth > 0:
            return [text for value in self.values(node) for text in self.texts(value, depth - 1)]
        return []

    def values(self, name):
        """The expressions that the file binds to a name: of the functions around it, else of the module."""
        around, found = getattr(name, "parent", None), []
        if name in self.asked:
            return []
        self.asked.append(name)
        while around is not None and not found:
            if isinstance(around, (ast.FunctionDef, ast.Lambda, ast.Module)):
                found = list(self.bound(around, name.id))
            if isinstance(around, ast.FunctionDef):
                found += self.given(around, name.id)
            around = getattr(around, "parent", None)
        self.asked.remove(name)
        return found

    def bound(self, scope, name):
        """What assignments and loops of a scope bind to a name."""
        if scope not in self.inside:
            binds = ast.Assign, ast.For, ast.comprehension
            self.inside[scope] = [node for node in ast.walk(scope) if isinstance(node, binds)]
        for node in self.inside[scope]:
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    yield from picked(target, name, [node.value])
            else:
                yield from picked(node.target, name, self.items(node.iter))

    def given(self, function, name):
        """What parametrization and the file's own calls give for a parameter of a function."""
        found = []
        for call in function.decorator_list:
            if isinstance(call, ast.Call) and getattr(call.func, "attr", "") == "parametrize" and len(call.args) > 1:
                names = re.split(r"[,\s]+", str(getattr(call.args[0], "value", "")).strip())
                target = ast.Tuple([ast.Name(part) for part in names]) if len(names) > 1 else ast.Name(names[0])
                found += picked(target, name, self.items(call.args[1]))
        places = [part.arg for part in function.args.posonlyargs + function.args.args]
        if name in places:
            for call in ast.walk(self.tree):
                if isinstance(call, ast.Call) and function.name in (getattr(call.func, "id", ""), getattr(call.func, "attr", "")):
                    at = places.index(name) - (isinstance(call.func, ast.Attribute) and places[0] == "self")
                    found += call.args[at:at + 1] if at >= 0 else []
                    found += [keyword.value for keyword in call.keywords if keyword.arg == name]
        return found

    def items(self, node, depth=3):
        """The expressions that a loop over an expression goes through."""
        if isinstance(node, (ast.Tuple, ast.List, ast.Set)):
            return [item for part in node.elts
                    for item in (self.items(part.value, depth) if isinstance(part, ast.Starred) else [part])]
        if isinstance(node, ast.Dict):
            return list(node.keys)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "items":
            return [ast.Tuple([key, value]) for table in self.tables(node.func.value)
                    for key, value in zip(table.keys, table.values)]
        if isinstance(node, ast.Name) and depth > 0:
            return [item for value in self.values(node) for item in self.items(value, depth - 1)]
        if isinstance(node, ast.BinOp):
            return self.items(node.left, depth) + self.items(node.right, depth)
        return []

    def tables(self, node):
        return [value for value in ([node] if isinstance(node, ast.Dict) else
                                    self.values(node) if isinstance(node, ast.Name) else [])
                if isinstance(value, ast.Dict)]

    def is_error(self, node):
        """Is an expression an exception: one that was caught, or what pytest or unittest keep of it?"""
        return (isinstance(node, ast.Attribute) and node.attr in ERRORS
                or isinstance(node, ast.Name) and node.id in self.caught)

    def is_wording(self, node):
        """Is an expression the text of an exception or a warning, or does it begin with one?"""
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "str" and node.args:
            said = node.args[0]
            return self.is_error(said) or isinstance(said, ast.Attribute) and said.attr == "message"
        if isinstance(node, ast.Attribute) and node.attr == "message":
            return self.is_error(node.value)
        if isinstance(node, ast.Attribute) and node.attr in ("__notes__", "stderr"):
            return True
        if isinstance(node, ast.Attribute) and node.attr == "text":
            return isinstance(node.value, ast.Name) and node.value.id == "caplog"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            return node.func.attr == "getMessage" or self.is_wording(node.func.value)
        if isinstance(node, (ast.SetComp, ast.ListComp, ast.GeneratorExp)):
            return self.is_wording(node.elt)
        return isinstance(node, (ast.Subscript, ast.Attribute)) and self.is_wording(node.value)


def picked(target, name, values):
    """The parts of values that unpacking them to a target binds to a name."""
    if isinstance(target, ast.Name):
        return values if target.id == name else []
    if not isinstance(target, (ast.Tuple, ast.List)):
        return []
    found = []
    for value in values:
        parts = value.args if isinstance(value, ast.Call) else getattr(value, "elts", [])
        for at, inner in enumerate(target.elts):
            if at < len(parts):
                found += picked(inner, name, [parts[at]])
    return found


def beside(sides, bindings):
    """What stands beside an exception's text where expressions are compared with each other; tuples by their parts."""
    found = []
    if any(map(bindings.is_wording, sides)):
        found = [side for side in sides if not bindings.is_wording(side)]
    parts = [side.elts for side in sides if isinstance(side, ast.Tuple)]
    if len(parts) > 1 and len(parts) == len(sides):
        for inner in zip(*parts):
            found += beside(inner, bindings)
    return found


def compared(node, bindings):
    """The expressions with which a node of the tree compares an exception's text."""
    if isinstance(node, ast.Compare):
        return beside([node.left, *node.comparators], bindings)
    if not isinstance(node, ast.Call):
        return []
    found = [keyword.value for keyword in node.keywords if keyword.arg in ("match", "expected_regex")]
    if isinstance(node.func, ast.Attribute):
        if node.func.attr in MATCHING:
            found += node.args[1:2]
        elif bindings.is_wording(node.func.value):
            found += node.args
        else:
            found += beside(node.args, bindings)
    return found


def within(node):
    """The name of the function around a node, or nothing."""
    while not isinstance(node, (ast.FunctionDef, ast.Module)):
        node = node.parent
    return getattr(node, "name", "")


def programs(tree):
    """The Python programs that stand in a file's texts, for processes of their own."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and "\n" in node.value and ASKED.search(node.value):
            try:
                yield node.lineno, ast.parse(textwrap.dedent(node.value))
            except SyntaxError:
                continue


def phrases(code):
    """Where Python compares the text of an exception or a warning with a phrase: lines, and the functions around them."""
    if not ASKED.search(code):
        return
    tree = ast.parse(code)
    for first, program in [(1, tree), *programs(tree)]:
        bindings = Bindings(program)
        for node in ast.walk(program):
            for given in compared(node, bindings):
                if any(several(text) for text in bindings.texts(given)):
                    yield first + given.lineno - 1, within(node)
