#!/usr/bin/env python3
"""Finds what documents name and the tree does not have: files, folders, and variants of operations.

usage: check_names.py ROOT

Looks at what stands in backticks and at relative links in every Markdown file but the notebook of measurements
(docs/performance), which tells what was. A file may be named by the end of its path (`session.cc`, `engine/session.cc`),
and with a star; a variant is a word that ends in an instruction set's name.
"""

import re
import subprocess
import sys
from fnmatch import fnmatch
from pathlib import Path

NOTEBOOK = "docs/performance/"
CODE = re.compile(r"`([^`\n]+)`")
FENCED = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
FILE = re.compile(r"[\w*./{},-]*[\w*}]\.(?:cc|h|S|cu|py|md|txt|ld|json)")
FOLDER = re.compile(r"(?:[a-z_0-9]+/)+[a-z_0-9]*")
VARIANT = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*_(?:neon|sse4|avx2|avx512|vnni|amx_int8|amx_bf16|i8mm|dotprod|bf16)")
# Named though they are no files of the tree: what models, builds and other people's folders are made of.
FOREIGN = re.compile(
    r"(config|generation_config|tokenizer|tokenizer_config|golden|exact|greedy|special_tokens_map|manifest|prompt|text|keys|schema"
    r"|.*\.index)"
    r"\.(json|txt|md)|(convert_hf_to_gguf|convert_lora_to_gguf|gguf_dump)\.py|FILE\..*|(.*/)?NAME.*|.*NNN.*|/.*|\.\./.*|build/.*|model\.\w+|llama\.cpp|.*<.*"
)


def braces(name: str) -> list[str]:
    """a.{h,cc} stands for two names."""
    match = re.fullmatch(r"(.*)\{([^}]*)\}(.*)", name)
    return [name] if match is None else [match[1] + part + match[3] for part in match[2].split(",")]


class Tree:
    def __init__(self, root: Path):
        listed = subprocess.run(
            ["git", "-C", root, "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            capture_output=True, text=True, check=True,
        ).stdout  # fmt: skip
        self.root = root
        self.files = [name for name in listed.split("\0") if name and (root / name).is_file()]
        self.folders = {parent.as_posix() for name in self.files for parent in Path(name).parents}
        self.kernel_words = set()
        for name in self.files:
            if name.startswith("kernels/") and name.endswith((".cc", ".h")):
                self.kernel_words |= set(re.findall(r"[a-z]\w+", (root / name).read_text(encoding="utf-8")))

    def has_file(self, name: str) -> bool:
        return any(file == name or fnmatch(file, name) or fnmatch(file, "*/" + name) for file in self.files)

    def has_folder(self, name: str) -> bool:
        name = name.rstrip("/")
        return any(folder == name or folder.endswith("/" + name) for folder in self.folders) or self.has_file(name + "*")


def problems_of(tree: Tree, document: str) -> list[str]:
    text = (tree.root / document).read_text(encoding="utf-8")
    made = set(re.findall(r"^```\w* file=(\S+)", text, re.MULTILINE))  # by following the document
    text = FENCED.sub(lambda match: "\n" * match[0].count("\n"), text)
    problems = []

    def complain(position: int, expected: str, name: str) -> None:
        line = text.count("\n", 0, position) + 1
        problems.append(f"{document}:{line}: expected the name of {expected}, found `{name}`")

    for match in CODE.finditer(text):
        for word in match[1].split():
            word = word.strip("()[],;:")
            for name in braces(word):
                if FOREIGN.fullmatch(name) or name in made:
                    continue
                if FILE.fullmatch(name) and not tree.has_file(name):
                    complain(match.start(), "a file", name)
                elif FOLDER.fullmatch(name) and name.count("/") >= 1 and not tree.has_folder(name):
                    complain(match.start(), "a file or folder", name)
                elif VARIANT.fullmatch(name) and name not in tree.kernel_words:
                    complain(match.start(), "a variant", name)
    for match in LINK.finditer(text):
        target = (tree.root / document).parent / match[1]
        if not target.exists():
            complain(match.start(), "a file to link to", match[1])
    return problems


def main(arguments: list[str]) -> int:
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    tree = Tree(Path(arguments[1]).resolve())
    documents = [name for name in tree.files if name.endswith(".md") and not name.startswith(NOTEBOOK)]
    problems = [problem for document in documents for problem in problems_of(tree, document)]
    print("\n".join(problems))
    print(f"{len(documents)} documents: {len(problems)} names of what is not there")
    return 1 if problems or not documents else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
