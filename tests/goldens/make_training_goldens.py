#!/usr/bin/env python3
"""Records twenty training steps of every golden model: the loss and the gradients' norm of each.

    python3 tests/goldens/make_training_goldens.py [--out FOLDER] [architecture ...]

The figures are those of torch in double. Random weights can be steep: a batch for which torch's own floats stray from its
doubles by more than STRAY is drawn again. The optimizer is AdamW with clipping, and matrices decay. Decays of
state-space models (A_log) are left out, because they are kept in another form than the one this library trains.
Needs torch and transformers.
"""

import argparse
import json
import pathlib

import torch
import transformers

HERE = pathlib.Path(__file__).parent
ARCHITECTURES = ("llama mistral qwen2 qwen3 gemma2 gemma3_text phi3 gpt2 mixtral qwen3_moe mamba mamba2 "
                 "qwen3_next").split()
STEPS, BATCH, LENGTH = 20, 2, 12
STRAY = 1e-5
# So steep that what floats round away in a step is a hundred times as much a few steps later.
SMALL_STEPS = ("qwen3_next",)
SETTINGS = {"learning_rate": 1e-3, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "weight_decay": 0.1, "clip_norm": 1.0}


def groups_of(model):
    """Parameters that decay, and those that do not."""
    decaying, others = [], []
    for name, parameter in model.named_parameters():
        if name.endswith("A_log"):
            parameter.requires_grad_(False)
        elif parameter.dim() >= 2:
            decaying.append(parameter)
        else:
            others.append(parameter)
    return decaying, others


class Run:
    """A model that learns, in one kind of number."""

    def __init__(self, name, dtype, learning_rate):
        self.model = transformers.AutoModelForCausalLM.from_pretrained(
            HERE / name, dtype=dtype, attn_implementation="eager", experts_implementation="eager").eval()
        # Where padding has a token, torch keeps its embedding as it is: it must not come up.
        assert self.model.config.pad_token_id in (None, 0), self.model.config.pad_token_id
        decaying, others = groups_of(self.model)
        self.trained = decaying + others
        self.optimizer = torch.optim.AdamW(
            [{"params": decaying, "weight_decay": SETTINGS["weight_decay"]}, {"params": others, "weight_decay": 0.0}],
            lr=learning_rate, betas=(SETTINGS["beta1"], SETTINGS["beta2"]), eps=SETTINGS["epsilon"])

    def differentiate(self, batch):
        """The loss and the gradients' norm."""
        logits = self.model(input_ids=batch[:, :-1], use_cache=False).logits
        loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
        self.optimizer.zero_grad()
        loss.backward()
        return loss.item(), torch.nn.utils.clip_grad_norm_(self.trained, SETTINGS["clip_norm"]).item()


def record(name):
    settings = dict(SETTINGS, learning_rate=1e-4 if name in SMALL_STEPS else SETTINGS["learning_rate"])
    exact = Run(name, torch.float64, settings["learning_rate"])
    short = Run(name, torch.float32, settings["learning_rate"])
    generator = torch.Generator().manual_seed(7)
    tokens, losses, norms, draws = [], [], [], 0
    while len(losses) < STEPS:
        batch = torch.randint(1, exact.model.config.vocab_size, (BATCH, LENGTH + 1), generator=generator)
        figures, short_figures = exact.differentiate(batch), short.differentiate(batch)
        draws += 1
        if draws > 50 * STEPS:
            raise SystemExit(f"{name}: expected batches that floats can follow, found none in {draws}")
        if any(abs(one - other) > STRAY * other for one, other in zip(short_figures, figures)):
            continue
        exact.optimizer.step()
        short.optimizer.step()
        tokens += batch.flatten().tolist()
        losses.append(figures[0])
        norms.append(figures[1])
    print(name, draws, "draws, loss %.5f -> %.5f" % (losses[0], losses[-1]),
          "norms %.4f .. %.4f" % (min(norms), max(norms)), flush=True)
    return dict(settings, batch=BATCH, length=LENGTH, tokens=tokens, losses=losses, gradient_norms=norms)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, default=HERE)
    parser.add_argument("architectures", nargs="*", default=ARCHITECTURES)
    arguments = parser.parse_args()
    for name in arguments.architectures:
        golden = record(name)
        folder = arguments.out / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "training.json").write_text(json.dumps(golden) + "\n")


if __name__ == "__main__":
    main()
