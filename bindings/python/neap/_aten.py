# Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
"""What computes each operation of ATen, under its name with the overload: a row
takes what PyTorch's operation takes. Operations that PyTorch would decompose
are rows too where Neap has them whole: attention, norms, losses.

REFUSED has, for operations with options that Neap lacks, a function of the same
arguments that says what is missing, or None.
"""

import math
import operator

from neap import _core as n
from neap._core import DType, Tensor

_REDUCTIONS = ("none", "mean", "sum")  # by PyTorch's numbers
_BOOL = getattr(DType, "bool")


def _plain(function, *, count=1):
    """A row for the first `count` arguments; the others change no value."""
    return lambda *a, **_: function(*a[:count])


def _scaled(function):
    """a op alpha b."""
    return lambda a, b, alpha=1: function(a, b if alpha == 1 else n.mul(b, alpha))


def _both(function):
    """An operation of two operands, of which one at least is a tensor."""
    return lambda a, b: function(a, b)


def _axes(x, axes):
    """Axes of a reduction: none are all."""
    if axes is None or (isinstance(axes, (list, tuple)) and not axes):
        return list(range(x.ndim))
    return axes


def _reduced(function):
    def run(x, axes=None, keepdim=False, *, dtype=None):
        x = x if dtype is None else x.to(dtype)
        return function(x, _axes(x, axes), keepdim)
    return run


def _whole(function):
    return lambda x, *, dtype=None: function(x if dtype is None else x.to(dtype))


def _spread(function):
    """var and std, whose correction is 1 unless given."""
    return lambda x, axes=None, *, correction=1, keepdim=False: function(
        x, _axes(x, axes), keepdim, 1.0 if correction is None else correction)


def _divided(a, b, *, rounding_mode=None):
    quotient = n.div(a, b)
    rounding = {None: lambda x: x, "floor": n.floor, "trunc": n.trunc}
    return rounding[rounding_mode](quotient)


def _clamped(x, low=None, high=None):
    if low is not None:
        x = n.maximum(x, low) if isinstance(low, Tensor) else n.clip_min(x, low)
    if high is not None:
        x = (n.minimum(x, high) if isinstance(high, Tensor)
             else n.clip_max(x, high))
    return x


def _filled_like(x, value, **options):
    return n.full(x.shape, value, options.get("dtype") or x.dtype)


def _counted(start, stop=None, step=1, *, dtype=None):
    """arange: i64 unless a bound is a float."""
    if stop is None:
        start, stop = 0, start
    whole = all(isinstance(each, int) for each in (start, stop, step))
    dtype = dtype or (DType.i64 if whole else DType.f32)
    count = max(0, math.ceil((stop - start) / step))
    steps = n.arange(count, dtype)
    return steps if (start, step) == (0, 1) else n.add(n.mul(steps, step), start)


# --- shapes ------------------------------------------------------------------


def _expanded(x, shape, *, implicit=False):
    """-1 keeps an extent."""
    missing = len(shape) - x.ndim
    return n.expand(x, [x.shape[i - missing] if extent == -1 else extent
                        for i, extent in enumerate(shape)])


def _squeezed(x, axes):
    axes = [axes] if isinstance(axes, int) else axes
    for axis in sorted((axis % max(x.ndim, 1) for axis in axes), reverse=True):
        if x.shape[axis] == 1:
            x = n.squeeze(x, axis)
    return x


def _sliced(x, axis=0, start=None, stop=None, step=1):
    return n.slice(x, axis, start or 0, 2**63 - 1 if stop is None else stop,
                   step)


def _indexed(x, indices):
    """x[i, :, j]: None takes a whole axis."""
    key = tuple(slice(None) if each is None else each for each in indices)
    return x[key]


def _rolled(x, shifts, axes=()):
    if not axes:
        return n.roll(x, shifts[0])
    for shift, axis in zip(shifts, axes):
        x = n.roll(x, shift, axis)
    return x


def _cast(x, **options):
    dtype = options.get("dtype")
    return x if dtype is None else x.to(dtype)


