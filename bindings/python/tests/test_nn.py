# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
import gc

import numpy as np
import pytest

import neap
from neap import nn, optim


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 8)
        self.fc2 = nn.Linear(8, 2)
        self.scale = nn.Parameter(neap.ones((2,)))
        self.count = nn.Buffer(neap.zeros((1,)))

    def forward(self, x):
        return self.fc2(self.fc1(x).relu()) * self.scale


def test_attributes_are_registered_under_their_names():
    net = Net()
    names = [name for name, _ in net.named_parameters()]
    assert names == ["scale", "fc1.weight", "fc1.bias", "fc2.weight",
                     "fc2.bias"]
    assert net.parameter("fc1.weight").shape == (8, 4)
    assert net.fc1.weight.requires_grad and not net.count.requires_grad
    assert net.scale.is_alias_of(net.parameter("scale"))
    assert len(net.parameters()) == 5 and len(net.buffers()) == 1
    with pytest.raises(AttributeError):
        net.fc1.wait


class Own(nn.Module):
    def __init__(self):
        super().__init__()
        self.w = nn.Parameter(neap.ones((2,)))
        self.mean = nn.Buffer(neap.zeros((2,)))
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.layer(x * self.w)


def test_a_registered_name_is_not_hidden_by_an_assignment():
    own, linear = Own(), nn.Linear(2, 2)
    for module, name in ((own, "w"), (own, "mean"), (linear, "weight"),
                         (linear, "bias")):
        before = getattr(module, name).tolist()
        for value in (neap.ones((2,)), nn.Parameter(neap.ones((2,))),
                      nn.Buffer(neap.ones((2,))), None, nn.ReLU()):
            with pytest.raises(TypeError, match=name):
                setattr(module, name, value)
        with pytest.raises(AttributeError, match="registered"):
            delattr(module, name)
        assert getattr(module, name).tolist() == before
    for value in (nn.Parameter(neap.ones((2,))), nn.ReLU()):
        with pytest.raises(TypeError, match="no further"):
            linear.other = value
    with pytest.raises(TypeError, match="only another"):
        own.layer = None
    with pytest.raises(AttributeError, match="registered"):
        del own.layer
    linear.note, own.note = 1, [2]
    del linear.note, own.note
    assert list(own.state_dict()) == ["w", "layer.weight", "layer.bias", "mean"]


def test_a_layer_has_no_subclasses():
    with pytest.raises(TypeError, match="write a Module"):
        class Scaled(nn.Linear):
            pass

    class Mine(nn.Sequential):
        pass

    class Late(nn.Module):
        def __init__(self):
            self.note = 1
            self.layer = nn.ReLU()

    class Never(nn.Module):
        def __init__(self):
            pass

    assert len(Mine(nn.ReLU())) == 1
    with pytest.raises(AttributeError, match="super"):
        Late()
    with pytest.raises(AttributeError, match="__init__"):
        Never()(neap.ones((1,)))


def test_a_module_takes_the_place_of_another():
    own = Own()
    step = neap.compile(lambda x: own(x))
    step(neap.ones((1, 2)))
    own.layer = own.layer
    old, own.layer = own.layer, nn.Linear(2, 2, bias=False)
    x = neap.ones((1, 2))
    assert [name for name, _ in own.named_parameters()] == ["w", "layer.weight"]
    assert own(x).tolist() == own.layer(x).tolist() == step(x).tolist()
    Own().layer = old  # which is nobody's part now


def test_a_module_takes_the_place_of_another_in_a_list():
    layers = nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    first, second = nn.Linear(2, 2), nn.Linear(2, 2)
    setattr(layers, "0", first)
    assert layers[0] is first
    layers[-2] = second
    assert layers[0] is second
    assert layers.named_parameters()[0][1].is_alias_of(second.weight)


def test_an_option_that_would_do_nothing_is_refused():
    for layer, name in ((nn.Dropout(0.9), "p"), (nn.Linear(2, 2), "bias"),
                        (nn.BatchNorm2d(2), "momentum"),
                        (nn.Conv2d(1, 1, 3), "stride")):
        with pytest.raises((AttributeError, TypeError)):
            setattr(layer, name, 0.5)


def test_weights_are_tied():
    table, head = nn.Embedding(5, 2), nn.Linear(2, 5, bias=False)
    head.tie("weight", table.weight)
    x = neap.tensor([[1.0, 2.0]])
    np.testing.assert_allclose(head(x).numpy(),
                               x.numpy() @ table.weight.numpy().T, rtol=1e-6)


def test_a_module_is_called_and_differentiated():
    net = Net()
    x = neap.randn((3, 4))
    net(x).sum().backward()
    assert all(p.grad is not None for p in net.parameters())
    net.zero_grad()
    assert all(p.grad is None for p in net.parameters())
    with pytest.raises(NotImplementedError):
        nn.Module()(x)


