"""PyTorch's time for what `ingot bench` times on a GPU: the same shapes and types, captured in a graph, each call on the
next of as many copies of its tensors as fill so many bytes."""

import re
import statistics

import torch
from torch.nn import functional

CALLS = 64
SAMPLES = 15


def numbers(*sizes, dtype=torch.float32):
    return torch.randn(sizes, device="cuda").to(dtype)



def rows_and_width(shape):
    found = re.fullmatch(r"(\d+) x (\d+)", shape)
    return None if found is None else (int(found[1]), int(found[2]))


def on_rows(function, tensors=1, with_weight=False):
    """Of shapes `M x N` in f32."""

    def make(shape):
        sizes = rows_and_width(shape)
        if sizes is None:
            return None

        def build():
            held = [numbers(*sizes) for _ in range(tensors)]
            if with_weight:
                held.append(numbers(sizes[1]))
            return held

        return build, function

    return make


def cast(shape):
    found = re.fullmatch(r"(\d+) x (\d+) (f32|f16|bf16) to (f32|f16|bf16)", shape)
    if found is None:
        return None
    types = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
    sizes = int(found[1]), int(found[2])
    return lambda: [numbers(*sizes, dtype=types[found[3]])], lambda x: x.to(types[found[4]])


def cross_entropy(shape):
    sizes = rows_and_width(shape)
    if sizes is None:
        return None
    return lambda: [numbers(*sizes), torch.randint(0, sizes[1], (sizes[0],), device="cuda")], functional.cross_entropy


def rope(shape):
    """By halves of a head, with tables of cosines and sines that are given."""
    found = re.fullmatch(r"(\d+) tokens, (\d+) heads of (\d+)", shape)
    if found is None:
        return None
    tokens, heads, width = (int(found[index]) for index in (1, 2, 3))

    def turn(x, cosine, sine):
        first, second = x[..., : width // 2], x[..., width // 2 :]
        return torch.cat((first * cosine - second * sine, first * sine + second * cosine), -1)

    return lambda: [numbers(tokens, heads, width), numbers(tokens, 1, width // 2), numbers(tokens, 1, width // 2)], turn


def matmul(shape):
    """`M x N x K TYPE`, of plain types alone."""
    found = re.fullmatch(r"(\d+) x (\d+) x (\d+) (f32|f16|bf16)", shape)
    if found is None:
        return None
    dtype = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}[found[4]]
    rows, columns, depth = (int(found[index]) for index in (1, 2, 3))
    return (
        lambda: [numbers(rows, depth, dtype=dtype), numbers(columns, depth, dtype=dtype)],
        lambda x, weights: functional.linear(x, weights),
    )


def sdpa(shape):
    found = re.fullmatch(r"prefill (\d+), (\d+) heads of (\d+)(?:, (\d+) key heads)?", shape)
    if found is None:
        return None
    length, heads, width = (int(found[index]) for index in (1, 2, 3))
    key_heads = int(found[4] or heads)
    return (
        lambda: [numbers(1, heads, length, width), numbers(1, key_heads, length, width), numbers(1, key_heads, length, width)],
        lambda q, k, v: functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=heads != key_heads),
    )


PEERS = {
    "elementwise.add": on_rows(torch.add, tensors=2),
    "elementwise.mul": on_rows(torch.mul, tensors=2),
    "layout.cast": cast,
    "activation.silu": on_rows(functional.silu),
    "activation.swiglu": on_rows(lambda gate, up: functional.silu(gate) * up, tensors=2),
    "norm.rms_norm": on_rows(lambda x, gamma: functional.rms_norm(x, gamma.shape, gamma, 1e-5), with_weight=True),
    "norm.residual_rms_norm": on_rows(
        lambda x, residual, gamma: functional.rms_norm(x + residual, gamma.shape, gamma, 1e-5), tensors=2, with_weight=True
    ),
    "norm.layer_norm": on_rows(lambda x, gamma: functional.layer_norm(x, gamma.shape, gamma), with_weight=True),
    "attention.softmax": on_rows(lambda x: torch.softmax(x, -1)),
    "attention.log_softmax": on_rows(lambda x: torch.log_softmax(x, -1)),
    "attention.sdpa": sdpa,
    "loss.cross_entropy": cross_entropy,
    "position.rope": rope,
    "linear.matmul": matmul,
}


def operations():
    return list(PEERS)


def nanoseconds(operation, shape, bytes_of_copies):
    """Of a call, the median; None where PyTorch has nothing of that shape."""
    made = PEERS[operation](shape)
    if made is None:
        return None
    build, function = made
    first = build()
    size = sum(tensor.numel() * tensor.element_size() for tensor in first)
    copies = [first] + [build() for _ in range(min(bytes_of_copies // size + 1, CALLS - 1))]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for held in copies[:3]:
            function(*held)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for call in range(CALLS):
            function(*copies[call % len(copies)])
    graph.replay()
    samples = []
    for _ in range(SAMPLES):
        begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        begin.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        samples.append(begin.elapsed_time(end) * 1e6 / CALLS)
    return statistics.median(samples)
