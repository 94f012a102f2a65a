"""Folders of small models with random weights, and images to train them on."""

import json
import math
import random
import struct
import zlib

VIT = {"architectures": ["ViTForImageClassification"], "model_type": "vit",
       "image_size": 16, "patch_size": 8, "num_channels": 3, "hidden_size": 16,
       "intermediate_size": 24, "num_hidden_layers": 2, "num_attention_heads": 2,
       "id2label": {str(i): f"c{i}" for i in range(7)}}
RESNET = {"architecture": "resnet18", "num_classes": 7,
          "pretrained_cfg": {"mean": [0.4, 0.5, 0.6], "std": [0.2, 0.2, 0.2],
                             "input_size": [3, 64, 64], "crop_pct": 0.8}}


BERT = {"architectures": ["BertForSequenceClassification"], "model_type": "bert",
        "vocab_size": 430, "hidden_size": 16, "intermediate_size": 24,
        "num_hidden_layers": 2, "num_attention_heads": 2,
        "max_position_embeddings": 40, "type_vocab_size": 2, "pad_token_id": 0,
        "id2label": {str(i): f"c{i}" for i in range(5)}}


def elements(values, dtype):
    """The bytes of numbers in F16, or in BF16 (cut off)."""
    if dtype == "F16":
        return struct.pack(f"<{len(values)}e", *values)
    return b"".join(struct.pack("<f", value)[2:] for value in values)


def values_of(rng, count, dtype):
    """Random numbers; of many, the same ones again and again."""
    some = [rng.gauss(0, 0.1) for _ in range(min(count, 65537))]
    data = elements(some, dtype)
    return (data * (count // len(some) + 1))[:2 * count]


def write_weights(path, tensors, dtype="F16"):
    """Random numbers, ones for norms, and counts of I64, as a safetensors
    file."""
    rng = random.Random(7)
    header, parts, end = {}, [], 0
    for name, shape in tensors:
        count = math.prod(shape)
        part = (struct.pack("<q", 0) if not shape else
                elements([1.0], dtype) * count if len(shape) == 1 else
                values_of(rng, count, dtype))
        header[name] = {"dtype": dtype if shape else "I64", "shape": shape,
                        "data_offsets": [end, end + len(part)]}
        parts.append(part)
        end += len(part)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))


def read_weights(path):
    """RETURNS: the numbers of each tensor of a safetensors file, as a list."""
    data = path.read_bytes()
    start = struct.unpack("<Q", data[:8])[0] + 8
    forms = {"F16": ("e", 2), "F32": ("f", 4), "I64": ("q", 8)}
    found = {}
    for name, entry in json.loads(data[8:start]).items():
        if name != "__metadata__" and entry["dtype"] in forms:
            form, size = forms[entry["dtype"]]
            begin, end = (start + at for at in entry["data_offsets"])
            found[name] = struct.unpack(f"<{(end - begin) // size}{form}",
                                        data[begin:end])
    return found


def encoder(begin, config, norms=("layernorm_before", "layernorm_after")):
    """Names and shapes of the layers of an encoder."""
    dim, hidden = config["hidden_size"], config["intermediate_size"]
    for layer in range(config["num_hidden_layers"]):
        at = f"{begin}encoder.layer.{layer}."
        for name, out, into in (
                ("attention.attention.query", dim, dim),
                ("attention.attention.key", dim, dim),
                ("attention.attention.value", dim, dim),
                ("attention.output.dense", dim, dim),
                ("intermediate.dense", hidden, dim),
                ("output.dense", dim, hidden)):
            if norms[0] != "layernorm_before":
                name = name.replace("attention.attention", "attention.self")
            yield f"{at}{name}.weight", (out, into)
            yield f"{at}{name}.bias", (out,)
        for name in norms:
            yield f"{at}{name}.weight", (dim,)
            yield f"{at}{name}.bias", (dim,)


