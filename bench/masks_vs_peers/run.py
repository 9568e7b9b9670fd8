#!/usr/bin/env python3
"""Masks against those of other libraries: on each schema some random walks, and at every step the sets of tokens.

    PYTHONPATH=WHERE_THEY_ARE bench/masks_vs_peers/run.py llguidance[,xgrammar] build/bin/bench_mask_walk TOKENIZER.json \
        --schemas FOLDER [--count 200] [--walks 50] [--steps 60] [--seed 1] [--longest BYTES]

FOLDER holds files of MaskBench ({"schema": ..., "tests": ...}; BFCL's functions are among them) or plain schemas.
All write JSON without white space. A step goes on by a token that all allow. Where a set differs from ours, each token
that one alone allows must be one that docs/decisions/039 says why (`REASONS` below), or one at which another peer stands
with us: then it is the first one's matter. Anything else is a failure. xgrammar compiles many a long schema for minutes:
--longest leaves those out, and stopped by SIGINT the script tells what it has.
"""
import argparse
import collections
import functools
import importlib
import json
import operator
import pathlib
import random
import sys

from ours import Ours
from vocabulary import Vocabulary, choose, tokens_of

END = b"<end>"  # in the place of a token's bytes: that the text may end


class Place:
    """Where a JSON text ends so far: inside of a string or not, and how far into an escape."""

    def __init__(self, text):
        self.text, self.is_inside, self.escape = text, False, b""
        for byte in text:
            if self.escape:
                self.escape += bytes([byte])
                if len(self.escape) == 2 and byte != ord("u") or len(self.escape) == 6:
                    self.escape = b""
            elif self.is_inside and byte == ord("\\"):
                self.escape = b"\\"
            elif byte == ord('"'):
                self.is_inside = not self.is_inside


def reason_of_llguidance(place, token, side, schema):
    """Why one side alone may allow a token. None: nobody has said why."""
    if token == END or (not place.is_inside and b'"' not in token):
        return None
    if place.escape or b"\\" in token:
        return "escapes"
    if side == "ours" and b"\x7f" in token:
        return "delete"
    if side == "theirs" and '"format"' in schema:
        return "formats"
    if "\\\\s" in schema and any(byte >= 0x80 for byte in token):
        return "spaces"
    return None


def reason_of_xgrammar(place, token, side, schema):
    if token == END:
        return None
    if place.escape or b"\\" in token:
        return "escapes"
    if side == "theirs" and any(byte < 0x20 for byte in token):
        return "control characters" if place.is_inside or b'"' in token else "white space"
    if side == "theirs" and not place.is_inside and b" " in token.split(b'"')[0]:
        return "white space"
    if side == "ours" and b"\x7f" in token:
        return "delete"
    if side == "ours" and (b',"' in token or not place.is_inside and (b"," in token or place.text.endswith(b","))):
        return "white space"
    if side == "ours" and not place.is_inside and place.text.endswith(b"-") and token.startswith(b"0"):
        return "zero with a sign"
    if (place.is_inside or b'"' in token) and '"pattern' in schema:
        return "patterns"
    if place.is_inside and '"format"' in schema:
        return "formats"
    if side == "theirs" and '"allOf"' in schema:
        return "several schemas of one value"
    return None


REASONS = {"llguidance": reason_of_llguidance, "xgrammar": reason_of_xgrammar}


def schemas_of(arguments):
    paths = sorted(pathlib.Path(arguments.schemas).glob("*.json"))
    random.Random(arguments.seed).shuffle(paths)
    for path in paths:
        value = json.loads(path.read_text(encoding="utf-8"))
        schema = value["schema"] if isinstance(value, dict) and "tests" in value else value
        if len(json.dumps(schema)) <= arguments.longest:
            yield path.name, schema


