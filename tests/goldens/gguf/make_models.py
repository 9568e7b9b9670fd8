#!/usr/bin/env python3
"""Makes tiny GGUF models with random weights, named and shaped as llama.cpp's converter writes them.

    python3 tests/goldens/gguf/make_models.py [FOLDER]

record_logits.cpp records what llama.cpp computes with them. They show what no checkpoint of transformers shows: files
whose recurrent layers are stored in other ways, and that the names and meanings of GGUF are understood, not only those
that a translated checkpoint uses. No packages needed.
"""

import pathlib
import random
import struct
import sys

VOCABULARY = 40
WIDTH = 16
LAYERS = 2
F32, STRING, BOOLEAN, U32 = 6, 8, 7, 4


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def encoded(value):
    if isinstance(value, bool):
        return struct.pack("<IB", BOOLEAN, value)
    if isinstance(value, int):
        return struct.pack("<II", U32, value)
    if isinstance(value, float):
        return struct.pack("<If", F32, value)
    return struct.pack("<I", STRING) + text(value)


def padded(data):
    return data + b"\0" * (-len(data) % 32)


class Model:
    def __init__(self, architecture, seed, numbers):
        self.random = random.Random(seed)
        self.prefix = ""
        self.numbers = {"general.architecture": architecture, "tokenizer.ggml.model": "no_vocab"}
        usual = {"vocab_size": VOCABULARY, "context_length": 64, "embedding_length": WIDTH, "block_count": LAYERS,
                 "attention.layer_norm_rms_epsilon": 1e-6, "feed_forward_length": 0, "attention.head_count": 0}
        self.numbers.update({f"{architecture}.{key}": value for key, value in {**usual, **numbers}.items()})
        self.tensors = []
        self.draw("token_embd.weight", VOCABULARY, WIDTH, spread=0.5)
        self.draw("output_norm.weight", WIDTH, around=1)
        self.draw("output.weight", VOCABULARY, WIDTH, spread=0.5)

    def draw(self, name, *shape, spread=0.3, around=0.0):
        count = 1
        for size in shape:
            count *= size
        self.add(name, shape, [around + spread * self.random.gauss(0, 1) for _ in range(count)])

    def decay(self, name, *shape):
        self.add(name, shape, [-self.random.uniform(0.3, 3) for _ in range(shape[0] * (shape + (1,))[1])])

    def add(self, name, shape, values):
        self.tensors.append((self.prefix + name, shape, struct.pack(f"<{len(values)}f", *values)))

    def layers(self):
        for layer in range(LAYERS):
            self.prefix = f"blk.{layer}."
            yield layer

    def experts(self, count, hidden):
        self.draw("ffn_gate_inp.weight", count, WIDTH, spread=0.5)
        self.draw("ffn_gate_exps.weight", count, hidden, WIDTH)
        self.draw("ffn_up_exps.weight", count, hidden, WIDTH)
        self.draw("ffn_down_exps.weight", count, WIDTH, hidden)

    def attention(self, query_rows, key_rows, mixed):
        self.draw("attn_q.weight", query_rows, WIDTH)
        self.draw("attn_k.weight", key_rows, WIDTH)
        self.draw("attn_v.weight", key_rows, WIDTH)
        self.draw("attn_output.weight", WIDTH, mixed)

    def write(self, path):
        head = b"GGUF" + struct.pack("<IQQ", 3, len(self.tensors), len(self.numbers))
        head += b"".join(text(key) + encoded(value) for key, value in self.numbers.items())
        data = b""
        for name, shape, values in self.tensors:
            head += text(name) + struct.pack("<I", len(shape))
            head += b"".join(struct.pack("<Q", size) for size in reversed(shape)) + struct.pack("<IQ", 0, len(data))
            data += padded(values)
        path.write_bytes(padded(head) + data)


def mixtral():
    model = Model("llama", 1, {"feed_forward_length": 12, "attention.head_count": 4, "attention.head_count_kv": 2,
                               "rope.dimension_count": 4, "expert_count": 5, "expert_used_count": 2})
    for _ in model.layers():
        model.draw("attn_norm.weight", WIDTH, around=1)
        model.attention(16, 8, 16)
        model.draw("ffn_norm.weight", WIDTH, around=1)
        model.experts(5, 12)
    return model


def qwen3moe():
    model = Model("qwen3moe", 2, {
        "feed_forward_length": 20, "attention.head_count": 4, "attention.head_count_kv": 2, "attention.key_length": 6,
        "attention.value_length": 6, "rope.freq_base": 100.0, "expert_count": 5, "expert_used_count": 3,
        "expert_feed_forward_length": 10})
    for _ in model.layers():
        model.draw("attn_norm.weight", WIDTH, around=1)
        model.attention(24, 12, 24)
        model.draw("attn_q_norm.weight", 6, around=1)
        model.draw("attn_k_norm.weight", 6, around=1)
        model.draw("ffn_norm.weight", WIDTH, around=1)
        model.experts(5, 10)
    return model


