"""Ingot: language models and compute kernels, in this process.

    import ingot

    model = ingot.Model("model.gguf")
    for piece in model.generate("Once upon a time", stream=True):
        print(piece, end="")

    y = ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=1e-6)

What fails raises ingot.Error, with the words that the program `ingot` says. Everything that computes lets other threads of
Python run meanwhile. docs/library-python.md is the guide.
"""

from ingot._ingot import Blocks, Error, Kernels, TextStream, __version__
from ingot.contracts import kernels, run, verify
from ingot.models import Model, Session, Tokenizer

__all__ = [
    "Blocks",
    "Error",
    "Kernels",
    "Model",
    "Session",
    "TextStream",
    "Tokenizer",
    "__version__",
    "kernels",
    "run",
    "verify",
]
