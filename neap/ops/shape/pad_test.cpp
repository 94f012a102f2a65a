// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/pad.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

Tensor frame(Inputs x) {
  return pad(x[0], {1, 2, 3, 0}, PadMode::kConstant, 0.5);
}

std::vector<double> framed(std::span<const HostArray> x) {
  const std::int64_t rows = x[0].shape[0];
  const std::int64_t columns = x[0].shape[1];
  std::vector<double> y;
  for (std::int64_t r = -3; r < rows; ++r) {
    for (std::int64_t c = -1; c < columns + 2; ++c) {
      const bool is_inside = r >= 0 && c >= 0 && c < columns;
      y.push_back(is_inside
                      ? x[0].values[static_cast<std::size_t>(r * columns + c)]
                      : 0.5);
    }
  }
  return y;
}

OpTable pad_table() {
  OpTable table{.name = "pad", .op = &ops::kPad};
  table.rows = {{.name = "plain",
                 .fn = frame,
                 .inputs = {uniform({2, 3}, -1, 1)},
                 .reference = framed,
                 .shape = Shape{5, 6},
                 .zero_size = {{{0, 3}}, {{2, 0}}}},
                {.name = "large",
                 .fn = frame,
                 .inputs = {uniform({257, 131}, -1, 1)},
                 .reference = framed,
                 .second_derivative = false},
                {.name = "last axis",
                 .fn =
                     [](Inputs x) {
                       return pad(x[0], {0, 1});
                     },
                 .inputs = {literal({2, 2}, {1, 2, 3, 4})},
                 .expected = {1, 2, 0, 3, 4, 0}},
                {.name = "less",
                 .fn =
                     [](Inputs x) {
                       return pad(x[0], {-1, 2, 1, -1});
                     },
                 .inputs = {literal({2, 2}, {1, 2, 3, 4})},
                 .expected = {0, 0, 0, 2, 0, 0},
                 .shape = Shape{2, 3}},
                {.name = "whole numbers",
                 .fn =
                     [](Inputs x) {
                       return pad(x[0], {1, 1}, PadMode::kConstant, 1);
                     },
                 .inputs = {literal({2}, {0, 1})},
                 .expected = {1, 0, 1, 1},
                 .dtypes = {i32, i64, u8, bf16, boolean}}};
  table.errors = {{.name = "odd",
                   .fn = [](Inputs x) { return pad(x[0], {1}); },
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "too many",
                   .fn =
                       [](Inputs x) {
                         return pad(x[0], {1, 1, 1, 1});
                       },
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "too little",
                   .fn =
                       [](Inputs x) {
                         return pad(x[0], {-2, -2});
                       },
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kPadListed(pad_table);

OpRow mode_row(const char* name, PadMode mode, std::vector<double> expected) {
  return {.name = name,
          .fn =
              [mode](Inputs x) {
                return pad(x[0], {2, 3}, mode);
              },
          .inputs = {literal({4}, {1, 2, 3, 4})},
          .expected = std::move(expected)};
}

// Figures of torch.nn.functional.pad.
OpTable modes_table() {
  OpTable table{.name = "pad modes"};
  table.rows = {
      mode_row("reflect", PadMode::kReflect, {3, 2, 1, 2, 3, 4, 3, 2, 1}),
      mode_row("replicate", PadMode::kReplicate, {1, 1, 1, 2, 3, 4, 4, 4, 4}),
      mode_row("circular", PadMode::kCircular, {3, 4, 1, 2, 3, 4, 1, 2, 3}),
      {.name = "two axes",
       .fn =
           [](Inputs x) {
             return pad(x[0], {0, 1, 1, 0}, PadMode::kReflect);
           },
       .inputs = {literal({2, 2}, {1, 2, 3, 4})},
       .expected = {3, 4, 3, 1, 2, 1, 3, 4, 3}}};
  const auto far = [](PadMode mode, std::int64_t by) {
    return [mode, by](Inputs x) { return pad(x[0], {0, by}, mode); };
  };
  table.errors = {{.name = "reflect",
                   .fn = far(PadMode::kReflect, 3),
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "pad:"},
                  {.name = "circular",
                   .fn = far(PadMode::kCircular, 4),
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "pad:"},
                  {.name = "replicate nothing",
                   .fn = far(PadMode::kReplicate, 1),
                   .inputs = {uniform({0}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "pad:"}};
  table.no_zero_size = "pad has them";
  return table;
}

const Listed kModesListed(modes_table);

}  // namespace
}  // namespace neap::testing
