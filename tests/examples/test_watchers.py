"""The watchers for TensorBoard and Weights & Biases in the documents are run as they stand there."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "howto" / "curve.md"


def block(word: str) -> str:
    return next(code for code in re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL) if word in code)


def test_tensorboard_reads_what_its_writer_wrote(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("tensorboardX", reason="tensorboardX is not installed")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    exec(block("SummaryWriter"), names)
    [file] = (tmp_path / "runs" / "first").iterdir()
    content = file.read_bytes()
    assert content.count(b"reward") == content.count(b"gap") == len(names["run"].curve)


def test_weights_and_biases_gets_every_row(monkeypatch: pytest.MonkeyPatch):
    logged: list[tuple[dict[str, float], int]] = []

    class Board:
        def __enter__(self) -> Board:
            return self

        def __exit__(self, *error: object) -> None: ...

        def log(self, row: dict[str, float], *, step: int) -> None:
            logged.append((row, step))

    monkeypatch.setitem(sys.modules, "wandb", SimpleNamespace(init=lambda **options: Board()))
    names: dict[str, Any] = {}
    exec(block("wandb"), names)
    curve = names["run"].curve
    assert [step for _, step in logged] == curve["episode"].tolist()
    assert [row["gap"] for row, _ in logged] == curve["gap"].tolist()
