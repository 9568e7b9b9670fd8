"""xgrammar's masks. Nothing is asked of torch and transformers, which it imports: where they are absent, others of their name
stand in. Needs numpy, apache-tvm-ffi and pydantic beside it.
"""

import importlib.util
import json
import sys
import unittest.mock

import numpy
import tvm_ffi  # noqa: F401  before the stand-ins: it would take them for the real ones

for absent in ("torch", "transformers"):
    if importlib.util.find_spec(absent) is None:
        sys.modules[absent] = unittest.mock.MagicMock()

import xgrammar  # noqa: E402


class Peer:
    def __init__(self, vocabulary):
        # Without bytes, so that no text has them.
        tokens = list(vocabulary.tokens)
        for id in vocabulary.special_token_ids:
            tokens[id] = b""
        information = xgrammar.TokenizerInfo(tokens, stop_token_ids=[vocabulary.eos_token_id])
        self.compiler = xgrammar.GrammarCompiler(information, max_threads=1, cache_enabled=False)
        self.bits = numpy.full((1, (len(tokens) + 31) // 32), -1, dtype=numpy.int32)
        self.matcher = None

    def begin(self, schema):
        """Whether it takes the schema."""
        try:
            grammar = self.compiler.compile_json_schema(
                json.dumps(schema), any_whitespace=False, separators=(",", ":"), strict_mode=False
            )
        except (RuntimeError, ValueError):
            return False
        self.matcher = xgrammar.GrammarMatcher(grammar)
        return True

    def again(self):
        self.matcher.reset()

    def mask(self):
        """All tokens where it need not be applied."""
        if not self.matcher.fill_next_token_bitmask(self.bits):
            self.bits.fill(-1)
        return int.from_bytes(self.bits.tobytes(), "little")

    def take(self, token):
        return self.matcher.accept_token(token)