def vit(config):
    dim, patch = config["hidden_size"], config["patch_size"]
    tokens = (config["image_size"] // patch) ** 2 + 1
    yield "vit.embeddings.cls_token", (1, 1, dim)
    yield "vit.embeddings.position_embeddings", (1, tokens, dim)
    at = "vit.embeddings.patch_embeddings.projection"
    yield f"{at}.weight", (dim, config["num_channels"], patch, patch)
    yield f"{at}.bias", (dim,)
    yield from encoder("vit.", config)
    yield "vit.layernorm.weight", (dim,)
    yield "vit.layernorm.bias", (dim,)
    yield "classifier.weight", (len(config["id2label"]), dim)
    yield "classifier.bias", (len(config["id2label"]),)


def bert(config, has_pooler=True):
    dim, classes = config["hidden_size"], len(config["id2label"])
    at = "bert.embeddings."
    yield at + "word_embeddings.weight", (config["vocab_size"], dim)
    yield at + "position_embeddings.weight", (config["max_position_embeddings"],
                                              dim)
    yield at + "token_type_embeddings.weight", (config["type_vocab_size"], dim)
    yield at + "LayerNorm.weight", (dim,)
    yield at + "LayerNorm.bias", (dim,)
    yield from encoder("bert.", config, ("attention.output.LayerNorm",
                                         "output.LayerNorm"))
    if has_pooler:
        yield "bert.pooler.dense.weight", (dim, dim)
        yield "bert.pooler.dense.bias", (dim,)
        yield "classifier.weight", (classes, dim)
        yield "classifier.bias", (classes,)


def batch_norm(name, channels):
    for part in ("weight", "bias", "running_mean", "running_var"):
        yield f"{name}.{part}", (channels,)
    yield f"{name}.num_batches_tracked", ()


def resnet18(config):
    yield "conv1.weight", (64, 3, 7, 7)
    yield from batch_norm("bn1", 64)
    into = 64
    for stage in range(4):
        out = 64 << stage
        for block in range(2):
            at = f"layer{stage + 1}.{block}"
            yield f"{at}.conv1.weight", (out, into, 3, 3)
            yield from batch_norm(f"{at}.bn1", out)
            yield f"{at}.conv2.weight", (out, out, 3, 3)
            yield from batch_norm(f"{at}.bn2", out)
            if into != out:
                yield f"{at}.downsample.0.weight", (out, into, 1, 1)
                yield from batch_norm(f"{at}.downsample.1", out)
            into = out
    yield "fc.weight", (config["num_classes"], 512)
    yield "fc.bias", (config["num_classes"],)


def write_model(folder, config, tensors):
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    write_weights(folder / "model.safetensors", tensors)
    return folder


def png(width, height, pixel):
    """A PNG of pixels (red, green, blue) = pixel(row, column)."""
    def chunk(kind, data):
        return (struct.pack(">I", len(data)) + kind + data
                + struct.pack(">I", zlib.crc32(kind + data)))

    rows = b"".join(
        b"\0" + bytes(value for column in range(width)
                      for value in pixel(row, column))
        for row in range(height))
    return (b"\x89PNG\r\n\x1a\n"
            + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def pixels_of(path):
    """RETURNS: rows of pixels (red, green, blue) of what png() wrote."""
    data = path.read_bytes()
    width, height = struct.unpack(">II", data[16:24])
    begin = data.index(b"IDAT") + 4
    size = struct.unpack(">I", data[begin - 8:begin - 4])[0]
    rows = zlib.decompress(data[begin:begin + size])
    line = 3 * width + 1
    return [[tuple(rows[row * line + 1 + 3 * column:][:3])
             for column in range(width)] for row in range(height)]


COLOURS = {"blue": (20, 30, 220), "green": (30, 200, 20), "red": (220, 30, 20)}


def write_photos(folder, count=12, sizes=((20, 26), (31, 18), (16, 16))):
    """Images of a colour each, with made-up noise, in a sub-folder for each."""
    rng = random.Random(5)
    for name, colour in COLOURS.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        for index in range(count):
            width, height = sizes[index % len(sizes)]
            image = png(width, height, lambda row, column, base=colour: tuple(
                min(255, max(0, value + rng.randrange(-30, 30)))
                for value in base))
            (folder / name / f"{index:03}.png").write_bytes(image)
    return folder
