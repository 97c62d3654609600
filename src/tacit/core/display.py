"""Tables and sentences for a terminal, a notebook, a doctest and a program.

A `Document` is made once and rendered three ways: `str` and `repr` are plain text, which doctests and notebooks show; a
rich console draws it with lines and weights; `data` is what programs read.

Text of users and files is shown as it is in all of them, and nothing in it is acted upon. A name may hold an escape
sequence, a carriage return or a mark that reverses the direction of writing. A terminal obeys them, so they are shown
as Python writes them, e.g. `\\x1b`. What rich and matplotlib would take for markup is switched off where they are
called: `cli/options.py` and `figures/style.py`.
"""

from __future__ import annotations

import io
import json
import math
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

Cell = str | float | int | Fraction | None

#: The width of plain text, in which no table is folded.
_WIDE = 100_000


@dataclass(frozen=True)
class Table:
    """A titled table.

    Parameters
    ----------
    title : str
    columns : sequence of str
    rows : sequence of rows of str, numbers or None
        Numbers are written with four digits, fractions in full, both to the right; None is an empty cell.
    head : int
        How many of the first columns name the row.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    head: int = 1

    def cells(self) -> Iterator[list[str]]:
        """Yield the rows as text."""
        for row in self.rows:
            yield [cell_text(cell) for cell in row]

    def __str__(self) -> str:
        from rich.console import Console

        text = io.StringIO()
        table = self._drawn(None)
        Console(file=text, width=_WIDE, color_system=None, force_jupyter=False).print(table, end="")
        lines = [printable(self.title)] if self.title else []
        return "\n".join([*lines, *(line.rstrip() for line in text.getvalue().splitlines())])

    def _right(self) -> list[bool]:
        """Return which columns hold numbers."""
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * len(self.columns)
        return [bool(column) and all(_is_number(cell) or cell is None for cell in column) for column in columns]

    def __rich__(self) -> Any:
        """Return the table as rich draws it."""
        from rich import box
        from rich.console import Group
        from rich.text import Text

        title = [Text(printable(self.title), style="bold")] if self.title else []
        return Group(*title, self._drawn(box.SIMPLE_HEAD))

    def _drawn(self, box: Any) -> Any:
        from rich.table import Table as Drawn
        from rich.text import Text

        drawn = Drawn(box=box, pad_edge=False)
        for name, right in zip(self.columns, self._right(), strict=True):
            drawn.add_column(Text(printable(name)), justify="right" if right else "left")
        for row in self.cells():
            drawn.add_row(*(Text(text, style="cyan" if k < self.head else "") for k, text in enumerate(row)))
        return drawn


@dataclass(frozen=True)
class Document:
    """Sentences and tables for people, and the same as plain values for programs.

    `str` is plain text, and rich consoles draw it. `data` is a dict of what JSON has, with
    all digits. Of `results.table()`, `data["games"]` has a dict for each game: `game`, `by` (what is ranked), `rows`
    (`rank`, `learner`, `seeds`; `reward`, `value`, `welfare` and `gap` with `mean`, `ci95` and `std`, or None; `kind`,
    `p`) and `pairs` (`pair`, `p`). Of a game it is what `tacit show GAME --json` prints.

    Attributes
    ----------
    title : str
    parts : sequence of str and tables
    content : dict
        Of which `data` is made.

    Examples
    --------
    >>> import tacit
    >>> shown = tacit.solve(tacit.make("prisoners-dilemma"), "nash").policy.show()
    >>> sorted(shown.data), str(shown).splitlines()[0] == shown.title
    (['kind', 'places'], True)
    """

    title: str
    parts: Sequence[str | Table]
    content: dict[str, Any] | Callable[[], dict[str, Any]] = field(default_factory=dict)

    @cached_property
    def data(self) -> dict[str, Any]:
        """The same as JSON has it; made on first use where it may be large."""
        return self.content() if callable(self.content) else self.content

    def __getstate__(self) -> dict[str, Any]:
        """Write the data out, which a function would make."""
        return {"title": self.title, "parts": self.parts, "content": self.data}

    def _flags(self) -> Iterator[tuple[Any, bool, bool]]:
        """Yield each part, whether it is text, and whether it follows text."""
        after_text = True
        for part in self.parts:
            is_text = isinstance(part, str)
            yield part, is_text, after_text
            after_text = is_text

    def __str__(self) -> str:
        blocks = [printable(self.title)]
        for part, is_text, after_text in self._flags():
            if is_text and after_text:
                blocks[-1] += "\n" + printable(part)
            else:
                blocks.append(printable(part) if is_text else str(part))
        return "\n\n".join(blocks)

    def __repr__(self) -> str:
        return str(self)

    def __rich__(self) -> Any:
        """Return the document as rich draws it."""
        from rich.console import Group
        from rich.text import Text

        drawn: list[Any] = [Text(printable(self.title), style="bold")]
        for part, is_text, after_text in self._flags():
            drawn += [Text("")] if after_text and not is_text else []
            drawn.append(Text(printable(part)) if is_text else part.__rich__())
        return Group(*drawn)


def number(value: float, digits: int = 4) -> str:
    """Write a number with a few digits.

    >>> number(1 / 3), number(-0.0), number(45.5), number(1234567.0)
    ('0.3333', '0', '45.5', '1234567')
    """
    if value == 0:
        return "0"
    if float(value).is_integer() and abs(value) < 1e7:
        return str(int(value))
    return f"{value:.{digits}g}"


def drop_noise(values: Any, scale: float) -> Any:
    """Replace numbers by 0 where they are only rounding beside that scale.

    >>> drop_noise({"mean": 1e-18, "ci95": [-2e-17, 0.5]}, 2.0)
    {'mean': 0.0, 'ci95': [0.0, 0.5]}
    """
    if isinstance(values, dict):
        return {key: drop_noise(one, scale) for key, one in values.items()}
    if isinstance(values, list):
        return [drop_noise(one, scale) for one in values]
    return 0.0 if isinstance(values, float) and abs(values) <= 1e-12 * scale else values


#: The largest denominator that is shown. Two such fractions differ by 1e-6 at least, so that a float is near one alone.
_DENOMINATOR = 1000


def exact(value: float, digits: int | None = None) -> Fraction | float:
    """Return the fraction that a number surely is, unless four digits show it. Else the number, rounded to `digits`.

    >>> str(exact(1 / 3)), exact(0.25), exact(0.3333), exact(0.61923319, 4)
    ('1/3', 0.25, 0.3333, 0.6192)
    """
    near = Fraction(value).limit_denominator(_DENOMINATOR)
    same = abs(float(near) - value) <= 4e-16 * max(1.0, abs(value))
    if same and float(f"{value:.4g}") != float(near):
        return near
    return float(near) if same else value if digits is None else round(value, digits)


def few_numbers(values: Sequence[float], most: int = 4) -> str:
    """Write each agent's number: equal ones once, and of many the first.

    >>> few_numbers([1.5, 1.5]), few_numbers([1, 2, 3, 4, 5, 6]), few_numbers([7])
    ('1.5 each', '1, 2, 3, 4, … (6 agents)', '7')
    """
    written = [number(value) for value in values]
    if len(written) > 1 and len(set(written)) == 1:
        return f"{written[0]} each"
    return ", ".join(written[:most]) + (f", … ({len(written)} agents)" if len(written) > most else "")


def times(actions: tuple[int, ...]) -> str:
    """Write the agents' numbers of actions, e.g. "2×3" or, for many equal ones, "4^8"."""
    many = len(actions) > 4 and len(set(actions)) == 1
    return f"{actions[0]}^{len(actions)}" if many else "×".join(str(a) for a in actions)


