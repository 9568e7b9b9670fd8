"""Our masks, as others ask for theirs."""

import subprocess


class Ours:
    """bench_mask_walk at the other end of a pipe."""

    def __init__(self, program, tokenizer):
        self.pipe = subprocess.Popen([program, tokenizer], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, line):
        self.pipe.stdin.write(line.encode() + b"\n")
        self.pipe.stdin.flush()
        return self.pipe.stdout.readline().decode().rstrip("\n")

    def mask(self):
        answer = self.ask("mask")
        if not answer.startswith("mask "):
            return None
        return int.from_bytes(self.pipe.stdout.read(int(answer[5:])), "little")
