"""Native control flow (18.2): `for … in range(…)`, `if` and `while` of a file-backed kernel become the explicit forms.

    for i in range(n):            def body(i, acc):
        acc = acc + i                 acc = acc + i
                                      return (acc,)
                             →    (acc,) = native.loop(native.arguments(n), body, ("acc",),
                                                       (native.value(lambda: acc),))

Whether an operand is a run-time value is known only while tracing, so the same text serves both: with Python numbers
the body runs as Python, with PTO values it is traced once into a loop whose assigned variables are carried.
"""

import ast
import copy
import os

from . import native
from .errors import TraceError

_trees = {}
_RUNTIME = "__ptosim_native"


def tree_of(file):
    stamp = os.stat(file).st_mtime_ns
    if file not in _trees or _trees[file][0] != stamp:
        with open(file) as source:
            _trees[file] = (stamp, ast.parse(source.read(), file))
    return _trees[file][1]


def definition(function, file):
    """The syntax tree of a module-level function, or None if there is no source."""
    if not os.path.exists(file) or function.__closure__:
        return None
    line = function.__code__.co_firstlineno
    for node in tree_of(file).body:
        if isinstance(node, ast.FunctionDef) and node.name == function.__name__:
            first = min([node.lineno] + [d.lineno for d in node.decorator_list])
            if first <= line <= node.lineno:
                return node
    return None


def is_attribute(node, name):
    return isinstance(node, ast.Attribute) and node.attr == name


def is_trace_time_if(node):
    return isinstance(node.test, ast.Call) and is_attribute(node.test.func, "const_expr")


def is_native_for(node):
    if not isinstance(node.iter, ast.Call):
        return False
    callee = node.iter.func
    return isinstance(callee, ast.Name) and callee.id == "range" or \
        is_attribute(callee, "range") and isinstance(callee.value, ast.Name)


def check_returns(body, nested, file):
    """A `return` inside a run-time branch or loop silently ends the trace in the real tool; here it is an error."""
    for statement in body:
        if isinstance(statement, ast.Return) and nested:
            raise TraceError("`return` inside a loop or branch silently ends the trace, everything after it would be "
                             "missing "
                             "(18.2); guard the rest instead", statement.lineno, file)
        for name in ("body", "orelse"):
            inner = getattr(statement, name, None)
            if inner and not isinstance(statement, (ast.FunctionDef, ast.Lambda)):
                trace_time = isinstance(statement, ast.If) and is_trace_time_if(statement)
                check_returns(inner, nested or not trace_time, file)


def needs_rewriting(node):
    for inner in ast.walk(node):
        if isinstance(inner, ast.While) or isinstance(inner, ast.If) and not is_trace_time_if(inner):
            return True
        if isinstance(inner, ast.For) and is_native_for(inner):
            return True
    return False


class AssignedNames(ast.NodeVisitor):
    """Names that statements bind, in order of appearance; those of nested functions are their own."""

    def __init__(self):
        self.names = {}

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Store):
            self.names.setdefault(node.id)

    def visit_FunctionDef(self, node):
        self.names.setdefault(node.name)

    def visit_Lambda(self, node):
        pass

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = visit_Lambda


def assigned(statements):
    visitor = AssignedNames()
    for statement in statements:
        visitor.visit(statement)
    return list(visitor.names)


class JumpFinder(ast.NodeVisitor):
    """`break` and `continue` that belong to the loop whose body is visited."""

    def __init__(self):
        self.jump = None

    def visit_Break(self, node):
        self.jump = self.jump or node

    visit_Continue = visit_Break

    def visit_For(self, node):
        for statement in node.orelse:
            self.visit(statement)

    visit_While = visit_For
    visit_FunctionDef = visit_Lambda = lambda self, node: None


def find_jump(statements):
    finder = JumpFinder()
    for statement in statements:
        finder.visit(statement)
    return finder.jump


