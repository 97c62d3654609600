"""Compile kernels for the loops that they are linked into, and not on their own.

numba optimises every function by itself and turns it into machine code, though a kernel is only ever called by compiled
code, into which it is linked before that is optimised in turn. Here a kernel stays what it was before these steps, and
a loop is optimised once, with all that it calls: a third less time for the first call of a learner; the same bits, and
loops as fast as before.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class Linked(JITCodeLibrary):
    """The code of a kernel and of the kernels it calls: to be linked into others, never run."""

    def _optimize_final_module(self) -> None:
        """Leave it to the loop."""

    def _finalize_final_module(self) -> None:
        """Be ready to be linked; numba makes machine code here."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LinkedLowering(NativeLowering):
    """numba's pass that makes a function's code, without the machine code."""

    _name = "tacit_linked_lowering"

    def run_pass(self, state: Any) -> bool:
        """Make the code, and an entry point that only stands for it: Python cannot call a kernel."""
        state.library = Linked(state.targetctx.codegen(), state.func_id.func_qualname)
        flags = state.flags
        flags.no_compile = flags.no_cpython_wrapper = flags.no_cfunc_wrapper = True
        super().run_pass(state)
        made, name = state["cr"], state.func_id.func_name
        entry = _dynfunc.make_function(made.fndesc.lookup_module(), name, "", 0, made.env, (state.library,))
        state.targetctx.insert_user_function(entry, made.fndesc, [state.library])
        state["cr"] = made._replace(cfunc=entry)
        return True


class KernelCompiler(CompilerBase):
    """numba's compiler with `LinkedLowering`."""

    def define_pipelines(self) -> list[Any]:
        """Return numba's passes, one of them exchanged."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(LinkedLowering if one is NativeLowering else one, said) for one, said in passes.passes]
        passes.finalize()
        return [passes]


def with_environments(result: Any) -> Any:
    """Give the kernels in a compiled loop their environments, without which `print` in a kernel would never return."""
    for environment in result._find_referenced_environments():
        result.library.codegen.set_env(environment.env_name, environment)
    return result
