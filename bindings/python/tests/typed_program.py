# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""A user's program, which mypy --strict accepts. See test_stubs.py."""

import neap
from neap import nn, optim


class Net(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.inner = nn.Linear(4, width)
        self.outer = nn.Linear(width, 3, bias=False)
        self.rnn = nn.LSTM(3, 3, batch_first=True)
        self.scale = nn.Parameter(neap.ones((3,)))

    def forward(self, x: neap.Tensor) -> neap.Tensor:
        output, (h, _) = self.rnn(self.outer(neap.relu(self.inner(x)))
                                  .unsqueeze(1))
        largest, where = neap.max(output.squeeze(1), 0)
        print(largest.shape[0] + 1, where.dtype is neap.i64, h.tolist())
        parts = neap.split(output, 1, axis=1)
        return parts[0].squeeze(1) * 2.0 + 1


def slope(w: neap.Tensor, x: neap.Tensor) -> neap.Tensor:
    y = 1 - (w * x).exp() / 2
    return neap.grad(y.sum(), w, create_graph=True)


def train(rows: int) -> float:
    net = Net(8)
    adam = optim.AdamW(net.parameters(), lr=1e-2, weight_decay=0.0)
    adam.set_schedule(optim.cosine(1e-2, 100))

    @neap.compile(budget="1GiB", keep=[0])
    def step(x: neap.Tensor, y: neap.Tensor) -> neap.Tensor:
        loss = neap.cross_entropy(net.inner(x), y, reduction="mean")
        loss.backward()
        adam.step()
        adam.zero_grad()
        return loss

    peak: int = step.plan(neap.spec((rows, 4)), neap.spec((rows,), neap.i64)).peak
    print(neap.memory.format_bytes(peak), net.eval().training)
    with neap.Budget("4GiB") as budget, neap.Scope("run") as scope:
        last = step(neap.randn((rows, 4)), neap.randint(0, 3, (rows,)))
        print(budget.bytes, len(scope))
        total: float = scope.keep(last + 0).item()
    run = neap.train.Checkpoint(net, adam, facts={"rows": rows})
    print(run.step, adam.group_lr(0), adam.describe())
    return total


def averages(net: Net) -> float:
    muon = optim.Muon([{"params": [net.inner.weight]},
                       {"params": [net.scale], "by_adam": True}], rate="adamw")
    plateau = optim.ReduceOnPlateau(muon, patience=1)
    ema = optim.Ema(net, decay=0.9)
    with ema.averaged() as averaged:
        print(averaged.is_swapped, plateau.step(1.0), ema.averages[0].shape)
    return muon.lr


def derivatives(x: neap.Tensor) -> neap.Tensor:
    value, pullback = neap.vjp(lambda a: a * a, x)
    (by_x,) = pullback(value)
    _, tangent = neap.jvp(neap.sin, x, by_x)
    matrix: neap.Tensor = neap.jacobian(lambda a: a.square(), x, mode="forward")
    product = neap.hvp(lambda a: a.square().sum(), (x,), (tangent,)).product
    print(matrix.shape, product)
    hook = x.register_hook(lambda g: g * 2)
    hook.remove()
    return x if x.grad is None else x.grad


def data_and_training(net: nn.Sequential) -> float:
    points = neap.data.TensorSet(neap.randn((8, 4)), neap.randint(0, 3, (8,)))
    loader = neap.data.Loader(points, 4, shuffle=True, seed=1)
    for x, y in loader.epoch(0):
        print(x.shape, y.dtype, loader.position[1])
    history = neap.fit(net, optim.SGD(net, lr=0.1), loader, progress=False)
    doubled = neap.custom_op(lambda x: (x * 2, None), lambda _, dy: dy * 2)
    step = neap.compile(lambda x: net(x).sum())
    points_of_curve = step.fit_curve(neap.spec((4, 4)))
    print(points_of_curve[0].arena, step.profile(neap.ones((4, 4))).whole)
    with neap.memory.UseDomain(neap.memory.Domain("mine", budget="1GiB")):
        print(doubled(neap.ones((2,))))
    return history[0]["loss"]


def main() -> None:
    try:
        print(train(6))
    except neap.OutOfMemory as error:
        print(error.requested + error.live, error.holders[0][0])
    net = Net(2)
    net(neap.ones((2, 4)))
    print(averages(net))
    print(data_and_training(nn.Sequential(nn.Linear(4, 3))))
    net.load_state_dict(net.state_dict(), strict=False)
    w = neap.tensor([1.0, 2.0], requires_grad=True)
    print(slope(w, w.detach()), derivatives(w), neap.memory.stats()["live"])
    print([name for name, _ in net.named_parameters()])
    mask: neap.Tensor = (w == 1.0) & (w != 2)
    print(mask[0], neap.__version__, float(w[1]))


if __name__ == "__main__":
    main()
