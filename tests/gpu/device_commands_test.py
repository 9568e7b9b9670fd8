#!/usr/bin/env python3
"""What commands do on a device, which here is the emulated one: results that mean something, times that do not.

usage: device_commands_test.py PATH_OF_INGOT_GPU PATH_OF_GOLDENS [unittest arguments]
"""

import json
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "end_to_end"))
from served import OPENING, Served, run_served_tests  # noqa: E402

DEVICE = ("--device", "emulated")
NO_GPU = "its times say nothing of a GPU"
RANDOM_MODEL = Path(__file__).resolve().parents[2] / "bench" / "gpu" / "random_model"


class Commands(unittest.TestCase):
    def run_words(self, *words, **changes):
        done = Served.program.run(*words, *DEVICE, **changes)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def json_of(self, *words, **changes):
        return json.loads(self.run_words(*words, "--json", **changes).stdout)

    def test_bench_times_the_rows_of_the_device_and_says_what_that_is_worth(self):
        report = self.json_of("bench", "norm.rms_norm", "--quick")
        self.assertEqual(report["device"]["name"], "emulated")
        self.assertGreater(report["device"]["peaks"]["copy_bytes_per_second"], 0)
        self.assertEqual([row["variant"] for row in report["rows"]], ["cuda"])
        row = report["rows"][0]
        self.assertGreaterEqual(row["copies"], 2)
        for key in ("median_ns", "gbytes_per_second", "gflops", "copy_percent", "roofline_percent"):
            self.assertGreater(row[key], 0)
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder) / "page.html"
            done = self.run_words("bench", "norm.rms_norm", "--quick", "--html", page)
            self.assertIn(NO_GPU, done.stderr)
            self.assertRegex(done.stdout, r"norm\.rms_norm +cuda +1 x 4096")
            self.assertIn("Ingot kernels on emulated", page.read_text())

    def test_an_operation_without_a_row_there_is_named(self):
        for words in (("verify",), ("bench", "--quick")):
            done = Served.program.run(*words, "norm.rms_norm_backward", *DEVICE)
            self.assertEqual(done.returncode, 1)
            self.assertIn("expected a variant of norm.rms_norm_backward that runs on emulated, found none", done.stderr)

    def test_bench_refuses_a_ladder_there(self):
        done = Served.program.run("bench", "linear.matmul", "--ladder", *DEVICE)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("--ladder: expected the device cpu, found 'emulated'", done.stderr)

    def test_bench_model_tells_what_the_device_holds(self):
        for extra in ((), ("--batch", "2", "--depth", "3")):
            report = self.json_of("bench", "model", "--prompt", "4", "--generate", "2", "--repeat", "1", *extra)
            self.assertEqual(report["device"], "emulated")
            for key in ("prefill_tokens_per_second", "decode_tokens_per_second", "decode_cache_bytes", "upload_seconds"):
                self.assertGreater(report[key], 0)
            self.assertGreaterEqual(report["capture_seconds"], 0)
            self.assertGreater(report["device_bytes"], report["decode_weight_bytes"])
            on_host = json.loads(
                Served.program.run("bench", "model", "--prompt", "4", "--generate", "2", "--repeat", "1", *extra, "--json").stdout
            )
            for key in ("decode_weight_bytes", "decode_cache_bytes"):
                self.assertEqual(report[key], on_host[key])

    def test_machine_measures_the_device(self):
        with tempfile.TemporaryDirectory() as folder:
            report = self.json_of("machine", XDG_CACHE_HOME=folder)
            (device,) = report["devices"]
            for rate in device["peaks"].values():
                self.assertGreater(rate, 0)
            text = self.run_words("machine", XDG_CACHE_HOME=folder).stdout
            self.assertRegex(text, r"bf16 matrix [\d.]+ TFLOP/s")
            self.assertRegex(text, r"emulated   emulated, .*, compute capability 8\.0\n {13}features sm_80\n")

    def test_kernels_lists_what_the_device_selects(self):
        report = self.json_of("kernels", "norm.rms_norm")
        selected = [row["name"] for row in report["operations"][0]["variants"] if row["selected"]]
        self.assertEqual(selected, ["cuda"])
        self.assertIn("runs on the CPU", self.run_words("kernels", "norm.rms_norm").stdout)

    def test_explain_shows_the_devices_steps_with_the_hosts_costs(self):
        for extra in ((), ("--depth", "9"), ("--tokens", "12", "--depth", "5")):
            plain = self.json_of("explain", *extra)
            on_host = json.loads(Served.program.run("explain", *extra, "--json").stdout)
            self.assertEqual(plain["processor"], "emulated")
            self.assertIsNone(plain["threads"])
            self.assertEqual({step["variant"] for step in plain["steps"]}, {"cuda"})
            attention = [step for step in plain["steps"] if step["family"] == "attention"]
            expected = [step for step in on_host["steps"] if step["family"] == "attention"]
            for found, wanted in zip(attention, expected, strict=True):
                for key in ("operations", "bytes_read", "cache_bytes"):
                    self.assertEqual(found[key], wanted[key])

    def test_explain_measures_every_step(self):
        report = self.json_of("explain", "--measure", "--repeat", "2")
        self.assertGreater(min(step["measured_us"] for step in report["steps"]), 0)
        self.assertGreater(report["accounted"], 0.2)

    def test_compare_finds_a_device_within_the_tolerance_and_where_it_is_not(self):
        folder = Served.goldens / "llama"
        words = ["compare", folder, "--golden", folder / "golden.safetensors"]
        self.assertTrue(self.json_of(*words)["agrees"])
        done = Served.program.run(*words, *DEVICE, "--tolerance", "0")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("first divergence", done.stdout)

    def test_random_models_of_every_type_run_there_as_on_the_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            for kind in ("Q4_K_M", "Q8_0", "F16", "BF16"):
                model = Path(folder) / f"{kind}.gguf"
                subprocess.run([RANDOM_MODEL, "tiny", kind, model], check=True, stdout=subprocess.DEVNULL)
                words = ["run", model, "-p", "then", "-n", "4", "--temperature", "0", "--cache", "f32", "--json"]
                on_host = json.loads(Served.program.run(*words).stdout)
                self.assertEqual(self.json_of(*words[:-1])["ids"], on_host["ids"], kind)


