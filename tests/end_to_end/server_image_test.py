#!/usr/bin/env python3
"""`ingot cast --format oci`: an image of the server, made without a daemon, read by others' eyes and run.

usage: server_image_test.py INGOT KERNELS ENGINE SOURCES [NAME_OF_TEST...]

KERNELS is the folder of the shipped kernels, ENGINE the engine for x86_64.
"""

import hashlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

from dockerfile import named_stage
from program import Program
from run_cases import run_cases
from served import Client, Server

program: Program
KERNELS = ENGINE = None
SOURCES = Path()
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
COMMAND = ["serve", "--host", "0.0.0.0"]


class Layout:
    """The image in a tar, every part held against the size and the digest that name it."""

    def __init__(self, path: Path):
        with tarfile.open(path, "r:") as archive:
            self.members = archive.getmembers()
            self.files = {m.name: archive.extractfile(m).read() for m in self.members if m.isfile()}
        (self.described,) = json.loads(self.files["index.json"])["manifests"]
        self.manifest = json.loads(self.blob(self.described))
        self.config = json.loads(self.blob(self.manifest["config"]))
        (layer,) = self.manifest["layers"]
        self.layer = self.blob(layer)
        assert self.config["rootfs"] == {"type": "layers", "diff_ids": [layer["digest"]]}, self.config
        (self.for_docker,) = json.loads(self.files["manifest.json"])
        assert self.for_docker["Layers"] == ["blobs/sha256/" + layer["digest"].removeprefix("sha256:")]
        assert json.loads(self.files["oci-layout"]) == {"imageLayoutVersion": "1.0.0"}

    def blob(self, descriptor: dict) -> bytes:
        digits = descriptor["digest"].removeprefix("sha256:")
        content = self.files[f"blobs/sha256/{digits}"]
        assert hashlib.sha256(content).hexdigest() == digits, digits
        assert len(content) == descriptor["size"], digits
        return content

    def unpack(self, folder: Path) -> list[tarfile.TarInfo]:
        packed = folder.with_suffix(".layer")
        packed.write_bytes(self.layer)
        with tarfile.open(packed, "r:") as archive:
            archive.extractall(folder)
            return archive.getmembers()


