"""Text formats of games: lines or tokens one after the other, and errors that name the file and the line."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NoReturn

from tacit.core import files, memory
from tacit.core.errors import TacitError, brief

#: Bytes that splitting a line into words and turning these into numbers takes at most, for each character.
_PER_CHARACTER = 64

#: Lines up to this length are split without asking whether there is memory for it.
_LONG_LINE = 65_536


class LineError(TacitError):
    """A wrong input on a line of a file, which need not be the one that is being read."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


@contextmanager
def locate_errors(place: Path, reader: Lines | Scanner | None = None) -> Iterator[None]:
    """Put the file before an error that is raised within, and the line if it has one or `reader` is at one."""
    try:
        yield
    except TacitError as error:
        line = getattr(error, "line", None) or (reader and max(reader.line, 1))
        raise TacitError(f"{place}:{line}: {error}" if line else f"{place}: {error}") from None


class Lines:
    """The lines of a text file one after the other, without comments and empty ones.

    Attributes
    ----------
    line : int
        The line that was read last, counted from 1.
    """

    def __init__(self, place: Path, *, comment: str) -> None:
        self.line = 0
        self._lines = _split(files.read_utf8(place))
        self._comment = comment

    def next(self) -> str | None:
        """Return the next line that says something, or None at the end."""
        for line in self._lines:
            self.line += 1
            said = line.partition(self._comment)[0].strip()
            if said:
                if len(said) > _LONG_LINE:
                    memory.require(_PER_CHARACTER * len(said), f"a line of {len(said)} characters")
                return said
        return None

    def expect(self, what: str) -> str:
        """Return the next line, which must be there and hold `what`."""
        line = self.next()
        if line is None:
            raise TacitError(f"the file ends where {what} must follow; it seems to be cut short")
        return line


def _split(text: str) -> Iterator[str]:
    """Give the lines of a text one by one, so that they are not all held at once."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1


class Scanner:
    """The tokens of a text one after the other, matches of a pattern; they are not all held at once.

    Attributes
    ----------
    current : str
        The token that comes next; at the end it is empty.
    line : int
        The line of the current token, counted from 1.
    """

    ends = "the file ends"  # what an error says where no token is left

    def __init__(self, text: str, token: re.Pattern[str]) -> None:
        self._text, self._matches = text, token.finditer(text)
        self.advance()

    def advance(self) -> None:
        """Go on to the next token."""
        match = next(self._matches, None)
        self.current = match[0] if match else ""
        self._begin = match.start() if match else len(self._text.rstrip())

    @property
    def line(self) -> int:
        """The line of the current token."""
        return self._text.count("\n", 0, self._begin) + 1

    def refuse(self, wanted: str) -> NoReturn:
        """Say what must be here."""
        found = f"there is {brief(self.current)}" if self.current else self.ends
        raise LineError(self.line, f"{found} where {wanted} must be")

    def take(self, *wanted: str) -> str:
        """Take a token, which must be one of these."""
        token = self.current
        if token not in wanted:
            self.refuse(" or ".join(word or "the end of the file" for word in wanted))
        self.advance()
        return token

    def meet(self, *wanted: str) -> bool:
        """Take a token if it is one of these, and return whether it was."""
        if not self.current or self.current not in wanted:
            return False
        self.advance()
        return True


_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_FRACTION = re.compile(r"([+-]?\d+)/(\d+)", re.ASCII)


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