def mamba(norms_steps):
    inner, memory, rank = 2 * WIDTH, 6, 3
    model = Model("mamba", 3 + norms_steps, {
        "ssm.conv_kernel": 4, "ssm.inner_size": inner, "ssm.state_size": memory, "ssm.time_step_rank": rank,
        "ssm.dt_b_c_rms": norms_steps})
    for _ in model.layers():
        model.draw("attn_norm.weight", WIDTH, around=1)
        model.draw("ssm_in.weight", 2 * inner, WIDTH)
        model.draw("ssm_conv1d.weight", inner, 4)
        model.draw("ssm_conv1d.bias", inner)
        model.draw("ssm_x.weight", rank + 2 * memory, inner)
        model.draw("ssm_dt.weight", inner, rank)
        model.draw("ssm_dt.bias", inner)
        model.decay("ssm_a", inner, memory)
        model.draw("ssm_d", inner, around=1)
        model.draw("ssm_out.weight", WIDTH, inner)
    return model


def mamba2(groups):
    """With one group the norm is a vector, as it is in files that were written a second time."""
    inner, memory, heads = 2 * WIDTH, 6, 4
    mixed = inner + 2 * groups * memory
    model = Model("mamba2", 5 + groups, {
        "ssm.conv_kernel": 4, "ssm.inner_size": inner, "ssm.state_size": memory, "ssm.time_step_rank": heads,
        "ssm.group_count": groups})
    for _ in model.layers():
        model.draw("attn_norm.weight", WIDTH, around=1)
        model.draw("ssm_in.weight", inner + mixed + heads, WIDTH)
        model.draw("ssm_conv1d.weight", mixed, 4)
        model.draw("ssm_conv1d.bias", mixed)
        model.draw("ssm_dt.bias", heads)
        model.decay("ssm_a", heads, 1)
        model.draw("ssm_d", heads, 1, around=1)
        model.draw("ssm_norm.weight", *([groups] if groups > 1 else []), inner // groups, around=1)
        model.draw("ssm_out.weight", WIDTH, inner)
    return model


def qwen3next(is_split):
    """Older files hold one projection for q, k, v and z, in the order of heads; newer ones two, in that of parts."""
    size, key_heads, heads, head = 6, 2, 4, 8
    model = Model("qwen3next", 8 + is_split, {
        "feed_forward_length": 20, "attention.head_count": 4, "attention.head_count_kv": 2,
        "attention.key_length": head, "attention.value_length": head, "rope.dimension_count": 4,
        "rope.freq_base": 100.0, "expert_count": 4, "expert_used_count": 2, "expert_feed_forward_length": 10,
        "expert_shared_feed_forward_length": 12, "ssm.conv_kernel": 4, "ssm.state_size": size,
        "ssm.group_count": key_heads, "ssm.time_step_rank": heads, "ssm.inner_size": heads * size,
        "full_attention_interval": LAYERS})
    mixed = (2 * key_heads + heads) * size
    for layer in model.layers():
        model.draw("attn_norm.weight", WIDTH, around=1)
        if layer == LAYERS - 1:
            model.attention(4 * 2 * head, 2 * head, 4 * head)
            model.draw("attn_q_norm.weight", head, around=1)
            model.draw("attn_k_norm.weight", head, around=1)
        else:
            if is_split:
                model.draw("attn_qkv.weight", mixed, WIDTH)
                model.draw("attn_gate.weight", heads * size, WIDTH)
            else:
                model.draw("ssm_in.weight", mixed + heads * size, WIDTH)
            model.draw("ssm_conv1d.weight", mixed, 4)
            model.draw("ssm_dt.bias", heads)
            model.decay("ssm_a", heads)
            model.draw("ssm_ba.weight", 2 * heads, WIDTH)
            model.draw("ssm_norm.weight", size, around=1)
            model.draw("ssm_out.weight", WIDTH, heads * size)
        model.draw("post_attention_norm.weight", WIDTH, around=1)
        model.experts(4, 10)
        model.draw("ffn_gate_inp_shexp.weight", *([] if is_split else [1]), WIDTH)
        model.draw("ffn_gate_shexp.weight", 12, WIDTH)
        model.draw("ffn_up_shexp.weight", 12, WIDTH)
        model.draw("ffn_down_shexp.weight", WIDTH, 12)
    return model


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    models = {"mixtral": mixtral(), "qwen3moe": qwen3moe(), "mamba": mamba(False), "falcon_mamba": mamba(True),
              "mamba2_one_group": mamba2(1), "mamba2_two_groups": mamba2(2), "qwen3next_joined": qwen3next(False),
              "qwen3next_split": qwen3next(True)}
    for name, model in models.items():
        model.write(folder / f"{name}.gguf")


if __name__ == "__main__":
    main()