def count(number: int, thing: str) -> str:
    """Write a number of things, e.g. "1 state" or "2 states"."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def interval(value: float, low: float, high: float) -> str:
    """Write a number and its interval with digits that show the width.

    >>> interval(22.987, 22.981, 22.995), interval(0.5, 0.5, 0.5 + 1e-16)
    ('22.987 [22.981, 22.995]', '0.5')
    """
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return number(value)
    ratio = max(abs(low), abs(high)) / (high - low)
    digits = min(max(4, 2 + math.ceil(math.log10(ratio))), 15) if math.isfinite(ratio) else 4
    return f"{value:.{digits}g} [{low:.{digits}g}, {high:.{digits}g}]"


def cell_text(cell: Cell, digits: int = 4) -> str:
    """Write a cell on one line, numbers with so many digits."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    return printable(cell) if isinstance(cell, str | Fraction) else number(cell, digits)


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float | Fraction) and not isinstance(cell, bool)


#: Control characters, format characters (bidirectional overrides, joiners), surrogates, line and paragraph separators.
_OBEYED = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: object, limit: int | None = None) -> str:
    """Return a text on one line, without control characters, cut with "…" beyond `limit`.

    >>> printable("a[bold]b $x$")
    'a[bold]b $x$'
    >>> print(printable("red \\x1b[31m, reversed \\u202e, two\\nlines"))
    red \\x1b[31m, reversed \\u202e, two\\nlines
    """
    shown = str(text)
    if limit is not None and len(shown) > limit:
        shown = shown[: limit - 1] + "…"
    if shown.isascii() and shown.isprintable():
        return shown
    return "".join(
        char.encode("unicode_escape").decode() if unicodedata.category(char) in _OBEYED else char for char in shown
    )


def printable_json(document: object) -> str:
    """Return JSON that is safe on a terminal and reads back the same.

    >>> print(printable_json({"name": "\\u202ea\\x9b×"}))
    {
      "name": "\\u202ea\\u009b×"
    }
    """
    text = json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False)
    if text.isascii() and "\x7f" not in text:
        return text
    return "".join(
        json.dumps(char)[1:-1] if char != "\n" and unicodedata.category(char) in _OBEYED else char for char in text
    ).replace("\x7f", "\\u007f")
