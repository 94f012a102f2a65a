// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/attention.hpp"

#include <cmath>

#include "neap/kernels/sequence/attention.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/sequence/attention_grad.hpp"
#include "neap/ops/sequence/attention_rules.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AttentionAttrs;

constexpr const char* kName = "scaled_dot_product_attention";

void check_mask(const Spec& mask, const Spec& q, std::int64_t keys) {
  const Shape scores{q.shape[0], q.shape[2], q.shape[1], keys};
  bool fits = mask.shape.rank() == 4;
  for (int axis = 0; fits && axis < 4; ++axis) {
    fits = mask.shape[axis] == 1 || mask.shape[axis] == scores[axis];
  }
  if (!fits) {
    raise<ShapeError>("{}: mask {} for scores {}", kName,
                      format_shape(mask.shape), format_shape(scores));
  }
  if (mask.dtype != boolean) {
    check_dtype(kName, mask.dtype, q.dtype);
  }
}

void infer_attention(const OpArgs& args, std::span<Spec> out) {
  const Spec& q = args.inputs[0];
  const Spec& k = args.inputs[1];
  const Spec& v = args.inputs[2];
  infer_floating({kName, args.inputs.first(3), args.attrs}, out);
  const bool are_heads =
      q.shape.rank() == 4 && k.shape.rank() == 4 && v.shape.rank() == 4;
  const bool fit = are_heads && q.shape[0] == k.shape[0] &&
                   k.shape[0] == v.shape[0] && k.shape[1] == v.shape[1] &&
                   k.shape[2] == v.shape[2] && q.shape[3] == k.shape[3];
  const bool shares =
      fit && (k.shape[2] == q.shape[2] ||
              (k.shape[2] != 0 && q.shape[2] % k.shape[2] == 0));
  if (!shares) {
    raise<ShapeError>(
        "{}: q {}, k {} and v {} (batch, length, heads, width) do not fit",
        kName, format_shape(q.shape), format_shape(k.shape),
        format_shape(v.shape));
  }
  if (args.attrs.as<AttentionAttrs>().has_mask) {
    check_mask(args.inputs[3], q, k.shape[1]);
  }
  out[0].shape = {q.shape[0], q.shape[1], q.shape[2], v.shape[3]};
  out[1].dtype = q.dtype;
  out[1].shape = {q.shape[0], q.shape[2], q.shape[1]};
}

Tensor mask_of(VjpContext& c) {
  return c.attrs<AttentionAttrs>().has_mask ? c.input(3) : Tensor();
}

// A mask's gradient is as large as the weights: by whole matrices.
Tensor mask_gradient(VjpContext& c) {
  AttentionAt at(c.input(0), c.input(1), c.input(3), c.attrs<AttentionAttrs>());
  const Tensor g =
      at.drop(times_transposed(at.rows(c.cotangent()), at.keys(c.input(2))));
  return at.from_mask(at.derive(g));
}

void vjp_attention(VjpContext& c) {
  const UsePrecision same(c.attrs<AttentionAttrs>().precision);
  if (c.inputs() > 3 && c.needs(3)) {
    c.set(3, mask_gradient(c));
  }
  AttentionAttrs wanted = c.attrs<AttentionAttrs>();
  wanted.dq = c.needs(0);
  wanted.dk = c.needs(1);
  wanted.dv = c.needs(2);
  const bool derives = wanted.dq || wanted.dk;
  if (!derives && !wanted.dv) {
    return;
  }
  AttentionKept of{.q = c.input(0),
                   .k = c.input(1),
                   .mask = mask_of(c),
                   .lse = c.output(1).detach()};
  if (derives) {
    of.v = c.input(2);
    of.y = c.output(0).detach();
  }
  std::array<Tensor, 3> d = attention_grad(c.take_cotangent(), of, wanted);
  for (int i = 0; i < 3; ++i) {
    if (c.needs(i)) {
      c.set(i, std::move(d[static_cast<std::size_t>(i)]));
    }
  }
}

void jvp_attention(JvpContext& c) {
  const auto& attrs = c.attrs<AttentionAttrs>();
  const UsePrecision same(attrs.precision);
  const Tensor tmask = attrs.has_mask ? c.tangent(3) : Tensor();
  AttentionAt at(c.input(0), c.input(1), attrs.has_mask ? c.input(3) : Tensor(),
                 attrs);
  Tensor d;
  if (const Tensor t = at.score_tangent(c.tangent(0), c.tangent(1), tmask);
      t.defined()) {
    d = matmul(at.drop(at.derive(t)), at.keys(c.input(2)));
  }
  if (c.tangent(2).defined()) {
    d = add_defined(std::move(d),
                    matmul(at.drop(at.weights()), at.keys(c.tangent(2))));
  }
  c.set(0, at.from_rows(d));
}

