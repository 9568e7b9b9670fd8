"""Running ingot as a user does: what the tests of the commands share."""

import os
import pty
import select
import subprocess
import time

LIMIT_SECONDS = 120


class Program:
    def __init__(self, path, *emulator):
        """Words of an emulator, where the program is another machine's."""
        self.path = str(path)
        self.command = [*emulator, self.path]

    def run(self, *arguments, text_in=None, limit=LIMIT_SECONDS, **changes):
        """With nothing on standard input, unless a text is given (str or bytes): then a pipe with it."""
        given = text_in.encode() if isinstance(text_in, str) else text_in
        source = {"input": given} if given is not None else {"stdin": subprocess.DEVNULL}
        done = subprocess.run(
            [*self.command, *map(str, arguments)], capture_output=True, timeout=limit, check=False,
            env={**os.environ, **changes}, **source,
        )  # fmt: skip
        done.stdout, done.stderr = done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")
        return done


class Terminal:
    """The program on a terminal. Where it does not do as expected in time, the test fails with what it wrote."""

    def __init__(self, program, *arguments, **changes):
        self.controller, terminal = pty.openpty()
        self.output = ""
        self.process = subprocess.Popen(
            [program.path, *map(str, arguments)], stdin=terminal, stdout=terminal, stderr=terminal,
            env={**os.environ, "TERM": "xterm-256color", **changes}, start_new_session=True,
        )  # fmt: skip
        os.close(terminal)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.controller)

    def type(self, keys: str):
        os.write(self.controller, keys.encode())

    def _read(self, seconds: float) -> bool:
        """False at the end."""
        if not select.select([self.controller], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.controller, 65536)
        except OSError:  # Linux answers EIO when the last writer has closed the terminal
            return False
        self.output += piece.decode(errors="replace")
        return bool(piece)

    def wait_for(self, text: str, seconds: float = LIMIT_SECONDS):
        """Until the text appears, behind what an earlier call waited for."""
        until = time.monotonic() + seconds
        while (found := self.output.find(text)) < 0:
            if time.monotonic() > until or not self._read(1):
                raise AssertionError(f"expected {text!r} on the terminal, found {self.output!r}")
        self.output = self.output[found + len(text) :]

    def wait_for_end(self, seconds: float = LIMIT_SECONDS) -> int:
        until = time.monotonic() + seconds
        while self._read(1):
            if time.monotonic() > until:
                raise AssertionError(f"expected the program to end, found it running after {self.output!r}")
        return self.process.wait(timeout=seconds)
