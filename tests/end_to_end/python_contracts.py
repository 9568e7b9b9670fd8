"""Contracts on arrays, against NumPy: cases of python_package_test.py."""

import array
import gc
import sys
import threading
import unittest

import ingot
import numpy as np

try:
    import _testbuffer
except ImportError:  # which is no part of every Python
    _testbuffer = None

EPSILON = 1e-6


def drawn(*shape):
    return np.random.default_rng(1).standard_normal(shape, np.float32)


def normalised(x, gamma):
    return gamma * x / np.sqrt((x.astype(np.float64) ** 2).mean(-1, keepdims=True) + EPSILON)


class LentByDlpack:
    """An array of a library that has DLPack and no buffer."""

    def __init__(self, array):
        self.array = array

    def __dlpack__(self, **options):
        return self.array.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.array.__dlpack_device__()


class Contracts(unittest.TestCase):
    def assert_refused(self, words, name="norm.rms_norm", **options):
        with self.assertRaises(ingot.Error) as caught:
            ingot.run(name, **options)
        self.assertIn(words, str(caught.exception))

    def test_results_are_those_of_numpy(self):
        x, gamma, weights = drawn(5, 3, 64), drawn(64), drawn(7, 64)
        y = ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=EPSILON)
        np.testing.assert_allclose(y, normalised(x, gamma), rtol=2e-6)
        y = ingot.run("linear.matmul", x=x[0], weights=weights)
        np.testing.assert_allclose(y, x[0] @ weights.T, atol=1e-4)
        y = ingot.run("attention.softmax", x=x[:, 0])
        exponential = np.exp(x[:, 0])
        np.testing.assert_allclose(y, exponential / exponential.sum(-1, keepdims=True), atol=1e-6)

    def test_every_variant_of_this_machine_can_be_asked_for(self):
        x, gamma = drawn(5, 64), drawn(64)
        states = {row["name"]: row["state"] for row in ingot.kernels("norm.rms_norm")[0]["variants"]}
        for name, state in states.items():
            if state == "available":
                y = ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=EPSILON, variant=name)
                np.testing.assert_allclose(y, normalised(x, gamma), rtol=2e-6)
            else:
                self.assert_refused("that this machine can run", x=x, gamma=gamma, variant=name)
        self.assertEqual(states["reference"], "available")
        self.assert_refused("unknown variant: expected one of", x=x, gamma=gamma, variant="fastest")

    def test_memory_is_that_of_the_arrays(self):
        x, gamma, out = drawn(4, 64), drawn(64), np.zeros((4, 64), np.float32)
        self.assertIs(ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=EPSILON, out=out), out)
        expected = normalised(x, gamma)
        np.testing.assert_allclose(out, expected, rtol=2e-6)
        ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=EPSILON, out=x)  # in place
        np.testing.assert_array_equal(x, out)
        self.assert_refused("expected y to share no memory with x", x=x[:3], gamma=gamma, out=x[1:])

    def test_rows_may_lie_anywhere(self):
        wide, gamma = drawn(6, 128), drawn(64)
        x = wide[::-2, 32:96]
        np.testing.assert_allclose(ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=EPSILON),
                                   normalised(x, gamma), rtol=2e-6)  # fmt: skip

    def test_other_libraries_lend_by_dlpack(self):
        x, gamma = drawn(4, 64), drawn(64)
        y = ingot.run("norm.rms_norm", x=LentByDlpack(x), gamma=LentByDlpack(gamma), epsilon=EPSILON)
        np.testing.assert_allclose(y, normalised(x, gamma), rtol=2e-6)

    def test_who_lends_may_change_what_he_stands_in(self):
        class Leaving(LentByDlpack):
            def __dlpack__(self, **options):
                fields.clear()
                return super().__dlpack__(**options)

        fields = {"x": Leaving(drawn(4, 64)), "gamma": drawn(64)}
        y = ingot.Kernels(threads=1).run("norm.rms_norm", fields, None, None)
        self.assertEqual((y.shape, fields), ((4, 64), {}))

    def test_optional_outputs_are_written_where_they_are_given(self):
        x, gamma, rstd = drawn(4, 64), drawn(64), np.zeros(4, np.float32)
        found = ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=EPSILON, out={"rstd": rstd})
        self.assertEqual(set(found), {"y", "rstd"})
        np.testing.assert_allclose(rstd, 1 / np.sqrt((x**2).mean(-1) + EPSILON), rtol=1e-5)

    def test_blocks_are_types_that_numpy_has_not(self):
        halves = np.float16(drawn(2, 1))
        codes = np.random.default_rng(1).integers(-127, 128, (2, 32), np.int8)
        rows = np.concatenate([halves.view(np.uint8), codes.view(np.uint8)], axis=1)  # q8_0: a scale and 32 codes
        x = drawn(3, 32)
        y = ingot.run("linear.matmul", x=x, weights=ingot.Blocks(rows, "q8_0"))
        weights = halves.astype(np.float32) * codes
        np.testing.assert_allclose(y, x @ weights.T, rtol=0.02, atol=0.02 * np.abs(y).max())
        self.assert_refused("in whole blocks of 34 bytes", "linear.matmul", x=x, weights=ingot.Blocks(rows[:, 1:], "q8_0"))
        with self.assertRaises(ingot.Error):
            ingot.Blocks(rows, "q9")

    def test_errors_are_the_contract_s_own(self):
        x, gamma = drawn(4, 64), drawn(64)
        self.assert_refused("norm.rms_norm C2: expected gamma of shape [64], found [32]", x=x, gamma=gamma[:32])
        self.assert_refused("norm.rms_norm C3: expected y of shape [4, 64], found [4, 63]", x=x, gamma=gamma,
                            out=np.zeros((4, 63), np.float32))  # fmt: skip
        self.assert_refused("C5", x=x, gamma=gamma, epsilon=-1.0)
        self.assert_refused("expected gamma, found that it was left out", x=x)
        self.assert_refused("expected a view of f32, found f16", x=x.astype(np.float16), gamma=gamma)
        self.assert_refused("found elements of the format 'd'", x=x.astype(np.float64), gamma=gamma)
        self.assert_refused("Did you mean 'norm.rms_norm'", "norm.rms_nrom", x=x, gamma=gamma)
        self.assert_refused("found that of a family", "norm", x=x)
        self.assert_refused("expected fields among x, gamma, epsilon, y, rstd, found 'beta'", x=x, gamma=gamma, beta=1)

    def test_what_is_no_array_is_refused(self):
        x, gamma = drawn(4, 64), drawn(64)
        self.assert_refused("expected norm.rms_norm: x as an array", x=[1.0], gamma=gamma)
        self.assert_refused("at most 6 axes", x=drawn(1, 1, 1, 1, 1, 1, 64), gamma=gamma)
        self.assert_refused("aligned", x=np.frombuffer(bytes(65 * 4), np.uint8)[1:257].view(np.float32), gamma=gamma)
        constant = np.zeros((4, 64), np.float32)
        constant.flags.writeable = False
        self.assert_refused("that may be written, found a read-only array", x=x, gamma=gamma, out=constant)
        self.assert_refused("expected epsilon as a number, found 'a'", x=x, gamma=gamma, epsilon="a")
        self.assert_refused("expected what it writes in out, found gamma", x=x, out={"gamma": gamma})
        self.assert_refused("expected y once", x=x, gamma=gamma, y=x, out=np.empty_like(x))
        with self.assertRaises(ingot.Error):
            ingot.Kernels(threads=10**6)
        self.assert_refused("address for each element", x=x, gamma=gamma,
                            out=np.lib.stride_tricks.as_strided(np.zeros(64, np.float32), (4, 64), (0, 4)))  # fmt: skip

    @unittest.skipIf(_testbuffer is None, "expected Python's module _testbuffer, found none")
    def test_buffers_of_pointers_are_refused(self):
        rows = _testbuffer.ndarray([1.0] * 128, shape=[2, 64], format="f", flags=_testbuffer.ND_PIL)
        with self.assertRaises(BufferError):
            ingot.run("norm.rms_norm", x=rows, gamma=drawn(64))

    def test_an_output_that_nothing_tells_must_be_given(self):
        x = drawn(4, 64)
        self.assert_refused("expected memory for values, whose shape the other arguments do not tell",
                            "elementwise.top_k", x=x)  # fmt: skip
        values, indices = np.empty((4, 3), np.float32), np.empty((4, 3), np.int32)
        ingot.run("elementwise.top_k", x=x, largest=True, out={"values": values, "indices": indices})
        np.testing.assert_array_equal(values, np.sort(x)[:, :-4:-1])
        y = ingot.run("layout.slice", x=x, axis=1, begin=4, end=20, step=4)
        np.testing.assert_array_equal(y, x[:, 4:20:4])

    def test_what_is_known_of_a_call_is_known_of_that_alone(self):
        for rows in (5, 5, 2, 0, 5):
            x = drawn(max(rows, 1), 64)[:rows]
            y = ingot.run("norm.rms_norm", x=x, gamma=drawn(64), epsilon=EPSILON)
            np.testing.assert_allclose(y, normalised(x, drawn(64)), rtol=2e-6)
        x = drawn(4, 64)
        for step in (4, 4, 2):
            y = ingot.run("layout.slice", x=x, axis=1, begin=4, end=20, step=step)
            np.testing.assert_array_equal(y, x[:, 4:20:step])

    def test_threads_come_one_after_another(self):
        x, gamma, results = drawn(64, 512), drawn(512), []
        compute = lambda: results.append(ingot.run("norm.rms_norm", x=x, gamma=gamma, epsilon=EPSILON))
        threads = [threading.Thread(target=compute) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 8)
        for result in results:
            np.testing.assert_array_equal(result, results[0])

    def test_nothing_is_kept_of_a_call(self):
        x, gamma = drawn(4, 64), drawn(64)
        kernels = ingot.Kernels(threads=1)
        self.assertEqual(kernels.threads, 1)
        lent, references = array.array("f", gamma), sys.getrefcount(x)
        y = ingot.run("norm.rms_norm", x=x, gamma=lent, on=kernels)
        self.assert_refused("C2", x=x, gamma=gamma[:32])
        self.assertEqual(sys.getrefcount(x), references)
        lent.append(1)  # which what is still lent refuses
        del kernels
        gc.collect()
        self.assertEqual(y.shape, (4, 64))

    def test_kernels_are_listed(self):
        names = [row["name"] for row in ingot.kernels()]
        self.assertGreater(len(names), 100)
        self.assertEqual({row["family"] for row in ingot.kernels("norm")}, {"norm"})
        fields = {row["name"]: row["role"] for row in ingot.kernels("norm.rms_norm")[0]["fields"]}
        self.assertEqual(fields, {"x": "input", "gamma": "weight", "epsilon": "attribute", "y": "output", "rstd": "saved"})

    def test_variants_are_proven(self):
        rows = ingot.verify("norm.l2_norm", reduced=True, seed=3)
        self.assertIn("passed", {row["status"] for row in rows})
        self.assertNotIn("failed", {row["status"] for row in rows}, rows)
        alone = ingot.verify("norm.l2_norm", variant="reference", reduced=True)
        self.assertLessEqual({row["variant"] for row in alone if row["status"] == "passed"}, {"reference", "gradient"})
        with self.assertRaises(ingot.Error):
            ingot.verify("norm.l2_nrom")
