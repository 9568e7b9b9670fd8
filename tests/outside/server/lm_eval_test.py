#!/usr/bin/env python3
"""lm-eval's local-completions against `ingot serve`, on tasks that are made here: nothing is fetched.

usage: lm_eval_test.py PATH_OF_INGOT [unittest arguments]; needs the packages lm-eval (with its api extra) and transformers

The server is asked with tokens alone, so the tokenizer need not be the model's: one of a few words is made here.
"""

import json
import math

from peers import KEY, Peer, main

WORDS = [
    "<unk>",
    "<s>",
    "</s>",
    "cat",
    "dog",
    "fox",
    "hen",
    "sat",
    "ran",
    "hid",
    "on",
    "under",
    "the",
    "a",
    "mat",
    "tree",
]
DOCUMENTS = [
    {"question": "the cat sat", "choices": ["on the mat", "dog dog dog", "under"], "answer": 0},
    {"question": "the fox ran", "choices": ["under the tree", "a", "hen hen"], "answer": 1},
    {"question": "a hen hid", "choices": ["under a mat", "on"], "answer": 0},
]
CHOICES = """
task: ingot_choices
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: multiple_choice
doc_to_text: "{{{{question}}}}"
doc_to_target: answer
doc_to_choice: choices
metric_list: [{{metric: acc}}]
"""
TEXTS = """
task: ingot_texts
dataset_path: json
dataset_kwargs: {{data_files: {{test: {data}}}}}
test_split: test
output_type: generate_until
doc_to_text: "{{{{question}}}}"
doc_to_target: "{{{{choices[0]}}}}"
generation_kwargs: {{until: ["mat"], max_gen_toks: 8, temperature: 0}}
metric_list: [{{metric: exact_match}}]
"""


def make_tokenizer(folder):
    """Of whole words, for lm-eval."""
    added = [{"id": place, "content": word, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False} for place, word in enumerate(WORDS[:3])]  # fmt: skip
    model = {"type": "WordLevel", "vocab": {word: place for place, word in enumerate(WORDS)}, "unk_token": "<unk>"}
    tokenizer = {"version": "1.0", "truncation": None, "padding": None, "added_tokens": added, "normalizer": None,
                 "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None, "decoder": None, "model": model}  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "unk_token": "<unk>",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


class LmEval(Peer):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.tasks = cls.folder / "tasks"
        cls.tokenizer = cls.folder / "tokenizer"
        for folder in (cls.tasks, cls.tokenizer):
            folder.mkdir()
        data = cls.tasks / "documents.jsonl"
        data.write_text("".join(json.dumps(document) + "\n" for document in DOCUMENTS))
        for name, text in (("choices", CHOICES), ("texts", TEXTS)):
            (cls.tasks / f"{name}.yaml").write_text(text.format(data=data))
        make_tokenizer(cls.tokenizer)

    def evaluate(self, task, **changes):
        import lm_eval
        from lm_eval.tasks import TaskManager

        arguments = {"model": "talker", "base_url": self.url + "/completions", "tokenizer_backend": "huggingface",
                     "tokenizer": str(self.tokenizer), "tokenized_requests": True, "num_concurrent": 1,
                     "max_retries": 1, "max_length": 200, **changes}  # fmt: skip
        return lm_eval.simple_evaluate(
            model="local-completions", model_args=arguments, tasks=[task], log_samples=True, bootstrap_iters=0,
            task_manager=TaskManager(include_path=str(self.tasks), include_defaults=False),
        )  # fmt: skip

    def likelihood(self, context, continuation):
        """Of a continuation, by a request of its own for every word of it."""
        tokens = [WORDS.index(word) for word in context.split()]
        total = 0.0
        for word in continuation.split():
            tokens.append(WORDS.index(word))
            fields = {"model": "talker", "prompt": tokens, "max_tokens": 0, "logprobs": 0, "echo": True}
            answer = self.server.post("/v1/completions", fields, Authorization=f"Bearer {KEY}")
            total += answer.json()["choices"][0]["logprobs"]["token_logprobs"][-1]
        return total

    def test_how_likely_choices_are(self):
        for changes in ({}, {"batch_size": 4}, {"num_concurrent": 4}):
            with self.subTest(**changes):
                samples = self.evaluate("ingot_choices", **changes)["samples"]["ingot_choices"]
                self.assertEqual(len(samples), len(DOCUMENTS))
                for sample in samples:
                    document = sample["doc"]
                    for (likely, _), choice in zip(sample["filtered_resps"], document["choices"]):
                        self.assertTrue(math.isfinite(float(likely)))
                        self.assertAlmostEqual(float(likely), self.likelihood(document["question"], choice), places=2)

    def test_texts_are_generated_until_a_word(self):
        samples = self.evaluate("ingot_texts")["samples"]["ingot_texts"]
        for sample in samples:
            self.assertIsInstance(sample["filtered_resps"][0], str)
            self.assertNotIn("mat", sample["filtered_resps"][0])

    def test_rolling_likelihoods(self):
        import lm_eval.api.registry
        from lm_eval.api.instance import Instance

        model = lm_eval.api.registry.get_model("local-completions")(
            model="talker", base_url=self.url + "/completions", tokenizer_backend="huggingface",
            tokenizer=str(self.tokenizer), tokenized_requests=True, max_length=200,
        )  # fmt: skip
        text = "the cat sat on the mat"
        [found] = model.loglikelihood_rolling([Instance("loglikelihood_rolling", {}, (text,), 0)])
        self.assertAlmostEqual(float(found), self.likelihood("<s>", text), places=2)


if __name__ == "__main__":
    main(__doc__, "lm_eval", "transformers", "tenacity", "aiohttp")
