#!/usr/bin/env python3
"""Whether a device says what the CPU says. Of 20 greedy answers of SmolLM2 with its weights as floats, 64 tokens each, at least 15
must agree to the end, and the others part only where the CPU's two best logits lie within 0.05; in the file's own blocks its
logits are as near to the CPU's as these are to themselves in another order. The tale that the built-in model tells unasked must
agree word for word.

usage: words_on_a_gpu.py PATH_OF_INGOT_GPU [--model SMOLLM2.gguf] [--device cuda] [--small] [unittest arguments]

Without --model, SmolLM2-135M-Instruct is what tests/end_to_end/model_test.py keeps in the user's cache; elsewhere it is skipped.
"""

import json
import math
import tempfile
import unittest
from pathlib import Path

from device_cases import ROOT, options, run_device_cases, tell
from outside_models import cached_model
from served import Server

ASKED, LEAST_AGREEING = 20, 15
MOST_LOGITS_APART = 0.05
MOST_OF_THE_CPUS_DISTANCE = 2
TOKENS = 64


def smollm2():
    path = options.extra.model or cached_model()
    if not path.exists():
        raise unittest.SkipTest(f"expected {path}, found none")
    return path


class Words(unittest.TestCase):
    def answers(self, server, prompts, **fields):
        found = []
        for prompt in prompts:
            asked = {"prompt": prompt["prompt_ids"], "temperature": 0, "max_tokens": self.tokens, **fields}
            answer = server.post("/v1/completions", asked)
            self.assertEqual(answer.status, 200, answer.body)
            found.append(answer.json()["choices"][0])
        return found

    def asked_of(self, model, prompts, *words, **fields):
        with Server(options.program, model, "--context", "512", *words) as server:
            return self.answers(server, prompts, **fields)

    def prompts(self):
        self.tokens = 3 if options.is_small else TOKENS
        recorded = json.loads((ROOT / "tests/goldens/smollm2/exact.json").read_text(encoding="utf-8"))["prompts"]
        return recorded[:1] if options.is_small else recorded

    def test_of_smollm2(self):
        """Its weights as floats and as halves: nothing is rounded so coarsely that a last bit becomes another word."""
        model, prompts = smollm2(), self.prompts()
        for kind in ("F16",) if options.is_small else ("F32", "F16"):
            with tempfile.TemporaryDirectory() as folder:
                unpacked = Path(folder) / f"{kind}.gguf"
                done = options.program.run("quantize", model, unpacked, kind, "--pure")
                self.assertEqual(done.returncode, 0, done.stderr)
                on_host = self.asked_of(unpacked, prompts, logprobs=2)
                on_device = self.asked_of(unpacked, prompts, "--device", options.device, logprobs=2)
            gaps = [self.gap_where_they_part(*pair) for pair in zip(on_host, on_device, strict=True)]
            agreeing = gaps.count(None)
            parted = [gap for gap in gaps if gap is not None]
            tell(f"SmolLM2 {kind}: {agreeing} of {len(gaps)} answers of {self.tokens} tokens agree; the others part where the two "
                 f"best logits lie {', '.join(f'{gap:.3f}' for gap in parted) or 'nowhere'} apart")  # fmt: skip
            self.assertGreaterEqual(agreeing, len(gaps) * LEAST_AGREEING / ASKED)
            self.assertLessEqual(max(parted, default=0), MOST_LOGITS_APART)

    def test_of_coded_weights(self):
        """In the file's own blocks activations become codes of 8 bits, and one that falls to the other side changes all that
        follow: two orders of the CPU's own additions already part in most answers. The device is as near as they are."""
        model, prompts = smollm2(), self.prompts()
        on_host = self.asked_of(model, prompts, logprobs=2)
        in_other_order = self.asked_of(model, prompts, "--deterministic", logprobs=2)
        with Server(options.program, model, "--context", "512", "--device", options.device) as server:
            on_device = self.answers(server, prompts, logprobs=2)
            chosen_there = self.answers(server, prompts)
        for told, chosen in zip(on_device, chosen_there, strict=True):
            self.assertEqual(chosen["text"], told["text"])
        own, there = self.distance(on_host, in_other_order), self.distance(on_host, on_device)
        tell(f"SmolLM2 as it is: the two best logits' distance differs by {there:.3f} from the CPU's, and there by {own:.3f} in "
             f"another order of additions; {self.agreeing(on_host, on_device)} and {self.agreeing(on_host, in_other_order)} of "
             f"{len(prompts)} answers agree")  # fmt: skip
        if not options.is_small:  # a few tokens say nothing of a mean
            self.assertLessEqual(there, MOST_OF_THE_CPUS_DISTANCE * own)

    def agreeing(self, one, other):
        return sum(self.gap_where_they_part(*pair) is None for pair in zip(one, other, strict=True))

    def distance(self, one, other):
        """Root of the mean square by which the two best logits' distance differs, as far as the words are the same."""
        squares = []
        for first, second in zip(one, other, strict=True):
            first, second = first["logprobs"], second["logprobs"]
            for at, token in enumerate(first["tokens"]):
                if at >= len(second["tokens"]) or second["tokens"][at] != token:
                    break
                here, there = first["top_logprobs"][at], second["top_logprobs"][at]
                if here.keys() == there.keys() and len(here) == 2:
                    best, next_best = here
                    squares.append(((here[best] - here[next_best]) - (there[best] - there[next_best])) ** 2)
        self.assertTrue(squares)
        return math.sqrt(sum(squares) / len(squares))

    def gap_where_they_part(self, on_host, on_device):
        """Between the two best logits on the host; None where both say the same."""
        pairs = zip(on_host["logprobs"]["tokens"], on_device["logprobs"]["tokens"])
        at = next((at for at, (here, there) in enumerate(pairs) if here != there), None)
        if at is None:
            self.assertEqual(len(on_host["logprobs"]["tokens"]), len(on_device["logprobs"]["tokens"]))
            return None
        best, second = sorted(on_host["logprobs"]["top_logprobs"][at].values(), reverse=True)[:2]
        return best - second

    def test_of_the_unasked_tale(self):
        tales = []
        for device in ("cpu", options.device):
            words = ["-n", "12"] if options.is_small else []
            done = options.program.run("run", *words, "--device", device, "--json")
            self.assertEqual(done.returncode, 0, done.stderr)
            tales.append(json.loads(done.stdout)["text"])
        self.assertGreater(len(tales[0].split()), 5 if options.is_small else 60)
        self.assertEqual(tales[0], tales[1])
        tell(f"the unasked tale: {len(tales[0].split())} words, the same")


if __name__ == "__main__":
    run_device_cases(__doc__, ("--model", "SmolLM2-135M-Instruct"))