# --- layers ------------------------------------------------------------------


def _per_axis(values):
    """A number for one axis, a pair for two."""
    if isinstance(values, int):
        return values
    return values[0] if len(values) == 1 else tuple(values)


def _convolved(axes):
    function = (None, n.conv1d, n.conv2d)[axes]

    def run(x, w, bias=None, stride=1, padding=0, dilation=1, groups=1):
        return function(x, w, bias, stride=_per_axis(stride),
                        padding=_per_axis(padding),
                        dilation=_per_axis(dilation), groups=groups)
    return run


def _transposed(axes):
    function = (None, n.conv_transpose1d, n.conv_transpose2d)[axes]

    def run(x, w, bias=None, stride=1, padding=0, output_padding=0, groups=1,
            dilation=1):
        return function(x, w, bias, stride=_per_axis(stride),
                        padding=_per_axis(padding),
                        output_padding=_per_axis(output_padding),
                        dilation=_per_axis(dilation), groups=groups)
    return run


def _any_convolution(x, w, bias, stride, padding, dilation, transposed,
                     output_padding, groups):
    axes = w.ndim - 2
    if transposed:
        return _transposed(axes)(x, w, bias, stride, padding, output_padding,
                                 groups, dilation)
    return _convolved(axes)(x, w, bias, stride, padding, dilation, groups)


def _max_pooled(function):
    def run(x, kernel, stride=(), padding=0, dilation=1, ceil_mode=False):
        return function(x, _per_axis(kernel),
                        stride=_per_axis(stride) if stride else 0,
                        padding=_per_axis(padding), dilation=_per_axis(dilation),
                        ceil_mode=ceil_mode)
    return run


def _avg_pooled(function):
    def run(x, kernel, stride=(), padding=0, ceil_mode=False,
            count_include_pad=True, divisor_override=None):
        return function(x, _per_axis(kernel),
                        stride=_per_axis(stride) if stride else 0,
                        padding=_per_axis(padding), ceil_mode=ceil_mode,
                        count_include_pad=count_include_pad,
                        divisor_override=divisor_override)
    return run


def _batch_norm(x, w, b, mean, var, momentum, eps):
    """In evaluation: (result, mean, rstd), of which the first is used."""
    return (n.batch_norm(x, mean, var, w, b, momentum=momentum, eps=eps),)


def _batch_norm_training(x, w, b, mean, var, training, momentum, eps):
    """(result, mean, rstd, running mean, running var): the running ones are
    written where they are."""
    y = n.batch_norm(x, mean, var, w, b, training=training, momentum=momentum,
                     eps=eps)
    return y, None, None, mean, var


def _layer_norm(x, shape, w=None, b=None, eps=1e-5, *_):
    return n.layer_norm(x, shape, w, b, eps)


def _group_norm(x, groups, w=None, b=None, eps=1e-5, *_):
    return n.group_norm(x, groups, w, b, eps)


def _attention(q, k, v, mask=None, dropout=0.0, is_causal=False, *, scale=None,
               enable_gqa=False):
    return n.scaled_dot_product_attention(
        q, k, v, mask=mask, is_causal=is_causal, dropout=dropout, scale=scale,
        enable_gqa=enable_gqa)


def _dropout(x, p=0.5, training=True):
    return n.dropout(x, p, training)


def _softmax(function):
    def run(x, axis, dtype=None):
        half = dtype is None or isinstance(dtype, bool)
        return function(x if half else x.to(dtype), axis)
    return run


def _gelu(x, *, approximate="none"):
    return n.gelu(x, "exact" if approximate == "none" else "tanh")


def _elu(x, alpha=1.0, scale=1.0, input_scale=1.0):
    y = n.elu(x if input_scale == 1 else n.mul(x, input_scale), alpha)
    return y if scale == 1 else n.mul(y, scale)


def _glu(x, axis=-1):
    a, b = n.chunk(x, 2, axis)
    return n.mul(a, n.sigmoid(b))


