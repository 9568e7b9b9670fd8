"""An OCI image layout of a Dockerfile's last stage, if that stage is FROM scratch: what a builder would write, without one.

Knows what such a stage needs (COPY --from, ENV, WORKDIR, ENTRYPOINT, CMD) and refuses anything else by name.
"""

import gzip
import hashlib
import io
import json
import tarfile
from dataclasses import dataclass, field
from pathlib import Path

LAYER = "application/vnd.oci.image.layer.v1.tar+gzip"
CONFIG = "application/vnd.oci.image.config.v1+json"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"


@dataclass
class Stage:
    copies: list[tuple[str, str]] = field(default_factory=list)  # path in the build stage, path in the image
    config: dict = field(default_factory=dict)


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
            stage.config.setdefault("Env", []).append(rest)
        elif word == "WORKDIR":
            stage.config["WorkingDir"] = rest
        elif word in ("ENTRYPOINT", "CMD"):
            stage.config["Entrypoint" if word == "ENTRYPOINT" else "Cmd"] = json.loads(rest)
        else:
            raise ValueError(f"{dockerfile}: expected COPY --from, ENV, WORKDIR, ENTRYPOINT or CMD, found '{line}'")
    return stage


def layer_of(files: dict[str, bytes]) -> bytes:
    """A tar of the files, each executable, the same bytes every time."""
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, data in sorted(files.items()):
            member = tarfile.TarInfo(path.lstrip("/"))
            member.size, member.mode = len(data), 0o755
            tar.addfile(member, io.BytesIO(data))
    return content.getvalue()


def write_layout(folder: Path, layers: list[bytes], config: dict) -> None:
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def put(content: bytes, media_type: str) -> dict:
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    packed = [put(gzip.compress(layer, compresslevel=1, mtime=0), LAYER) for layer in layers]
    plain = ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]
    description = {"architecture": "amd64", "os": "linux", "config": config, "rootfs": {"type": "layers", "diff_ids": plain}}
    described = put(json.dumps(description).encode(), CONFIG)
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": packed}
    index = put(json.dumps(manifest).encode(), MANIFEST)
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [index]}), encoding="utf-8")
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}', encoding="utf-8")


def write_tar(folder: Path, tar_path: Path) -> None:
    with tarfile.open(tar_path, "w") as tar:
        tar.add(folder, arcname=".")
