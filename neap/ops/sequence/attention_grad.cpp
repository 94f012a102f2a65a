// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/attention_grad.hpp"

#include "neap/kernels/sequence/attention.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/precision.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/sequence/attention_rules.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {
namespace {

using kernels::AttentionAttrs;

// Operands in order: dy, v, q, k, lse, y, mask.
constexpr int kMaskAt = 6;

// Whether v and y matter.
bool derives(const AttentionAttrs& attrs) {
  return attrs.dq || attrs.dk;
}

void infer_attention_grad(const OpArgs& args, std::span<Spec> out) {
  const auto& wanted = args.attrs.as<AttentionAttrs>();
  const Spec& dy = args.inputs[0];
  const Spec& q = args.inputs[2];
  const Spec& k = args.inputs[3];
  infer_floating({args.name, args.inputs.first(1), args.attrs}, out);
  const bool fit = dy.shape.rank() == 4 && q.shape.rank() == 4 &&
                   k.shape.rank() == 4 && dy.shape[0] == q.shape[0] &&
                   dy.shape[1] == q.shape[1] && dy.shape[2] == q.shape[2] &&
                   q.shape[3] == k.shape[3];
  if (!fit) {
    raise<ShapeError>("attention_grad: dy {} for q {} and k {}",
                      format_shape(dy.shape), format_shape(q.shape),
                      format_shape(k.shape));
  }
  for (Spec& spec : out) {
    spec.dtype = dy.dtype;
    spec.shape = {0};
  }
  if (wanted.dq) {
    out[0].shape = q.shape;
  }
  if (wanted.dk) {
    out[1].shape = k.shape;
  }
  if (wanted.dv) {
    out[2].shape = {k.shape[0], k.shape[1], k.shape[2], dy.shape[3]};
  }
}

Tensor row_sum(const Tensor& x) {
  return sum(x, {-1}, true);
}

// With a, b and e the cotangents of dq, dk and dv, T and tW as along tangents a
// of q and b of k (attention_rules.hpp), and H = drop(dy e^T), what is derived
// is <G, tW> + <H, W>:
//   of dy: drop(tW) v + drop(W) e       of v: drop(tW)^T dy
//   of W:  H + G (T - r(W T)) - r(G W) T    of T: W (G - r(W G)), as of dS
class SecondReverse {
 public:
  explicit SecondReverse(VjpContext& c)
      : c_(c),
        attrs_(c.attrs<AttentionAttrs>()),
        at_(c.input(2), c.input(3),
            attrs_.has_mask ? c.input(kMaskAt) : Tensor(), attrs_),
        a_(attrs_.dq ? c.cotangent(0) : Tensor()),
        b_(attrs_.dk ? c.cotangent(1) : Tensor()),
        e_(attrs_.dv ? c.cotangent(2) : Tensor()),
        t_(at_.score_tangent(a_, b_, {})) {}

  void run() {
    if (c_.needs(0)) {
      c_.set(0, of_dy());
    }
    if (derives(attrs_) && c_.needs(1) && t_.defined()) {
      c_.set(1, at_.from_keys(transposed_times(at_.drop(at_.derive(t_)),
                                               at_.rows(c_.input(0)))));
    }
    const bool of_mask = attrs_.has_mask && c_.needs(kMaskAt);
    if (!c_.needs(2) && !c_.needs(3) && !of_mask) {
      return;
    }
    through_scores();
    if (c_.needs(2)) {
      c_.set(2, of_q());
    }
    if (c_.needs(3)) {
      c_.set(3, of_k());
    }
    if (of_mask && of_scores_.defined()) {
      c_.set(kMaskAt, at_.from_mask(of_scores_));
    }
  }

 private:
  Tensor of_dy() {
    Tensor d;
    if (t_.defined()) {
      d = matmul(at_.drop(at_.derive(t_)), at_.keys(c_.input(1)));
    }
    if (e_.defined()) {
      d = add_defined(std::move(d),
                      matmul(at_.drop(at_.weights()), at_.keys(e_)));
    }
    return d.defined() ? at_.from_rows(d) : d;
  }