def _prelu(x, weight):
    if weight.ndim and weight.shape[0] > 1:
        weight = n.reshape(weight, [-1] + [1] * (x.ndim - 2))
    return n.where(n.gt(x, 0), x, n.mul(x, weight))


def _addmm(bias, a, b, *, beta=1, alpha=1):
    product = n.matmul(a, b)
    product = product if alpha == 1 else n.mul(product, alpha)
    return n.add(product, bias if beta == 1 else n.mul(bias, beta))


def _upsampled(mode):
    def run(x, size=None, align=False, scales=None):
        if mode == "nearest":  # has no align_corners
            scales, align = align or None, False
        if size is None:
            size = [int(x.shape[2 + i] * scale)
                    for i, scale in enumerate(scales)]
        return n.interpolate(x, size=tuple(size), mode=mode,
                             align_corners=align)
    return run


# --- losses ------------------------------------------------------------------


def _cross_entropy(x, labels, weight=None, reduction=1, ignore_index=-100,
                   label_smoothing=0.0):
    return n.cross_entropy(x, labels, reduction=_REDUCTIONS[reduction],
                           label_smoothing=label_smoothing,
                           ignore_index=ignore_index)


def _loss(function):
    def run(x, target, reduction=1, *more):
        return function(x, target, _REDUCTIONS[reduction], *more)
    return run


def _bce_with_logits(x, target, weight=None, pos_weight=None, reduction=1):
    return n.binary_cross_entropy_with_logits(
        x, target, _REDUCTIONS[reduction], pos_weight)


def _bce(x, target, weight=None, reduction=1):
    return n.binary_cross_entropy(x, target, _REDUCTIONS[reduction])


_UNARY = (
    "abs neg exp expm1 log log1p log2 log10 sqrt rsqrt reciprocal square sin "
    "cos tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc sigmoid "
    "relu sign ceil floor round trunc isnan isinf logical_not silu mish "
    "isfinite").split()
_BINARY = "pow fmod remainder eq ne lt le gt ge".split()

