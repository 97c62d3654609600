"""Reading .dpomdp files of 6 MB: single entries, rows, small matrices, and matrices of long lines."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tacit.games import dpomdp

HEAD = "agents: 2\ndiscount: 1\nvalues: reward\nstates: {S}\nstart: uniform\nactions:\n{A}\n{A}\nobservations:\n1\n1\n"
TAIL = "O: * :\nuniform\nR: * : * : 1\n"


def single(S: int = 500, A: int = 10) -> str:
    joints = [f"{a} {b}" for a in range(A) for b in range(A)]
    return "".join(
        f"T: {joint} : {s} : {(7 * s + k) % S} : 0.250000\n" for s in range(S) for joint in joints for k in range(4)
    )


def rows(S: int = 10, A: int = 100) -> str:
    row = " ".join(["0.1"] * S)
    return "".join(f"T: {joint} : {s} :\n{row}\n" for joint in range(A * A) for s in range(S))


def matrices(S: int, A: int) -> str:
    matrix = "\n".join(" ".join("1.0" if k == s else "0.0" for k in range(S)) for s in range(S))
    return "".join(f"T: {joint} :\n{matrix}\n" for joint in range(A * A))


def rewards(S: int = 50, A: int = 10) -> str:
    entries = (
        f"R: {joint} : {s} : {k} : 0 0 : 0.250000\n" for joint in range(A * A) for s in range(S) for k in range(40)
    )
    return "T: * :\nuniform\n" + "".join(entries)


if __name__ == "__main__":
    cases = {
        "single entries": HEAD.format(S=500, A=10) + single() + TAIL,
        "rows of 10": HEAD.format(S=10, A=100) + rows() + TAIL,
        "matrices of 10×10": HEAD.format(S=10, A=120) + matrices(10, 120) + TAIL,
        "matrices of 300×300": HEAD.format(S=300, A=4) + matrices(300, 4) + TAIL,
        "rewards of what follows": HEAD.format(S=50, A=10) + TAIL + rewards(),
    }
    with tempfile.TemporaryDirectory() as folder:
        for name, text in cases.items():
            path = Path(folder, "game.dpomdp")
            path.write_text(text, encoding="utf-8")
            begin = time.perf_counter()
            dpomdp.load_dpomdp(path, horizon=2)
            print(f"{name:>24}: {path.stat().st_size / 1e6:.1f} MB in {time.perf_counter() - begin:.2f} s")
