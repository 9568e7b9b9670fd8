"""A machine that runs beside its test, which talks with the program in it over the network."""

import fcntl
import http.client
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable

LIMIT_SECONDS = 150


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RunningMachine:
    """What a command boots. As a block, it begins when `is_ready` says so, and the machine ends with it."""

    def __init__(self, words: list[str], is_ready: Callable[["RunningMachine"], bool]):
        self.is_ready = is_ready
        self.log = tempfile.TemporaryFile("w+")
        fcntl.fcntl(self.log, fcntl.F_SETFL, os.O_APPEND)  # wherever somebody reads, and whoever opened it anew
        self.process = subprocess.Popen(
            words, stdin=subprocess.DEVNULL, stdout=self.log, stderr=subprocess.STDOUT, start_new_session=True
        )

    def __enter__(self):
        try:
            self.wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()  # the emulator goes with who started it
        self.process.wait()
        self.log.close()

    def wait_until_ready(self) -> None:
        end = time.monotonic() + LIMIT_SECONDS
        while True:
            try:
                if self.is_ready(self):
                    return
            except (OSError, http.client.HTTPException):  # the emulator accepts before its guest does
                pass
            if self.process.poll() is not None or time.monotonic() > end:
                raise AssertionError(f"expected a machine that answers, found:\n{self.text()}")
            time.sleep(0.2)

    def text(self) -> str:
        """What the kernel logged and the program wrote so far."""
        self.log.seek(0)
        return self.log.read()

    def wait_for_text(self, text: str) -> None:
        """Until it has said so: what it answers may be here before what it logs."""
        end = time.monotonic() + LIMIT_SECONDS
        while text not in self.text():
            if time.monotonic() > end:
                raise AssertionError(f"expected {text!r}, found:\n{self.text()}")
            time.sleep(0.1)

    def end(self) -> int:
        """Presses the power button: the program's exit status."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT_SECONDS)


class PublishedMachine(RunningMachine):
    """A booted image; `ports` says which of this machine's ports lead to which of the guest's."""

    def __init__(
        self, ingot: str, image: str, guest_ports: list[int], is_ready: Callable[["PublishedMachine"], bool],
        *options: str, arguments: tuple = (),
    ):  # fmt: skip
        self.ports = {port: free_port() for port in guest_ports}
        words = [ingot, "boot", image, "--log", "--accelerator", "tcg", *options]
        for guest_port, port in self.ports.items():
            words += ["--publish", f"{port}:{guest_port}"]
        super().__init__([*words, "--", *arguments] if arguments else words, is_ready)
