"""A model that predicts tokens, small enough to be made for a test: what it says has no sense."""

import json
import shutil

MARKS = ["<unk>", "<s>", "</s>"]
CHAT = "{% for message in messages %}{{ message.content }} {% endfor %}"
LETTERS = [chr(code) for code in range(ord("a"), ord("z") + 1)]


def words_of(count):
    """So many tokens: marks, single characters as byte-level vocabularies spell them, then pairs that no text has."""
    single = ["\u0120", "\u010a", *".,:?!-'\"{}[]()/", *"0123456789", *LETTERS]
    pairs = [a + b for a in LETTERS for b in LETTERS]
    return [*MARKS, *single, *pairs][:count]


def make_talker(goldens, folder, name="llama", chat=True):
    """The golden model of this name with a tokenizer that knows letters, as a Hugging Face folder."""
    folder.mkdir()
    for path in [goldens / name / "config.json", *(goldens / name).glob("model*")]:
        shutil.copy(path, folder)
    vocabulary = json.loads((folder / "config.json").read_text())["vocab_size"]
    added = [{"id": place, "content": mark, "special": True, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False} for place, mark in enumerate(MARKS)]  # fmt: skip
    level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": True}
    model = {"type": "BPE", "vocab": {word: place for place, word in enumerate(words_of(vocabulary))}, "merges": []}
    tokenizer = {"version": "1.0", "added_tokens": added, "normalizer": None, "post_processor": None,
                 "pre_tokenizer": level, "decoder": level, "model": model}  # fmt: skip
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
    (folder / "tokenizer_config.json").write_text(json.dumps({"bos_token": "<s>", "eos_token": "</s>"}))
    if chat:
        (folder / "chat_template.jinja").write_text(CHAT)
    return folder