Cost cost_of_attention(const OpArgs& args, std::span<const Spec> outputs) {
  const Shape& y = outputs[0].shape;
  const std::int64_t keys = args.inputs[1].shape[1];
  const std::int64_t seen =
      args.attrs.as<AttentionAttrs>().is_causal ? (keys + 1) / 2 : keys;
  const std::int64_t scores = y[0] * y[1] * y[2] * seen;
  return moving(args, outputs,
                scores * (2 * (args.inputs[0].shape[3] + y[3]) + 4));
}

// The second output is a residual alone, never given to the user.
constexpr Op attention_op(const char* name) {
  Op op{.name = name,
        .formula =
            "y = drop(W) v, W = softmax(s q k^T + mask); dS = W (G - sum(W "
            "G)), G = drop(dy v^T) (Dao et al., NeurIPS 2022)",
        .outputs = 2,
        .infer = infer_attention,
        .kernel = &kernels::attention_kernels,
        .vjp = vjp_attention,
        .jvp = jvp_attention,
        .facts = {.vjp_reads = {{{.inputs = 0b1111, .outputs = 0b11},
                                 {.inputs = 0b1111, .outputs = 0b11},
                                 {.inputs = 0b1011, .outputs = 0b10},
                                 {.inputs = 0b1111}}},
                  .rows = rows_of_attention,
                  .cost = cost_of_attention}};
  return op;
}

// One draw for each weight (B, H, T, S).
std::int64_t draws_of_attention(const OpArgs& args) {
  const Shape& q = args.inputs[0].shape;
  return q[0] * q[2] * q[1] * args.inputs[1].shape[1];
}

constexpr Op random_op(Op op) {
  op.facts.effect = graph::Effect::kRandom;
  op.facts.draw_at = offsetof(AttentionAttrs, key);
  op.facts.first_at = offsetof(AttentionAttrs, first);
  op.facts.draws = draws_of_attention;
  return op;
}

}  // namespace

const Op kAttention = attention_op("attention");
const Op kAttentionDropout = random_op(attention_op("attention_dropout"));

std::array<Tensor, 2> attention(const Operand& q, const Operand& k,
                                const Operand& v, const Tensor& mask,
                                const AttentionAttrs& attrs) {
  const std::array<Operand, 4> inputs{q, k, v, mask};
  std::array<Tensor, 2> outputs;
  graph::dispatch(attrs.dropout == 0.0 ? kAttention : kAttentionDropout,
                  std::span(inputs).first(attrs.has_mask ? 4 : 3), attrs,
                  q.site(), outputs);
  return outputs;
}

