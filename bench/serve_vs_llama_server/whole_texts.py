#!/usr/bin/env python3
"""Copies a GGUF file so that the copy only ever says whole characters.

usage: whole_texts.py MODEL.gguf COPY.gguf

llama-server fails a request when its text is not UTF-8, even of a completion; prompts of arbitrary tokens, and weights
that nobody trained, lead to such texts in a few words. In the copy, the rows of the output that stand for tokens which
are not whole characters, or which have no text, are zero: their logits are 0, below the greatest of all others. Both
servers get the copy, and do the same arithmetic as with the original.
"""

import shutil
import struct
import sys
from pathlib import Path

# Kinds of numbers in GGUF, as struct spells them.
NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
TEXT, LIST = 8, 9
# Types of tensors: elements and bytes of a block.
BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 3: (32, 20), 6: (32, 22), 7: (32, 24), 8: (32, 34), 10: (256, 84),
          11: (256, 110), 12: (256, 144), 13: (256, 176), 14: (256, 210), 30: (1, 2)}  # fmt: skip
NORMAL, USER_DEFINED = 1, 4  # of tokens; the others are unknown, control, unused and single bytes


class Reader:
    def __init__(self, file):
        self.file = file

    def number(self, code: str):
        return struct.unpack("<" + code, self.file.read(struct.calcsize("<" + code)))[0]

    def text(self) -> bytes:
        return self.file.read(self.number("Q"))

    def value(self, kind: int):
        if kind == TEXT:
            return self.text()
        if kind == LIST:
            element, count = self.number("I"), self.number("Q")
            if element in NUMBERS:
                code = f"<{count}{NUMBERS[element]}"
                return list(struct.unpack(code, self.file.read(struct.calcsize(code))))
            return [self.value(element) for _ in range(count)]
        return self.number(NUMBERS[kind])


def bytes_of_characters() -> dict[str, int]:
    """Byte-level vocabularies spell a byte that is no printable character as one from 256 on."""
    printable = [*range(33, 127), *range(161, 173), *range(174, 256)]
    spelled = {chr(byte): byte for byte in printable}
    others = (byte for byte in range(256) if byte not in printable)
    return spelled | {chr(256 + index): byte for index, byte in enumerate(others)}


def is_whole(token: bytes, kind: int, is_byte_level: bool, spelled: dict[str, int]) -> bool:
    if kind not in (NORMAL, USER_DEFINED) or not token:
        return False
    if not is_byte_level:
        return True
    try:
        bytes(spelled[character] for character in token.decode()).decode()
    except (KeyError, UnicodeDecodeError):
        return False
    return True


def silence(path: Path) -> tuple[int, int]:
    """How many tokens were silenced, of how many."""
    with path.open("r+b") as file:
        reader = Reader(file)
        if file.read(4) != b"GGUF" or reader.number("I") not in (2, 3):
            raise ValueError("expected a GGUF file of version 2 or 3")
        tensor_count, key_count = reader.number("Q"), reader.number("Q")
        keys = {}
        for _ in range(key_count):
            name = reader.text()
            keys[name] = reader.value(reader.number("I"))
        tensors = {}
        for _ in range(tensor_count):
            name = reader.text()
            shape = [reader.number("Q") for _ in range(reader.number("I"))]
            tensors[name] = (shape, reader.number("I"), reader.number("Q"))
        alignment = keys.get(b"general.alignment", 32)
        data = -(-file.tell() // alignment) * alignment

        shape, kind, offset = tensors.get(b"output.weight") or tensors[b"token_embd.weight"]
        elements, block_bytes = BLOCKS[kind]
        row_bytes = shape[0] // elements * block_bytes
        tokens, kinds = keys[b"tokenizer.ggml.tokens"], keys[b"tokenizer.ggml.token_type"]
        is_byte_level, spelled = keys[b"tokenizer.ggml.model"] == b"gpt2", bytes_of_characters()
        silenced = [number for number, (token, kind) in enumerate(zip(tokens, kinds))
                    if not is_whole(token, kind, is_byte_level, spelled)]  # fmt: skip
        for number in silenced:
            file.seek(data + offset + number * row_bytes)
            file.write(bytes(row_bytes))
        return len(silenced), len(tokens)


def main(arguments: list[str]) -> int:
    if len(arguments) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    source, copy = Path(arguments[1]), Path(arguments[2])
    shutil.copyfile(source, copy)
    try:
        silenced, count = silence(copy)
    except (KeyError, ValueError, struct.error) as reason:
        copy.unlink()
        print(f"{source}: expected a GGUF file with a vocabulary and a known block format: {reason}", file=sys.stderr)
        return 1
    print(f"{copy}: {silenced} of {count} tokens are never said")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
