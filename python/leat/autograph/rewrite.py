"""The rewriting of a function's tree: statements of control flow become calls of `leat.autograph.operators`.

Three passes: returns become assignments, breaks and continues become flags, and what is structured then becomes
functions of the variables that matter afterwards (by liveness, from the end to the beginning). Lines stay the user's.
"""

import ast
import copy

RETURN, RETURNED = "ag__value", "ag__returned"  # names of what a function will return, and whether it has to
_LEFT_ALONE = frozenset(["super", "locals", "globals", "vars", "eval", "exec", "dir", "isinstance", "type", "print"])
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef)
_LOOPS = (ast.While, ast.For)


def rewrite(function):
    """The FunctionDef of a function whose control flow is converted; the tree given is not changed."""
    function = copy.deepcopy(function)
    _Function(function).run()
    return ast.fix_missing_locations(function)


# ---- making nodes ----

def _load(name):
    return ast.Name(id=name, ctx=ast.Load())


def _assign(name, value, at):
    return ast.copy_location(ast.Assign(targets=[ast.Name(id=name, ctx=ast.Store())], value=value), at)


def _operator(name, *args):
    return ast.Call(func=ast.Attribute(value=_load("ag__"), attr=name, ctx=ast.Load()), args=list(args), keywords=[])


def _thunk(body):
    return ast.Lambda(args=_parameters(), body=body)


def _parameters(*names):
    return ast.arguments(posonlyargs=[], args=[ast.arg(arg=name) for name in names], kwonlyargs=[], kw_defaults=[],
                         defaults=[])


def _names(names):
    return ast.Tuple(elts=[ast.Constant(value=name) for name in names], ctx=ast.Load())


def _not(value):
    return ast.UnaryOp(op=ast.Not(), operand=value)


def _unless(names, block, at):
    """`block`, unless one of the flags is set."""
    tests = [_not(_load(name)) for name in names]
    test = tests[0] if len(tests) == 1 else ast.BoolOp(op=ast.And(), values=tests)
    return [ast.copy_location(ast.If(test=test, body=block, orelse=[]), at)] if block else []


def _has(block, kinds, stop=_SCOPES):
    """Is there a node of such a kind, not counting functions and what `stop` says?"""
    for node in block:
        if isinstance(node, kinds):
            return True
        if not isinstance(node, stop) and _has(ast.iter_child_nodes(node), kinds, stop):
            return True
    return False


# ---- returns ----

class _Returns:
    """Returns become assignments: what follows them moves into the branches where they do not happen."""

    def block(self, statements, in_loop=False):
        """(statements, does it always return?)"""
        out = []
        for number, statement in enumerate(statements):
            rest = statements[number + 1:]
            if isinstance(statement, ast.Return):
                value = statement.value or ast.copy_location(ast.Constant(value=None), statement)
                out += [_assign(RETURN, value, statement),
                        _assign(RETURNED, ast.Constant(value=True), statement)]
                if in_loop:
                    out.append(ast.copy_location(ast.Break(), statement))
                return out, True
            if not _has([statement], ast.Return):
                out.append(statement)
                continue
            if isinstance(statement, ast.If):
                return self._if(out, statement, rest, in_loop)
            self._inside(statement)
            out.append(statement)
            if isinstance(statement, _LOOPS) and in_loop:
                out.append(ast.copy_location(ast.If(test=_load(RETURNED), body=[ast.copy_location(
                    ast.Break(), statement)], orelse=[]), statement))
            after, always = self.block(rest, in_loop)
            return out + _unless([RETURNED], after, statement), always
        return out, False

    def _if(self, out, statement, rest, in_loop):
        _, first = self.block(copy.deepcopy(statement.body), in_loop)
        _, second = self.block(copy.deepcopy(statement.orelse), in_loop)
        if first or second:
            statement.body, a = self.block(statement.body + ([] if first else rest), in_loop)
            statement.orelse, b = self.block(statement.orelse + ([] if second else rest), in_loop)
            return out + [statement], a and b
        statement.body, _ = self.block(statement.body, in_loop)
        statement.orelse, _ = self.block(statement.orelse, in_loop)
        after, always = self.block(rest, in_loop)
        return out + [statement] + _unless([RETURNED], after, statement), always

    def _inside(self, statement):
        loop = isinstance(statement, _LOOPS)
        for field in ("body", "orelse", "finalbody"):
            if getattr(statement, field, None):
                block, _ = self.block(getattr(statement, field), loop and field == "body")
                setattr(statement, field, block)
        for handler in getattr(statement, "handlers", []):
            handler.body, _ = self.block(handler.body)


