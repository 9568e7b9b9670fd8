#!/usr/bin/env python3
"""Runs every command of ours in docs/from-llamacpp.md, with models of a few kilobytes, and looks up the options it names.

usage: llama_cpp_page_test.py PATH_OF_INGOT SOURCES [unittest arguments]
"""

import json
import re
import shutil
import struct
import sys
import tempfile
import unittest
from pathlib import Path

from embedder import make_embedder
from page_commands import put_on_path, run_as_shown
from program import Program
from run_cases import run_cases
from talker import CHAT, make_talker

ROW = re.compile(r"^\|(.*)\|$", re.MULTILINE)
COMMAND = re.compile(r"`(ingot [^`]+)`")
OPTION = re.compile(r"`(--?[a-z][a-z-]*)[ `]")
LEAST_COMMANDS = 30

program: Program
sources = Path()


def rows():
    page = (sources / "docs" / "from-llamacpp.md").read_text(encoding="utf-8")
    return [[cell.strip() for cell in row.split("|")] for row in ROW.findall(page)]


def commands():
    return [command for row in rows() for command in COMMAND.findall(row[-1])]


def split_in_two(path, prefix):
    """As llama-gguf-split does it, but with every tensor in the second piece."""
    whole = path.read_bytes()
    version, tensors, keys = struct.unpack_from("<IQQ", whole, 4)
    place = 24

    def skip_text(at):
        return at + 8 + struct.unpack_from("<Q", whole, at)[0]

    def skip_value(at, kind):
        if kind == 8:
            return skip_text(at)
        if kind == 9:
            element, count = struct.unpack_from("<IQ", whole, at)
            at += 12
            for _ in range(count):
                at = skip_value(at, element)
            return at
        return at + {0: 1, 1: 1, 2: 2, 3: 2, 7: 1, 10: 8, 11: 8, 12: 8}.get(kind, 4)

    for _ in range(keys):
        place = skip_text(place)
        place = skip_value(place + 4, struct.unpack_from("<I", whole, place)[0])
    end_of_keys = place
    for _ in range(tensors):
        place = skip_text(place)
        place += 4 + 8 * struct.unpack_from("<I", whole, place)[0] + 4 + 8
    data = whole[-(-place // 32) * 32 :]

    def text(value):
        return struct.pack("<Q", len(value)) + value

    def piece(number, count, old_keys, old_count, infos):
        added = text(b"split.no") + struct.pack("<IH", 2, number) + text(b"split.count") + struct.pack("<IH", 2, 2)
        added += text(b"split.tensors.count") + struct.pack("<Ii", 5, tensors)
        return b"GGUF" + struct.pack("<IQQ", version, count, old_count + 3) + old_keys + added + infos

    first = piece(0, 0, whole[24:end_of_keys], keys, b"")
    second = piece(1, tensors, b"", 0, whole[end_of_keys:place])
    second += bytes(-len(second) % 32) + data
    for number, content in ((1, first), (2, second)):
        path.with_name(f"{prefix}-0000{number}-of-00002.gguf").write_bytes(content)


def adapter_as_gguf(folder, path):
    """Of peft's adapter, what it has for one matrix, as convert_lora_to_gguf.py writes it."""
    stored = (folder / "adapter_model.safetensors").read_bytes()
    size = struct.unpack_from("<Q", stored)[0]
    tensors = json.loads(stored[8 : 8 + size])
    alpha = json.loads((folder / "adapter_config.json").read_text())["lora_alpha"]

    def text(value):
        return struct.pack("<Q", len(value)) + value.encode()

    keys = [("general.type", "adapter"), ("general.architecture", "llama"), ("adapter.type", "lora")]
    head = b"".join(text(key) + struct.pack("<I", 8) + text(value) for key, value in keys)
    head += text("adapter.lora.alpha") + struct.pack("<If", 6, alpha)
    data = b""
    for theirs, ours in (("lora_A", "lora_a"), ("lora_B", "lora_b")):
        entry = tensors[f"base_model.model.model.layers.0.mlp.down_proj.{theirs}.weight"]
        outer, inner = entry["shape"]
        head += text(f"blk.0.ffn_down.weight.{ours}") + struct.pack("<IQQIQ", 2, inner, outer, 0, len(data))
        begin, end = entry["data_offsets"]
        data += stored[8 + size + begin : 8 + size + end]
        data += bytes(-len(data) % 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, len(keys) + 1) + head
    path.write_bytes(head + bytes(-len(head) % 32) + data)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        put_on_path(program, cls.folder)
        goldens = sources / "tests" / "goldens"
        make_talker(goldens, cls.folder / "folder")
        make_embedder(goldens, cls.folder / "bert")
        for source, target in (("folder", "model.gguf"), ("bert", "embedder.gguf")):
            done = program.run("convert", cls.folder / source, cls.folder / target)
            if done.returncode != 0:
                raise AssertionError(done.stderr)
        shutil.copy(cls.folder / "model.gguf", cls.folder / "small.gguf")
        split_in_two(cls.folder / "model.gguf", "split")
        shutil.copytree(goldens / "adapters" / "first", cls.folder / "style")
        adapter_as_gguf(cls.folder / "style", cls.folder / "style.gguf")
        texts = {
            "prompt.txt": "a cat sat\n",
            "text.txt": "the cat sat on the mat and the dog stood. " * 12,
            "answer.gbnf": 'root ::= "yes" | "no"',
            "schema.json": '{"type": "boolean"}',
            "chat.jinja": CHAT,
            "keys.txt": "a-key-of-some-length\n",
        }
        for name, text in texts.items():
            (cls.folder / name).write_text(text)
        (cls.folder / "keys.txt").chmod(0o600)

    def test_every_command_of_ours_runs(self):
        found = commands()
        self.assertGreaterEqual(len(found), LEAST_COMMANDS)
        for command in found:
            with self.subTest(command=command):
                # A server is asked what it would serve.
                shown = command + " --dry-run" if command.startswith("ingot serve") else command
                done = run_as_shown(shown.replace(" --port 8080", " --port 0"), self.folder)
                self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
                self.assertNotIn("error:", done.stderr)
        merged, whole = ((self.folder / name).read_bytes() for name in ("merged.gguf", "model.gguf"))
        self.assertEqual(merged, whole)

    def test_an_option_of_theirs_is_answered_with_ours(self):
        for command, theirs, ours in (
            ("run", "-m", "the model is the first word"),
            ("run", "-c", "'--context'"),
            ("run", "-t", "'--threads'"),
            ("run", "-ctk", "'--cache'"),
            ("serve", "-ctk", "'--cache-type'"),
            ("run", "--temp", "'--temperature'"),
            ("run", "--repeat-penalty", "'--repetition-penalty'"),
            ("run", "-r", "'--stop'"),
            ("run", "--lora", "'--adapter'"),
            ("run", "-sp", "'--special'"),
            ("chat", "-sys", "'--system'"),
        ):
            self.assertIn(theirs, (sources / "docs" / "from-llamacpp.md").read_text(encoding="utf-8"))
            done = program.run(command, "model.gguf", theirs, "7")
            self.assertEqual(done.returncode, 2, theirs)
            self.assertIn(ours, done.stderr)

    def test_every_option_of_ours_is_there(self):
        help_texts = " ".join(program.run(name, "--help").stdout for name in ("run", "chat", "serve", "embed"))
        named = [option for row in rows() if len(row) == 2 for option in OPTION.findall(row[1])]
        self.assertGreater(len(named), 10)
        for option in named:
            self.assertRegex(help_texts, rf"(?<![\w-]){re.escape(option)}(?![\w-])", option)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    program, sources = Program(Path(sys.argv[1]).resolve()), Path(sys.argv[2]).resolve()
    run_cases([sys.argv[0], *sys.argv[3:]])
