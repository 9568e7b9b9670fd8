"""A model that makes embeddings, small enough to be made for a test."""

import json
import shutil


def make_embedder(goldens, folder):
    """The golden model that makes embeddings, with a tokenizer that knows letters."""
    folder.mkdir()
    for name in ("config.json", "model.safetensors"):
        shutil.copy(goldens / "bert" / name, folder)
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words = marks + [chr(letter) for letter in range(ord("a"), ord("z") + 1)]
    added = [{"id": place, "content": mark, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False} for place, mark in enumerate(marks)]  # fmt: skip
    model = {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 100, "vocab": {word: place for place, word in enumerate(words)}}  # fmt: skip
    tokenizer = {"version": "1.0", "added_tokens": added, "normalizer": None, "post_processor": None, "decoder": None,
                 "pre_tokenizer": {"type": "BertPreTokenizer"}, "model": model}  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    return folder
