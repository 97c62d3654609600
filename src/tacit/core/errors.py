"""The one exception that tacit raises for a wrong input."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

#: Characters of a word, and of a whole sentence, beyond which they are cut: a name may have thousands.
_WORD, _SENTENCE = 300, 2000
_LONG_WORDS = re.compile(rf"\S{{{_WORD + 1},}}")


class TacitError(ValueError):
    """A wrong input, told in one sentence: the thing, its value, and what would work.

    Parameters
    ----------
    sentence : object
        Long words, and what is longer than 2000 characters, are cut.

    Examples
    --------
    >>> import tacit
    >>> try:
    ...     tacit.make("chickn")
    ... except tacit.TacitError as error:
    ...     print(error)
    no game 'chickn'; did you mean 'chicken'? known: ...
    """

    def __init__(self, sentence: object = "") -> None:
        short = _LONG_WORDS.sub(lambda word: f"{word[0][: _WORD // 2]}…{word[0][-_WORD // 4 :]}", str(sentence))
        super().__init__(short if len(short) <= _SENTENCE else short[: _SENTENCE - 1] + "…")


def one_line(text: object, limit: int | None = None) -> str:
    """Return what somebody else says as a part of one sentence.

    >>> one_line(ValueError("two\\n  lines"))
    'two lines'
    """
    return " ".join(str(text).split())[:limit]


def sentence(error: BaseException) -> str:
    """Return an error as one sentence, with its type unless it is a TacitError.

    >>> sentence(TacitError("eta is -1")), sentence(ZeroDivisionError("division by zero"))
    ('eta is -1', 'ZeroDivisionError: division by zero')
    """
    return one_line(error if isinstance(error, TacitError) else f"{type(error).__name__}: {error}")


@contextmanager
def blame(beginning: str) -> Iterator[None]:
    """Tell what somebody else's code raises as one sentence, which begins like this. TacitErrors stay as they are.

    >>> with blame("coin failed in step"):
    ...     1 / 0
    Traceback (most recent call last):
    tacit.core.errors.TacitError: coin failed in step: ZeroDivisionError: division by zero
    """
    try:
        yield
    except TacitError:
        raise
    except (Exception, SystemExit) as error:
        raise TacitError(f"{beginning}: {sentence(error)}") from error


def brief(value: object, limit: int = 60) -> str:
    """Show a value within a sentence: its repr on one line, cut when long.

    >>> brief("good-state")
    "'good-state'"
    """
    try:
        text = one_line(repr(value))
    except Exception:  # of somebody else's object
        text = f"<{type(value).__name__}>"
    return text if len(text) <= limit else text[: limit - 1] + "…"
