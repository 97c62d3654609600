"""Text files: read within stated memory, written atomically, and errors that tell the file and the line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tacit.core import archive, memory, reading
from tacit.core.atomic import written
from tacit.core.errors import TacitError

#: Bytes that reading takes for each byte of a file: the bytes and the string, which Python may store as 4 bytes each.
_PER_BYTE = 5

#: Bytes that splitting a line into words and turning these into numbers takes at most, for each character.
_PER_CHARACTER = 64

#: Lines up to this length are split without asking whether there is memory for it.
_LONG_LINE = 65_536


class LineError(TacitError):
    """A wrong input on a line other than the one that is being read."""

    def __init__(self, line: int, sentence: str) -> None:
        super().__init__(sentence)
        self.line = line


class Lines:
    """The lines of a text file one after the other, without comments and empty ones.

    Attributes
    ----------
    number : int
        The line that was read last, counted from 1.
    """

    def __init__(self, place: Path, *, comment: str) -> None:
        self.place = place
        self.number = 0
        self._lines = _split(read(place))
        self._comment = comment

    def next(self) -> str | None:
        """Return the next line that says something, or None at the end."""
        for line in self._lines:
            self.number += 1
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

    @contextmanager
    def located(self) -> Iterator[None]:
        """Put the file and the line before an error that is raised within."""
        try:
            yield
        except TacitError as error:
            line = error.line if isinstance(error, LineError) else max(self.number, 1)
            raise TacitError(f"{self.place}:{line}: {error}") from None


def read(place: Path) -> str:
    """Read a text file whole; anything else is refused by name."""
    content = reading.content(place, spread=_PER_BYTE)
    if not content.strip():
        raise TacitError(f"{place} is empty")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise TacitError(f"{place}:{line}: byte {content[error.start]:#04x} is not UTF-8, so it is not text") from None
    if "\0" in text:
        line = text.count("\n", 0, text.index("\0")) + 1
        raise TacitError(f"{place}:{line}: there is a null character; it is not a text file")
    return text


def write(target: str | os.PathLike[str], pieces: Iterable[str]) -> None:
    """Write a text file piece by piece atomically."""
    with written(archive.path(target)) as stream:
        for piece in pieces:
            stream.write(piece.encode())


def _split(text: str) -> Iterator[str]:
    """Give the lines of a text one by one, so that they are not all held at once."""
    start = 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield text[start:end]
        start = end + 1
