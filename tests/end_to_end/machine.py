"""A cast server as a machine of its own, and how tests ask it."""

import json
import ssl
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from embedder import make_embedder
from run_cases import run_cases
from served import TEMPLATE, Client

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from running_machine import RunningMachine, free_port  # noqa: E402

SERVED_PORT = 8080
GOLDENS = Path(__file__).resolve().parents[1] / "goldens"


class TwoModels:
    """What `serve` needs for a model that talks, `talker`, and one that makes embeddings, `embedder`."""

    def __init__(self, folder: Path):
        self.template, self.embedder = folder / "chat.jinja", make_embedder(GOLDENS, folder / "bert")
        self.template.write_text(TEMPLATE)

    def files(self) -> list[str]:
        """Words by which `cast` puts them into an image's root."""
        return [f"--file={path}=/{path.name}" for path in (self.template, self.embedder)]

    def words(self, in_image: bool = False) -> list[str]:
        """Those of `serve`."""
        embedder, template = (f"/{path.name}" if in_image else str(path) for path in (self.embedder, self.template))
        return ["built-in:tales", embedder, "--alias", "talker", "--alias", "embedder", "--template", template]


def emulator_words(ingot: str, image: str, *options: str) -> list[str]:
    """What `ingot boot IMAGE OPTIONS` would run."""
    done = subprocess.run([ingot, "boot", image, "--dry-run", "--json", *options], capture_output=True, check=True)
    return json.loads(done.stdout)["command"]


def cast_server(guest: Guest, engine: str, *words: str, image: str = "image") -> str:
    """The path of an image that serves."""
    done = guest.cast("--serve", "--engine", engine, *words, image=image)
    if done.returncode != 0:
        raise AssertionError(f"expected an image, found:\n{done.stderr}")
    return guest.path(image)


class Machine(RunningMachine):
    """A booted image that answers at `host`, or by a port of this machine. `client` asks it."""

    ingot: str  # by whoever runs the tests
    accelerator = "tcg"

    def __init__(
        self, image: str, *options: str, host: str | None = None, tls: ssl.SSLContext | None = None,
        without_acpi: bool = False,
    ):  # fmt: skip
        self.client = Client(SERVED_PORT, host, tls)
        if host is None:
            # A certificate's name is no address.
            self.client = Client(free_port(), "127.0.0.1" if tls is None else "localhost", tls)
            options = ("--publish", f"{self.client.port}:{SERVED_PORT}", *options)
        options = ("--accelerator", self.accelerator, *options)
        words = [self.ingot, "boot", image, "--log", *options]
        if without_acpi:  # the emulator names the devices on the kernel's command line then
            planned = emulator_words(self.ingot, image, "--log", *options)
            words = ["microvm,acpi=off" if word == "microvm" else word for word in planned]
            # Opened anew, it would be written from its beginning on, over what the program says.
            words = [word.replace("path=/dev/stderr", "path=/dev/stderr,append=on") for word in words]
        super().__init__(words, lambda machine: machine.client.ask("GET", "/health", seconds=5).status == 200)


class ServerMachines(unittest.TestCase):
    """Tests of cast servers. An image is cast once, however many tests of a program boot it."""

    guest: Guest  # both by run_machine_tests()
    engine: str
    images: dict[tuple[str, ...], str] = {}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def cast(self, *words: str) -> str:
        if words not in self.images:
            self.images[words] = cast_server(self.guest, self.engine, *words, image=f"image{len(self.images)}")
        return self.images[words]


def run_machine_tests(*tools: str, missing: str | None = None) -> None:
    """Of the file that was started with the paths of ingot, kernels and engine, and names of tests; they are skipped
    where something is missing: a tool, or what the file itself has looked for."""
    Machine.ingot, kernels, ServerMachines.engine = sys.argv[1:4]
    if (missing := missing_tool(*tools) or missing) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    ServerMachines.guest = Guest(Machine.ingot, kernels)
    try:
        run_cases([sys.argv[0], *sys.argv[4:]])
    finally:
        ServerMachines.guest.close()
