// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rotary_embedding.hpp"

#include <cmath>

#include "neap/kernels/sequence/rotary_embedding.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::RotaryAttrs;

constexpr const char* kName = "rotary_embedding";

void infer_rotary(const OpArgs& args, std::span<Spec> out) {
  infer_floating({args.name, args.inputs.first(1), args.attrs}, out);
  if (out[0].shape.rank() < 2 || out[0].shape.back() % 2 != 0) {
    raise<ShapeError>("{}: {}, expected (..., length, an even width)", kName,
                      format_shape(out[0].shape));
  }
  if (args.inputs.size() > 1) {
    check_dtype(kName, args.inputs[1].dtype, i64);
    if (args.inputs[1].shape != Shape{out[0].shape.back(2)}) {
      raise<ShapeError>("{}: positions {} for {}, expected [{}]", kName,
                        format_shape(args.inputs[1].shape),
                        format_shape(out[0].shape), out[0].shape.back(2));
    }
  }
}

Tensor turned(const Operand& x, const Tensor& positions,
              const RotaryAttrs& attrs) {
  if (positions.is_given()) {
    return graph::apply(kRotaryEmbedding, {x, positions}, attrs);
  }
  return graph::apply(kRotaryEmbedding, {x}, attrs);
}

void check_scaling(const RotaryOptions& o) {
  const bool has_factor = std::isfinite(o.factor) && o.factor > 0.0;
  const bool has_limits = std::isfinite(o.low) && std::isfinite(o.high);
  if (!has_factor || !has_limits ||
      (o.scaling == RotaryScaling::kRamp && !(o.low < o.high)) ||
      (o.scaling == RotaryScaling::kWavelengths &&
       !(0.0 < o.high && o.high < o.low))) {
    raise<ValueError>(
        "{}: a scaling by {} between {} and {}, expected a "
        "factor above 0 and limits in their order",
        kName, o.factor, o.low, o.high);
  }
}

RotaryAttrs attrs_of(const RotaryOptions& options) {
  using kernels::RotaryRates;
  RotaryAttrs attrs{.base = options.base,
                    .first = options.first,
                    .interleaved = options.pairs == RotaryPairs::kInterleaved};
  if (options.scaling == RotaryScaling::kNone) {
    return attrs;
  }
  const bool is_linear = options.scaling == RotaryScaling::kLinear;
  attrs.factor = options.factor;
  attrs.low = is_linear ? -1.0 : options.low;  // before the first pair
  attrs.high = is_linear ? 0.0 : options.high;
  attrs.rates = options.scaling == RotaryScaling::kWavelengths
                    ? RotaryRates::kWavelengths
                    : RotaryRates::kRamp;
  return attrs;
}

}  // namespace

const Op kRotaryEmbedding{
    .name = "rotary_embedding",
    .formula =
        "pairs of a row turned by p base^(-2 j / d), dx = dy turned back (Su "
        "et al., arXiv 2104.09864)",
    .infer = infer_rotary,
    .kernel = &kernels::rotary_embedding_kernels,
    .vjp =
        [](VjpContext& c) {
          RotaryAttrs attrs = c.attrs<RotaryAttrs>();
          attrs.inverse = !attrs.inverse;
          c.set(0, turned(c.take_cotangent(),
                          c.inputs() > 1 ? c.input(1) : Tensor(), attrs));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, turned(c.tangent(), c.inputs() > 1 ? c.input(1) : Tensor(),
                          c.attrs<RotaryAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}}},
              .donates = 0b1,
              .rows = rows_before<2>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              3 * outputs[0].shape.element_count());
              }}};

}  // namespace ops

Tensor rotary_embedding(const Operand& x, const RotaryOptions& options) {
  const Tensor& from = ops::tensor_of(ops::kName, x);
  base::checked_add(options.first, from.element_count());
  if (!std::isfinite(options.base) || options.base <= 0.0) {
    base::raise<ValueError>("{}: base is {}, expected a number above 0",
                            ops::kName, options.base);
  }
  ops::check_scaling(options);
  return ops::turned(x, options.positions, ops::attrs_of(options));
}

}  // namespace neap
