# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Pretrained models, adapters, tokenizers, and texts that go on."""

import pathlib

import numpy as np
import pytest

import neap
from neap import models, optim

GOLDEN = pathlib.Path(__file__).parents[3] / "tests"
MODELS = GOLDEN / "models" / "golden"
pytestmark = pytest.mark.skipif(not MODELS.exists(), reason="no tests/ folder")


def opened(name, **options):
    return models.from_pretrained(str(MODELS / name), **options)


@pytest.fixture(params=["llama", "gpt2"])
def model(request):
    return opened(request.param, dropout=0.0)


def test_a_model_is_a_module_like_any_other(model):
    scores = model(neap.tensor([[1, 2, 3]], neap.i64))
    assert scores.ndim == 3 and not model.training
    assert len(model.parameters()) > 5
    loss = neap.cross_entropy(scores[0], neap.tensor([2, 3, 4], neap.i64))
    loss.backward()
    assert all(t.grad is not None for _, t in model.named_parameters())


def test_a_model_is_freed_with_its_object(no_leak):
    opened("gpt2")


def test_texts_go_on_by_the_likeliest_token(model):
    prompts = [[1, 2, 3], [4, 5]]
    texts = models.generate(model, prompts, max_tokens=4, temperature=0.0)
    for prompt, text in zip(prompts, texts):
        ids = list(prompt)
        for token in text:
            with neap.NoGrad():
                scores = model(neap.tensor([ids], neap.i64))
            assert token == scores[0, -1].argmax(0).item()
            ids.append(token)
    again = models.generate(model, [[1, 2, 3]], max_tokens=4, top_k=3, seed=7)
    assert again == models.generate(model, [[1, 2, 3]], max_tokens=4, top_k=3,
                                    seed=7)


def test_an_adapter_is_trained_saved_loaded_and_merged(tmp_path):
    model = opened("llama", dropout=0.0)
    x = neap.tensor([[1, 2, 3, 4]], neap.i64)
    adapter = models.Adapter(2, alpha=4.0)
    assert models.add_adapter(model, adapter) > 2
    sgd = optim.SGD(models.trainable(model), lr=0.5)
    for _ in range(3):
        loss = neap.cross_entropy(model(x)[0, :-1], x[0, 1:])
        loss.backward()
        sgd.step()
        sgd.zero_grad()
    want = model(x).numpy()
    models.save_adapter(model, adapter, str(tmp_path / "a"))
    other = opened("llama", dropout=0.0)
    assert np.abs(other(x).numpy() - want).max() > 1e-3
    assert models.load_adapter(other, str(tmp_path / "a")).rank == 2
    assert (other(x).numpy() == want).all()
    merged = opened("llama", dropout=0.0)
    models.merge_adapter(merged, str(tmp_path / "a"))
    np.testing.assert_allclose(merged(x).numpy(), want, rtol=1e-4, atol=1e-5)


def test_a_model_trains_in_a_compiled_step_by_its_plan():
    model = opened("gpt2", dropout=0.0)
    model.train()
    adam = optim.AdamW(model, lr=1e-3)

    @neap.compile
    def step(x, y):
        scores = model(x)
        loss = neap.cross_entropy(scores.reshape((-1, scores.shape[2])),
                                  y.reshape((-1,)))
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    x = neap.tensor([[1, 2, 3, 4]], neap.i64)
    losses = [step(x, x).item() for _ in range(6)]
    assert losses[-1] < losses[0]


def test_tokenizers_give_the_ids_of_their_files():
    words = models.Tokenizer(str(GOLDEN / "text" / "golden" / "gpt2.json"))
    ids = words.encode("Hello, world")
    assert words.decode(ids) == "Hello, world"
    assert words.id_of("no such token") is None
    assert words.id_of(words.token_of(ids[0])) == ids[0]
    assert len(words) <= words.id_limit


def test_what_is_not_there_or_not_known_is_a_typed_error(tmp_path):
    with pytest.raises(neap.IoError):
        models.from_pretrained("/nowhere")
    (tmp_path / "config.json").write_text('{"model_type": "mamba"}')
    with pytest.raises(neap.IoError, match="mamba"):
        models.from_pretrained(str(tmp_path))
    with pytest.raises(neap.InvalidValue):
        models.generate(opened("bert_body"), [[1]])
    with pytest.raises(neap.InvalidValue):
        models.add_adapter(opened("llama"), models.Adapter(targets=["nothing"]))
    with pytest.raises(neap.IoError):
        models.Tokenizer("/nowhere.json")
