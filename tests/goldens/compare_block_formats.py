#!/usr/bin/env python3
"""Compares `ingot quantize` with the Python package gguf on many random blocks: decoding to f32 for every block format
that the package knows, encoding for those that both encode alike, and the errors of those that both encode in ways of
their own. Prints a line a format; the exit status is 1 where bits differ or our error is the larger one, and 77 where
the package is missing.

    compare_block_formats.py build/bin/ingot
"""

import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import gguf
    import numpy
    from gguf import quants
except ImportError as missing:
    print(f"SKIPPED: {missing}")
    sys.exit(77)

DECODED = """Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 Q2_K Q3_K Q4_K Q5_K Q6_K IQ4_NL MXFP4 IQ4_XS IQ3_S IQ3_XXS IQ2_S IQ2_XS IQ2_XXS IQ1_M
IQ1_S TQ2_0 TQ1_0 NVFP4""".split()
ENCODED = "Q4_0 Q4_1 Q5_0 Q5_1 Q8_0 TQ1_0 TQ2_0".split()
ENCODED_OTHERWISE = ["MXFP4"]
ROWS = 64
ELEMENTS = 4096


def write(path, tensors):
    writer = gguf.GGUFWriter(str(path), "llama")
    for name, (data, kind) in tensors.items():
        writer.add_tensor(name, data, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def converted(ingot, tensors, kind, folder):
    write(folder / "in.gguf", tensors)
    command = [ingot, "quantize", str(folder / "in.gguf"), str(folder / "out.gguf"), kind, "--pure"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return {tensor.name: tensor.data for tensor in gguf.GGUFReader(str(folder / "out.gguf")).tensors}


def same_bits(found, expected):
    found, expected = (numpy.ascontiguousarray(values, numpy.float32).ravel() for values in (found, expected))
    equal = found.view(numpy.uint32) == expected.view(numpy.uint32)
    return bool((equal | (numpy.isnan(found) & numpy.isnan(expected))).all())


def main():
    ingot = sys.argv[1]
    random = numpy.random.default_rng(7)
    kinds = {name: getattr(gguf.GGMLQuantizationType, name) for name in DECODED}
    failures = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        blocks = {}
        for kind in DECODED:
            elements, size = gguf.GGML_QUANT_SIZES[kinds[kind]]
            blocks[kind] = random.integers(0, 256, (ROWS, ELEMENTS // elements * size), dtype=numpy.uint8)
        tensors = {f"blk.{i}.{kind}.weight": (blocks[kind], kinds[kind]) for i, kind in enumerate(DECODED)}
        found = converted(ingot, tensors, "F32", folder)
        for tensor, (data, kind) in tensors.items():
            with numpy.errstate(all="ignore"):
                expected = quants.dequantize(data, kind)
            same = same_bits(found[tensor], expected)
            failures += not same
            print(f"{kind.name:8} {expected.size} numbers decoded {'alike' if same else 'DIFFERENTLY'}")
        numbers = (random.standard_normal((ROWS, ELEMENTS)) * numpy.exp(random.uniform(-12, 4, (ROWS, 1)))).astype("f4")
        for kind in ENCODED:
            tensors = {"blk.0.attn_q.weight": (numbers, gguf.GGMLQuantizationType.F32)}
            found = converted(ingot, tensors, kind, folder)["blk.0.attn_q.weight"]
            expected = quants.quantize(numbers, kinds[kind])
            same = found.tobytes() == expected.tobytes()
            failures += not same
            print(f"{kind:8} {expected.size} bytes encoded {'alike' if same else 'DIFFERENTLY'}")
        for kind in ENCODED_OTHERWISE:
            tensors = {"blk.0.attn_q.weight": (numbers, gguf.GGMLQuantizationType.F32)}
            encoded = (converted(ingot, tensors, kind, folder)["blk.0.attn_q.weight"], quants.quantize(numbers, kinds[kind]))
            # Of each row in its own size, which spans many orders.
            ours, theirs = (
                float((((quants.dequantize(rows, kinds[kind]) - numbers) ** 2).sum(1) / (numbers**2).sum(1)).mean())
                for rows in encoded
            )
            failures += not ours <= theirs
            print(f"{kind:8} squared error of what is encoded {ours:.5f}, the package's {theirs:.5f}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
