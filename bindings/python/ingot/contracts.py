"""Contracts by their names: what `ingot kernels` lists, on arrays."""

from __future__ import annotations

import threading
from typing import Any

from ingot import _ingot

_shared: _ingot.Kernels | None = None
_shared_lock = threading.Lock()


def _shared_kernels() -> _ingot.Kernels:
    """Made at the first call: it has threads, one for each CPU that this process may use."""
    global _shared
    if _shared is None:
        with _shared_lock:
            if _shared is None:
                _shared = _ingot.Kernels()
    return _shared


def run(
    name: str,
    /,
    *,
    out: Any = None,
    variant: str | None = None,
    on: _ingot.Kernels | None = None,
    **fields: Any,
) -> Any:
    """Run the contract `name` on arrays, and return what it writes.

    Fields have the contract's names (`ingot.kernels(name)` lists them). A tensor is an array of NumPy's, or of any library
    with DLPack; a type that NumPy has not is a `Blocks`. Nothing is copied: what a contract reads and writes is the memory
    of the arrays. An attribute is a number or a flag; left out, it is what the contract's header says.

    Outputs are made where the contract tells their shape. Otherwise, and to use memory that is there, `out` is an array,
    or a dict of arrays by the outputs' names; optional outputs are written if they are in it. States are read and written, and
    given as any other field.

    Returns the output, or a dict of them by name where there are several.

    `variant` runs that one and no other. `on` says whose threads compute: `ingot.Kernels(threads=1)` has its own. Without
    it all calls of a process share the same, and come one after another.
    """
    kernels_used = _shared_kernels() if on is None else on
    return kernels_used.run(name, fields, out, variant)


def kernels(name: str = "") -> list[dict[str, Any]]:
    """Describe operations: all of them, those of a family, or one.

    A dict each: name, family, equation, backward, fields (name, role, optional, is_tensor) and variants (name, needs, and
    state: "available", or why not).
    """
    return _ingot.kernels(name)


def verify(
    operation: str | None = None, *, variant: str | None = None, seed: int = 1, reduced: bool = False
) -> list[dict[str, Any]]:
    """Prove variants against their reference, as `ingot verify` does: all, those of a family, or of one operation.

    A dict each: operation, variant ("gradient" for the check of derivatives), status ("passed", "failed", "skipped"),
    worst_epsilons, cases, detail. One call at a time in a process; Ctrl-C ends it between operations. A variant that never
    comes back is not stopped: for that there is the program.
    """
    return _ingot.verify(operation or "", variant or "", seed, reduced)
