"""A struct at a fixed address, for compiled functions that are called at every step.

numba unpacks every array of a struct at every call, some 0.1 µs each, and finds out the types of all arguments before:
with forty arrays that is more than the agents' own work. A `Pinned` struct is unpacked once, and a call gets its
address as a number (measured: 0.15 µs instead of 2 for a struct of 18 arrays).

    def turn(pinned, h):
        struct = unpin(pinned)
        ...

    call = entry(turn, pinned, 0)    # compiled for arguments like these, which are not looked at again
    call(3)

Kernels count no references (see `generics.OPTIONS`), so what lies at the address stays valid as long as the object
keeps the struct alive. Where numba does not say how large a struct is, it is unpacked at every call.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from numba import types
from numba.extending import NativeValue, intrinsic, models, overload, register_model, unbox

from tacit.core.beyond import cpu_target
from tacit.core.compilation import compile_loop
from tacit.core.generics import OPTIONS


class PinnedType(types.Type):
    """The compiler's type of a pinned struct."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner
        super().__init__(name=f"Pinned({inner})")

    @property
    def key(self) -> Any:
        """The type of what is pinned."""
        return self.inner


register_model(PinnedType)(models.OpaqueModel)  # a pointer


class Pinned:
    """A struct, unpacked; replace it with another of the same type by `replace`."""

    def __init__(self, struct: Any) -> None:
        self.struct = struct
        self.pinned = cpu_target is not None and not numba.config.DISABLE_JIT
        if not self.pinned:
            return
        self._numba_type_ = PinnedType(numba.typeof(struct))
        context = cpu_target.target_context
        size = context.get_abi_sizeof(context.get_value_type(self._numba_type_.inner))
        self._place = np.zeros(size // 16 + 2, dtype=np.complex128)
        self.address = self._place.ctypes.data
        loop: Any = compile_loop(_pin, struct)
        self._pin = loop.compile((self._numba_type_.inner, self._numba_type_))
        self._pin(struct, self.address)

    def replace(self, struct: Any) -> None:
        """Pin another struct in the place of this one."""
        if self.pinned and numba.typeof(struct) != self._numba_type_.inner:
            raise TypeError("a struct of another type cannot take the place of a pinned one")
        self.struct = struct
        if self.pinned:
            self._pin(struct, self.address)


@unbox(PinnedType)
def _address(kind, value, c):
    return NativeValue(c.pyapi.long_as_voidptr(value))


@intrinsic
def _store(context, pinned, struct):
    def write(context, builder, signature, args):
        place, value = args
        builder.store(value, builder.bitcast(place, value.type.as_pointer()))
        return context.get_dummy_value()

    return types.void(pinned, struct), write


@intrinsic
def _load(context, pinned):
    def read(context, builder, signature, args):
        kind = context.get_value_type(signature.return_type)
        return builder.load(builder.bitcast(args[0], kind.as_pointer()))

    return pinned.inner(pinned), read


def _pin(struct, pinned):
    _store(pinned, struct)


def unpin(pinned):
    """Return the struct that is pinned, in compiled code as well. One that is not, as it is."""
    return pinned.struct if isinstance(pinned, Pinned) else pinned


def _unpin(pinned: Any) -> Any:
    return (lambda pinned: _load(pinned)) if isinstance(pinned, PinnedType) else (lambda pinned: pinned)


overload(unpin, strict=False, jit_options=OPTIONS)(_unpin)


def entry(function: Callable[..., Any], pinned: Pinned, *others: Any) -> Callable[..., Any]:
    """Return a function of what follows the struct, compiled for arguments like these.

    What it is called with must be of the same types. The struct has to be kept alive by whoever calls.
    """
    loop: Any = compile_loop(function, pinned.struct)
    if not pinned.pinned:
        return lambda *args: loop(pinned.struct, *args)
    return partial(loop.compile(tuple(numba.typeof(one) for one in (pinned, *others))), pinned.address)