def test_memory_is_counted_under_the_layers_path():
    net = Net()
    assert "fc1" in neap.memory.table()
    del net
    gc.collect()
    assert "fc1" not in neap.memory.table()


def test_modes_and_sequences():
    net = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.ReLU())
    assert net.training and net[1].training
    net.eval()
    assert not net[1].training
    x = neap.randn((2, 4))
    np.testing.assert_array_equal(net(x).numpy(), net(x).numpy())
    assert [name for name, _ in net.named_parameters()] == ["0.weight",
                                                            "0.bias"]
    assert net.parameter_count() == 20


def test_a_model_is_saved_and_loaded(tmp_path):
    first, second = Net(), Net()
    path = str(tmp_path / "net.safetensors")
    first.save(path)
    second.load(path)
    for one, other in zip(first.parameters(), second.parameters()):
        np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_a_state_dict_is_copied_in_whole_or_not_at_all():
    first, second = Net(), Net()
    state = {name: t.numpy().copy() for name, t in first.state_dict().items()}
    assert set(state) == {"scale", "count", "fc1.weight", "fc1.bias",
                          "fc2.weight", "fc2.bias"}
    assert second.load_state_dict(state) == ([], [])
    np.testing.assert_array_equal(second.fc2.weight.numpy(),
                                  first.fc2.weight.numpy())
    before = second.fc1.weight.numpy().copy()
    state["fc1.weight"] = np.zeros((8, 4), np.float32)
    state["fc2.weight"] = np.zeros((3, 3), np.float32)
    with pytest.raises(neap.ShapeError, match="fc2.weight"):
        second.load_state_dict(state)
    np.testing.assert_array_equal(second.fc1.weight.numpy(), before)
    del state["fc2.weight"]
    with pytest.raises(neap.NameNotFound, match="fc2.weight"):
        second.load_state_dict(state)
    assert second.load_state_dict(state, strict=False) == (["fc2.weight"], [])
    assert second.fc1.weight.numpy().sum() == 0


def test_recurrent_layers_give_output_and_state():
    x = neap.randn((5, 2, 3))
    output, (h, c) = nn.LSTM(3, 4, num_layers=2)(x)
    assert output.shape == (5, 2, 4) and h.shape == c.shape == (2, 2, 4)
    gru = nn.GRU(3, 4, bidirectional=True)
    output, h = gru(x)
    assert output.shape == (5, 2, 8) and h.shape == (2, 2, 4)
    again, _ = gru(x, h)
    assert again.tolist() != output.tolist()
    output.sum().backward()
    assert gru.weight_ih_l0.grad is not None


def test_optimizers_take_modules_lists_and_pairs():
    w = neap.ones((2,)).requires_grad_()
    for parameters in ([w], [("w", w)]):
        sgd = optim.SGD(parameters, lr=0.5)
        (w * w).sum().backward()
        before = w.numpy().copy()
        sgd.step()
        np.testing.assert_allclose(w.numpy(), before - 0.5 * 2 * before)
        sgd.zero_grad()
    adam = optim.AdamW(Net(), lr=0.1, weight_decay=0.0)
    assert adam.lr == 0.1 and adam.step_count == 0
    adam.lr = 0.2
    adam.set_schedule(optim.cosine(1e-3, 100))
    assert optim.cosine(1e-3, 100)(0) == pytest.approx(1e-3)


def test_clipping():
    w = neap.ones((4,)).requires_grad_()
    (w * 3).sum().backward()
    norm = optim.clip_grad_norm([w], 1.0)
    assert norm.item() == pytest.approx(6)
    assert np.linalg.norm(w.grad.numpy()) == pytest.approx(1, rel=1e-4)
    optim.clip_grad_value([w], 0.1)
    assert w.grad.numpy().max() == pytest.approx(0.1)


def test_training_learns_and_leaves_nothing(no_leak):
    net = Net()
    adam = optim.Adam(net.parameters(), lr=0.01)
    x, y = neap.randn((16, 4)), neap.randint(0, 2, (16,))
    losses = []
    for _ in range(60):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        losses.append(loss.item())
    assert losses[-1] < 0.5 * losses[0]
    del net, adam, x, y, loss


@pytest.mark.parametrize("compiled", [False, True])
def test_a_training_loop_is_flat(compiled):
    net = Net()
    adam = optim.Adam(net.parameters(), lr=0.01)

    def step(x, y):
        loss = neap.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    step = neap.compile(step) if compiled else step
    growth = neap.memory.Growth()
    for _ in range(30):
        x = np.random.default_rng(1).normal(size=(8, 4)).astype(np.float32)
        y = np.zeros(8, np.int64)
        if not compiled:
            x, y = neap.from_dlpack(x), neap.from_dlpack(y)
        step(x, y).item()
        del x, y
        growth.step()
    assert not growth.has_grown(), growth.format()