  // The cotangents of S and of T.
  void through_scores() {
    const Tensor dy = at_.rows(c_.input(0));
    const Tensor& w = at_.weights();
    Tensor of_w;
    if (e_.defined()) {
      of_w = at_.drop(times_transposed(dy, at_.keys(e_)));
    }
    if (t_.defined()) {
      const Tensor g = at_.drop(times_transposed(dy, at_.keys(c_.input(1))));
      const Tensor moved = sub(mul(g, sub(t_, row_sum(mul(w, t_)))),
                               mul(row_sum(mul(g, w)), t_));
      of_w = add_defined(std::move(of_w), moved);
      of_t_ = at_.derive(g);
    }
    if (of_w.defined()) {
      of_scores_ = at_.derive(of_w);
    }
  }

  Tensor of_q() {
    Tensor d;
    if (of_scores_.defined()) {
      d = matmul(of_scores_, at_.k());
    }
    if (of_t_.defined() && b_.defined()) {
      d = add_defined(std::move(d), matmul(of_t_, at_.keys(b_)));
    }
    return d.defined() ? at_.from_rows(mul(std::move(d), at_.scale())) : d;
  }

  Tensor of_k() {
    Tensor d;
    if (of_scores_.defined()) {
      d = transposed_times(of_scores_, at_.q());
    }
    if (of_t_.defined() && a_.defined()) {
      d = add_defined(std::move(d), transposed_times(of_t_, at_.rows(a_)));
    }
    return d.defined() ? at_.from_keys(mul(std::move(d), at_.scale())) : d;
  }

  VjpContext& c_;
  AttentionAttrs attrs_;
  AttentionAt at_;
  Tensor a_;
  Tensor b_;
  Tensor e_;
  Tensor t_;
  Tensor of_scores_;
  Tensor of_t_;
};

// With t of each operand, tG = drop(tdy v^T + dy tv^T) and dS = W (G - r(W G)):
//   tdS = tW (G - r(W G)) + W (tG - r(W tG + tW G))
//   tdq = scale (tdS k + dS tk), tdk = scale (tdS^T q + dS^T tq)
//   tdv = drop(tW)^T dy + drop(W)^T tdy
class SecondForward {
 public:
  explicit SecondForward(JvpContext& c)
      : c_(c),
        attrs_(c.attrs<AttentionAttrs>()),
        at_(c.input(2), c.input(3),
            attrs_.has_mask ? c.input(kMaskAt) : Tensor(), attrs_),
        tv_(derives(attrs_) ? c.tangent(1) : Tensor()) {
    const Tensor t =
        at_.score_tangent(c.tangent(2), c.tangent(3),
                          attrs_.has_mask ? c.tangent(kMaskAt) : Tensor());
    if (t.defined()) {
      tw_ = at_.derive(t);
    }
  }

  void run() {
    if (derives(attrs_)) {
      through_scores();
    }
    if (attrs_.dq) {
      c_.set(0, of_dq());
    }
    if (attrs_.dk) {
      c_.set(1, of_dk());
    }
    if (attrs_.dv) {
      c_.set(2, of_dv());
    }
  }

 private:
  Tensor gained(const Tensor& dy, const Tensor& v) const {
    return at_.drop(times_transposed(at_.rows(dy), at_.keys(v)));
  }

  // dS where something multiplies it, and tdS.
  void through_scores() {
    const Tensor& w = at_.weights();
    Tensor tg;
    if (c_.tangent(0).defined()) {
      tg = gained(c_.tangent(0), c_.input(1));
    }
    if (tv_.defined()) {
      tg = add_defined(std::move(tg), gained(c_.input(0), tv_));
    }
    Tensor sums = tg.defined() ? row_sum(mul(w, tg)) : Tensor();
    if (tw_.defined()) {
      const Tensor g = gained(c_.input(0), c_.input(1));
      ds_ = at_.derive(g);
      tds_ = mul(tw_, sub(g, row_sum(mul(w, g))));
      sums = add_defined(std::move(sums), row_sum(mul(tw_, g)));
    }
    if (sums.defined()) {
      tds_ = add_defined(std::move(tds_),
                         mul(w, tg.defined() ? sub(tg, sums) : neg(sums)));
    }
  }

  Tensor of_dq() {
    Tensor d;
    if (tds_.defined()) {
      d = matmul(tds_, at_.k());
    }
    if (ds_.defined() && c_.tangent(3).defined()) {
      d = add_defined(std::move(d), matmul(ds_, at_.keys(c_.tangent(3))));
    }
    return d.defined() ? at_.from_rows(mul(std::move(d), at_.scale())) : d;
  }

