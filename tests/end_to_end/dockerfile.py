"""A Dockerfile's last stage, if that stage is FROM scratch: what a builder would put into the image, without a builder.

Knows what such a stage needs (COPY --from, ENV, WORKDIR, ENTRYPOINT, CMD) and refuses anything else by name.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    copies: list[tuple[str, str]] = field(default_factory=list)  # path in the build stage, path in the image
    environment: list[str] = field(default_factory=list)
    directory: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


def last_stage(dockerfile: Path) -> Stage:
    stage = Stage()
    text = dockerfile.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    begin = max(index for index, line in enumerate(lines) if line.startswith("FROM "))
    if lines[begin] != "FROM scratch":
        raise ValueError(f"{dockerfile}: expected the last stage FROM scratch, found '{lines[begin]}'")
    for line in lines[begin + 1 :]:
        word, _, rest = line.partition(" ")
        if word == "COPY" and rest.startswith("--from="):
            _, source, destination = rest.split()
            stage.copies.append((source, destination))
        elif word == "ENV":
            stage.environment.append(rest)
        elif word == "WORKDIR":
            stage.directory = rest
        elif word == "ENTRYPOINT":
            stage.entrypoint = json.loads(rest)
        elif word == "CMD":
            stage.command = json.loads(rest)
        else:
            raise ValueError(f"{dockerfile}: expected COPY --from, ENV, WORKDIR, ENTRYPOINT or CMD, found '{line}'")
    return stage
