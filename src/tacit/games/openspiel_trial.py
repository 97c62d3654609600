"""Load an OpenSpiel game in a process of its own first, where it can be stopped.

Some games do their work when they are made: a blotto lists all its actions, of which 100 coins on 6 fields have
96,560,646. Nothing in OpenSpiel bounds that, nor can it be interrupted, and some parameters end the whole process. So a
game with parameters is made in another process with a limit of time and memory, which tells how large it is; 0.1 s.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tacit.core import memory
from tacit.core.errors import TacitError, brief

#: Seconds of computing, seconds in all (it may wait for a file), and bytes.
CPU, WALL, MEMORY = 5, 60, 2_000_000_000

_TRIAL = """
import json, sys
text, folder, cpu, size, limit = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    resource.setrlimit(resource.RLIMIT_AS, (size, size))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
except (ImportError, ValueError, OSError):
    pass
sys.path.append(folder)
import pyspiel
try:
    game = pyspiel.load_game(text)
    actions = game.num_distinct_actions()
    if actions < 1 or min(game.max_game_length(), game.max_chance_outcomes()) < 0:
        raise ValueError("vector::")  # before it writes where it must not
    if actions <= limit and game.max_chance_outcomes() <= limit:
        state = game.new_initial_state()
        str(state)
        if not state.is_chance_node():
            [state.legal_actions(i) for i in range(game.num_players())]
    print(json.dumps({"actions": actions}))
except MemoryError:
    print(json.dumps({"memory": True}))
except Exception as error:
    print(json.dumps({"error": " ".join(str(error).split())[:300]}))
"""


def reason(said: str) -> str:
    """Return what OpenSpiel said, or what a size means that C++ refuses."""
    sizes = ("vector::", "basic_string::")
    return "one of its parameters is negative or far too large" if any(size in said for size in sizes) else said


def tried(pyspiel: Any, text: str, limit: int) -> None:
    """Raise if a game cannot be made within bounds, or has more actions than the limit."""
    if not sys.executable or "(" not in text:
        return
    folder = str(Path(pyspiel.__file__).parent)
    size = min(MEMORY, memory.available())
    arguments = [text, folder, *map(str, (CPU, size, limit))]
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-c", _TRIAL, *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=WALL,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise TacitError(f"OpenSpiel does not come to an end making {brief(text)}; make it smaller") from None
    except (OSError, ValueError):  # no process to be had, or no argument of one: then it is made here
        return
    found: dict[str, Any] = {}
    with contextlib.suppress(ValueError, IndexError):
        found = json.loads(done.stdout.splitlines()[-1])
    if found.get("memory"):
        raise TacitError(f"OpenSpiel takes more than {memory.human(size)} to make {brief(text)}; make it smaller")
    if done.returncode < 0:
        raise TacitError(
            f"OpenSpiel takes more than {CPU} s to make {brief(text)}, or fails at it altogether; make it smaller"
        )
    if "error" in found:  # told here, since OpenSpiel prints it besides
        raise TacitError(f"OpenSpiel cannot play {brief(text)}: {reason(found['error'])}")
    if found.get("actions", 0) > limit:
        raise TacitError(f"{text} has up to {found['actions']:,} actions; give it parameters that make it smaller")
