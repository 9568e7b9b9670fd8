"""What programs of others are run against: `ingot serve` with a model of texts and one of embeddings, on loopback.

A test of such a program is skipped where its packages cannot be imported, and says which.
"""

import argparse
import importlib
import os
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

TESTS = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(TESTS / "end_to_end"))
from embedder import make_embedder  # noqa: E402
from program import Program  # noqa: E402
from run_cases import SKIPPED, run_cases  # noqa: E402
from served import LIMIT_SECONDS, Server  # noqa: E402

# A model without a template of its own goes on from what was said last.
TEMPLATE = "{% for message in messages %}\n{{ message.content }}{% endfor %}"
OPENING = "Once there was a thoughtful cook named Ralf."
KEY = "a-key-of-the-test"

# What any model can be made to call: its grammar leaves little to say.
WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string", "maxLength": 12}, "unit": {"enum": ["celsius", "fahrenheit"]}},
    "required": ["city", "unit"],
    "additionalProperties": False,
}


# What a model is told of tools takes more than the built-in one was trained for.
WIDE = ("--context", "2048")


def check_weather(case, arguments):
    """That these are arguments as WEATHER wants them."""
    case.assertEqual(list(arguments), ["city", "unit"])
    case.assertIsInstance(arguments["city"], str)
    case.assertLessEqual(len(arguments["city"]), 12)
    case.assertIn(arguments["unit"], ("celsius", "fahrenheit"))


# Clients send nothing but what a test asks for: no proxy, no figures about their use, no prices.
QUIET = {"NO_PROXY": "*", "no_proxy": "*", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
         "OPENAI_API_KEY": KEY, "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false",
         "LANGCHAIN_TRACING_V2": "false", "LANGSMITH_TRACING": "false"}  # fmt: skip


class Peer(unittest.TestCase):
    """One server for all tests of a class: models `talker` and `embedder`, and a key that is needed."""

    program: Program
    model: str
    base: str | None  # of a server that is there already
    arguments = ()

    @classmethod
    def setUpClass(cls):
        if cls.base is None:
            cls.start()
        cls.url = cls.base + "/v1"

    @classmethod
    def start(cls):
        made = tempfile.TemporaryDirectory()
        cls.addClassCleanup(made.cleanup)
        cls.folder = Path(made.name)
        embedder = make_embedder(TESTS / "goldens", cls.folder / "bert")
        keys = cls.folder / "keys"
        keys.write_text(KEY + "\n")
        keys.chmod(0o600)
        options = ["--api-key-file", keys, *cls.arguments]
        if cls.model == "built-in:tales":
            template = cls.folder / "chat.jinja"
            template.write_text(TEMPLATE)
            options += ["--template", template]
        cls.server = Server(cls.program, cls.model, embedder, "--alias", "talker", "--alias", "embedder", *options)
        cls.addClassCleanup(cls.server.__exit__)
        cls.base = f"http://127.0.0.1:{cls.server.port}"

    def metric(self, name, model="talker"):
        labels = f'{{model_name="{model}"}}'
        asked = urllib.request.Request(self.base + "/metrics", headers={"Authorization": f"Bearer {KEY}"})
        with urllib.request.urlopen(asked, timeout=LIMIT_SECONDS) as answer:
            text = answer.read().decode()
        for line in text.splitlines():
            if line.startswith(name + labels + " "):
                return float(line.rsplit(" ", 1)[1])
        raise AssertionError(f"expected the metric {name}{labels}, found none of that name")

    def wait_until_nothing_runs(self):
        until = time.monotonic() + LIMIT_SECONDS
        while self.metric("ingot_num_requests_running") != 0:
            if time.monotonic() > until:
                raise AssertionError("expected nothing to run for clients that left, found requests that run on")
            time.sleep(0.02)


def main(purpose, *packages):
    """Runs the cases of the program that calls this, where the packages can be imported."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("program", help="path of ingot, or the address of a server that serves the same, http://...")
    parser.add_argument("--model", default="built-in:tales", help="path of a model that talks (%(default)s)")
    options, others = parser.parse_known_args()
    os.environ.update(QUIET)
    for package in packages:
        try:
            importlib.import_module(package)
        except ImportError as error:
            print(f"SKIPPED: expected the Python package {package}, found: {error}")
            sys.exit(SKIPPED)
    Peer.base = options.program if options.program.startswith("http://") else None
    Peer.program = Program(options.program) if Peer.base is None else None
    Peer.model = options.model
    run_cases([sys.argv[0], *others])
