"""Experiments as TOML files."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

from tacit.core import archive
from tacit.experiments import files, toml
from tacit.experiments.spec import Experiment
from tacit.games import is_file


def load(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment from a TOML file; a game file in it is looked for beside it."""
    place = archive.path(path)
    experiment = toml.load(place, Experiment)
    games = tuple(replace(game, name=_beside(place, game.name)) for game in experiment.games)
    scripts = tuple(str(place.parent / script) for script in experiment.scripts)
    return replace(experiment, games=games, scripts=scripts)


def save(experiment: Experiment, path: str | os.PathLike[str]) -> None:
    """Write an experiment as a TOML file."""
    files.write(archive.path(path), toml.dumps(experiment).encode())


def _beside(place: Path, game: str) -> str:
    return str(place.parent / game) if is_file(game) else game
