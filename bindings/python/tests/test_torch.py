# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""Weights and modules of PyTorch's: the same values and gradients."""

import numpy as np
import pytest

import neap

torch = pytest.importorskip("torch")
tnn = torch.nn
MODULES = pytest.importorskip("torch_modules").MODULES


class Net(neap.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = neap.nn.Conv2d(1, 2, 3)
        self.norm = neap.nn.BatchNorm2d(2)
        self.fc = neap.nn.Linear(8, 3)


class Twin(tnn.Module):
    def __init__(self):
        super().__init__()
        self.conv = tnn.Conv2d(1, 2, 3)
        self.norm = tnn.BatchNorm2d(2)
        self.fc = tnn.Linear(8, 3)


def test_load_torch_copies_parameters_and_buffers():
    net, twin = Net(), Twin()
    twin.norm.running_mean += 3
    neap.load_torch(net, twin.state_dict())
    state = net.state_dict()
    assert set(state) == set(twin.state_dict())
    for name, value in twin.state_dict().items():
        np.testing.assert_array_equal(state[name].numpy(), value.numpy())


def test_load_torch_names_all_that_is_wrong_and_changes_nothing():
    net, state = Net(), Twin().state_dict()
    before = {name: t.numpy().copy() for name, t in net.state_dict().items()}
    del state["conv.bias"]
    state["more"] = torch.ones(1)
    state["fc.weight"] = torch.ones(2, 2)
    state["fc.bias"] = state["fc.bias"].double()
    with pytest.raises(neap.NameNotFound) as caught:
        neap.load_torch(net, state)
    for name in ("conv.bias", "more", "fc.weight", "(2, 2)", "fc.bias", "f64"):
        assert name in str(caught.value)
    for name, t in net.state_dict().items():
        np.testing.assert_array_equal(t.numpy(), before[name])


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", MODULES)
def test_an_imported_module_computes_the_same(name, training):
    torch.manual_seed(1)
    make, example = MODULES[name]
    module, x = make().train(training), example()
    net = neap.torch.import_module(module, x)
    assert net.training == training
    got, want = net(neap.from_torch(x)), module(x)
    np.testing.assert_allclose(got.numpy(), want.detach().numpy(), rtol=1e-4,
                               atol=1e-5)
    (got * got).sum().backward()
    (want * want).sum().backward()
    own = dict(net.named_parameters())
    assert set(own) == {name for name, _ in
                        module.named_parameters(remove_duplicate=False)}
    for name, parameter in module.named_parameters():
        np.testing.assert_allclose(own[name].grad.numpy(),
                                   parameter.grad.numpy(), rtol=1e-3, atol=5e-4)
    buffers = dict(net.buffers().items())
    saved = module.state_dict()  # other buffers are constants
    for name, value in module.named_buffers():
        if name not in saved:
            continue
        np.testing.assert_allclose(buffers[name].numpy(), value.numpy(),
                                   rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MODULES)
def test_the_plan_of_an_imported_module_is_what_training_holds(name):
    torch.manual_seed(1)
    make, example = MODULES[name]
    x = neap.from_torch(example())
    before = neap.memory.by_category()
    net = neap.torch.import_module(make(), example())
    adam = neap.optim.Adam(net)

    @neap.compile
    def step(x):
        loss = net(x).square().mean()
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    plan = step.plan(neap.spec(x.shape, x.dtype))
    planned = neap.memory.stats()["live"]
    neap.memory.reset_peak()
    for _ in range(3):
        step(x)
    assert neap.memory.stats()["live_peak"] == planned  # a byte more: red
    made = {each: size - before[each] for each, size in
            neap.memory.by_category().items() if each != "graph"}
    assert sum(made.values()) == plan.arena + plan.persistent


def test_all_missing_operations_are_named_at_once():
    class Odd(tnn.Module):
        def forward(self, x):
            return torch.lgamma(x) + torch.digamma(x)

    with pytest.raises(neap.NameNotFound) as caught:
        neap.torch.import_module(Odd(), torch.ones(2))
    assert "aten.lgamma" in str(caught.value)
    assert "aten.digamma" in str(caught.value)


def test_other_shapes_are_refused():
    net = neap.torch.import_module(MODULES["mlp"][0](), torch.randn(5, 4))
    with pytest.raises(neap.ShapeError):
        net(neap.ones((6, 4)))
