"""A Dockerfile's stage that is FROM scratch: what a builder would put into the image, without a builder.

Knows what such a stage needs (COPY --from, ENV, WORKDIR, EXPOSE, ENTRYPOINT, CMD) and refuses anything else by name.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class Stage:
    name: str = ""
    copies: list[tuple[str, str]] = field(default_factory=list)  # path in the build stage, path in the image
    environment: list[str] = field(default_factory=list)
    directory: str = "/"
    ports: list[str] = field(default_factory=list)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)


def last_stage(dockerfile: Path) -> Stage:
    """What is built where no target is named."""
    return stages_of(dockerfile)[-1]


def named_stage(dockerfile: Path, name: str) -> Stage:
    found = [stage for stage in stages_of(dockerfile) if stage.name == name]
    if len(found) != 1:
        raise ValueError(f"{dockerfile}: expected one stage '{name}' FROM scratch, found {len(found)}")
    return found[0]


def stages_of(dockerfile: Path) -> list[Stage]:
    """Those FROM scratch that stand behind all others."""
    text = dockerfile.read_text(encoding="utf-8").replace("\\\n", " ")
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    begin = next((index for index, line in enumerate(lines) if line.startswith("FROM scratch")), len(lines))
    if begin == len(lines):
        raise ValueError(f"{dockerfile}: expected a stage FROM scratch, found none")
    stages = []
    for line in lines[begin:]:
        word, _, rest = line.partition(" ")
        if word == "FROM":
            base, _, name = rest.partition(" AS ")
            if base != "scratch":
                raise ValueError(f"{dockerfile}: expected the last stages FROM scratch, found '{line}'")
            stage = Stage(name)
            stages.append(stage)
        elif word == "COPY" and rest.startswith("--from="):
            _, source, destination = rest.split()
            stage.copies.append((source, destination))
        elif word == "ENV":
            stage.environment.append(rest)
        elif word == "WORKDIR":
            stage.directory = rest
        elif word == "EXPOSE":
            stage.ports += rest.split()
        elif word == "ENTRYPOINT":
            stage.entrypoint = json.loads(rest)
        elif word == "CMD":
            stage.command = json.loads(rest)
        else:
            known = "COPY --from, ENV, WORKDIR, EXPOSE, ENTRYPOINT or CMD"
            raise ValueError(f"{dockerfile}: expected {known}, found '{line}'")
    return stages
