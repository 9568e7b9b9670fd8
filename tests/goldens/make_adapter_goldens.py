#!/usr/bin/env python3
"""Makes the golden adapters of tests/goldens/llama, and what peft computes with them.

    python3 tests/goldens/make_adapter_goldens.py [--out FOLDER]

README.md beside this file says what the files hold. Needs torch, transformers, peft and safetensors.
"""

import argparse
import json
import pathlib

import peft
import safetensors.torch
import torch
import transformers

HERE = pathlib.Path(__file__).parent
ATTENTION = ["q_proj", "k_proj", "v_proj", "o_proj"]
ADAPTERS = {
    "first": peft.LoraConfig(r=4, lora_alpha=6, target_modules=ATTENTION + ["gate_proj", "up_proj", "down_proj"],
                             task_type="CAUSAL_LM"),
    "second": peft.LoraConfig(r=3, lora_alpha=5, target_modules=["q_proj", "v_proj", "down_proj", "lm_head"],
                              use_rslora=True, rank_pattern={"v_proj": 2}, alpha_pattern={"layers.1.mlp.down_proj": 2},
                              task_type="CAUSAL_LM"),
}


def draw(model, name, generator):
    """B begins as zeros, which nobody would notice."""
    for key, parameter in model.named_parameters():
        if f".{name}." in key:
            parameter.data = torch.randn(parameter.shape, generator=generator) * (0.3 if "lora_A" in key else 0.05)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=HERE / "adapters")
    out = parser.parse_args().out
    base = transformers.AutoModelForCausalLM.from_pretrained(HERE / "llama", dtype=torch.float32,
                                                             attn_implementation="eager")
    tokens = safetensors.torch.load_file(HERE / "llama" / "golden.safetensors")["tokens.0"]
    generator = torch.Generator().manual_seed(42)
    model = peft.get_peft_model(base, ADAPTERS["first"], adapter_name="first")
    model.add_adapter("second", ADAPTERS["second"])
    golden = {}
    for name in ADAPTERS:
        draw(model, name, generator)
    model.eval()
    with torch.no_grad():
        for name, active in {"first": ["first"], "second": ["second"], "both": ["first", "second"]}.items():
            model.base_model.set_adapter(active)
            golden[f"logits.{name}"] = model(tokens[None]).logits[0].contiguous()
    for name in ADAPTERS:
        folder = out / name
        folder.mkdir(parents=True, exist_ok=True)
        state = peft.get_peft_model_state_dict(model, adapter_name=name, save_embedding_layers=False)
        safetensors.torch.save_file({key: value.contiguous() for key, value in state.items()},
                                    folder / "adapter_model.safetensors", metadata={"format": "pt"})
        settings = model.peft_config[name].to_dict()
        settings = {key: sorted(value) if isinstance(value, set) else value for key, value in settings.items()}
        settings["base_model_name_or_path"] = "llama"
        settings["inference_mode"] = True
        (folder / "adapter_config.json").write_text(json.dumps(settings, indent=1, sort_keys=True, default=str) + "\n")
    golden["logits.none"] = safetensors.torch.load_file(HERE / "llama" / "golden.safetensors")["logits.0"]
    for name in ("first", "second", "both"):
        print(name, float((golden[f"logits.{name}"] - golden["logits.none"]).abs().max()))
    del golden["logits.none"]
    safetensors.torch.save_file(golden, out / "logits.safetensors")
    print("peft", peft.__version__, "transformers", transformers.__version__, "torch", torch.__version__)


if __name__ == "__main__":
    main()
