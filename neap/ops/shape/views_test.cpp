// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/views.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> same(std::span<const HostArray> x) {
  return x[0].values;
}

OpTable reshape_table() {
  OpTable table{.name = "reshape", .op = &ops::kReshape};
  table.rows = {{.name = "plain",
                 .fn =
                     [](Inputs x) {
                       return reshape(x[0], {2, 6});
                     },
                 .inputs = {uniform({3, 4}, -1, 1)},
                 .reference = same,
                 .shape = Shape{2, 6}},
                {.name = "one extent open",
                 .fn =
                     [](Inputs x) {
                       return reshape(x[0], {2, -1});
                     },
                 .inputs = {uniform({3, 4}, -1, 1)},
                 .reference = same,
                 .shape = Shape{2, 6},
                 .zero_size = {{{0, 4}}}},
                {.name = "to rank 0",
                 .fn = [](Inputs x) { return reshape(x[0], {}); },
                 .inputs = {uniform({1, 1}, -1, 1)},
                 .reference = same,
                 .shape = Shape{}}};
  table.errors = {{.name = "counts",
                   .fn = [](Inputs x) { return reshape(x[0], {5}); },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "no such extent",
                   .fn =
                       [](Inputs x) {
                         return reshape(x[0], {5, -1});
                       },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "two open",
                   .fn =
                       [](Inputs x) {
                         return reshape(x[0], {-1, -1});
                       },
                   .inputs = {uniform({3, 4}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kReshapeListed(reshape_table);

OpRow row(const char* name, OpFunction fn, const Shape& from, const Shape& to) {
  return {.name = name,
          .fn = std::move(fn),
          .inputs = {uniform(from, -1, 1)},
          .reference = same,
          .shape = to};
}

OpTable squeeze_table() {
  OpTable table{.name = "squeeze"};
  table.rows = {
      row("all", [](Inputs x) { return squeeze(x[0]); }, {1, 3, 1}, {3}),
      row("one", [](Inputs x) { return squeeze(x[0], -1); }, {1, 3, 1}, {1, 3}),
      row("unsqueeze", [](Inputs x) { return unsqueeze(x[0], 1); }, {2, 3},
          {2, 1, 3}),
      row("unsqueeze at the end", [](Inputs x) { return unsqueeze(x[0], -1); },
          {2, 3}, {2, 3, 1}),
      row("flatten", [](Inputs x) { return flatten(x[0], 1); }, {2, 3, 4},
          {2, 12}),
      row("flatten rank 0", [](Inputs x) { return flatten(x[0]); }, {}, {1})};
  table.rows[4].zero_size = {{{0, 3, 4}}, {{2, 0, 4}}};
  table.errors = {{.name = "not 1",
                   .fn = [](Inputs x) { return squeeze(x[0], 0); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "unsqueeze's axis",
                   .fn = [](Inputs x) { return unsqueeze(x[0], 4); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "unsqueeze:"},
                  {.name = "flatten's axes",
                   .fn = [](Inputs x) { return flatten(x[0], 1, 0); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "flatten:"}};
  return table;
}

const Listed kSqueezeListed(squeeze_table);

OpTable expand_table() {
  OpTable table{.name = "expand", .op = &ops::kExpand};
  table.rows = {
      {.name = "new and stretched axes",
       .fn =
           [](Inputs x) {
             return expand(x[0], {2, 3, 4});
           },
       .inputs = {uniform({3, 1}, -1, 1)},
       .reference =
           [](std::span<const HostArray> x) {
             std::vector<double> y;
             for (std::size_t i = 0; i < 24; ++i) {
               y.push_back(x[0].values[i / 4 % 3]);
             }
             return y;
           },
       .shape = Shape{2, 3, 4}},
      {.name = "rank 0",
       .fn = [](Inputs x) { return expand(x[0], {3}); },
       .inputs = {uniform({}, -1, 1)},
       .reference =
           [](std::span<const HostArray> x) {
             return std::vector<double>(3, x[0].values[0]);
           }},
      {.name = "to nothing",
       .fn =
           [](Inputs x) {
             return expand(x[0], {0, 2});
           },
       .inputs = {uniform({1, 2}, -1, 1)},
       .reference =
           [](std::span<const HostArray>) { return std::vector<double>(); },
       .zero_size = {{{0, 1}}}}};
  table.errors = {{.name = "shape",
                   .fn =
                       [](Inputs x) {
                         return expand(x[0], {3, 4});
                       },
                   .inputs = {uniform({3, 2}, -1, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kExpandListed(expand_table);

// Axes (0, 1, 2) as (2, 0, 1).
std::vector<double> rotated(std::span<const HostArray> x) {
  const Shape& shape = x[0].shape;
  std::vector<double> y;
  for (std::int64_t k = 0; k < shape[2]; ++k) {
    for (std::int64_t i = 0; i < shape[0] * shape[1]; ++i) {
      y.push_back(x[0].values[static_cast<std::size_t>(i * shape[2] + k)]);
    }
  }
  return y;
}

OpTable permute_table() {
  OpTable table{.name = "permute", .op = &ops::kPermute};
  table.rows = {{.name = "three axes",
                 .fn =
                     [](Inputs x) {
                       return permute(x[0], {2, 0, -2});
                     },
                 .inputs = {uniform({2, 3, 4}, -1, 1)},
                 .reference = rotated,
                 .shape = Shape{4, 2, 3},
                 .zero_size = {{{2, 0, 3}}}},
                {.name = "transpose",
                 .fn = [](Inputs x) { return transpose(x[0]); },
                 .inputs = {literal({2, 3}, {1, 2, 3, 4, 5, 6})},
                 .expected = {1, 4, 2, 5, 3, 6},
                 .shape = Shape{3, 2}}};
  table.errors = {{.name = "not a permutation",
                   .fn =
                       [](Inputs x) {
                         return permute(x[0], {0, 0});
                       },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "too few axes",
                   .fn = [](Inputs x) { return permute(x[0], {0}); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError)},
                  {.name = "transpose's axis",
                   .fn = [](Inputs x) { return transpose(x[0], 0, 2); },
                   .inputs = {uniform({2, 3}, 0, 1)},
                   .error = typeid(ShapeError),
                   .says = "transpose:"}};
  return table;
}

const Listed kPermuteListed(permute_table);

OpTable narrow_table() {
  return {.name = "narrow",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return narrow(x[0], 1, 1, 2); },
                    .inputs = {literal({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})},
                    .expected = {1, 2, 5, 6},
                    .shape = Shape{2, 2}},
                   {.name = "from the end",
                    .fn = [](Inputs x) { return narrow(x[0], -1, -2, 2); },
                    .inputs = {literal({4}, {0, 1, 2, 3})},
                    .expected = {2, 3}}},
          .errors = {{.name = "too far",
                      .fn = [](Inputs x) { return narrow(x[0], 0, 2, 3); },
                      .inputs = {uniform({4}, 0, 1)},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "slice has them"};
}

const Listed kNarrowListed(narrow_table);

OpTable select_table() {
  return {.name = "select",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return select(x[0], 0, -1); },
                    .inputs = {literal({2, 3}, {0, 1, 2, 3, 4, 5})},
                    .expected = {3, 4, 5},
                    .shape = Shape{3}}},
          .errors = {{.name = "too far",
                      .fn = [](Inputs x) { return select(x[0], 0, 4); },
                      .inputs = {uniform({4}, 0, 1)},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "slice has them"};
}

const Listed kSelectListed(select_table);

OpTable copy_table() {
  return {.name = "copy",
          .op = &ops::kCopy,
          .rows = {{.name = "any dtype",
                    .fn = [](Inputs x) { return copy(x[0]); },
                    .inputs = {integers({3, 5}, 0, 2)},
                    .reference = same,
                    .zero_size = {{{0, 4}}},
                    .dtypes = {f32, f64, bf16, i32, i64, u8, boolean}},
                   {.name = "rank 0",
                    .fn = [](Inputs x) { return copy(x[0]); },
                    .inputs = {uniform({}, -1, 1)},
                    .reference = same},
                   {.name = "large",
                    .fn = [](Inputs x) { return copy(x[0]); },
                    .inputs = {uniform({131, 263}, -1, 1)},
                    .reference = same,
                    .second_derivative = false}}};
}

const Listed kCopyListed(copy_table);

OpTable contiguous_table() {
  return {.name = "contiguous",
          .rows = {{.name = "plain",
                    .fn = [](Inputs x) { return contiguous(x[0]); },
                    .inputs = {uniform({3, 5}, -1, 1)},
                    .reference = same,
                    .zero_size = {{{0, 4}}}}}};
}

const Listed kContiguousListed(contiguous_table);

}  // namespace
}  // namespace neap::testing
