// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/extremes.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

std::vector<OpTable> extremes_binary() {
  return binary_tables({
      {.name = "maximum",
       .op = &ops::kMaximum,
       .fn = maximum,
       .reference = [](double a, double b) { return std::max(a, b); },
       .a = integers({}, -2, 3),
       .b = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}},
       .takes_integers = true,
       .kinks = {{1, 3, 3, 0, 1}, {2, 2, 2, 0.5, 0.5}, {2, 1, 2, 1, 0}},
       .edges = {{1, kNaN, kNaN}, {kNaN, 1, kNaN}}},
      {.name = "minimum",
       .op = &ops::kMinimum,
       .fn = minimum,
       .reference = [](double a, double b) { return std::min(a, b); },
       .a = integers({}, -2, 3),
       .b = {.low = -2.4, .high = 2.4, .avoided = {-2, -1, 0, 1, 2}},
       .takes_integers = true,
       .kinks = {{1, 3, 1, 1, 0}, {2, 2, 2, 0.5, 0.5}, {2, 1, 1, 0, 1}},
       .edges = {{1, kNaN, kNaN}, {kNaN, 1, kNaN}}},
  });
}

const Listed kBinaryListed(extremes_binary);

OpTable clip_table() {
  OpTable table = unary_table(
      {.name = "clip",
       .op = &ops::kClip,
       .fn = [](const TensorOperand& x) { return clip(x, -0.5, 0.75); },
       .reference = [](double x) { return std::clamp(x, -0.5, 0.75); },
       .domain = away_from({}, {-0.5, 0.75})});
  table.errors = {{.name = "NaN as a bound",
                   .fn = [](Inputs x) { return clip(x[0], kNaN, 1.0); },
                   .inputs = {uniform({3}, -1, 1)},
                   .error = typeid(ValueError)},
                  {.name = "bool",
                   .fn = [](Inputs x) { return clip(x[0], 0, 1); },
                   .inputs = {integers({3}, 0, 2).as(boolean)},
                   .error = typeid(DTypeError)}};
  OpRow whole =
      value_row("integers", [](Inputs x) { return clip(x[0], -2, 3); },
                {literal({5}, {-7, -2, 0, 3, 4})}, {-2, -2, 0, 3, 3});
  whole.dtypes = {i32, i64};
  table.rows.push_back(whole);
  OpRow open = value_row(
      "integers, one bound", [](Inputs x) { return clip_min(x[0], 1); },
      {literal({3}, {-7, 1, 2000000000})}, {1, 1, 2000000000});
  open.dtypes = {i32, i64};
  table.rows.push_back(open);
  table.rows.push_back(kink_row([](Inputs x) { return clip(x[0], -1, 1); },
                                {literal({5}, {-2, -1, 0, 1, 2})},
                                {-1, -1, 0, 1, 1}, {{0, 0, 1, 0, 0}},
                                {0, 0, 1, 0, 0}));
  table.rows.push_back(
      value_row("edges", [](Inputs x) { return clip(x[0], -1, 1); },
                {literal({3}, {-kInf, kInf, kNaN})}, {-1, 1, kNaN}));
  table.rows.push_back(value_row("crossed bounds",
                                 [](Inputs x) { return clip(x[0], 2, 1); },
                                 {literal({3}, {0, 1.5, 3})}, {1, 1, 1}));
  table.rows.push_back(
      value_row("from above", [](Inputs x) { return clip_max(x[0], 1); },
                {literal({3}, {-kInf, 0.5, 3})}, {-kInf, 0.5, 1}));
  return table;
}

const Listed kClipListed(clip_table);

// By where: bounds that are tensors.
OpTable between_table() {
  const OpFunction fn = [](Inputs x) { return clip(x[0], x[1], x[2]); };
  OpRow plain{.name = "broadcast",
              .fn = fn,
              .inputs = {away_from({3, 5}, {-0.5, 0.5}), literal({1}, {-0.5}),
                         literal({}, {0.5})},
              .reference =
                  [](std::span<const HostArray> x) {
                    std::vector<double> y = x[0].values;
                    for (double& value : y) {
                      value = std::clamp(value, -0.5, 0.5);
                    }
                    return y;
                  },
              .zero_size = {{{0, 4}, {1}, {}}}};
  return {
      .name = "clip, tensors as bounds",
      .rows = {plain,
               {.name = "bounds that are NaN",
                .fn = fn,
                .inputs = {literal({3}, {3, 3, 3}), literal({3}, {-1, kNaN, 1}),
                           literal({3}, {kNaN, 5, 2})},
                .expected = {kNaN, kNaN, 2},
                .differentiable = false},
               kink_row(fn,
                        {literal({3}, {-1, 0, 2}), literal({3}, {-1, -1, -1}),
                         literal({3}, {1, 1, 1})},
                        {-1, 0, 1}, {{1, 1, 0}, {0, 0, 0}, {0, 0, 1}},
                        {1, 1, 1})},
      .errors = {{.name = "dtypes",
                  .fn = fn,
                  .inputs = {uniform({3}, -1, 1), uniform({3}, -1, 1).as(f64),
                             uniform({3}, -1, 1)},
                  .error = typeid(DTypeError),
                  .says = "lt:"}}};
}

const Listed kBetweenListed(between_table);

OpTable clip_grad_table() {
  const OpFunction fn = [](Inputs x) {
    return ops::clip_grad(x[0], x[1], {.low = -0.5, .high = 0.75});
  };
  OpRow plain{.name = "plain",
              .fn = fn,
              .inputs = {uniform({3, 5}, -1, 1),
                         away_from({3, 5}, {-0.5, 0.75}).constant()},
              .reference = each_pair([](double g, double x) {
                return x >= -0.5 && x <= 0.75 ? g : 0.0;
              }),
              .zero_size = {{{0, 4}, {0, 4}}}};
  return {
      .name = "clip_grad",
      .op = &ops::kClipGrad,
      .rows = {plain, kink_row(fn,
                               {literal({3}, {1, 2, 3}),
                                literal({3}, {-0.5, 0.75, 0.8})},
                               {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}, {0, 0, 0})},
      .errors = {{.name = "shapes",
                  .fn = fn,
                  .inputs = {uniform({3}, -1, 1), uniform({4}, -1, 1)},
                  .error = typeid(ShapeError)}}};
}

const Listed kClipGradListed(clip_grad_table);

}  // namespace
}  // namespace neap::testing
