"""A cast server as a machine of its own, and how tests ask it."""

import http.client
import json
import ssl
import subprocess
import sys
from pathlib import Path

from embedder import make_embedder
from served import TEMPLATE, Client

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
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


class Machine(RunningMachine):
    """A booted image that answers at `host`, or by a port of this machine."""

    ingot: str  # by whoever runs the tests
    accelerator = "tcg"

    def __init__(
        self, image: str, *options: str, host: str | None = None, tls: ssl.SSLContext | None = None,
        without_acpi: bool = False,
    ):  # fmt: skip
        self.host, self.port, self.tls = host, SERVED_PORT, tls
        if host is None:
            # A certificate's name is no address.
            self.host, self.port = "127.0.0.1" if tls is None else "localhost", free_port()
            options = ("--publish", f"{self.port}:{SERVED_PORT}", *options)
        self.client = Client(self.port, self.host)
        options = ("--accelerator", self.accelerator, *options)
        words = [self.ingot, "boot", image, "--log", *options]
        if without_acpi:  # the emulator names the devices on the kernel's command line then
            planned = emulator_words(self.ingot, image, "--log", *options)
            words = ["microvm,acpi=off" if word == "microvm" else word for word in planned]
            # Opened anew, it would be written from its beginning on, over what the program says.
            words = [word.replace("path=/dev/stderr", "path=/dev/stderr,append=on") for word in words]
        super().__init__(words, lambda machine: machine.ask("GET", "/health", seconds=5)[0] == 200)

    def ask(
        self, method: str, path: str, body: object = None, headers: dict | None = None, seconds: float = 60
    ) -> tuple[int, str]:
        if self.tls is None:
            connection = http.client.HTTPConnection(self.host, self.port, timeout=seconds)
        else:
            connection = http.client.HTTPSConnection(self.host, self.port, timeout=seconds, context=self.tls)
        headers = dict(headers or {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except http.client.HTTPException as error:  # the emulator accepts before its guest does
            raise ConnectionError(str(error)) from error
        finally:
            connection.close()