# ---- breaks and continues ----

class _Jumps(ast.NodeTransformer):
    """`break` and `continue` become flags that what follows them asks."""

    def __init__(self):
        self.count = 0

    def _visit_scope(self, node):
        return node

    visit_FunctionDef = visit_AsyncFunctionDef = visit_Lambda = visit_ClassDef = _visit_scope

    def visit_While(self, node):
        return self._loop(node)

    def visit_For(self, node):
        return self._loop(node)

    def _loop(self, node):
        self.generic_visit(node)
        breaks = _has(node.body, ast.Break, _SCOPES + _LOOPS)
        continues = _has(node.body, ast.Continue, _SCOPES + _LOOPS)
        self.count += 1
        stop, skip = f"ag__break_{self.count}", f"ag__continue_{self.count}"
        after, node.orelse = node.orelse, []
        node.stop = stop if breaks else None
        if not breaks and not continues:
            return [node] + after
        flags = [stop] * breaks + [skip] * continues
        node.body = self._block(node.body, stop, skip, flags)
        if continues:
            node.body.insert(0, _assign(skip, ast.Constant(value=False), node))
        if not breaks:
            return [node] + after
        if isinstance(node, ast.While):
            node.test = ast.copy_location(ast.BoolOp(op=ast.And(), values=[_not(_load(stop)), node.test]), node.test)
        return [_assign(stop, ast.Constant(value=False), node), node] + _unless([stop], after, node)

    def _block(self, statements, stop, skip, flags):
        out = []
        for number, statement in enumerate(statements):
            if isinstance(statement, (ast.Break, ast.Continue)):
                name = stop if isinstance(statement, ast.Break) else skip
                return out + [_assign(name, ast.Constant(value=True), statement)]
            out.append(statement)
            if _has([statement], (ast.Break, ast.Continue), _SCOPES + _LOOPS):
                for field in ("body", "orelse", "finalbody"):
                    if getattr(statement, field, None):
                        setattr(statement, field, self._block(getattr(statement, field), stop, skip, flags))
                for handler in getattr(statement, "handlers", []):
                    handler.body = self._block(handler.body, stop, skip, flags)
                return out + _unless(flags, self._block(statements[number + 1:], stop, skip, flags), statement)
        return out


# ---- which variables matter ----

