"""Pictures of states as addresses that hold the whole image, which a page shows without asking for anything."""

from __future__ import annotations

import base64
import struct
import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

#: The largest side of a picture that is shown, in pixels.
LARGEST = 1024


def data_url(image: npt.NDArray[Any]) -> str | None:
    """Return an image, a uint8 array [height, width, 3], as a PNG in a `data:` address; None for anything else.

    >>> data_url(np.zeros((2, 2, 3), dtype=np.uint8))[:30]
    'data:image/png;base64,iVBORw0K'
    """
    if not isinstance(image, np.ndarray) or image.dtype != np.uint8 or image.ndim != 3 or image.shape[2] != 3:
        return None
    height, width = image.shape[:2]
    if not (0 < height <= LARGEST and 0 < width <= LARGEST):
        return None
    lines = np.zeros((height, 1 + 3 * width), dtype=np.uint8)  # each line begins with its filter, 0 for none
    lines[:, 1:] = image.reshape(height, -1)
    content = b"\x89PNG\r\n\x1a\n" + b"".join(
        _chunk(kind, data)
        for kind, data in (
            (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
            (b"IDAT", zlib.compress(lines.tobytes(), 9)),
            (b"IEND", b""),
        )
    )
    return "data:image/png;base64," + base64.b64encode(content).decode()


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
