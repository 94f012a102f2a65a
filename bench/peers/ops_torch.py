"""PyTorch's side of the comparison op by op: a worker that is told an
expression, the operands' layout and what to time.

Started with THREADS, it writes one line about itself, then reads commands, a
line each:
    op ROWS COLUMNS LAYOUT AXIS PASS EXPRESSION
                    makes operands and, for PASS "backward", the graph of one
                    forward; answers "ok", or "error" and why
    run N           does it N times; answers with seconds a time, in bunches
LAYOUT is contiguous or transposed. An expression may name x, y, z (matrices), b
(a mask), i (an index along the axis), row and column (vectors), w (a square
matrix as wide as x), s (small systems), labels, rows, columns and d, the axis.
"""

import sys
import time

BUNCHES = 32
SIDE = 32


class Operands(dict):
    """The names of an expression, made when it asks for them."""

    def __init__(self, torch, rows, columns, layout, axis):
        super().__init__(torch=torch, F=torch.nn.functional, d=axis,
                         rows=rows, columns=columns)
        self.layout = layout

    def __missing__(self, name):
        if name not in MAKERS:
            raise NameError(name)
        self[name] = MAKERS[name](self)
        return self[name]

    def matrix(self, salt):
        torch = self["torch"]
        rows, columns = self["rows"], self["columns"]
        count = torch.arange(rows * columns, dtype=torch.int64) + salt
        x = 0.25 + (count * 2654435761 % 1024).float() / 1024
        if self.layout == "transposed":
            return x.reshape(columns, rows).t()
        return x.reshape(rows, columns)

    def index(self):
        torch = self["torch"]
        extent = (self["rows"], self["columns"])[self["d"]]
        count = torch.arange(self["rows"] * self["columns"])
        return (count * 2654435761 % extent).reshape(self["rows"], -1)

    def systems(self):
        torch = self["torch"]
        count = max(self["rows"] * self["columns"] // SIDE ** 2, 1)
        numbers = torch.arange(count * SIDE * SIDE, dtype=torch.int64)
        x = 0.25 + (numbers * 2654435761 % 1024).float() / 1024
        return x.reshape(count, SIDE, SIDE) + 64 * torch.eye(SIDE)


MAKERS = {
    "x": lambda o: o.matrix(0),
    "y": lambda o: o.matrix(7),
    "z": lambda o: o.matrix(11),
    "b": lambda o: o.matrix(0) > 0.5,
    "i": lambda o: o.index(),
    "w": lambda o: o.matrix(3)[:1].expand(o["columns"], -1).contiguous(),
    "row": lambda o: o.matrix(5).contiguous()[:1],
    "column": lambda o: o.matrix(5).contiguous()[0],
    "s": lambda o: o.systems(),
    "labels": lambda o: (o["torch"].arange(o["rows"]) * 2654435761
                         % o["columns"]),
}


def compiled(torch, words):
    """The function to time."""
    rows, columns, layout, axis, which = words[:5]
    operands = Operands(torch, int(rows), int(columns), layout, int(axis))
    code = compile(" ".join(words[5:]), "op", "eval")
    if which == "forward":
        with torch.no_grad():
            eval(code, operands)
        return lambda: eval(code, operands)
    x = operands["x"].detach().requires_grad_()
    operands["x"] = x
    result = eval(code, operands)
    cotangent = torch.full_like(result, 0.75)
    grad = torch.autograd.grad
    return lambda: grad(result, x, cotangent, retain_graph=True)


def run(torch, function, count, grad):
    seconds = []
    bunch = (count - 1) // BUNCHES + 1
    with torch.set_grad_enabled(grad):
        function()  # caches and threads have served others meanwhile
        while count > 0:
            calls = min(bunch, count)
            begin = time.perf_counter()
            for _ in range(calls):
                function()
            seconds.append((time.perf_counter() - begin) / calls)
            count -= calls
    return " ".join(f"{s:.9f}" for s in seconds)


def main():
    try:
        import torch
    except ImportError as error:
        raise SystemExit(print(f"error PyTorch: {error}", flush=True))
    torch.set_num_threads(int(sys.argv[1]))
    print(f"PyTorch {torch.__version__.split('+')[0]}", flush=True)
    function, grad = None, False
    for line in sys.stdin:
        command, *words = line.split()
        try:
            if command == "op":
                function, grad = compiled(torch, words), words[4] == "backward"
                text = "ok"
            else:
                text = run(torch, function, int(words[0]), grad)
        except Exception as error:  # whatever this version cannot do
            text = "error " + " ".join(str(error).split())
        print(text, flush=True)


if __name__ == "__main__":
    main()