ROWS = {
    **{f"aten.{name}.default": _plain(getattr(n, name)) for name in _UNARY},
    "aten.log_sigmoid.default": _plain(n.log_sigmoid),
    "aten.hardswish.default": _plain(n.hard_swish),
    "aten.softsign.default": _plain(n.softsign),
    "aten.bitwise_not.default": _plain(n.logical_not),
    # Two operands.
    **{f"aten.{name}.{kind}": _both(getattr(n, name)) for name in _BINARY
       for kind in ("Tensor", "Scalar", "Tensor_Tensor", "Tensor_Scalar")},
    "aten.add.Tensor": _scaled(n.add),
    "aten.add.Scalar": _scaled(n.add),
    "aten.sub.Tensor": _scaled(n.sub),
    "aten.sub.Scalar": _scaled(n.sub),
    "aten.rsub.Tensor": lambda a, b, alpha=1: _scaled(n.sub)(b, a, alpha),
    "aten.rsub.Scalar": lambda a, b, alpha=1: n.sub(
        b, a if alpha == 1 else n.mul(a, alpha)),
    "aten.mul.Tensor": _both(n.mul),
    "aten.mul.Scalar": _both(n.mul),
    "aten.div.Tensor": _divided,
    "aten.div.Scalar": _divided,
    "aten.div.Tensor_mode": _divided,
    "aten.div.Scalar_mode": _divided,
    "aten.atan2.default": _both(n.atan2),
    "aten.maximum.default": _both(n.maximum),
    "aten.minimum.default": _both(n.minimum),
    "aten.logical_and.default": _both(n.logical_and),
    "aten.logical_or.default": _both(n.logical_or),
    "aten.logical_xor.default": _both(n.logical_xor),
    "aten.bitwise_and.Tensor": _both(n.logical_and),
    "aten.bitwise_or.Tensor": _both(n.logical_or),
    "aten.bitwise_xor.Tensor": _both(n.logical_xor),
    "aten.where.self": _plain(n.where, count=3),
    "aten.where.ScalarOther": _plain(n.where, count=3),
    "aten.where.ScalarSelf": _plain(n.where, count=3),
    "aten.masked_fill.Scalar": _plain(n.masked_fill, count=3),
    "aten.masked_fill.Tensor": _plain(n.masked_fill, count=3),
    "aten.clamp.default": _clamped,
    "aten.clamp.Tensor": _clamped,
    "aten.clamp_min.default": _clamped,
    "aten.clamp_max.default": lambda x, high: _clamped(x, None, high),
    "aten.hardtanh.default": lambda x, low=-1, high=1: _clamped(x, low, high),
    "aten.relu6.default": lambda x: n.clip(x, 0, 6),
    "aten.hardsigmoid.default": lambda x: n.clip(
        n.add(n.mul(x, 1 / 6), 0.5), 0, 1),
    # Reductions.
    "aten.sum.default": _whole(n.sum),
    "aten.sum.dim_IntList": _reduced(n.sum),
    "aten.mean.default": _whole(n.mean),
    "aten.mean.dim": _reduced(n.mean),
    "aten.prod.default": _whole(n.prod),
    "aten.prod.dim_int": _reduced(n.prod),
    "aten.amax.default": _reduced(n.amax),
    "aten.amin.default": _reduced(n.amin),
    "aten.max.default": _plain(n.amax),
    "aten.min.default": _plain(n.amin),
    "aten.max.dim": _plain(n.max, count=3),
    "aten.min.dim": _plain(n.min, count=3),
    "aten.any.default": _plain(n.any),
    "aten.any.dim": _reduced(n.any),
    "aten.any.dims": _reduced(n.any),
    "aten.all.default": _plain(n.all),
    "aten.all.dim": _reduced(n.all),
    "aten.all.dims": _reduced(n.all),
    "aten.argmax.default": _plain(n.argmax, count=3),
    "aten.argmin.default": _plain(n.argmin, count=3),
    "aten.logsumexp.default": _reduced(n.logsumexp),
    "aten.linalg_vector_norm.default": lambda x, p=2, axes=None, keepdim=False,
        **_: n.norm(x, p, _axes(x, axes), keepdim),
    "aten.var.correction": _spread(n.var),
    "aten.std.correction": _spread(n.std),
    "aten.var_mean.correction": _spread(n.var_mean),
    "aten.cumsum.default": lambda x, axis, **options: n.cumsum(
        _cast(x, **options), axis),
    "aten.topk.default": lambda x, k, axis=-1, largest=True, ordered=True:
        n.topk(x, k, axis, largest),
    "aten.sort.default": _plain(n.sort, count=3),
    # Shapes.
    "aten.view.default": _plain(n.reshape, count=2),
    "aten._unsafe_view.default": _plain(n.reshape, count=2),
    "aten.reshape.default": _plain(n.reshape, count=2),
    "aten.permute.default": _plain(n.permute, count=2),
    "aten.transpose.int": _plain(n.transpose, count=3),
    "aten.t.default": lambda x: n.transpose(x) if x.ndim > 1 else x,
    "aten.expand.default": _expanded,
    "aten.unsqueeze.default": _plain(n.unsqueeze, count=2),
    "aten.squeeze.default": _plain(n.squeeze),
    "aten.squeeze.dim": _squeezed,
    "aten.squeeze.dims": _squeezed,
    "aten.flatten.using_ints": _plain(n.flatten, count=3),
    "aten.cat.default": _plain(n.concat, count=2),
    "aten.stack.default": _plain(n.stack, count=2),
    "aten.slice.Tensor": _sliced,
    "aten.select.int": _plain(n.select, count=3),
    "aten.split.Tensor": _plain(n.split, count=3),
    "aten.split_with_sizes.default": _plain(n.split, count=3),
    "aten.chunk.default": _plain(n.chunk, count=3),
    "aten.unbind.int": _plain(n.unbind, count=2),
    "aten.clone.default": _plain(lambda x: x),
    "aten.contiguous.default": _plain(n.contiguous),
    "aten.alias.default": _plain(lambda x: x),
    "aten.detach.default": _plain(Tensor.detach),
    "aten.lift_fresh_copy.default": _plain(lambda x: x),
    "aten.repeat.default": _plain(n.tile, count=2),
    "aten.flip.default": _plain(n.flip, count=2),
    "aten.roll.default": _rolled,
    "aten.constant_pad_nd.default": lambda x, pads, value=0: n.pad(
        x, pads, "constant", value),
    "aten.tril.default": _plain(n.tril, count=2),
    "aten.triu.default": _plain(n.triu, count=2),
    "aten.diagonal.default": _plain(n.diagonal, count=4),
    "aten.index_select.default": _plain(n.index_select, count=3),
    "aten.index.Tensor": _indexed,
    "aten.gather.default": _plain(n.gather, count=3),
    "aten._to_copy.default": _cast,
    "aten.sym_size.int": lambda x, axis: x.shape[axis],
    "aten.sym_numel.default": lambda x: x.numel(),
    # New tensors.
    "aten.full.default": lambda shape, value, dtype=None: n.full(
        shape, value, dtype or DType.f32),
    "aten.zeros.default": lambda shape, dtype=None: n.zeros(
        shape, dtype or DType.f32),
    "aten.ones.default": lambda shape, dtype=None: n.ones(
        shape, dtype or DType.f32),
    "aten.full_like.default": _filled_like,
    "aten.zeros_like.default": lambda x, **o: _filled_like(x, 0, **o),
    "aten.ones_like.default": lambda x, **o: _filled_like(x, 1, **o),
    "aten.scalar_tensor.default": lambda value, dtype=None: n.scalar(
        value, dtype or DType.f32),
    "aten.arange.default": _counted,
    "aten.arange.start": _counted,
    "aten.arange.start_step": _counted,
    # Layers.
    "aten.linear.default": _plain(n.linear, count=3),
    "aten.addmm.default": _addmm,
    "aten.mm.default": _both(n.matmul),
    "aten.bmm.default": _both(n.matmul),
    "aten.mv.default": _both(n.matmul),
    "aten.matmul.default": _both(n.matmul),
    "aten.dot.default": _both(n.dot),
    "aten.einsum.default": lambda equation, operands, path=None: n.einsum(
        equation, operands),
    "aten.conv1d.default": _convolved(1),
    "aten.conv2d.default": _convolved(2),
    "aten.conv_transpose1d.default": _transposed(1),
    "aten.conv_transpose2d.input": _transposed(2),
    "aten.convolution.default": _any_convolution,
    "aten.max_pool1d.default": _max_pooled(n.max_pool1d),
    "aten.max_pool2d.default": _max_pooled(n.max_pool2d),
    "aten.avg_pool1d.default": _avg_pooled(n.avg_pool1d),
    "aten.avg_pool2d.default": _avg_pooled(n.avg_pool2d),
    "aten.adaptive_avg_pool1d.default": lambda x, size: n.adaptive_avg_pool1d(
        x, size[0]),
    "aten.adaptive_avg_pool2d.default": lambda x, size: n.adaptive_avg_pool2d(
        x, tuple(size)),
    "aten._adaptive_avg_pool2d.default": lambda x, size: n.adaptive_avg_pool2d(
        x, tuple(size)),
    "aten.upsample_nearest2d.vec": _upsampled("nearest"),
    "aten.upsample_bilinear2d.vec": _upsampled("bilinear"),
    "aten._native_batch_norm_legit_no_training.default": _batch_norm,
    "aten._native_batch_norm_legit_functional.default": _batch_norm_training,
    "aten.layer_norm.default": _layer_norm,
    "aten.native_layer_norm.default": lambda *a: (_layer_norm(*a),),
    "aten.group_norm.default": _group_norm,
    "aten.rms_norm.default": lambda x, shape, w=None, eps=None: n.rms_norm(
        x, shape, w, eps),
    "aten.embedding.default": lambda w, ids, padding=-1, *_: n.embedding(
        w, ids, padding if padding >= 0 else None),
    "aten.scaled_dot_product_attention.default": _attention,
    "aten.softmax.int": _softmax(n.softmax),
    "aten._softmax.default": _softmax(n.softmax),
    "aten.log_softmax.int": _softmax(n.log_softmax),
    "aten._log_softmax.default": _softmax(n.log_softmax),
    "aten.dropout.default": _dropout,
    "aten.native_dropout.default": lambda *a: (_dropout(*a),),
    "aten.gelu.default": _gelu,
    "aten.elu.default": _elu,
    "aten.leaky_relu.default": _plain(n.leaky_relu, count=2),
    "aten.softplus.default": _plain(n.softplus, count=3),
    "aten.glu.default": _glu,
    "aten.prelu.default": _prelu,
    "aten._prelu_kernel.default": lambda x, w: n.where(
        n.gt(x, 0), x, n.mul(x, w)),
    # Losses.
    "aten.cross_entropy_loss.default": _cross_entropy,
    "aten.mse_loss.default": _loss(n.mse_loss),
    "aten.l1_loss.default": _loss(n.l1_loss),
    "aten.smooth_l1_loss.default": _loss(n.smooth_l1_loss),
    "aten.huber_loss.default": _loss(n.huber_loss),
    "aten.binary_cross_entropy.default": _bce,
    "aten.binary_cross_entropy_with_logits.default": _bce_with_logits,
    # Numbers: sizes that a program computes.
    **{f"_operator.{name}": getattr(operator, name)
       for name in ("getitem", "add", "sub", "mul", "floordiv", "mod", "neg",
                    "truediv", "eq", "ne", "lt", "le", "gt", "ge")},
}

