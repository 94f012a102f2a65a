// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/interpolate.hpp"

#include <cmath>

#include "neap/kernels/conv/interpolate.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The sources of an output along one axis: two places and the second's part.
struct Place {
  std::int64_t low = 0;
  std::int64_t high = 0;
  double part = 0.0;
};

Place place_of(const InterpolateOptions& o, std::int64_t in, std::int64_t out,
               std::int64_t at) {
  const double ratio = o.scale > 0.0
                           ? 1.0 / o.scale
                           : static_cast<double>(in) / static_cast<double>(out);
  const auto i = static_cast<double>(at);
  if (o.mode == Interpolation::kNearest) {
    const auto low = static_cast<std::int64_t>(std::floor(i * ratio));
    return {std::min(low, in - 1), 0, 0.0};
  }
  double s = (i + 0.5) * ratio - 0.5;
  if (o.align_corners) {
    s = out == 1
            ? 0.0
            : i * static_cast<double>(in - 1) / static_cast<double>(out - 1);
  }
  s = std::max(s, 0.0);
  const auto low = std::min(static_cast<std::int64_t>(s), in - 1);
  return {low, std::min(low + 1, in - 1), s - static_cast<double>(low)};
}

std::int64_t extent(const InterpolateOptions& o, std::int64_t in, int axis) {
  return o.scale > 0.0 ? static_cast<std::int64_t>(
                             std::floor(static_cast<double>(in) * o.scale))
                       : o.size[axis];
}

// Calls body(i, at, weight) for what element i of y is made from.
template <class Body>
void for_sources(const InterpolateOptions& o, const Shape& x,
                 const Body& body) {
  const std::int64_t h = extent(o, x[2], 0);
  const std::int64_t w = extent(o, x[3], 1);
  std::size_t i = 0;
  for (std::int64_t p = 0; p < x[0] * x[1]; ++p) {
    for (std::int64_t a = 0; a < h; ++a) {
      for (std::int64_t b = 0; b < w; ++b, ++i) {
        const Place row = place_of(o, x[2], h, a);
        const Place column = place_of(o, x[3], w, b);
        const auto at = [&](std::int64_t r, std::int64_t c) {
          return static_cast<std::size_t>((p * x[2] + r) * x[3] + c);
        };
        body(i, at(row.low, column.low), (1 - row.part) * (1 - column.part));
        body(i, at(row.low, column.high), (1 - row.part) * column.part);
        body(i, at(row.high, column.low), row.part * (1 - column.part));
        body(i, at(row.high, column.high), row.part * column.part);
      }
    }
  }
}

OpRow row(std::string name, const Shape& shape, const InterpolateOptions& o) {
  return {.name = std::move(name),
          .fn = [o](Inputs x) { return interpolate(x[0], o); },
          .inputs = {uniform(shape, -1, 1)},
          .reference =
              [o](std::span<const HostArray> x) {
                const Shape& from = x[0].shape;
                std::vector<double> y(static_cast<std::size_t>(
                    from[0] * from[1] * extent(o, from[2], 0) *
                    extent(o, from[3], 1)));
                for_sources(o, from,
                            [&](std::size_t i, std::size_t at, double weight) {
                              y[i] += weight * x[0].values[at];
                            });
                return y;
              }};
}

constexpr auto kBilinear = Interpolation::kBilinear;

ErrorRow refused(std::string name, const InterpolateOptions& o,
                 std::type_index error) {
  return {.name = std::move(name),
          .fn = [o](Inputs x) { return interpolate(x[0], o); },
          .inputs = {uniform({1, 1, 3, 4}, 0, 1)},
          .error = error};
}

OpTable interpolate_table() {
  OpTable table{
      .name = "interpolate",
      .op = &ops::kInterpolate,
      .rows = {
          row("nearest, twice", {2, 2, 3, 5}, {.scale = 2}),
          row("nearest, smaller", {1, 2, 7, 5}, {.size = {3, 2}}),
          row("nearest, wider", {1, 2, 2, 3}, {.size = {5, 7}}),
          row("bilinear, twice", {2, 1, 3, 6}, {.scale = 2, .mode = kBilinear}),
          row("bilinear, 1.5 times", {1, 2, 4, 5},
              {.scale = 1.5, .mode = kBilinear}),
          row("bilinear, smaller", {1, 2, 7, 5},
              {.size = {3, 2}, .mode = kBilinear}),
          row("corners", {1, 2, 3, 4},
              {.size = {5, 9}, .mode = kBilinear, .align_corners = true}),
          row("one corner", {1, 2, 3, 1},
              {.size = {1, 4}, .mode = kBilinear, .align_corners = true})}};
  table.rows[0].zero_size = {{{0, 3, 4, 4}}, {{2, 0, 4, 4}}};
  table.rows[3].zero_size = {{{0, 3, 4, 4}}};
  table.errors = {
      refused("neither", {}, typeid(ValueError)),
      refused("both", {.size = 3, .scale = 2}, typeid(ValueError)),
      refused("corners", {.size = 3, .align_corners = true},
              typeid(ValueError)),
      refused("nothing left", {.scale = 0.1}, typeid(ShapeError)),
      {.name = "rank",
       .fn = [](Inputs x) { return interpolate(x[0], {.scale = 2}); },
       .inputs = {uniform({3, 4, 4}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "integers",
       .fn = [](Inputs x) { return interpolate(x[0], {.scale = 2}); },
       .inputs = {integers({1, 1, 4, 4}, 0, 3).as(i32)},
       .error = typeid(DTypeError)}};
  return table;
}

// g of an image (2, 2, 5, 6) that was made larger.
OpRow grad_row(std::string name, const InterpolateOptions& o) {
  const kernels::InterpolateAttrs attrs{.h = {5, 7, 5.0 / 7.0},
                                        .w = {6, 12, 0.5},
                                        .is_linear = o.mode == kBilinear};
  return {
      .name = std::move(name),
      .fn = [attrs](Inputs g) { return ops::interpolate_grad(g[0], attrs); },
      .inputs = {uniform({2, 2, 7, 12}, -1, 1)},
      .reference =
          [o](std::span<const HostArray> g) {
            const Shape x{g[0].shape[0], g[0].shape[1], 5, 6};
            std::vector<double> dx(static_cast<std::size_t>(x.element_count()));
            for_sources(o, x,
                        [&](std::size_t i, std::size_t at, double weight) {
                          dx[at] += weight * g[0].values[i];
                        });
            return dx;
          }};
}

OpTable interpolate_grad_table() {
  OpTable table{
      .name = "interpolate_grad",
      .op = &ops::kInterpolateGrad,
      .rows = {grad_row("nearest", {.size = {7, 12}}),
               grad_row("bilinear", {.size = {7, 12}, .mode = kBilinear})},
      .errors = {{.name = "shape",
                  .fn =
                      [](Inputs g) {
                        return ops::interpolate_grad(
                            g[0], {.h = {2, 4, 0.5}, .w = {2, 4, 0.5}});
                      },
                  .inputs = {uniform({1, 1, 4, 3}, 0, 1)},
                  .error = typeid(ShapeError)}}};
  table.rows[0].zero_size = {{{0, 2, 7, 12}}};
  return table;
}

const Listed kInterpolateListed(interpolate_table);
const Listed kListedGrad(interpolate_grad_table);

}  // namespace
}  // namespace neap::testing
