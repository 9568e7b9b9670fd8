"""llguidance's masks."""

import json

import llguidance

COMPACT = {"whitespace_flexible": False, "item_separator": ",", "key_separator": ":", "json_allow_general_unicode_escapes": True}


def grammar_of(schema):
    """All tokens that may follow, not only the one that its tokenizer would choose where bytes are forced."""
    options = {**(schema if isinstance(schema, dict) else {"allOf": [schema]}), "x-guidance": COMPACT}
    return '%llguidance {"no_forcing": true}\nstart: %json ' + json.dumps(options)


class Tokens:
    """What llguidance asks of a tokenizer; it encodes nothing that counts here."""

    def __init__(self, vocabulary):
        self.tokens, self.special_token_ids = vocabulary.tokens, vocabulary.special_token_ids
        self.eos_token_id, self.bos_token_id = vocabulary.eos_token_id, None

    def __call__(self, text):
        bytes_alone = {piece: id for id, piece in enumerate(self.tokens) if len(piece) == 1}
        return [bytes_alone[bytes([byte])] for byte in (text if isinstance(text, bytes) else text.encode())]


class Peer:
    def __init__(self, vocabulary):
        wrapper = llguidance.TokenizerWrapper(Tokens(vocabulary))
        self.tokenizer = llguidance.LLTokenizer(wrapper, eos_token=vocabulary.eos_token_id)
        self.matcher = None

    def begin(self, schema):
        """Whether it takes the schema."""
        grammar = llguidance.LLMatcher.grammar_from_lark(grammar_of(schema))
        self.matcher = llguidance.LLMatcher(self.tokenizer, grammar)
        return not self.matcher.is_error()

    def again(self):
        self.matcher.reset()

    def mask(self):
        """None: it gave up."""
        bits = int.from_bytes(self.matcher.compute_bitmask(), "little")
        return None if self.matcher.is_error() else bits

    def take(self, token):
        return self.matcher.consume_token(token)
