"""Alg. 1 and Alg. 6 of the paper as they stand there, in plain Python, with dictionaries and no shortcuts.

Corrected where the proofs need it: √(ι/(A·T)) in Alg. 1, and in Alg. 6 the charge on the column of the action played.
Steps h count from 1, as in the paper. V̲ is that of the analysis. Rewards must lie in [0, 1].
"""

from __future__ import annotations

import math

import numpy as np


class Transcribed:
    """One agent; `kind` is "cce" (Alg. 1) or "ce" (Alg. 6)."""

    def __init__(self, kind: str, S: int, A: int, H: int, iota: float, bonus: float) -> None:
        self.kind, self.S, self.A, self.H, self.iota, self.bonus = kind, S, A, H, iota, bonus
        cells = [(h, s) for h in range(1, H + 2) for s in range(S)]
        self.upper = {(h, s): float(H - h + 1) for h, s in cells}
        self.lower = dict.fromkeys(cells, 0.0)
        self.N = dict.fromkeys(cells, 0)
        self.N_stage = dict.fromkeys(cells, 0)
        self.r = dict.fromkeys(cells, 0.0)
        self.v = dict.fromkeys(cells, 0.0)
        self.v_lower = dict.fromkeys(cells, 0.0)
        self.T = dict.fromkeys(cells, H)
        self.mu = {cell: np.full(A, 1 / A) for cell in cells}
        self.L = {cell: np.zeros(A) if kind == "cce" else np.zeros((A, A)) for cell in cells}
        self.bound = 0.0  # Σ_k (V̄_1 − V̲_1)(s_1^k)

        ends, total, e = set(), 0, H
        while total < 10**6:
            total += e
            ends.add(total)
            e = (H + 1) * e // H
        self.ends = ends

    def act(self, h: int, s: int, u: float) -> int:
        cumulative = 0.0
        for a in range(self.A - 1):
            cumulative += self.mu[h, s][a]
            if u < cumulative:
                return a
        return self.A - 1

    def learn(self, h: int, s: int, a: int, r: float, s_next: int) -> None:
        cell, H, A = (h, s), self.H, self.A
        if h == 1:
            self.bound += self.upper[cell] - self.lower[cell]
        ahead, ahead_lower = (0.0, 0.0) if h == H else (self.upper[h + 1, s_next], self.lower[h + 1, s_next])
        self.N[cell] += 1
        self.N_stage[cell] += 1
        n = self.N_stage[cell]
        self.r[cell] += r
        self.v[cell] += ahead
        self.v_lower[cell] += ahead_lower
        loss = (H - h + 1 - (r + ahead)) / H
        if self.kind == "cce":
            eta = math.sqrt(self.iota / (A * self.T[cell]))
            self.L[cell][a] += loss / (self.mu[cell][a] + eta / 2)
            weight = np.exp(-eta * self.L[cell])
            self.mu[cell] = weight / weight.sum()
        else:
            eta = math.sqrt(self.iota / self.T[cell])
            p = self.mu[cell]
            for b in range(A):
                for a_prime in range(A):
                    if a == a_prime:
                        self.L[cell][b, a_prime] += p[b] * loss / (p[a] + eta)
            weight = np.exp(-eta * self.L[cell])
            self.mu[cell] = stationary(weight / weight.sum(axis=1, keepdims=True))
        if self.N[cell] in self.ends:
            power = 1 if self.kind == "cce" else 2
            b = self.bonus * math.sqrt(H**2 * A**power * self.iota / n)
            self.upper[cell] = min(self.r[cell] / n + self.v[cell] / n + b, H - h + 1)
            self.lower[cell] = max(self.r[cell] / n + self.v_lower[cell] / n - b, 0.0)
            self.N_stage[cell] = 0
            self.r[cell] = self.v[cell] = self.v_lower[cell] = 0.0
            self.T[cell] = (H + 1) * self.T[cell] // H
            self.mu[cell] = np.full(A, 1 / A)
            self.L[cell][...] = 0.0


def stationary(q: np.ndarray) -> np.ndarray:
    """Solve p = p·q, Σ p = 1 by least squares."""
    A = len(q)
    system = np.vstack([q.T - np.eye(A), np.ones(A)])
    return np.linalg.lstsq(system, np.append(np.zeros(A), 1.0), rcond=None)[0]
