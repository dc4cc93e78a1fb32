"""The expressions of a launch plan (see docs/ptosim.md): 64-bit integers over sizes of buffers and scalar arguments."""

import re

from .errors import UsageError

_TOKEN = re.compile(r"\s*(?:(\d+\.\d+(?:[eE][-+]?\d+)?|\d+)|([A-Za-z_][A-Za-z_0-9$]*)|"
                    r"(<=|>=|==|!=|&&|\|\||[-+*/%<>!(),.\[\]]))")
_LEVELS = (("||",), ("&&",), ("<", "<=", ">", ">=", "==", "!="), ("+", "-"), ("*", "/", "%"))
_FUNCTIONS = {"min": 2, "max": 2, "select": 3}
_FIELDS = ("min", "extent", "stride")


def tokens_of(text):
    position = 0
    tokens = []
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise UsageError(f"expression {text!r}: cannot read {text[position:]!r}")
        position = match.end()
        number, name, symbol = match.groups()
        if number is not None:
            tokens.append(("number", float(number) if "." in number else int(number)))
        else:
            tokens.append(("name", name) if name is not None else ("symbol", symbol))
    tokens.append(("end", None))
    return tokens


def apply(operator, a, b):
    if operator == "/":
        return 0 if b == 0 else a // b
    if operator == "%":
        return 0 if b == 0 else a % b
    if operator == "||":
        return int(bool(a) or bool(b))
    if operator == "&&":
        return int(bool(a) and bool(b))
    return {"+": lambda: a + b, "-": lambda: a - b, "*": lambda: a * b, "<": lambda: int(a < b),
            "<=": lambda: int(a <= b),
            ">": lambda: int(a > b), ">=": lambda: int(a >= b), "==": lambda: int(a == b),
            "!=": lambda: int(a != b)}[operator]()


class Parser:
    """Evaluates while it reads. `environment` maps names to numbers, or to objects with min, extent and stride."""

    def __init__(self, text, environment):
        self.text = text
        self.environment = environment
        self.tokens = tokens_of(text)
        self.position = 0

    def fail(self, message):
        raise UsageError(f"expression {self.text!r}: {message}")

    def peek(self):
        return self.tokens[self.position]

    def take(self, kind=None, value=None):
        token = self.tokens[self.position]
        if (kind is not None and token[0] != kind) or (value is not None and token[1] != value):
            self.fail(f"expected {value or kind}, found {token[1] if token[1] is not None else 'the end'}")
        self.position += 1
        return token[1]

    def evaluate(self):
        value = self.level(0)
        if self.peek()[0] != "end":
            self.fail(f"cannot read {self.peek()[1]!r}")
        return value

    def level(self, depth):
        if depth == len(_LEVELS):
            return self.unary()
        value = self.level(depth + 1)
        while self.peek()[0] == "symbol" and self.peek()[1] in _LEVELS[depth]:
            operator = self.take()
            value = apply(operator, value, self.level(depth + 1))
        return value

    def unary(self):
        if self.peek() == ("symbol", "-"):
            self.take()
            return -self.unary()
        if self.peek() == ("symbol", "!"):
            self.take()
            return int(not self.unary())
        return self.primary()

    def primary(self):
        kind, value = self.peek()
        if kind == "number":
            self.take()
            return value
        if (kind, value) == ("symbol", "("):
            self.take()
            value = self.level(0)
            self.take("symbol", ")")
            return value
        if kind != "name":
            self.fail(f"unexpected {value if value is not None else 'end'}")
        name = self.take()
        if self.peek() == ("symbol", "("):
            return self.call(name)
        return self.lookup(name)

    def call(self, name):
        if name not in _FUNCTIONS:
            self.fail(f"unknown function {name}")
        self.take("symbol", "(")
        args = [self.level(0)]
        while self.peek() == ("symbol", ","):
            self.take()
            args.append(self.level(0))
        self.take("symbol", ")")
        if len(args) != _FUNCTIONS[name]:
            self.fail(f"{name} takes {_FUNCTIONS[name]} arguments")
        if name == "select":
            return args[1] if args[0] else args[2]
        return min(args) if name == "min" else max(args)

    def lookup(self, name):
        # Names of Funcs may contain dots; the longest known prefix is the name.
        while name not in self.environment and self.peek() == ("symbol", ".") and \
                self.tokens[self.position + 1][0] in ("name", "number"):
            self.take()
            name = f"{name}.{self.take()}"
        if name not in self.environment:
            self.fail(f"unknown name {name}")
        thing = self.environment[name]
        if isinstance(thing, (int, float)):
            return thing
        self.take("symbol", ".")
        field = self.take("name")
        if field not in _FIELDS:
            self.fail(f"{name} has no {field}; there are min, extent, stride")
        self.take("symbol", "[")
        dimension = self.level(0)
        self.take("symbol", "]")
        values = getattr(thing, field)
        if not isinstance(dimension, int) or not 0 <= dimension < len(values):
            self.fail(f"{name} has {len(values)} dimensions")
        return values[dimension]


def evaluate(expression, environment):
    if isinstance(expression, bool):
        raise UsageError(f"expression {expression!r}: expected a number or a text")
    if isinstance(expression, (int, float)):
        return expression
    if not isinstance(expression, str):
        raise UsageError(f"expression {expression!r}: expected a number or a text")
    return Parser(expression, environment).evaluate()
