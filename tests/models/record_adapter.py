#!/usr/bin/env python3
"""Writes tests/models/golden/*_lora/: adapters of the peft package for two of
the models beside them, with random weights, and what peft computes with them in
f64: logits, the gradients of the adapter, and losses of some steps of AdamW.

usage: record_adapter.py          (after record.py)
       record_adapter.py FOLDER   checks the adapters FOLDER/llama, FOLDER/gpt2,
                                  which neap_models_golden_test wrote of
                                  those (NEAP_ADAPTERS=FOLDER): same logits

Needs peft, transformers and torch (pip install peft).
"""

import json
import pathlib
import sys

import peft
import torch
from record import ADAMW, GOLDEN, LENGTH, BATCH, STEPS, VOCAB, summaries
from transformers import AutoModelForCausalLM

CASES = {
    "llama": {"r": 3, "lora_alpha": 5, "target_modules": [
        "q_proj", "v_proj", "down_proj"]},
    "gpt2": {"r": 2, "lora_alpha": 4, "use_rslora": True, "fan_in_fan_out": True,
             "target_modules": ["c_attn", "mlp.c_proj"]},
}


def base_of(name):
    return AutoModelForCausalLM.from_pretrained(
        GOLDEN / name, dtype=torch.float64, attn_implementation="eager")


def tokens_of(name):
    cases = json.loads((GOLDEN / "cases.json").read_text())["cases"]
    case = next(case for case in cases if case["name"] == name)
    return [torch.tensor(case[key]).reshape(BATCH, LENGTH)
            for key in ("tokens", "targets")]


def logits_of(model, tokens):
    return model(input_ids=tokens, attention_mask=torch.ones_like(tokens)).logits


def record(name, options):
    model = peft.get_peft_model(base_of(name), peft.LoraConfig(
        task_type="CAUSAL_LM", **options))
    generator = torch.Generator().manual_seed(len(name))
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.requires_grad:
                parameter.copy_(0.3 * torch.randn(parameter.shape,
                                                  generator=generator))
    model.float().save_pretrained(GOLDEN / f"{name}_lora")
    (GOLDEN / f"{name}_lora" / "README.md").unlink(missing_ok=True)
    config = GOLDEN / f"{name}_lora" / "adapter_config.json"
    config.write_text(config.read_text().replace(str(GOLDEN) + "/", ""))
    model = peft.PeftModel.from_pretrained(
        base_of(name), GOLDEN / f"{name}_lora", is_trainable=True).double()
    tokens, targets = tokens_of(name)

    def loss_of():
        logits = logits_of(model, tokens)
        return logits, torch.nn.functional.cross_entropy(
            logits.reshape(-1, VOCAB), targets.reshape(-1))

    logits, loss = loss_of()
    loss.backward()
    trained = {key.replace("base_model.model.", "").replace(
        "transformer.", "").replace(".default", ""): parameter
        for key, parameter in model.named_parameters()
        if parameter.requires_grad}

    class Named:
        def named_parameters(self):
            return trained.items()

    case = {"name": name,
            "logits": [float(f"{x:.9g}") for x in logits.reshape(-1).tolist()],
            "gradients": summaries(Named(), lambda weight: weight.grad),
            "losses": []}
    optimizer = torch.optim.AdamW(trained.values(), **ADAMW)
    for _ in range(STEPS):
        optimizer.zero_grad()
        _, loss = loss_of()
        loss.backward()
        optimizer.step()
        case["losses"].append(float(f"{loss.item():.12g}"))
    return case


def check(folder):
    cases = json.loads((GOLDEN / "adapters.json").read_text())["cases"]
    for case in cases:
        name = case["name"]
        model = peft.PeftModel.from_pretrained(
            base_of(name), folder / name).double().eval()
        found = logits_of(model, tokens_of(name)[0]).reshape(-1)
        wanted = torch.tensor(case["logits"], dtype=torch.float64)
        error = float((found - wanted).abs().max() / wanted.abs().max())
        print(f"{name}: peft reads what Neap wrote, logits differ by {error:.2g}")
        assert error < 1e-6


def main():
    if len(sys.argv) > 1:
        check(pathlib.Path(sys.argv[1]))
        return
    cases = [record(name, options) for name, options in CASES.items()]
    text = json.dumps({"library": peft.__version__, "cases": cases},
                      separators=(",", ":"))
    (GOLDEN / "adapters.json").write_text(text.replace("},{", "},\n{") + "\n")


if __name__ == "__main__":
    main()