def _stores(nodes):
    """The names that statements bind in their own scope."""
    out = set()
    for node in nodes:
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            out.add(node.name)
            continue
        if isinstance(node, (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            out |= {inner.target.id for inner in ast.walk(node) if isinstance(inner, ast.NamedExpr)}
            continue
        if isinstance(node, ast.Name) and isinstance(node.ctx, (ast.Store, ast.Del)):
            out.add(node.id)
        if isinstance(node, ast.ExceptHandler) and node.name:
            out.add(node.name)
        if isinstance(node, ast.alias):
            out.add((node.asname or node.name).split(".")[0])
        out |= _stores(ast.iter_child_nodes(node))
    return out


def _loads(node):
    """Every name that is read anywhere within, inner functions included."""
    if node is None:
        return set()
    return {inner.id for inner in ast.walk(node)
            if isinstance(inner, ast.Name) and not isinstance(inner.ctx, ast.Store)}


def _parts(nodes):
    """Attributes and items that statements assign, by their text: ``self.total``, ``d['a']``.

    They matter always, except those of variables that the statements bind themselves.
    """
    own = _stores(nodes)
    return {text: node for text, node in _all_parts(nodes).items() if _root(node) not in own}


def _root(node):
    while not isinstance(node, ast.Name):
        node = node.value
    return node.id


def _all_parts(nodes):
    out = {}
    for node in nodes:
        if isinstance(node, _SCOPES):
            continue
        if isinstance(node, (ast.Attribute, ast.Subscript)) and isinstance(node.ctx, ast.Store) and _is_part(node):
            out[ast.unparse(node)] = node
        out.update(_all_parts(ast.iter_child_nodes(node)))
    return out


def _is_part(node):
    """Is it made of names, attributes and constant items alone?"""
    if isinstance(node, ast.Attribute):
        return _is_part(node.value)
    if isinstance(node, ast.Subscript):
        return isinstance(node.slice, ast.Constant) and _is_part(node.value)
    return isinstance(node, ast.Name)


def _again(node, context):
    """The same place to read or to assign."""
    node = copy.deepcopy(node)
    node.ctx = context()
    return node


class _Liveness:
    """Puts `live_out` and `live_in` on each if and loop."""

    def __init__(self, always):
        self.always = always  # what inner functions may read at any time

    def block(self, statements, live):
        for statement in reversed(statements):
            live = self.statement(statement, live)
        return live | self.always

    def statement(self, node, live):
        if isinstance(node, ast.If):
            node.live_out = live
            node.live_in = self.block(node.body, live) | self.block(node.orelse, live)
            return node.live_in | _loads(node.test)
        if isinstance(node, _LOOPS):
            return self._loop(node, live)
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            return (live - {node.name}) | _loads(node)
        if isinstance(node, (ast.Assign, ast.AnnAssign)):
            killed = {node.id for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
                      for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
            return (live - killed) | _loads(node)
        if isinstance(node, ast.AugAssign):
            return live | _loads(node) | ({node.target.id} if isinstance(node.target, ast.Name) else set())
        if isinstance(node, (ast.With, ast.AsyncWith)):
            live = self.block(node.body, live)
            for item in reversed(node.items):
                live = (live - _stores([item])) | _loads(item)
            return live
        for field in ("body", "orelse", "finalbody"):
            self.block(getattr(node, field, None) or [], live | _loads(node))
        for handler in getattr(node, "handlers", []):
            self.block(handler.body, live | _loads(node))
        return live | _loads(node)

    def _loop(self, node, live):
        node.live_out = live
        test = _loads(node.test if isinstance(node, ast.While) else node.iter) | ({node.stop} if node.stop else set())
        targets = _stores([node.target]) if isinstance(node, ast.For) else set()
        around = live | test
        while True:
            node.live_in = self.block(node.body, around) - targets | test
            if node.live_in <= around:
                return around
            around = around | node.live_in


# ---- the function ----

class _Function:
    """One function: its statements, then its expressions, then the functions within."""

    def __init__(self, node):
        self.node = node
        self.count = 0
        arguments = node.args
        self.parameters = {a.arg for a in [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs,
                                           arguments.vararg, arguments.kwarg] if a is not None}
        self.outside = {name for inner in ast.walk(node) if isinstance(inner, (ast.Global, ast.Nonlocal))
                        for name in inner.names}
        self.globals = {name for inner in ast.walk(node) if isinstance(inner, ast.Global) for name in inner.names}
        self.undefined = set()

    def run(self):
        node = self.node
        node.decorator_list, node.returns = [], None
        for argument in ast.walk(node.args):
            if isinstance(argument, ast.arg):
                argument.annotation = None
        body = node.body
        nested = any(_has([statement], ast.Return) for statement in body if not isinstance(statement, ast.Return))
        if nested:
            body = self._lower_returns(body)
        module = _Jumps().visit(ast.Module(body=body, type_ignores=[]))
        body = module.body
        always = set().union(*[_loads(inner) for inner in ast.walk(module) if isinstance(inner, _SCOPES)], set())
        _Liveness(always).block(body, set())
        body = self.block(body)
        expressions = _Expressions(self.undefined)
        body = expressions.visit(ast.Module(body=body, type_ignores=[])).body
        start = [_assign(name, _operator("Undefined", ast.Constant(value=name)), node)
                 for name in sorted(self.undefined)]
        docstring = body[:1] if body and isinstance(body[0], ast.Expr) and isinstance(
            body[0].value, ast.Constant) else []
        declared = [one for one in body if isinstance(one, (ast.Global, ast.Nonlocal))]
        rest = [one for one in body[len(docstring):] if not isinstance(one, (ast.Global, ast.Nonlocal))]
        node.body = docstring + declared + start + rest

    def _lower_returns(self, body):
        at = body[0]
        body, always = _Returns().block(body)
        if not always:
            body += _unless([RETURNED], [_assign(RETURN, ast.Constant(value=None), body[-1])], body[-1])
        value = ast.copy_location(ast.Return(value=_load(RETURN)), body[-1])
        return [_assign(RETURNED, ast.Constant(value=False), at)] + body + [value]

    def block(self, statements):
        out = []
        for statement in statements:
            if isinstance(statement, ast.If):
                out += self._if(statement)
            elif isinstance(statement, ast.While):
                out += self._while(statement)
            elif isinstance(statement, ast.For):
                out += self._for(statement)
            elif isinstance(statement, ast.FunctionDef):
                out.append(_inner(statement))
            elif isinstance(statement, (ast.AsyncFunctionDef, ast.ClassDef, ast.AsyncFor)):
                out.append(statement)
            else:
                for field in ("body", "orelse", "finalbody"):
                    if getattr(statement, field, None):
                        setattr(statement, field, self.block(getattr(statement, field)))
                for handler in getattr(statement, "handlers", []):
                    handler.body = self.block(handler.body)
                out.append(statement)
        return out

    def _define(self, name, body, names, at, *parameters):
        """A function that may assign to `names` of the function around."""
        first = []
        inner = [one for one in names if one not in self.globals]
        if inner:
            first.append(ast.Nonlocal(names=inner))
        if len(inner) < len(names):
            first.append(ast.Global(names=[one for one in names if one in self.globals]))
        made = ast.FunctionDef(name=name, args=_parameters(*parameters), body=first + (body or [ast.Pass()]),
                               decorator_list=[], returns=None)
        if hasattr(ast, "TypeAlias"):
            made.type_params = []
        for node in first + ([] if body else [made.body[-1]]):
            ast.copy_location(node, at)
        return ast.copy_location(made, at)

    def _state(self, names, number, at, parts=None):
        """Functions that read and set the attributes and items, then the variables."""
        parts = parts or {}
        read = [_operator("part", ast.Constant(value=text), _thunk(_again(node, ast.Load)))
                for text, node in parts.items()]
        values = ast.Tuple(elts=read + [_load(name) for name in names], ctx=ast.Load())
        reader = self._define(f"ag__get_{number}", [ast.copy_location(ast.Return(value=values), at)], [], at)
        reader.plain = True
        targets = ast.Tuple(elts=[ast.Name(id=name, ctx=ast.Store()) for name in names], ctx=ast.Store())
        value = _load("ag__values")
        if parts:
            value = ast.Subscript(value=value, slice=ast.Slice(lower=ast.Constant(value=len(parts))), ctx=ast.Load())
        body = [ast.copy_location(ast.Assign(targets=[targets], value=value), at)] if names else []
        body += [self._set_part(node, place, at) for place, node in enumerate(parts.values())]
        return [reader, self._define(f"ag__set_{number}", body, names, at, "ag__values")]

    def _set_part(self, node, place, at):
        """An attribute or item becomes a value, or what it was before it was assigned."""
        value = ast.Subscript(value=_load("ag__values"), slice=ast.Constant(value=place), ctx=ast.Load())
        store = ast.copy_location(ast.Assign(targets=[_again(node, ast.Store)], value=value), at)
        owner = _again(node.value, ast.Load)
        key = ast.Constant(value=node.attr) if isinstance(node, ast.Attribute) else copy.deepcopy(node.slice)
        gone = ast.copy_location(ast.Expr(value=_operator("forget", owner, key, ast.Constant(
            value=isinstance(node, ast.Attribute)))), at)
        return ast.copy_location(ast.If(test=_operator("is_defined", copy.deepcopy(value)), body=[store],
                                        orelse=[gone]), at)

    def _choose(self, names):
        """Sorted; and noted as possibly unbound where they are the function's own."""
        self.undefined |= {name for name in names if name not in self.parameters and name not in self.outside}
        return sorted(names)

    def _call(self, operator, number, at, names, live, *more):
        args = [*more, _load(f"ag__get_{number}"), _load(f"ag__set_{number}"), _names(names),
                ast.Constant(value=live)]
        return ast.copy_location(ast.Expr(value=ast.copy_location(_operator(operator, *args), at)), at)

    def _if(self, node):
        self.count += 1
        number = self.count
        parts = _parts([*node.body, *node.orelse])
        modified = _stores(node.body) | _stores(node.orelse)
        merged = self._choose(modified & node.live_out)
        names = merged + self._choose(modified & node.live_in - set(merged))
        body, orelse = self.block(node.body), self.block(node.orelse)
        return [self._define(f"if_body_{number}", body, names, node),
                self._define(f"else_body_{number}", orelse, names, node), *self._state(names, number, node, parts),
                self._call("if_", number, node, [*parts, *names], len(parts) + len(merged), node.test,
                           _load(f"if_body_{number}"), _load(f"else_body_{number}"))]

    def _while(self, node):
        self.count += 1
        number = self.count
        parts = _parts(node.body)
        names = self._choose(_stores(node.body) & (node.live_out | node.live_in))
        body = self.block(node.body)
        test = self._define(f"while_test_{number}", [ast.copy_location(ast.Return(value=node.test), node.test)], [],
                            node)
        return [test, self._define(f"while_body_{number}", body, names, node), *self._state(names, number, node, parts),
                self._call("while_", number, node, [*parts, *names], 0, _load(f"while_test_{number}"),
                           _load(f"while_body_{number}"))]

    def _for(self, node):
        self.count += 1
        number = self.count
        modified = _stores(node.body) | _stores([node.target])
        parts = _parts([node.target, *node.body])
        names = self._choose(modified & (node.live_out | node.live_in))
        first = ast.copy_location(ast.Assign(targets=[node.target], value=_load("ag__item")), node)
        body = self._define(f"for_body_{number}", [first] + self.block(node.body), names, node, "ag__item")
        test = ast.Constant(value=None) if node.stop is None else _thunk(_not(_load(node.stop)))
        return [body, *self._state(names, number, node, parts),
                self._call("for_", number, node, [*parts, *names], 0, node.iter, _load(f"for_body_{number}"), test)]


def _inner(function):
    """A function within, converted like its surroundings."""
    if _has(function.body, (ast.Yield, ast.YieldFrom, ast.Await)):
        return function
    defaults, kw_defaults, decorators = function.args.defaults, function.args.kw_defaults, function.decorator_list
    _Function(function).run()
    function.args.defaults, function.args.kw_defaults, function.decorator_list = defaults, kw_defaults, decorators
    function.plain = True
    return function


class _Expressions(ast.NodeTransformer):
    """`and`, `or`, `not`, `in`, conditional expressions, assertions and calls."""

    def __init__(self, undefined):
        self.undefined = undefined

    def visit(self, node):
        return node if getattr(node, "plain", False) else super().visit(node)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load) and node.id in self.undefined and not node.id.startswith("ag__"):
            return ast.copy_location(_operator("ld", node), node)
        return node

    def visit_ClassDef(self, node):
        return node

    visit_AsyncFunctionDef = visit_ClassDef

    def _lazy(self, node):
        return not _has([node], (ast.NamedExpr, ast.Yield, ast.YieldFrom, ast.Await))

    def visit_BoolOp(self, node):
        lazy = self._lazy(node)
        self.generic_visit(node)
        if not lazy:
            return node
        name = "and_" if isinstance(node.op, ast.And) else "or_"
        return ast.copy_location(_operator(name, *[_thunk(value) for value in node.values]), node)

    def visit_UnaryOp(self, node):
        self.generic_visit(node)
        return ast.copy_location(_operator("not_", node.operand), node) if isinstance(node.op, ast.Not) else node

    def visit_IfExp(self, node):
        lazy = self._lazy(node)
        self.generic_visit(node)
        return ast.copy_location(_operator("if_exp", node.test, _thunk(node.body), _thunk(node.orelse)),
                                 node) if lazy else node

    def visit_Compare(self, node):
        lazy = self._lazy(node)
        self.generic_visit(node)
        if len(node.ops) == 1:
            kind = node.ops[0]
            if not isinstance(kind, (ast.In, ast.NotIn)):
                return node
            found = ast.copy_location(_operator("in_", node.left, node.comparators[0]), node)
            return found if isinstance(kind, ast.In) else ast.copy_location(_operator("not_", found), node)
        if not lazy:
            return node
        steps = [ast.Lambda(args=_parameters("ag__a", "ag__b"), body=ast.Compare(
            left=_load("ag__a"), ops=[kind], comparators=[_load("ag__b")])) for kind in node.ops]
        return ast.copy_location(_operator("chain", ast.Tuple(elts=steps, ctx=ast.Load()), node.left,
                                           *[_thunk(value) for value in node.comparators]), node)

    def visit_Assert(self, node):
        self.generic_visit(node)
        message = _thunk(node.msg) if node.msg is not None else ast.Constant(value=None)
        return ast.copy_location(ast.Expr(value=ast.copy_location(
            _operator("assert_", node.test, message), node)), node)

    def visit_Raise(self, node):
        self.generic_visit(node)
        before = ast.copy_location(_operator("raising"), node)
        return [ast.copy_location(ast.Expr(value=before), node), node]

    def visit_Call(self, node):
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and (
                function.value.id == "ag__"):
            return node
        if isinstance(function, ast.Name) and function.id in _LEFT_ALONE:
            return node
        node.func = ast.copy_location(_operator("call", function), function)
        return node