class Comparison:
    def __init__(self, arguments):
        self.arguments = arguments
        self.vocabulary = Vocabulary(arguments.tokenizer)
        self.ours = Ours(arguments.program, arguments.tokenizer)
        self.peers = {name: importlib.import_module(f"{name}_peer").Peer(self.vocabulary) for name in arguments.peers.split(",")}
        self.generator = random.Random(arguments.seed)
        self.tally, self.examples = collections.Counter(), collections.defaultdict(list)

    def compare_schema(self, name, schema):
        if self.ours.ask("schema " + json.dumps(schema)) != "ok":
            self.tally["refused by us"] += 1
            return
        refused = [peer for peer in self.peers if not self.peers[peer].begin(schema)]
        for peer in refused:
            self.tally[f"refused by {peer}"] += 1
        if not refused:
            self.tally["schemas"] += 1
            for _ in range(self.arguments.walks):
                self.walk(name, json.dumps(schema))

    def walk(self, name, schema):
        self.ours.ask("again")
        for peer in self.peers.values():
            peer.again()
        text = b""
        for _ in range(self.arguments.steps):
            masks = {"ours": self.ours.mask(), **{name: peer.mask() for name, peer in self.peers.items()}}
            if None in masks.values():
                self.tally["stopped by a limit"] += 1
                return
            self.compare_masks(masks, name, schema, text)
            shared = functools.reduce(operator.and_, masks.values()) & self.vocabulary.texts
            if not shared:
                return
            # Marks of JSON more often than their share, or strings never end.
            marks = shared & self.vocabulary.marks
            chosen = choose(marks if marks and self.generator.random() < 0.5 else shared, self.generator)
            piece = self.vocabulary.tokens[chosen]
            taken = [self.ours.ask(f"token {chosen}") == "ok", *(peer.take(chosen) for peer in self.peers.values())]
            if not all(taken):
                self.note("refused after a mask", (name, text[-60:], piece))
                return
            text += piece

    def compare_masks(self, masks, name, schema, text):
        self.tally["steps"] += 1
        counted = self.vocabulary.texts | 1 << self.vocabulary.eos_token_id
        place = Place(text)
        for peer in self.peers:
            told = set()
            different = (masks["ours"] ^ masks[peer]) & counted
            if not different:
                self.tally[f"{peer}: equal"] += 1
            for token in tokens_of(different):
                is_ours = masks["ours"] >> token & 1
                side = "ours" if is_ours else "theirs"
                piece = self.vocabulary.tokens[token] if token != self.vocabulary.eos_token_id else END
                with_us = any(masks[other] >> token & 1 == is_ours for other in self.peers if other != peer)
                why = REASONS[peer](place, piece, side, schema) or ("against all others" if with_us else "?")
                what = f"{peer}: {why}, {side} alone"
                if what not in told:
                    self.note(what, (name, text[-60:], piece))
                told.add(what)

    def note(self, what, example):
        self.tally[what] += 1
        self.examples[what].append(example)

    def print(self):
        for what, count in sorted(self.tally.items()):
            names = len({name for name, *_ in self.examples[what]})
            print(f"{count:8} {what}" + (f", of {names} schemas" if names else ""))
        for what, found in sorted(self.examples.items()):
            for example in found[:: max(1, len(found) // self.arguments.examples)][: self.arguments.examples]:
                print(f"  {what}: {example}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("peers")
    parser.add_argument("program")
    parser.add_argument("tokenizer")
    parser.add_argument("--schemas", required=True)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--walks", type=int, default=50)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--longest", type=int, default=sys.maxsize)
    parser.add_argument("--examples", type=int, default=4)
    arguments = parser.parse_args()
    comparison = Comparison(arguments)
    try:
        for name, schema in schemas_of(arguments):
            if comparison.tally["schemas"] == arguments.count:
                break
            comparison.compare_schema(name, schema)
    except KeyboardInterrupt:
        print("stopped; so far:")
    comparison.print()
    return 1 if any("?" in what or what.startswith("refused after") for what in comparison.tally) else 0


if __name__ == "__main__":
    sys.exit(main())