class Rewriter(ast.NodeTransformer):
    def __init__(self, file):
        self.file = file
        self.number = 0

    def refuse(self, node, message):
        raise TraceError(message, node.lineno, self.file)

    def statements(self, body):
        result = []
        for statement in body:
            new = self.visit(statement)
            result.extend(new if isinstance(new, list) else [new])
        return result

    def function(self, stem, parameters, body, result, at):
        """A nested function that takes and returns variables."""
        self.number += 1
        name = f"__ptosim_{stem}_{self.number}"
        arguments = ast.arguments(posonlyargs=[], args=[ast.arg(arg=p) for p in parameters], kwonlyargs=[],
                                  kw_defaults=[],
                                  defaults=[])
        node = ast.FunctionDef(name=name, args=arguments, body=body + [ast.Return(value=result)], decorator_list=[])
        return name, ast.copy_location(node, at)

    def tuple_of(self, names, context):
        return ast.Tuple(elts=[ast.Name(id=n, ctx=context) for n in names], ctx=context)

    def initial(self, names):
        """The values of variables before the construct; some may not exist yet."""
        empty = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        return ast.Tuple(elts=[self.call("value", [ast.Lambda(args=empty, body=ast.Name(id=n, ctx=ast.Load()))])
                               for n in names], ctx=ast.Load())

    def call(self, method, args, keywords=()):
        return ast.Call(func=ast.Attribute(value=ast.Name(id=_RUNTIME, ctx=ast.Load()), attr=method, ctx=ast.Load()),
                        args=args, keywords=list(keywords))

    def finish(self, names, method, args, at):
        names_node = ast.Tuple(elts=[ast.Constant(value=n) for n in names], ctx=ast.Load())
        call = self.call(method, args + [names_node, self.initial(names)])
        if names:
            node = ast.Assign(targets=[self.tuple_of(names, ast.Store())], value=call)
        else:
            node = ast.Expr(value=call)
        return ast.copy_location(node, at)

    def visit_For(self, node):
        if not is_native_for(node):
            node.body = self.statements(node.body)
            return node
        if node.orelse:
            self.refuse(node, "`else` of a `for` loop has no PTO form")
        if not isinstance(node.target, ast.Name):
            self.refuse(node, "the variable of a native `for` must be a plain name")
        jump = find_jump(node.body)
        names = [n for n in assigned(node.body) if n != node.target.id]
        if jump is not None:
            return self.loop_with_jumps(node, names)
        name, function = self.function("for", [node.target.id] + names, self.statements(node.body),
                                       self.tuple_of(names, ast.Load()), node)
        bounds = self.bounds(node.iter)
        return [function, self.finish(names, "loop", [bounds, ast.Name(id=name, ctx=ast.Load())], node)]

    def bounds(self, call):
        if isinstance(call.func, ast.Name):
            return ast.copy_location(self.call("arguments", call.args, call.keywords), call)
        return call

    def loop_with_jumps(self, node, names):
        """A counted loop that `break` or `continue` leaves becomes a general loop with flag variables."""
        self.number += 1
        broken, skipped = f"__ptosim_broken_{self.number}", f"__ptosim_skipped_{self.number}"
        counter = node.target.id
        body = self.guard(node.body, broken, skipped)
        state = names + [broken]
        begin = ast.Assign(targets=[ast.Name(id=skipped, ctx=ast.Store())], value=self.call("no", []))
        name, function = self.function("for", [counter] + state, self.statements([begin] + body),
                                       self.tuple_of(state, ast.Load()), node)
        reset = ast.Assign(targets=[ast.Name(id=broken, ctx=ast.Store())], value=self.call("no", []))
        call = self.finish(state, "loop_with_break", [self.bounds(node.iter), ast.Name(id=name, ctx=ast.Load())], node)
        return [ast.copy_location(reset, node), function, call]

    def guard(self, body, broken, skipped):
        """Statements after a possible jump run only if it was not taken."""
        result = []
        for position, statement in enumerate(body):
            if isinstance(statement, (ast.Break, ast.Continue)):
                flags = [broken, skipped] if isinstance(statement, ast.Break) else [skipped]
                for flag in flags:
                    taken = ast.Assign(targets=[ast.Name(id=flag, ctx=ast.Store())], value=self.call("yes", []))
                    result.append(ast.copy_location(taken, statement))
                return result
            if not isinstance(statement, ast.If) or find_jump([statement]) is None:
                if find_jump([statement]) is not None:
                    self.refuse(statement, "`break` and `continue` are possible directly in a loop and in `if`s only")
                result.append(statement)
                continue
            result.append(ast.copy_location(ast.If(
                test=statement.test, body=self.guard(statement.body, broken, skipped),
                orelse=self.guard(statement.orelse, broken, skipped)), statement))
            rest = self.guard(body[position + 1:], broken, skipped)
            if rest:
                test = self.call("negate", [ast.Name(id=skipped, ctx=ast.Load())])
                result.append(ast.copy_location(ast.If(test=test, body=rest, orelse=[]), statement))
            return result
        return result

    def visit_While(self, node):
        if node.orelse:
            self.refuse(node, "`else` of a `while` loop has no PTO form")
        if find_jump(node.body) is not None:
            self.refuse(node, "the emulator rewrites `break` and `continue` in counted loops only")
        names = assigned(node.body)
        test_name, test = self.function("test", names, [], node.test, node)
        body_name, body = self.function("while", names, self.statements(node.body), self.tuple_of(names, ast.Load()),
                                        node)
        return [test, body, self.finish(names, "repeat", [ast.Name(id=test_name, ctx=ast.Load()),
                                                          ast.Name(id=body_name, ctx=ast.Load())], node)]

    def visit_If(self, node):
        if is_trace_time_if(node):
            node.body, node.orelse = self.statements(node.body), self.statements(node.orelse)
            return node
        names = list(dict.fromkeys(assigned(node.body) + assigned(node.orelse)))
        result = self.tuple_of(names, ast.Load())
        then_name, then = self.function("then", names, self.statements(node.body), result, node)
        else_name, otherwise = self.function("else", names, self.statements(node.orelse), result, node)
        arms = [ast.Name(id=name, ctx=ast.Load()) for name in (then_name, else_name)]
        return [then, otherwise, self.finish(names, "branch", [node.test] + arms, node)]

    def visit_With(self, node):
        node.body = self.statements(node.body)
        return node

    def visit_FunctionDef(self, node):
        return node


def rewrite(function, file, enabled):
    """The function to trace. Without source, or with nothing to rewrite, it is the function itself."""
    node = definition(function, file)
    if node is None:
        return function
    check_returns(node.body, False, file)
    if not enabled or not needs_rewriting(node):
        return function
    # The tree is cached, and the transformer changes nodes in place.
    node = copy.deepcopy(node)
    node.decorator_list = []
    node.returns = None
    for argument in node.args.args + node.args.kwonlyargs:
        argument.annotation = None
    node.args.kw_defaults = [None] * len(node.args.kwonlyargs)
    node.body = Rewriter(file).statements(node.body)
    module = ast.fix_missing_locations(ast.Module(body=[node], type_ignores=[]))
    names = {}
    function.__globals__[_RUNTIME] = native
    exec(compile(module, file, "exec"), function.__globals__, names)
    return names[function.__name__]
