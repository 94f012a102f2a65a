"""Scores of a vision transformer and of a BERT, number by number, in Python's
own floats."""

import math


def linear(rows, weight, bias):
    width = len(rows[0])
    return [[sum(a * b for a, b in zip(row, weight[out * width:])) + bias[out]
             for out in range(len(bias))] for row in rows]


def norm(rows, weight, bias, epsilon=1e-12):
    made = []
    for row in rows:
        mean = sum(row) / len(row)
        variance = sum((x - mean) ** 2 for x in row) / len(row)
        made.append([(x - mean) / math.sqrt(variance + epsilon) * w + b
                     for x, w, b in zip(row, weight, bias)])
    return made


def softmax(row):
    powers = [math.exp(x - max(row)) for x in row]
    return [power / sum(powers) for power in powers]


def attention(queries, keys, values, heads):
    width = len(queries[0]) // heads
    made = [[] for _ in queries]
    for head in range(heads):
        part = slice(head * width, (head + 1) * width)
        for row, query in zip(made, queries):
            shares = softmax([
                sum(a * b for a, b in zip(query[part], key[part]))
                / math.sqrt(width) for key in keys])
            row += [sum(share * value[part][i]
                        for share, value in zip(shares, values))
                    for i in range(width)]
    return made


def added(rows, others):
    return [[a + b for a, b in zip(row, other)]
            for row, other in zip(rows, others)]


def tokens_of(pixels, weights, config):
    """`pixels`: rows of (red, green, blue), as the model takes them."""
    size, dim = config["patch_size"], config["hidden_size"]
    at = "vit.embeddings."
    projection = at + "patch_embeddings.projection."
    patches = []
    for top in range(0, len(pixels), size):
        for left in range(0, len(pixels), size):
            patches.append([pixels[top + row][left + column][channel]
                            for channel in range(3) for row in range(size)
                            for column in range(size)])
    tokens = [list(weights[at + "cls_token"])]
    tokens += linear(patches, weights[projection + "weight"],
                     weights[projection + "bias"])
    places = weights[at + "position_embeddings"]
    return added(tokens, [places[i * dim:(i + 1) * dim]
                          for i in range(len(tokens))])


def gelu(rows):
    return [[v * (1 + math.erf(v / math.sqrt(2))) / 2 for v in row]
            for row in rows]


def vit_scores(pixels, weights, config):
    def layer(name, rows):
        return linear(rows, weights[name + ".weight"], weights[name + ".bias"])

    def normed(name, rows):
        return norm(rows, weights[name + ".weight"], weights[name + ".bias"])

    rows = tokens_of(pixels, weights, config)
    for number in range(config["num_hidden_layers"]):
        at = f"vit.encoder.layer.{number}."
        own = at + "attention.attention."
        x = normed(at + "layernorm_before", rows)
        x = attention(layer(own + "query", x), layer(own + "key", x),
                      layer(own + "value", x), config["num_attention_heads"])
        rows = added(rows, layer(at + "attention.output.dense", x))
        x = gelu(layer(at + "intermediate.dense",
                       normed(at + "layernorm_after", rows)))
        rows = added(rows, layer(at + "output.dense", x))
    return layer("classifier", normed("vit.layernorm", rows[:1]))[0]


def bert_scores(tokens, weights, config):
    """`tokens`: of one text, without padding."""
    dim = config["hidden_size"]

    def layer(name, rows):
        return linear(rows, weights[name + ".weight"], weights[name + ".bias"])

    def normed(name, rows):
        return norm(rows, weights[name + ".weight"], weights[name + ".bias"])

    def table(name, row):
        return weights[f"bert.embeddings.{name}.weight"][row * dim:][:dim]

    rows = [[a + b + c for a, b, c in zip(table("word_embeddings", token),
                                          table("position_embeddings", place),
                                          table("token_type_embeddings", 0))]
            for place, token in enumerate(tokens)]
    rows = normed("bert.embeddings.LayerNorm", rows)
    for number in range(config["num_hidden_layers"]):
        at = f"bert.encoder.layer.{number}."
        own = at + "attention.self."
        x = attention(layer(own + "query", rows), layer(own + "key", rows),
                      layer(own + "value", rows), config["num_attention_heads"])
        x = layer(at + "attention.output.dense", x)
        rows = normed(at + "attention.output.LayerNorm", added(rows, x))
        x = gelu(layer(at + "intermediate.dense", rows))
        rows = normed(at + "output.LayerNorm",
                      added(rows, layer(at + "output.dense", x)))
    first = layer("bert.pooler.dense", rows[:1])
    return layer("classifier", [[math.tanh(v) for v in first[0]]])[0]