  Tensor of_dk() {
    Tensor d;
    if (tds_.defined()) {
      d = transposed_times(tds_, at_.q());
    }
    if (ds_.defined() && c_.tangent(2).defined()) {
      d = add_defined(std::move(d),
                      transposed_times(ds_, at_.rows(c_.tangent(2))));
    }
    return d.defined() ? at_.from_keys(mul(std::move(d), at_.scale())) : d;
  }

  Tensor of_dv() {
    Tensor d;
    if (tw_.defined()) {
      d = transposed_times(at_.drop(tw_), at_.rows(c_.input(0)));
    }
    if (c_.tangent(0).defined()) {
      d = add_defined(std::move(d), transposed_times(at_.drop(at_.weights()),
                                                     at_.rows(c_.tangent(0))));
    }
    return d.defined() ? at_.from_keys(d) : d;
  }

  JvpContext& c_;
  AttentionAttrs attrs_;
  AttentionAt at_;
  Tensor tv_;
  Tensor tw_;
  Tensor ds_;
  Tensor tds_;
};

Cost cost_of_grad(const OpArgs& args, std::span<const Spec> outputs) {
  const auto& wanted = args.attrs.as<AttentionAttrs>();
  const Shape& q = args.inputs[2].shape;
  const std::int64_t keys = args.inputs[3].shape[1];
  const std::int64_t values = args.inputs[0].shape[3];
  const std::int64_t widths =
      q[3] * (1 + (wanted.dq ? 1 : 0) + (wanted.dk ? 1 : 0)) +
      values * ((derives(wanted) ? 1 : 0) + (wanted.dv ? 1 : 0));
  const std::int64_t seen = wanted.is_causal ? (keys + 1) / 2 : keys;
  return moving(args, outputs, q[0] * q[1] * q[2] * seen * (2 * widths + 4));
}

// Its rules take y and lse for the functions of q, k and v that they are.
constexpr Op grad_op(const char* name) {
  Op op{.name = name,
        .formula =
            "dq = s dS k, dk = s dS^T q, dv = drop(W)^T dy, dS = W (G - sum(dy "
            "y)), G = drop(dy v^T), for attention",
        .outputs = 3,
        .infer = infer_attention_grad,
        .kernel = &kernels::attention_grad_kernels,
        .vjp =
            [](VjpContext& c) {
              const UsePrecision same(c.attrs<AttentionAttrs>().precision);
              SecondReverse(c).run();
            },
        .jvp =
            [](JvpContext& c) {
              const UsePrecision same(c.attrs<AttentionAttrs>().precision);
              SecondForward(c).run();
            },
        .facts = {.vjp_reads = {{{.inputs = 0b1001110},
                                 {.inputs = 0b1001101},
                                 {.inputs = 0b1001111},
                                 {.inputs = 0b1001111}}},
                  .rows = rows_of_attention,
                  .cost = cost_of_grad}};
  return op;
}

// One draw for each weight (B, H, T, S).
std::int64_t draws_of_grad(const OpArgs& args) {
  const Shape& q = args.inputs[2].shape;
  return q[0] * q[2] * q[1] * args.inputs[3].shape[1];
}

constexpr Op random_op(Op op) {
  op.facts.effect = graph::Effect::kRandom;
  op.facts.draw_at = offsetof(AttentionAttrs, key);
  op.facts.first_at = offsetof(AttentionAttrs, first);
  op.facts.draws = draws_of_grad;
  return op;
}

}  // namespace

const Op kAttentionGrad = grad_op("attention_grad");
const Op kAttentionDropoutGrad = random_op(grad_op("attention_dropout_grad"));

std::array<Tensor, 3> attention_grad(const TensorOperand& dy,
                                     const AttentionKept& of,
                                     const AttentionAttrs& wanted) {
  const Tensor nothing = of.q.detach();  // in the place of v and y
  const std::array<Operand, 7> inputs{
      dy,     derives(wanted) ? of.v : nothing, of.q,   of.k,
      of.lse, derives(wanted) ? of.y : nothing, of.mask};
  std::array<Tensor, 3> outputs;
  graph::dispatch(
      wanted.dropout == 0.0 ? kAttentionGrad : kAttentionDropoutGrad,
      std::span(inputs).first(wanted.has_mask ? 7 : 6), wanted, dy.site(),
      outputs);
  return outputs;
}

}  // namespace neap::ops