class OnDevice(Served):
    arguments = (*DEVICE, "--cache-memory", "64M")

    def test_texts_are_those_of_the_cpu_also_where_several_ask_at_once(self):
        done = self.program.run("run", "-p", OPENING, "-n", "12", "--temperature", "0", "--json")
        expected = json.loads(done.stdout)["text"]
        self.assertEqual(self.complete(max_tokens=12)["choices"][0]["text"], expected)
        both = self.complete(prompt=[OPENING, OPENING], max_tokens=12)["choices"]
        self.assertEqual([choice["text"] for choice in both], [expected, expected])
        events = self.server.events("/v1/completions", {"prompt": OPENING, "temperature": 0, "max_tokens": 12})
        pieces = [json.loads(event)["choices"] for event in events[:-1]]
        self.assertEqual("".join(choice["text"] for choices in pieces for choice in choices), expected)

    def test_beginnings_are_shared(self):
        text = OPENING + " He liked soup, and bread, and his old green kettle." * 8
        first = self.complete(prompt=text, max_tokens=4)
        again = self.complete(prompt=text, max_tokens=4)
        self.assertEqual(first["usage"]["prompt_tokens_details"]["cached_tokens"], 0)
        self.assertGreater(again["usage"]["prompt_tokens_details"]["cached_tokens"], 0)
        self.assertEqual(again["choices"][0]["text"], first["choices"][0]["text"])

    def test_several_choices_share_a_prompt_and_penalties_are_the_hosts(self):
        fields = {"max_tokens": 6, "temperature": 1, "seed": 7, "n": 3}
        texts = [choice["text"] for choice in self.complete(**fields)["choices"]]
        self.assertEqual(texts, [choice["text"] for choice in self.complete(**fields)["choices"]])
        self.complete(max_tokens=6, frequency_penalty=1.5, logprobs=2)

    def test_an_end_that_is_to_be_ignored_does_not_come(self):
        """The device chooses it, and the next best is looked for."""
        with self.server.__class__(self.program, "--threads", "1") as with_cpu:
            tale = with_cpu.post("/v1/completions", {"prompt": OPENING, "temperature": 0, "max_tokens": 200}).json()
            nearly_told = {"prompt": OPENING + tale["choices"][0]["text"][:-30], "temperature": 0, "max_tokens": 12}
            ignoring = {**nearly_told, "ignore_eos": True}
            expected = with_cpu.post("/v1/completions", ignoring).json()["choices"][0]
        self.assertEqual(self.complete(**nearly_told)["choices"][0]["finish_reason"], "stop")
        # Beside one that draws, and draws the same all the same.
        drawing = {"prompt": OPENING, "temperature": 0.8, "seed": 3, "max_tokens": 24}
        drawn = self.complete(**drawing)["choices"][0]["text"]
        with ThreadPoolExecutor() as pool:
            beside = pool.submit(self.complete, **drawing)
            texts = [self.complete(**ignoring)["choices"][0]["text"]]
        self.assertEqual(beside.result()["choices"][0]["text"], drawn)
        texts += [choice["text"] for choice in self.complete(**{**ignoring, "prompt": [ignoring["prompt"]] * 2})["choices"]]
        self.assertEqual((texts, expected["finish_reason"]), ([expected["text"]] * 3, "length"))

    def test_who_leaves_leaves_nothing_behind(self):
        stream = self.server.open_stream("/v1/completions", {"prompt": OPENING, "temperature": 0, "max_tokens": 200})
        stream.recv(1)
        stream.close()
        self.server.wait_until_at_rest("tales")

    def test_the_map_is_the_devices(self):
        report = self.server.get("/explain?format=json")
        self.assertEqual(report.status, 200, report.body)
        self.assertEqual(report.json()["processor"], "emulated")

    def test_its_answers_have_a_fingerprint_of_their_own(self):
        of_device = self.complete(max_tokens=1)["system_fingerprint"]
        with_cpu = self.server.__class__(self.program, "--threads", "1")
        with with_cpu:
            answer = with_cpu.post("/v1/completions", {"prompt": OPENING, "max_tokens": 1}).json()
        self.assertNotEqual(answer["system_fingerprint"], of_device)


if __name__ == "__main__":
    run_served_tests()
