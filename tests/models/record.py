#!/usr/bin/env python3
"""Writes tests/models/golden/: small language models with random weights in
folders as Hugging Face's libraries write them, and what transformers computes
with them in f64: logits, a loss, its gradients, and some steps of AdamW.

usage: record.py

Needs transformers and torch (pip install transformers torch). A gradient or a
parameter is recorded as its norm and a projection of it: the sum of element i
times cos(0.3 i), in the order that Neap has (GPT-2's matrices transposed).
"""

import json
import math
import pathlib
import shutil

import torch
import transformers
from transformers import (GPT2Config, GPT2LMHeadModel, LlamaConfig,
                          LlamaForCausalLM, MistralConfig, MistralForCausalLM,
                          Qwen2Config, Qwen2ForCausalLM)

# transformers asks; a PyTorch without CUDA's libraries would crash.
torch.cuda.is_current_stream_capturing = lambda: False

GOLDEN = pathlib.Path(__file__).resolve().parent / "golden"
VOCAB, BATCH, LENGTH, STEPS = 37, 2, 9, 5
ADAMW = {"lr": 3e-3, "betas": (0.9, 0.999), "eps": 1e-8, "weight_decay": 0.1}
TRANSPOSED = ("c_attn.weight", "c_proj.weight", "c_fc.weight")

SIZES = {"vocab_size": VOCAB, "hidden_size": 16, "intermediate_size": 20,
         "num_hidden_layers": 2, "num_attention_heads": 4,
         "num_key_value_heads": 2, "max_position_embeddings": 32,
         "rms_norm_eps": 1e-5, "tie_word_embeddings": False}
GPT2 = {"vocab_size": VOCAB, "n_embd": 12, "n_layer": 2, "n_head": 3,
        "n_positions": 16, "resid_pdrop": 0.0, "embd_pdrop": 0.0,
        "attn_pdrop": 0.0}


def llama(**changes):
    return LlamaForCausalLM, LlamaConfig(**{**SIZES, **changes})


def mistral(**changes):
    return MistralForCausalLM, MistralConfig(**{**SIZES, **changes})


def qwen2(**changes):
    return Qwen2ForCausalLM, Qwen2Config(**{**SIZES, **changes})


def gpt2(**changes):
    return GPT2LMHeadModel, GPT2Config(**{**GPT2, **changes})


def rope(kind, **more):
    return {"rope_type": kind, "rope_theta": 10000.0, **more}


# Name: model and config, dtype of the file, bytes of a shard at most.
CASES = {
    "llama": (llama(), torch.float32, None),
    "llama_biases": (llama(attention_bias=True, mlp_bias=True, head_dim=6,
                           num_key_value_heads=1), torch.float64, None),
    "llama3": (llama(tie_word_embeddings=True, head_dim=8, rope_parameters=rope(
        "llama3", factor=8.0, low_freq_factor=1.0, high_freq_factor=4.0,
        original_max_position_embeddings=16)), torch.bfloat16, 4000),
    "llama_linear": (llama(rope_parameters=rope("linear", factor=4.0)),
                     torch.float16, None),
    "llama_dynamic": (llama(max_position_embeddings=6, head_dim=8,
                            rope_parameters=rope("dynamic", factor=2.0)),
                      torch.float16, None),
    "llama_yarn": (llama(head_dim=16, num_key_value_heads=4,
                         rope_parameters=rope(
                             "yarn", factor=4.0, beta_fast=4.0, beta_slow=1.0,
                             original_max_position_embeddings=32),
                         max_position_embeddings=128), torch.float16, None),
    "mistral": (mistral(sliding_window=4, head_dim=6), torch.float16, None),
    "qwen2": (qwen2(use_sliding_window=True, sliding_window=3,
                    max_window_layers=1, tie_word_embeddings=True),
              torch.bfloat16, None),
    "smollm": (llama(num_attention_heads=2, num_key_value_heads=1,
                     tie_word_embeddings=True, hidden_size=12),
               torch.float32, None),
    "gpt2": (gpt2(), torch.float32, None),
    "gpt2_exact": (gpt2(activation_function="gelu", layer_norm_epsilon=1e-3),
                   torch.float16, None),
}


def randomise(model, seed):
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            drawn = torch.randn(weight.shape, generator=generator)
            is_norm = weight.dim() == 1 and name.endswith("weight")
            weight.copy_(1 + 0.2 * drawn if is_norm else 0.3 * drawn)


def summary(name, values):
    if name.endswith(TRANSPOSED):
        values = values.t()
    flat = values.reshape(-1).double()
    waves = torch.cos(0.3 * torch.arange(len(flat), dtype=torch.float64))
    return [float(f"{x:.10g}") for x in (flat.norm(), flat @ waves)]


def summaries(model, of):
    return {name.removeprefix("transformer."): summary(name, of(weight))
            for name, weight in model.named_parameters()}


def record(name, number, model_class, config, dtype, shard):
    folder = GOLDEN / name
    config._attn_implementation = "eager"
    model = model_class(config)
    randomise(model, number)
    more = {"max_shard_size": shard} if shard else {}
    model.to(dtype).save_pretrained(folder, **more)
    (folder / "generation_config.json").unlink(missing_ok=True)
    model = model_class.from_pretrained(folder, dtype=torch.float64,
                                        attn_implementation="eager")
    generator = torch.Generator().manual_seed(100 + number)
    tokens, targets = torch.randint(0, VOCAB, (2, BATCH, LENGTH),
                                    generator=generator)

    def loss_of():
        logits = model(tokens, attention_mask=torch.ones_like(tokens)).logits
        return logits, torch.nn.functional.cross_entropy(
            logits.reshape(-1, VOCAB), targets.reshape(-1))

    model.train()
    logits, loss = loss_of()
    loss.backward()
    case = {"name": name, "tokens": tokens.reshape(-1).tolist(),
            "targets": targets.reshape(-1).tolist(),
            "logits": [float(f"{x:.9g}") for x in logits.reshape(-1).tolist()],
            "gradients": summaries(model, lambda weight: weight.grad)}
    optimizer = torch.optim.AdamW(model.parameters(), **ADAMW)
    case["losses"] = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        _, loss = loss_of()
        loss.backward()
        optimizer.step()
        case["losses"].append(float(f"{loss.item():.12g}"))
    assert all(map(math.isfinite, case["losses"]))
    case["trained"] = summaries(model, lambda weight: weight.detach())
    return case


def main():
    shutil.rmtree(GOLDEN, ignore_errors=True)
    GOLDEN.mkdir()
    cases = [record(name, number, *made, dtype, shard)
             for number, (name, (made, dtype, shard)) in
             enumerate(CASES.items())]
    text = json.dumps({"library": transformers.__version__,
                       "shape": [BATCH, LENGTH], "vocab": VOCAB,
                       "cases": cases}, separators=(",", ":"))
    (GOLDEN / "cases.json").write_text(text.replace("},{", "},\n{") + "\n")


if __name__ == "__main__":
    main()
