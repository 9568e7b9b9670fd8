#!/usr/bin/env python3
"""The engine's container image, as the Dockerfile describes it, becomes a machine that tells the tale.

usage: oci_test.py INGOT KERNEL ENGINE DOCKERFILE
"""

import sys
import tarfile
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "programs"))
from dockerfile import last_stage  # noqa: E402
from guest import SKIPPED, Guest, missing_tool  # noqa: E402
from oci_layout import layer_of, write_layout  # noqa: E402
from run_cases import run_cases  # noqa: E402
from story_test import tale_of  # noqa: E402

INGOT = KERNEL = ENGINE = DOCKERFILE = None
BUILT = "/ingot/build/bin/ingot"  # where the Dockerfile's first stage leaves the engine


class Container(unittest.TestCase):
    def setUp(self):
        self.guest = Guest(INGOT, KERNEL)
        self.addCleanup(self.guest.close)
        stage = last_stage(Path(DOCKERFILE))
        self.assertEqual([source for source, _ in stage.copies], [BUILT])
        below = {destination: Path(ENGINE).read_bytes() for _, destination in stage.copies} | {"/etc/old": b"removed"}
        above = {"/etc/.wh.old": b"", "/etc/new": b"kept"}
        self.layout = Path(self.guest.path("layout"))
        layers = [self.layer("below", below), self.layer("above", above)]
        write_layout(self.layout, layers, stage.entrypoint, stage.command, stage.environment, stage.directory)

    def layer(self, name: str, files: dict[str, bytes]) -> bytes:
        folder = Path(self.guest.path(name))
        for path, content in files.items():
            file = folder / path.lstrip("/")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(0o755)
        return layer_of(folder, sorted(files))

    def test_its_machine_tells_what_the_program_does(self):
        done = self.guest.cast("--oci", str(self.layout), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('"/bin/ingot"', done.stdout)
        words = ["run", "-n", "4", "--threads", "1"]
        ended = self.guest.boot(*words)
        self.assertEqual(ended.status, 0, ended.log)
        tale = tale_of(ended.output)
        self.assertEqual(tale, tale_of(self.guest.run(*words).stdout))
        self.assertGreater(len(tale.split()), 5)

    def test_a_folder_and_its_tar_are_the_same_image(self):
        with tarfile.open(self.guest.path("layout.tar"), "w") as tar:
            tar.add(self.layout, arcname=".")
        for source, image in ((str(self.layout), "first"), (self.guest.path("layout.tar"), "second")):
            done = self.guest.cast("--oci", source, image=image)
            self.assertEqual(done.returncode, 0, done.stderr)
        first = Path(self.guest.path("first")).read_bytes()
        self.assertEqual(first, Path(self.guest.path("second")).read_bytes())
        self.assertIn(b"etc/new\0", first)
        self.assertNotIn(b"etc/old\0", first)

    def test_neither_a_tar_nor_a_part_of_a_folder_is_replaced(self):
        with tarfile.open(self.guest.path("layout.tar"), "w") as tar:
            tar.add(self.layout, arcname=".")
        for source, image in ((str(self.layout), "layout/index.json"), (self.guest.path("layout.tar"), "layout.tar")):
            before = Path(self.guest.path(image)).read_bytes()
            done = self.guest.cast("--oci", source, image=image)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("output: expected another file than what is read", done.stderr)
            self.assertEqual(Path(self.guest.path(image)).read_bytes(), before)

    def test_a_part_that_is_not_what_its_digest_says_is_refused(self):
        blob = max((self.layout / "blobs" / "sha256").iterdir(), key=lambda path: path.stat().st_size)
        content = bytearray(blob.read_bytes())
        content[1000] ^= 1
        blob.write_bytes(content)
        done = self.guest.cast("--oci", str(self.layout))
        self.assertEqual(done.returncode, 1)
        self.assertIn("digest", done.stderr)


if __name__ == "__main__":
    INGOT, KERNEL, ENGINE, DOCKERFILE = sys.argv[1:5]
    if (missing := missing_tool()) is not None:
        print(f"SKIPPED: {missing}")
        sys.exit(SKIPPED)
    run_cases(sys.argv[:1])
