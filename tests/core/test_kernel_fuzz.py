"""Damaged files of the compile cache: none is unpickled, none crashes, none changes a result."""

from __future__ import annotations

import pickle
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small_kernels import RESULTS, Kernel, kernels

from tacit.core import compilation
from tacit.core.compilation import kernel_directory


def damaged(content: bytes, others: list[bytes], rng: np.random.Generator) -> bytes:
    """Return a content in one of the ways in which files break."""
    size = len(content)
    at, length = int(rng.integers(size)), int(rng.integers(1, 512))
    other = others[int(rng.integers(len(others)))]
    flipped = bytearray(content)
    for place in rng.integers(size, size=int(rng.integers(1, 9))):
        flipped[place] ^= 1 << int(rng.integers(8))
    early = bytearray(content)  # a bit within the head or the digest
    early[int(rng.integers(64))] ^= 1 << int(rng.integers(8))
    ways = [
        bytes(flipped),
        bytes(early),
        content[:at],
        b"",
        content[at:],
        content + rng.bytes(length),
        content[:at] + bytes(length) + content[at + length :],
        content[:at] + content[at + length :],
        other,
        content[:at] + other[at:],
        other[:at] + content[at:],
        rng.bytes(size),
    ]
    return ways[int(rng.integers(len(ways)))]


class Fuzz:
    """Damages files one after the other, and counts."""

    def __init__(self, directory: Path, monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
        self.kernels = kernels(directory)
        self.rng = np.random.default_rng(seed)
        self.unpickled = 0

        def loads(content: bytes) -> object:
            self.unpickled += 1
            return pickle.loads(content)

        watched = SimpleNamespace(loads=loads, PicklingError=pickle.PicklingError)
        monkeypatch.setattr(compilation, "pickle", watched)

    def damage(self) -> Kernel:
        kernel = self.kernels[int(self.rng.integers(len(self.kernels)))]
        others = [each.content for each in self.kernels if each is not kernel]
        content = kernel.content
        while content == kernel.content:
            content = damaged(kernel.content, others, self.rng)
        kernel.place.write_bytes(content)
        return kernel

    def load(self, times: int) -> None:
        for _ in range(times):
            kernel = self.damage()
            assert not kernel.loads()
            kernel.place.write_bytes(kernel.content)
        assert self.unpickled == 0
        for kernel in self.kernels:
            assert kernel.loads()
        assert self.unpickled == len(self.kernels)

    def call(self, times: int) -> None:
        """The same, with a function that is compiled and called, and whose file is written anew."""
        for _ in range(times):
            self.unpickled = 0
            kernel = self.damage()
            assert kernel.result() == RESULTS[kernel.function]
            assert self.unpickled == 0
            assert kernel.loads()


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TACIT_CACHE_DIR", str(tmp_path))
    found = kernel_directory("0" * 24)
    assert found is not None
    return found


def test_hundreds_of_damaged_files(directory: Path, monkeypatch: pytest.MonkeyPatch):
    fuzz = Fuzz(directory, monkeypatch, seed=1)
    fuzz.load(400)
    fuzz.call(10)


@pytest.mark.slow
def test_thousands_of_damaged_files(directory: Path, monkeypatch: pytest.MonkeyPatch):
    fuzz = Fuzz(directory, monkeypatch, seed=2)
    fuzz.load(20_000)
    fuzz.call(1_200)