# Operations that compute nothing here: checks of what export assumed.
IGNORED = {
    "aten._assert_tensor_metadata.default", "aten._assert_scalar.default",
    "aten.sym_constrain_range_for_size.default",
    "aten.sym_constrain_range.default", "aten._assert_async.msg",
}

# Operations whose operands PyTorch brings to the dtype of the result.
PROMOTED = {f"aten.{name}" for name in (
    "add", "sub", "rsub", "mul", "div", "pow", "fmod", "remainder", "maximum",
    "minimum", "where", "atan2", "cat", "exp", "log", "sqrt", "rsqrt", "sin",
    "cos", "tanh", "sigmoid", "mean", "reciprocal", "erf")}


def _integers(x, *_):
    return None if str(x.dtype).endswith("bool") else "operands of bool"


def _rank(argument):
    return getattr(argument, "ndim", None) or len(
        getattr(argument, "shape", ()))


REFUSED = {
    **{f"aten.bitwise_{name}": _integers for name in (
        "not.default", "and.Tensor", "or.Tensor", "xor.Tensor")},
    "aten.convolution.default": lambda x, w, *_: None if _rank(w) in (3, 4)
        else "a convolution over 1 or 2 axes",
    "aten.cross_entropy_loss.default": lambda x, labels, weight=None, *_:
        weight is not None and "class weights" or
        _rank(labels) != _rank(x) - 1 and "labels that are classes" or
        _rank(x) != 2 and "logits of (n, classes)" or None,
    "aten.binary_cross_entropy.default": lambda x, y, weight=None, *_:
        None if weight is None else "weights of elements",
    "aten.binary_cross_entropy_with_logits.default": lambda x, y, weight=None,
        *_: None if weight is None else "weights of elements",
    "aten.linalg_vector_norm.default": lambda x, p=2, *_, **__:
        None if p > 0 else "a positive order",
    "aten.leaky_relu.default": lambda x, slope=0.01: None if slope >= 0 else
        "a slope of at least 0",
    "aten.embedding.default": lambda w, ids, padding=-1, scale=False,
        sparse=False: "gradients of embeddings that are not sparse, nor scaled "
        "by frequency" if scale or sparse else None,
}
