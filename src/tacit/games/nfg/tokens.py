"""The tokens of a .nfg file: strings in quotes, braces and words; white space and commas lie between."""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import NoReturn

from tacit.core import text
from tacit.core.errors import TacitError, brief

#: Quantifiers are possessive, since a way back would be remembered for every character of a string; the last
#: alternative is a quote that is not closed.
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+"|[{}]|[^\s{},"]++|"', re.DOTALL)
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d+)/(\d+)", re.ASCII)


class Tokens:
    """The tokens of a file one after the other.

    Attributes
    ----------
    current : str
        The token that comes next; at the end of the file it is empty.
    characters : int
        Length of the file.
    """

    def __init__(self, place: Path) -> None:
        self._text = text.read(place)
        self._matches = _TOKEN.finditer(self._text)
        self.characters = len(self._text)
        self._advance()

    @property
    def line(self) -> int:
        """The line of the current token, counted from 1."""
        return self._text.count("\n", 0, self._begin) + 1

    def take(self, *wanted: str) -> str:
        """Take a token, which must be one of these."""
        token = self.current
        if token not in wanted:
            self._refuse(" or ".join(word or "the end of the file" for word in wanted))
        self._advance()
        return token

    def string(self, what: str) -> str:
        """Take a string and return it without its quotes."""
        token = self.current
        if len(token) < 2 or token[0] != '"':
            self._refuse(f"{what} in quotes")
        self._advance()
        return token[1:-1].replace('\\"', '"')

    def count(self, what: str, *, least: int, most: int) -> int:
        """Take a whole number."""
        token = self.current
        if not (token.isdigit() and token.isascii() and len(token) <= 18 and least <= int(token) <= most):
            self._refuse(f"{what} from {least} to {most}")
        self._advance()
        return int(token)

    def number(self, what: str) -> float:
        """Take a finite number."""
        value = nearest(self.current)
        if not math.isfinite(value):
            self._refuse(f"{what}, a finite number like 3, -0.5, 1e-3 or 1/3,")
        self._advance()
        return value

    def _refuse(self, wanted: str) -> NoReturn:
        found = f"there is {brief(self.current)}" if self.current else "the file ends"
        raise TacitError(f"{found} where {wanted} must be")

    def _advance(self) -> None:
        match = next(self._matches, None)
        self.current = match[0] if match else ""
        self._begin = match.start() if match else len(self._text.rstrip())


def nearest(token: str) -> float:
    """Return the float nearest to a decimal or a fraction, or NaN if it is neither; Python rounds both correctly.

    >>> nearest("-1/3"), nearest("1e-3"), nearest("1/0")
    (-0.3333333333333333, 0.001, nan)
    """
    try:
        if fraction := _FRACTION.fullmatch(token):
            return int(fraction[1]) / int(fraction[2])
        return float(token) if _DECIMAL.fullmatch(token) else math.nan
    except (ValueError, ZeroDivisionError, OverflowError):  # thousands of digits, x/0, beyond the largest float
        return math.nan
