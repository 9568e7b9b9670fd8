"""OCI image layouts (the specification's image-layout.md), as its tools write them: for tests of `ingot cast --oci`."""

import gzip
import hashlib
import io
import json
import tarfile
from pathlib import Path

LAYER = "application/vnd.oci.image.layer.v1.tar"


def layer_of(folder: Path, paths: list[str]) -> bytes:
    """A tar of some paths below a folder, each with all below it. Equal inputs give equal bytes."""
    output = io.BytesIO()

    def plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
        member.uid = member.gid = member.mtime = 0
        member.uname = member.gname = ""
        return member

    with tarfile.open(fileobj=output, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for path in paths:
            archive.add(folder / path.lstrip("/"), arcname=path.lstrip("/"), filter=plain)
    return output.getvalue()


def write_layout(
    folder: Path, layers: list[bytes], entrypoint: list[str], command: list[str] = (), environment: list[str] = (),
    directory: str = "/",
):  # fmt: skip
    """The layers from the lowest to the highest; each second one is packed with gzip."""
    blobs = folder / "blobs" / "sha256"
    blobs.mkdir(parents=True)

    def put(content: bytes, media_type: str) -> dict:
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"mediaType": media_type, "digest": f"sha256:{digest}", "size": len(content)}

    def put_document(document: dict, media_type: str) -> dict:
        return put(json.dumps(document).encode(), media_type)

    described = [
        put(gzip.compress(layer, mtime=0), LAYER + "+gzip") if index % 2 else put(layer, LAYER)
        for index, layer in enumerate(layers)
    ]
    config = put_document(
        {
            "architecture": "amd64",
            "os": "linux",
            "config": {
                "Entrypoint": list(entrypoint),
                "Cmd": list(command),
                "Env": list(environment),
                "WorkingDir": directory,
            },
            "rootfs": {"type": "layers", "diff_ids": ["sha256:" + hashlib.sha256(layer).hexdigest() for layer in layers]},
        },
        "application/vnd.oci.image.config.v1+json",
    )
    manifest = put_document(
        {"schemaVersion": 2, "config": config, "layers": described}, "application/vnd.oci.image.manifest.v1+json"
    )
    manifest["platform"] = {"os": "linux", "architecture": "amd64"}
    (folder / "index.json").write_text(json.dumps({"schemaVersion": 2, "manifests": [manifest]}))
    (folder / "oci-layout").write_text(json.dumps({"imageLayoutVersion": "1.0.0"}))
