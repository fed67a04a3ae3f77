"""Choose the branches of a function by the types of its arguments (`holdfast.kernels.by_type`).

Numba must know the type of every expression, also in a branch that is never taken. So each list of types gets
a copy of the function in which `isinstance` is replaced by its answer, and only one branch is left.
"""

import ast
import copy
import functools
import inspect
import textwrap
import types as python_types
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload

from holdfast._compiled.argument_types import AnyFunction, Arguments
from holdfast._compiled.numba_path import private

if private is None:
    from holdfast._compiled.numba_public import OVERLOAD
else:
    from holdfast._compiled.numba_private import OVERLOAD

_NUMBA = {  # the types of numba whose values are instances of a class in Python
    bool: types.Boolean,
    np.bool_: types.Boolean,
    int: types.Integer | types.Boolean,
    np.integer: types.Integer,
    float: types.Float,
    tuple: types.BaseTuple,
    np.ndarray: types.Array,
}
_registered: set[AnyFunction] = set()


def register_by_type(function: AnyFunction) -> None:
    """Let compiled code call a function that is marked `by_type`."""
    if function in _registered:
        return
    _registered.add(function)
    names = tuple(inspect.signature(function).parameters)

    def chosen(kinds: tuple[Any, ...]) -> AnyFunction:
        return _specialised(inspect.unwrap(function), dict(zip(names, kinds, strict=True)))

    overload(function, jit_options=OVERLOAD)(chooser(names, chosen))


def chooser(names: tuple[str, ...], chosen: Callable[[Arguments], Any]) -> AnyFunction:
    """A function of these parameters that calls `chosen` with their tuple: numba looks at the parameters."""
    made: AnyFunction = eval(f"lambda {', '.join(names)}: chosen(({', '.join(names)},))", {"chosen": chosen})
    return made


def is_instance(kind: Any, classes: Any) -> bool:
    """Whether values of a numba type are instances of a class, of one of a tuple, or of a union."""
    if isinstance(classes, python_types.UnionType):
        classes = classes.__args__
    if isinstance(classes, tuple):
        return any(is_instance(kind, cls) for cls in classes)
    kind = getattr(kind, "literal_type", kind)
    if classes in _NUMBA:
        return isinstance(kind, _NUMBA[classes])
    return issubclass(getattr(kind, "instance_class", python_types.NoneType), classes)


@functools.cache
def _parsed(function: AnyFunction) -> ast.FunctionDef:
    lines, first = inspect.getsourcelines(function)
    (node,) = ast.parse(textwrap.dedent("".join(lines))).body
    assert isinstance(node, ast.FunctionDef)
    ast.increment_lineno(node, first - 1)  # so that errors name the right line
    node.decorator_list, node.returns = [], None
    for argument in node.args.args:
        argument.annotation = None
    return node


def _specialised(function: Any, kinds: dict[str, Any]) -> AnyFunction:
    """The function with only the branches for arguments of these types."""
    scope = dict(function.__globals__)
    node = _Branches(kinds, scope).visit(copy.deepcopy(_parsed(function)))
    module = ast.fix_missing_locations(ast.Module([node], []))
    whole = compile(module, function.__code__.co_filename, "exec")
    code = next(item for item in whole.co_consts if inspect.iscode(item))
    return python_types.FunctionType(code, scope, function.__name__, function.__defaults__)


class _Branches(ast.NodeTransformer):
    """Replaces `isinstance` of parameters by its answer, and takes the branches that follow from it."""

    def __init__(self, kinds: dict[str, Any], scope: dict[str, Any]) -> None:
        self.kinds, self.scope = kinds, scope
        self.lists: dict[str, list[ast.expr]] = {}  # what unrolled loops have appended

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "isinstance":
            asked, classes = node.args
            if isinstance(asked, ast.Name) and asked.id in self.kinds:
                found = eval(ast.unparse(classes), self.scope)
                return ast.copy_location(ast.Constant(is_instance(self.kinds[asked.id], found)), node)
        if isinstance(node.func, ast.Name) and node.func.id == "like":
            return ast.copy_location(self._made_like(*node.args), node)
        return node

    def _made_like(self, state: ast.expr, items: ast.expr) -> ast.expr:
        assert isinstance(state, ast.Name) and isinstance(items, ast.Name)
        cls = getattr(self.kinds[state.id], "instance_class", None)
        if cls is None:
            return ast.Tuple(self.lists[items.id], ast.Load())
        self.scope["ClassOfState"] = cls
        return ast.Call(ast.Name("ClassOfState", ast.Load()), self.lists[items.id], [])

    def visit_Assign(self, node: ast.Assign) -> ast.stmt | None:
        (target,) = node.targets
        if isinstance(target, ast.Name) and isinstance(node.value, ast.List):
            self.lists[target.id] = []
            return None
        self.generic_visit(node)
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant):
            return ast.copy_location(ast.Constant(not node.operand.value), node)
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        self.generic_visit(node)
        decides = isinstance(node.op, ast.Or)
        open_values = []
        for value in node.values:
            if not isinstance(value, ast.Constant):
                open_values.append(value)
            elif bool(value.value) is decides:
                return value if not open_values else node
        if not open_values:
            return ast.copy_location(ast.Constant(not decides), node)
        node.values = open_values
        return node if len(open_values) > 1 else open_values[0]

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        self.generic_visit(node)
        if isinstance(node.test, ast.Constant):
            return node.body if node.test.value else node.orelse
        return node

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        node.body = self._visited(node.body) or [ast.Pass()]
        return node

    def visit_If(self, node: ast.If) -> Any:
        node.test = self.visit(node.test)
        if isinstance(node.test, ast.Constant):
            return self._visited(node.body if node.test.value else node.orelse)
        node.body, node.orelse = self._visited(node.body) or [ast.Pass()], self._visited(node.orelse)
        return node

    def visit_For(self, node: ast.For) -> Any:
        """A loop over a tuple: one copy of its body for each item, because items may have different types."""
        over = self.kinds.get(node.iter.id) if isinstance(node.iter, ast.Name) else None
        if not isinstance(over, types.BaseTuple):
            return self.generic_visit(node)
        steps: list[ast.stmt] = []
        assert isinstance(node.target, ast.Name)
        for i in range(len(over)):
            item = ast.Subscript(copy.deepcopy(node.iter), ast.Constant(i), ast.Load())
            name = f"{node.target.id}_{i}"
            first = ast.Assign([ast.Name(name, ast.Store())], item)
            steps.append(ast.copy_location(first, node))
            for statement in copy.deepcopy(node.body):
                for each in ast.walk(statement):
                    if isinstance(each, ast.Name) and each.id == node.target.id:
                        each.id = name
                match statement:
                    case ast.Expr(ast.Call(ast.Attribute(ast.Name(items), "append"), [value])):
                        self.lists[items].append(value)
                    case _:
                        steps.append(statement)
        return steps

    def _visited(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        """The statements that are left, up to the first that always ends the function."""
        left: list[ast.stmt] = []
        for statement in statements:
            found = self.visit(statement)
            left += found if isinstance(found, list) else [found] if found is not None else []
            if left and isinstance(left[-1], ast.Return | ast.Raise):
                break
        return left
