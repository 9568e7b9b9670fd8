#!/usr/bin/env python3
"""Texts of random schemas against a validator: whatever our masks let through is valid.

    PYTHONPATH=WHERE_JSONSCHEMA_IS bench/masks_vs_peers/random_schemas.py build/bin/bench_mask_walk TOKENIZER.json \
        [--schemas 1000] [--walks 5] [--seed 1]

Schemas are made of all keywords inside of one another, negations above all: what is narrower inside of a `not` is wider
outside. A schema that is refused is counted by the word that the refusal names.
"""
import argparse
import collections
import json
import random
import sys

import jsonschema

from ours import Ours
from vocabulary import Vocabulary, choose

NAMES = ("a", "b", "c", "x", "ab")
TYPES = ("null", "boolean", "number", "integer", "string", "array", "object")
VALUES = (None, True, False, 0, 1, -1, 5, 1.5, "", "a", "ab", "0", [], [1], ["a", 1], {}, {"a": 1}, {"a": "x", "b": None})
NUMBERS = (0, 1, -1, 2, 5, 10, 0.5, -1.5, 100)
PATTERNS = ("^a", "b$", "^[ab]*$", "x", "^(a|b){2,3}$", "^$", "[0-9]", "^a?b?c?$")
STEPS, LONG = 120, 80


class Schemas:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def some(self, values, least, most):
        return self.random.sample(values, self.random.randint(least, most))

    def leaf(self):
        pick = self.random.choice
        return pick((
            lambda: {"type": pick(TYPES)},
            lambda: {"type": self.some(TYPES, 1, 4)},
            lambda: {"enum": self.some(VALUES, 1, 4)},
            lambda: {"const": pick(VALUES)},
            lambda: {pick(("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")): pick(NUMBERS)},
            lambda: {"multipleOf": pick((1, 2, 3, 0.5, 0.25, 7))},
            lambda: {pick(("minLength", "maxLength")): self.random.randint(0, 4)},
            lambda: {"pattern": pick(PATTERNS)},
            lambda: {pick(("minItems", "maxItems")): self.random.randint(0, 3)},
            lambda: {pick(("minProperties", "maxProperties")): self.random.randint(0, 3)},
            lambda: {"required": self.some(NAMES, 1, 2)},
            lambda: {"dependentRequired": {pick(NAMES): self.some(NAMES, 1, 1)}},
        ))()  # fmt: skip

    def one(self, depth):
        if depth == 0:
            return self.leaf()
        pick, schema = self.random.choice, lambda: self.one(depth - 1)
        several = lambda: [schema() for _ in range(self.random.randint(1, 3))]  # noqa: E731
        parts = (
            self.leaf,
            lambda: {"not": schema()},
            lambda: {"if": schema(), "then": schema(), "else": schema()},
            lambda: {pick(("anyOf", "oneOf", "allOf")): several()},
            lambda: {"properties": {name: schema() for name in self.some(NAMES, 1, 3)}},
            lambda: {"additionalProperties": schema()},
            lambda: {"patternProperties": {pick(PATTERNS): schema()}},
            lambda: {"propertyNames": schema()},
            lambda: {"items": schema()},
            lambda: {"prefixItems": several()},
            lambda: {"contains": schema(), "minContains": self.random.randint(0, 2)},
            lambda: {"dependentSchemas": {pick(NAMES): schema()}},
            lambda: {"$ref": "#/$defs/d"},
        )
        joined = {}
        for _ in range(self.random.randint(1, 3)):
            joined.update(pick(parts)())
        return joined

    def whole(self):
        schema = self.one(self.random.randint(1, 3))
        return {**schema, "$defs": {"d": self.one(1)}} if "$ref" in json.dumps(schema) else schema


def text_of(ours, vocabulary, generator):
    """One that ends, or nothing."""
    ours.ask("again")
    text = b""
    for step in range(STEPS):
        mask = ours.mask()
        if mask is None:
            return None
        may_end, tokens = mask >> vocabulary.eos_token_id & 1, mask & vocabulary.texts
        if may_end and (not tokens or generator.random() < 0.3):
            return text
        marks = tokens & vocabulary.marks
        chosen = choose(marks if marks and (step > LONG or generator.random() < 0.5) else tokens, generator)
        if ours.ask(f"token {chosen}") != "ok":
            raise AssertionError(f"expected {vocabulary.tokens[chosen]} behind {text} as the mask says")
        text += vocabulary.tokens[chosen]
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("tokenizer")
    parser.add_argument("--schemas", type=int, default=1000)
    parser.add_argument("--walks", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    vocabulary, ours = Vocabulary(arguments.tokenizer), Ours(arguments.program, arguments.tokenizer)
    schemas, generator = Schemas(arguments.seed), random.Random(arguments.seed)
    tally, refusals = collections.Counter(), collections.Counter()
    for _ in range(arguments.schemas):
        schema = schemas.whole()
        answer = ours.ask("schema " + json.dumps(schema))
        if answer != "ok":
            tally["refused"] += 1
            refusals[answer.split("'")[1] if "'" in answer else answer] += 1
            continue
        tally["compiled"] += 1
        validator = jsonschema.Draft202012Validator(schema)
        for _ in range(arguments.walks):
            text = text_of(ours, vocabulary, generator)
            tally["texts" if text is not None else "did not end"] += 1
            if text is not None and not validator.is_valid(json.loads(text)):
                tally["invalid"] += 1
                print(f"invalid: {json.dumps(schema)} lets through {text}")
    print(dict(tally))
    print("refused by:", dict(refusals.most_common()))
    return 1 if tally["invalid"] else 0


if __name__ == "__main__":
    sys.exit(main())
