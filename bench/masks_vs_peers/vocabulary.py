"""A vocabulary as bytes, and sets of its tokens as whole numbers: bit N stands for token N."""

import json
import pathlib
import re


def byte_of_character():
    """The alphabet in which tokenizer.json spells bytes."""
    plain = [*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in plain]
    spelled = {chr(byte): byte for byte in plain}
    spelled.update({chr(256 + index): byte for index, byte in enumerate(others)})
    return spelled


class Vocabulary:
    def __init__(self, path):
        description = json.loads(pathlib.Path(path).read_text(encoding="utf-8"))
        config = json.loads(pathlib.Path(path).with_name("tokenizer_config.json").read_text(encoding="utf-8"))
        spelled = byte_of_character()
        pieces = {id: bytes(spelled[c] for c in text) for text, id in description["model"]["vocab"].items()}
        self.special_token_ids = []
        self.eos_token_id = None
        for token in description["added_tokens"]:
            pieces[token["id"]] = token["content"].encode()
            self.special_token_ids.append(token["id"])
            if token["content"] == config["eos_token"]:
                self.eos_token_id = token["id"]
        self.tokens = [pieces[id] for id in range(len(pieces))]
        bits = "".join("1" if any(byte in b'"{}[],:' for byte in piece) else "0" for piece in reversed(self.tokens))
        self.marks = int(bits, 2)
        self.texts = (1 << len(self.tokens)) - 1
        for id in self.special_token_ids:
            self.texts &= ~(1 << id)


def tokens_of(bits):
    for found in re.finditer(rb"[^\0]", bits.to_bytes((bits.bit_length() + 7) // 8, "little"), re.DOTALL):
        byte = found[0][0]
        for bit in range(8):
            if byte >> bit & 1:
                yield found.start() * 8 + bit


def choose(bits, generator):
    """One of the tokens, each as likely as another: by trying where there are many."""
    if bits.bit_count() > 1000:
        size = bits.bit_length()
        while True:
            token = generator.randrange(size)
            if bits >> token & 1:
                return token
    return generator.choice(list(tokens_of(bits)))