namespace {

Shape leading_of(const Shape& shape) {
  return Shape(shape.span().first(static_cast<std::size_t>(shape.rank() - 2)));
}

// The axes before the last two, as (batch, heads). A single one is the batch,
// but where heads are shared, of which it then is the number.
Shape batch_and_heads(const Shape& leading, bool has_shared_heads) {
  if (leading.rank() < 2) {
    const std::int64_t extent = leading.rank() == 0 ? 1 : leading[0];
    return has_shared_heads ? Shape{1, extent} : Shape{extent, 1};
  }
  std::int64_t batch = 1;
  for (int axis = 0; axis + 1 < leading.rank(); ++axis) {
    batch = base::checked_mul(batch, leading[axis]);
  }
  return {batch, leading.back()};
}

Shape joined(Shape leading, std::int64_t rows, std::int64_t columns) {
  leading.push_back(rows);
  leading.push_back(columns);
  return leading;
}

// (..., rows, columns) with these leading extents, as (batch, heads, ...).
Tensor as_heads(const Tensor& x, const Shape& leading, bool has_shared_heads) {
  const std::int64_t rows = x.shape().back(2);
  const std::int64_t columns = x.shape().back(1);
  const Shape whole = joined(leading, rows, columns);
  return reshape(
      x.shape() == whole ? x : expand(x, whole),
      joined(batch_and_heads(leading, has_shared_heads), rows, columns));
}

// A mask likewise. Of leading axes it may lack some: those of extent 1 stay so
// where none is put together with others.
Tensor mask_as_heads(const Tensor& mask, const Shape& leading,
                     bool has_shared_heads) {
  Shape own = mask.shape();
  while (own.rank() < leading.rank() + 2) {
    Shape longer{1};
    for (const std::int64_t extent : own) {
      longer.push_back(extent);
    }
    own = longer;
  }
  if (own.rank() > leading.rank() + 2) {
    raise<ShapeError>("{}: mask {} has more axes than the scores", kName,
                      format_shape(own));
  }
  const Tensor x = reshape(mask, own);
  const Shape its = leading_of(own);
  return leading.rank() <= 2 || its.element_count() == 1
             ? reshape(x, joined(batch_and_heads(its, has_shared_heads),
                                 own.back(2), own.back(1)))
             : as_heads(x, leading, has_shared_heads);
}

struct Leading {
  Shape of_rows;
  Shape of_keys;
  bool has_shared_heads() const noexcept { return of_rows != of_keys; }
};

// The leading extents of all; those of k and v have fewer heads where shared.
Leading leading_of(const Shape& q, const Shape& k, const Shape& v,
                   bool enable_gqa) {
  for (const Shape* shape : {&q, &k, &v}) {
    if (shape->rank() < 2) {
      raise<ShapeError>("{}: {}, expected (..., length, width)", kName,
                        format_shape(*shape));
    }
  }
  Leading all{leading_of(q),
              base::broadcast(kName, leading_of(k), leading_of(v))};
  const int ranks = std::min(all.of_rows.rank(), all.of_keys.rank());
  if (!enable_gqa || ranks == 0 || all.of_rows.back() == all.of_keys.back()) {
    all.of_rows = base::broadcast(kName, all.of_rows, all.of_keys);
    all.of_keys = all.of_rows;
    return all;
  }
  const std::int64_t heads = all.of_rows.back();
  const std::int64_t shared = all.of_keys.back();
  if (shared == 0 || heads % shared != 0) {
    raise<ShapeError>("{}: {} heads of k and v do not divide {} of q", kName,
                      shared, heads);
  }
  const auto set_heads = [](Shape& shape, std::int64_t count) {
    shape[shape.rank() - 1] = count;
  };
  set_heads(all.of_rows, 1);
  set_heads(all.of_keys, 1);
  all.of_rows = base::broadcast(kName, all.of_rows, all.of_keys);
  all.of_keys = all.of_rows;
  set_heads(all.of_rows, heads);
  set_heads(all.of_keys, shared);
  return all;
}

AttentionAttrs attrs_of(const AttentionOptions& options, std::int64_t width) {
  AttentionAttrs attrs;
  attrs.scale = options.scale.value_or(
      1.0 / std::sqrt(static_cast<double>(std::max<std::int64_t>(width, 1))));
  attrs.dropout = options.dropout;
  attrs.is_causal = options.is_causal;
  attrs.has_mask = options.mask.is_given();
  attrs.precision = current_precision();
  if (!std::isfinite(attrs.scale)) {
    raise<ValueError>("{}: scale is {}, expected a finite number", kName,
                      attrs.scale);
  }
  if (!(attrs.dropout >= 0.0 && attrs.dropout < 1.0)) {
    raise<ValueError>("{}: dropout is {}, expected 0 <= p < 1", kName,
                      attrs.dropout);
  }
  return attrs;
}

}  // namespace
}  // namespace ops

Tensor scaled_dot_product_attention(const Operand& q, const Operand& k,
                                    const Operand& v,
                                    const AttentionOptions& options) {
  const Tensor& rows = ops::tensor_of(ops::kName, q);
  const Tensor& keys = ops::tensor_of(ops::kName, k);
  const Tensor& values = ops::tensor_of(ops::kName, v);
  const ops::Leading leading = ops::leading_of(
      rows.shape(), keys.shape(), values.shape(), options.enable_gqa);
  ops::AttentionAttrs attrs = ops::attrs_of(options, rows.shape().back(1));
  const ops::AtSite here(q);
  const auto by_length = [](const Tensor& x) {
    return permute(x, {0, 2, 1, 3});
  };
  const bool shared = leading.has_shared_heads();
  const Tensor mask =
      attrs.has_mask ? ops::mask_as_heads(options.mask, leading.of_rows, shared)
                     : Tensor();
  if (attrs.dropout > 0.0) {
    attrs.key = tensor::generator().next();
  }
  const Tensor y =
      ops::attention(by_length(ops::as_heads(rows, leading.of_rows, shared)),
                     by_length(ops::as_heads(keys, leading.of_keys, shared)),
                     by_length(ops::as_heads(values, leading.of_keys, shared)),
                     mask, attrs)[0];
  Tensor result = by_length(y);
  if (leading.of_rows.rank() != 2) {
    result = reshape(result, ops::joined(leading.of_rows, rows.shape().back(2),
                                         values.shape().back(1)));
  }
  if (attrs.dropout > 0.0) {
    tensor::generator().advance();
  }
  return result;
}

}  // namespace neap
