// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/draw.hpp"

#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kDraw{
    .name = "draw",
    .formula =
        "y = u(key, i): uniform in [0, 1), normal, integers in "
        "[low, high), or all of 0 to n - 1 in random order (Salmon et al., SC "
        "2011; Box and Muller, 1958; Durstenfeld, 1964)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<DrawAttrs>();
          const bool is_integer = attrs.dtype == i32 || attrs.dtype == i64;
          const bool is_float = attrs.dtype == f32 || attrs.dtype == f64;
          const bool is_whole = attrs.drawn.draw == Draw::kInteger ||
                                attrs.drawn.draw == Draw::kPermutation;
          if (is_whole ? !is_integer : !is_float) {
            raise<DTypeError>("draw: {} is not a dtype it draws",
                              name_of(attrs.dtype));
          }
          if (attrs.drawn.draw == Draw::kPermutation && attrs.rank != 1) {
            raise<ShapeError>("draw: a permutation of rank {}, expected 1",
                              attrs.rank);
          }
          out[0].dtype = attrs.dtype;
          out[0].shape =
              Shape(std::span(attrs.extents)
                        .first(static_cast<std::size_t>(attrs.rank)));
          out[0].space = tensor::SpaceId{attrs.space};
        },
    .kernel = &kernels::draw_kernels,
    .facts = {.effect = graph::Effect::kRandom,
              .draw_at = offsetof(DrawAttrs, drawn.key),
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

DrawAttrs draw_attrs(Draw draw, const Spec& spec, std::int64_t low,
                     std::int64_t high, const base::DrawKey& key) noexcept {
  DrawAttrs attrs;
  attrs.drawn.key = key;
  attrs.drawn.low = low;
  attrs.drawn.high = high;
  attrs.drawn.draw = draw;
  std::copy(spec.shape.begin(), spec.shape.end(), attrs.extents.begin());
  attrs.rank = spec.shape.rank();
  attrs.dtype = spec.dtype;
  attrs.space = spec.space.value;
  return attrs;
}

Tensor drawn(Draw draw, const Spec& spec, std::int64_t low, std::int64_t high,
             const base::DrawKey& key, const CallSite& site) {
  const DrawAttrs attrs = draw_attrs(draw, spec, low, high, key);
  Tensor out;
  graph::dispatch(kDraw, {}, attrs, site, std::span(&out, 1));
  return out;
}

}  // namespace ops

}  // namespace neap
