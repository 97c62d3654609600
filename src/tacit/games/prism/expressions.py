"""Tokens and expressions of PRISM's language; an expression becomes a function of an environment."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tacit.core.errors import TacitError, brief
from tacit.games.text import LineError, Scanner

#: From names, primed ones too, to values.
Environment = Mapping[str, Any]
Expression = Callable[[Environment], Any]

_TOKEN = re.compile(
    r"""(?P<space>\s+|//[^\n]*)|(?P<token>"[^"\n]*"|\d+\.\d+(?:[eE][+-]?\d+)?|\d+(?:[eE][+-]?\d+)?|[A-Za-z_]\w*'?"""
    r"""|\.\.|<<|>>|->|=>|<=|>=|!=|=\?|[-+*/()\[\]{}<>=!&|?:;,'])""",
    re.ASCII,
)
#: No whole number in a model is larger.
LARGEST = 2**63

_WORD = re.compile(r"[A-Za-z_]\w*'?", re.ASCII)


class Token(NamedTuple):
    """A token and its line."""

    text: str
    line: int


def split(text: str) -> list[Token]:
    """Split a text into tokens.

    >>> [token.text for token in split("x'=1 // no\\n & y")]
    ["x'", '=', '1', '&', 'y']
    """
    found, at, line = [], 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise LineError(line, f"there is {brief(text[at])}, which is not of the language")
        if match["token"]:
            found.append(Token(match["token"], line))
        line += match[0].count("\n")
        at = match.end()
    return found


def is_name(text: str) -> bool:
    """Return whether a token is a name, primed or not."""
    return _WORD.fullmatch(text) is not None


class Reader(Scanner):
    """Tokens one after the other, and the expressions that they make."""

    def __init__(
        self, tokens: list[Token], labels: Mapping[str, Expression] | None = None, *, ends: str = Scanner.ends
    ) -> None:
        self.tokens, self.at, self.ends = tokens, 0, ends
        self.labels = labels if labels is not None else {}

    @property
    def current(self) -> str:  # type: ignore[override]
        """The next token; empty at the end."""
        return self.tokens[self.at].text if self.at < len(self.tokens) else ""

    @property
    def line(self) -> int:
        """The line of the next token."""
        return self.tokens[min(self.at, len(self.tokens) - 1)].line if self.tokens else 1

    def advance(self) -> None:
        """Go on to the next token."""
        self.at += 1

    def peek(self, count: int) -> list[str]:
        """Return the next tokens."""
        return [token.text for token in self.tokens[self.at : self.at + count]]

    def name(self, what: str) -> str:
        """Take a name."""
        text = self.current
        if not is_name(text):
            self.refuse(what)
        self.at += 1
        return text

    def string(self, what: str) -> str:
        """Take a name in quotes and return it without them."""
        text = self.current
        if not text.startswith('"'):
            self.refuse(f"{what} in quotes")
        self.advance()
        return text[1:-1]

    def expression(self) -> Expression:
        """Take an expression."""
        test = self._binary(0)
        if not self.meet("?"):
            return test
        one = self.expression()
        self.take(":")
        two = self.expression()
        return lambda env: one(env) if test(env) else two(env)

    def _binary(self, level: int) -> Expression:
        if level == len(_LEVELS):
            return self.operand()
        left = self._binary(level + 1)
        while self.current in _LEVELS[level]:
            if self.current == "+" and self._ends_here():
                break
            left = _join(_OPERATORS[self.take(self.current)], left, self._binary(level + 1))
        return left

    def _ends_here(self) -> bool:
        """Return whether a "+" begins the next objective of a property: P or R with a bracket follows."""
        match self.peek(3):
            case [_, "P" | "R", "[" | "{"]:
                return True
        return False

    def operand(self) -> Expression:
        """Take what stands between two operators."""
        if self.meet("!"):
            inner = self._binary(3)
            return lambda env: not inner(env)
        if self.meet("-"):
            negated = self.operand()
            return lambda env: -negated(env)
        if self.meet("("):
            inside = self.expression()
            self.take(")")
            return inside
        text = self.current
        if text.startswith('"'):
            label = self.string("a label")
            if label not in self.labels:
                raise LineError(self.line, f"there is no label {text}")
            return self.labels[label]
        if text[:1].isdigit():
            self.at += 1
            number = float(text) if re.search(r"[.eE]", text) else int(text)
            return lambda env: number
        name = self.name("an expression")
        if name in ("true", "false"):
            return lambda env: name == "true"
        if name in _FUNCTIONS and self.meet("("):
            arguments = [self.expression()]
            while self.meet(","):
                arguments.append(self.expression())
            self.take(")")
            function = _FUNCTIONS[name]
            return lambda env: _limit(function(*[one(env) for one in arguments]))
        line = self.line
        return lambda env: _look_up(env, name, line)


def _look_up(env: Environment, name: str, line: int) -> Any:
    try:
        return env[name]
    except KeyError:
        raise LineError(line, f"{name} has no value; is it a constant to be given by constants=?") from None


def _join(operator: Callable[[Any, Any], Any], one: Expression, two: Expression) -> Expression:
    if operator is _OPERATORS["&"]:
        return lambda env: bool(one(env)) and bool(two(env))
    if operator is _OPERATORS["|"]:
        return lambda env: bool(one(env)) or bool(two(env))
    return lambda env: _limit(operator(one(env), two(env)))


def _limit(value: Any) -> Any:
    """Return a value that is not too large a number: factors of factors would soon fill the memory."""
    if isinstance(value, int) and abs(value) > LARGEST:
        raise TacitError(f"a number is larger than {LARGEST:,}")
    return value


def _divide(one: Any, two: Any) -> Any:
    if two == 0:
        raise TacitError(f"a division of {one} by 0")
    return one / two


_LEVELS = (("=>",), ("|",), ("&",), ("=", "!="), ("<", "<=", ">", ">="), ("+", "-"), ("*", "/"))
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "=>": lambda a, b: not a or b,
    "|": lambda a, b: a or b,
    "&": lambda a, b: a and b,
    "=": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
}
_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "min": min,
    "max": max,
    "floor": lambda x: math.floor(x + 1e-12),
    "ceil": lambda x: math.ceil(x - 1e-12),
    "round": lambda x: math.floor(x + 0.5),
    "pow": lambda a, b: a**b if abs(b) < 1e4 and abs(a) < 1e100 else math.inf,
    "mod": lambda a, b: a % b,
    "log": lambda a, b: math.log(a, b),
}