class Folder(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.tar = self.folder / "server.tar"

    def cast(self, *words, output=None):
        done = program.run("cast", "--format", "oci", "-o", output or self.tar, "--json", *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)


class Image(Folder):
    def inside(self, root: Path) -> Program:
        """The unpacked image's engine, with nothing around it but the image."""
        change = ["chroot"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "chroot"]
        words = [*change, str(root), "/bin/ingot"]
        tried = subprocess.run([*words, "--version"], capture_output=True, text=True, check=False)
        if tried.returncode != 0 and "ingot" not in tried.stderr.replace("/bin/ingot", ""):
            self.skipTest(f"SKIPPED: expected to change the root, found: {tried.stderr.strip()}")
        self.assertEqual(tried.returncode, 0, tried.stderr)
        script = self.folder / "inside"
        script.write_text(f"#!/bin/sh\nexec {' '.join(words)} \"$@\"\n", encoding="utf-8")
        script.chmod(0o755)
        return Program(script)

    def test_the_built_in_model_is_served_from_the_image_alone(self):
        report = self.cast()
        layout = Layout(self.tar)
        self.assertEqual(report["bytes"], self.tar.stat().st_size)
        self.assertEqual(report["digest"], layout.described["digest"])
        self.assertEqual((report["os"], report["architecture"]), ("linux", ARCHITECTURE))
        for described in (layout.described["platform"], layout.config):
            self.assertEqual((described["os"], described["architecture"]), ("linux", ARCHITECTURE))
        self.assertEqual(layout.for_docker["RepoTags"], ["ingot-server:latest"])
        self.assertEqual(layout.config["config"]["Entrypoint"], ["/bin/ingot"])
        self.assertEqual(layout.config["config"]["Cmd"], COMMAND)
        self.assertEqual(layout.config["config"]["ExposedPorts"], {"8080/tcp": {}})
        root = self.folder / "root"
        members = layout.unpack(root)
        self.assertEqual([(m.name, m.mode) for m in members], [("bin", 0o755), ("bin/ingot", 0o755)])
        for member in [*members, *layout.members]:
            self.assertEqual((member.uid, member.gid, member.mtime, member.uname), (0, 0, 0, ""), member.name)
        self.assertEqual((root / "bin/ingot").read_bytes(), Path(program.path).read_bytes())
        inside = self.inside(root)
        done = inside.run(*layout.config["config"]["Cmd"], "--port", "0", "--dry-run", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(json.loads(done.stdout)["host"], "0.0.0.0")
        with Server(inside, *COMMAND[1:], "--threads", "1") as server:
            self.assertEqual(server.get("/health").status, 200)
            answer = server.post("/v1/completions", {"prompt": "\nOnce there was", "max_tokens": 4, "temperature": 0})
            self.assertEqual(answer.json()["usage"]["completion_tokens"], 4, answer.body)

    def test_a_model_lies_beside_the_engine_and_is_served(self):
        model = SOURCES / "models" / "tales.gguf"
        self.cast(model)
        layout = Layout(self.tar)
        command = layout.config["config"]["Cmd"]
        self.assertEqual(command, ["serve", "/model.gguf", "--host", "0.0.0.0"])
        layout.unpack(self.folder / "root")
        self.assertEqual((self.folder / "root/model.gguf").read_bytes(), model.read_bytes())
        done = self.inside(self.folder / "root").run(*command, "--port", "0", "--dry-run", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("/model.gguf", done.stdout)

    def test_words_files_and_settings_are_the_images_own(self):
        (self.folder / "site").mkdir()
        (self.folder / "site" / "note").write_text("n", encoding="utf-8")
        words = ["--arg=serve", "--arg=--unix", "--arg=/s", "--env", "A=b c", "--directory", "/site"]
        self.cast(*words, "--file", f"{self.folder / 'site'}=/site")
        layout = Layout(self.tar)
        settings = layout.config["config"]
        self.assertEqual(settings["Cmd"], ["serve", "--unix", "/s"])
        self.assertEqual(settings["Env"], ["HOME=/", "A=b c"])
        self.assertEqual(settings["WorkingDir"], "/site")
        layout.unpack(self.folder / "root")
        self.assertEqual((self.folder / "root/site/note").read_text(encoding="utf-8"), "n")

    def test_equal_inputs_give_equal_bytes_and_a_dry_run_none(self):
        tried = self.cast("--dry-run")
        self.assertFalse(self.tar.exists())
        self.assertIsNone(tried["digest"])
        written = self.cast()
        self.assertEqual(tried["bytes"], written["bytes"])
        self.cast(output=self.folder / "again.tar")
        self.assertEqual(self.tar.read_bytes(), (self.folder / "again.tar").read_bytes())
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["again.tar", "server.tar"])

    def test_what_only_a_machine_has_is_refused_by_name(self):
        for words in (["--program", program.path], ["--oci", "x.tar"], ["--memory", "1G"], ["--heap", "1M"],
                      ["--limit", "1G"], ["--tmpfs", "1M"], ["--cpus", "2"], ["--consume", "/model.gguf"],
                      ["--grant", "pci"], ["--trace"], ["--option", "x"], ["--kernel", KERNELS],
                      ["--loader", "x.efi"]):  # fmt: skip
            done = program.run("cast", "--format", "oci", "-o", self.tar, *words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))
            self.assertIn(f"alone, found {words[0]}:", done.stderr)
            self.assertFalse(self.tar.exists())

    def test_what_is_no_server_is_refused(self):
        text = self.folder / "text"
        text.write_text("#!/bin/sh\n", encoding="utf-8")
        for words, reason in (
            (["--engine", text], f"program '{text}': expected an ELF file"),
            (["--engine", "/no/such"], "No such file or directory"),
            ([text], "GGUF"),
            ([self.folder], "expected a .gguf file, found the folder"),
            (["--file", f"{text}=/bin/ingot"], "expected '/bin/ingot' to be free for the program"),
        ):
            done = program.run("cast", "--format", "oci", "-o", self.tar, *words)
            self.assertEqual(done.returncode, 1, (words, done.stderr))
            self.assertIn(reason, done.stderr)
            self.assertFalse(self.tar.exists())

    def test_a_machine_is_cast_of_what_was_cast_for_containers(self):
        report = self.cast("--engine", ENGINE)
        self.assertEqual(report["architecture"], "amd64")
        self.assertEqual(Layout(self.tar).config["architecture"], "amd64")
        words = ["cast", "--oci", self.tar, "-o", self.folder / "image", "--kernel", KERNELS, "--json"]
        done = program.run(*words)
        self.assertEqual(done.returncode, 0, done.stderr)
        machine = json.loads(done.stdout)
        lines = machine["manifest"].splitlines()
        self.assertIn("program /bin/ingot", lines)
        self.assertEqual([line.removeprefix("default-argument ") for line in lines if "default-" in line], COMMAND)
        self.assertIn(("/bin/ingot", os.path.getsize(ENGINE)), [(s["path"], s["bytes"]) for s in machine["segments"]])
        self.cast("--engine", program.path)
        done = program.run(*words)
        self.assertEqual(done.returncode, 0 if ARCHITECTURE == "amd64" else 1, done.stderr)
        if ARCHITECTURE != "amd64":
            self.assertIn("expected an image for linux/amd64", done.stderr)

    def test_the_dockerfile_describes_the_same_server(self):
        stage = named_stage(SOURCES / "Dockerfile", "server")
        self.cast()
        settings = Layout(self.tar).config["config"]
        self.assertEqual([destination for _, destination in stage.copies], settings["Entrypoint"])
        self.assertEqual(stage.entrypoint, settings["Entrypoint"] + settings["Cmd"])  # so that words can follow
        self.assertEqual(stage.command, [])
        self.assertEqual(stage.environment, settings["Env"])
        self.assertEqual(stage.directory, settings["WorkingDir"])
        self.assertEqual({f"{port}/tcp": {} for port in stage.ports}, settings["ExposedPorts"])


def docker(*words) -> subprocess.CompletedProcess:
    return subprocess.run(["docker", *map(str, words)], capture_output=True, text=True, check=False, timeout=120)


class Container(Folder):
    def setUp(self):
        if shutil.which("docker") is None:
            self.skipTest("SKIPPED: expected docker, found none")
        if (done := docker("info")).returncode != 0:
            self.skipTest(f"SKIPPED: expected Docker's daemon, found: {done.stderr.strip().splitlines()[-1]}")
        super().setUp()

    def test_docker_loads_and_runs_it(self):
        self.cast()
        done = docker("load", "-i", self.tar)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("ingot-server:latest", done.stdout)
        started = docker("run", "--detach", "--rm", "--publish", "127.0.0.1::8080", "ingot-server:latest")
        self.assertEqual(started.returncode, 0, started.stderr)
        container = started.stdout.strip()
        self.addCleanup(docker, "rm", "--force", container)
        host, _, port = docker("port", container, "8080/tcp").stdout.strip().rpartition(":")
        Client(int(port), host).wait_for_health(lambda answer: answer.status == 200)
        self.assertEqual(docker("stop", "-t", "60", container).returncode, 0)


if __name__ == "__main__":
    INGOT, KERNELS, ENGINE, SOURCES = sys.argv[1:5]
    program, SOURCES = Program(INGOT), Path(SOURCES)
    run_cases(sys.argv[:1] + sys.argv[5:])
