#!/usr/bin/env python3
"""Writes tests/models/golden/encoders.json and the folders that it names: small
encoders of text and of images with random weights, and what transformers
computes with them in f64: outputs, gradients, and some steps of AdamW.

usage: record_encoders.py

The loss is the mean of output i times cos(0.7 i). Gradients and parameters are
recorded as record.py does, under the names that the files have.
"""

import json
import shutil

import torch
import transformers
from safetensors.torch import load_file, save_file
from transformers import (BertConfig, BertForMaskedLM, BertForPreTraining,
                          BertForSequenceClassification, BertModel, ViTConfig,
                          ViTForImageClassification, ViTModel)

from record import ADAMW, GOLDEN, randomise, summary

VOCAB, STEPS = 37, 3
SIZES = {"hidden_size": 12, "num_hidden_layers": 2, "num_attention_heads": 3,
         "intermediate_size": 20, "hidden_dropout_prob": 0.0,
         "attention_probs_dropout_prob": 0.0}
BERT = {**SIZES, "vocab_size": VOCAB, "max_position_embeddings": 16}
VIT = {**SIZES, "image_size": 8, "patch_size": 4, "num_channels": 2}


def bert(model_class, **changes):
    return model_class, BertConfig(**{**BERT, **changes})


def vit(model_class, **changes):
    return model_class, ViTConfig(**{**VIT, **changes})


# Name: model and config, dtype of the file, prefix of Neap's names.
CASES = {
    "bert_tokens": (bert(BertForMaskedLM), torch.float32, ""),
    "bert_classes": (bert(BertForSequenceClassification, num_labels=3,
                          hidden_act="gelu_new", layer_norm_eps=1e-5),
                     torch.float16, ""),
    "bert_body": (bert(BertModel, type_vocab_size=3), torch.bfloat16, "bert."),
    "bert_first": (bert(BertForPreTraining, pad_token_id=3), torch.float32, ""),
    "vit": (vit(ViTForImageClassification, num_labels=5), torch.float32, ""),
    "vit_body": (vit(ViTModel, qkv_bias=False, num_channels=1), torch.float16,
                 "vit."),
}


# What transformers calls the parts of a vision transformer since version 5, and
# what its files call them.
NAMES_OF_FILES = {
    "layers.": "encoder.layer.", "attention.q_proj": "attention.attention.query",
    "attention.k_proj": "attention.attention.key",
    "attention.v_proj": "attention.attention.value",
    "attention.o_proj": "attention.output.dense",
    "mlp.fc1": "intermediate.dense", "mlp.fc2": "output.dense"}


def name_in_file(name):
    for part, other in NAMES_OF_FILES.items():
        name = name.replace(part, other)
    return name


def as_first_files(folder):
    """Names of the first BERTs: gamma and beta, and tables among weights."""
    path = folder / "model.safetensors"
    renamed = {
        name.replace("LayerNorm.weight", "LayerNorm.gamma").replace(
            "LayerNorm.bias", "LayerNorm.beta"): tensor
        for name, tensor in load_file(path).items()}
    renamed["bert.embeddings.position_ids"] = torch.arange(16).reshape(1, -1)
    save_file(renamed, path, metadata={"format": "pt"})


def text_inputs(generator, types):
    tokens = torch.randint(0, VOCAB, (3, 7), generator=generator)
    kinds = torch.randint(0, types, (3, 7), generator=generator)
    mask = torch.ones_like(tokens)
    mask[1, 5:] = 0
    mask[2, 3:] = 0
    return {"input_ids": tokens, "token_type_ids": kinds,
            "attention_mask": mask}


def output_of(model, inputs):
    out = model(**inputs)
    for name in ("logits", "prediction_logits", "last_hidden_state"):
        if name in out:
            return out[name]
    raise KeyError(out.keys())


def loss_of(output):
    flat = output.reshape(-1)
    waves = torch.cos(0.7 * torch.arange(len(flat), dtype=torch.float64))
    return (flat * waves).mean()


def record(name, number, made, dtype, prefix):
    model_class, config = made
    folder = GOLDEN / name
    shutil.rmtree(folder, ignore_errors=True)
    model = model_class(config)
    randomise(model, 50 + number)
    model.to(dtype).save_pretrained(folder)
    model = model_class.from_pretrained(folder, dtype=torch.float64,
                                        attn_implementation="sdpa")  # f64
    if name == "bert_first":
        as_first_files(folder)
    generator = torch.Generator().manual_seed(200 + number)
    case = {"name": name}
    if name.startswith("bert"):
        inputs = text_inputs(generator, config.type_vocab_size)
        case["shape"] = list(inputs["input_ids"].shape)
        for key, value in inputs.items():
            case[key] = value.reshape(-1).tolist()
    else:
        images = torch.randn(2, config.num_channels, 8, 8, generator=generator,
                             dtype=torch.float64)
        images = (images * 1024).round() / 1024  # the same in f32
        inputs = {"pixel_values": images}
        case["shape"] = list(images.shape)
        case["images"] = images.reshape(-1).tolist()
    model.train()
    output = output_of(model, inputs)
    loss_of(output).backward()
    case["output"] = [float(f"{x:.9g}") for x in output.reshape(-1).tolist()]
    used = {prefix + name_in_file(key): weight
            for key, weight in model.named_parameters()
            if weight.grad is not None}
    case["gradients"] = {key: summary(key, weight.grad)
                         for key, weight in used.items()}
    optimizer = torch.optim.AdamW(used.values(), **ADAMW)
    case["losses"] = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss = loss_of(output_of(model, inputs))
        loss.backward()
        optimizer.step()
        case["losses"].append(float(f"{loss.item():.12g}"))
    case["trained"] = {key: summary(key, weight.detach())
                       for key, weight in used.items()}
    return case


def main():
    cases = [record(name, number, *row)
             for number, (name, row) in enumerate(CASES.items())]
    text = json.dumps({"library": transformers.__version__, "cases": cases},
                      separators=(",", ":"))
    (GOLDEN / "encoders.json").write_text(text.replace("},{", "},\n{") + "\n")


if __name__ == "__main__":
    main()
