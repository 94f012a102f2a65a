// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/pack.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

Tensor pack_both(Inputs x) {
  return pack(x[0], x[1]);
}

std::vector<double> packed(std::span<const HostArray> x) {
  std::vector<double> y;
  for (std::size_t i = 0; i < x[0].values.size(); ++i) {
    if (x[1].values[i] != 0.0) {
      y.push_back(x[0].values[i]);
    }
  }
  return y;
}

// The count of a mask is read, so it lies with the host.
OpRow row(const char* name, const Shape& shape) {
  return {.name = name,
          .fn = pack_both,
          .inputs = {uniform(shape, -1, 1), integers(shape, 0, 2).as(boolean)},
          .reference = packed,
          .second_space = false};
}

OpTable pack_table() {
  OpTable table{.name = "pack", .op = &ops::kPack};
  table.rows = {row("plain", {3, 5}), row("large", {257, 131}),
                row("a number", {}), row("whole numbers", {40, 30})};
  table.rows[0].zero_size = {{{0, 5}, {0, 5}}};
  table.rows[1].second_derivative = false;
  table.rows[3].inputs[0] = integers({40, 30}, 0, 2);
  table.rows[3].dtypes = {i32, i64, u8, bf16};
  table.rows.push_back(
      {.name = "broadcast",
       .fn = pack_both,
       .inputs = {literal({3}, {1, 2, 3}), literal({2, 1}, {0, 1}).as(boolean)},
       .expected = {1, 2, 3},
       .second_space = false});
  table.rows.push_back(
      {.name = "nothing",
       .fn = pack_both,
       .inputs = {literal({3}, {1, 2, 3}), literal({3}, {0, 0, 0}).as(boolean)},
       .reference = packed,
       .shape = Shape{0},
       .second_space = false});
  table.errors = {
      {.name = "mask",
       .fn = pack_both,
       .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(DTypeError)},
      {.name = "shapes",
       .fn = pack_both,
       .inputs = {uniform({3}, 0, 1), literal({2}, {0, 1}).as(boolean)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kPackListed(pack_table);

Tensor unpack_all(Inputs x) {
  return unpack(x[0], x[1], x[2]);
}

std::vector<double> unpacked(std::span<const HostArray> x) {
  std::vector<double> y = x[2].values;
  auto from = x[0].values.begin();
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (x[1].values[i] != 0.0) {
      y[i] = *from++;
    }
  }
  return y;
}

// Every third is true.
InputSpec thirds(const Shape& shape) {
  std::vector<double> mask(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < mask.size(); ++i) {
    mask[i] = i % 3 == 1 ? 1.0 : 0.0;
  }
  return literal(shape, mask).as(boolean);
}

// With a stride of 0 the mask would have another count.
OpRow unpack_row(const char* name, const Shape& shape) {
  return {.name = name,
          .fn = unpack_all,
          .inputs = {uniform({(shape.element_count() + 1) / 3}, -1, 1),
                     thirds(shape), uniform(shape, -1, 1)},
          .reference = unpacked,
          .any_layout = false,
          .second_space = false};
}

OpTable unpack_table() {
  OpTable table{.name = "unpack", .op = &ops::kUnpack};
  table.rows = {unpack_row("plain", {3, 5}), unpack_row("large", {257, 131})};
  table.rows[0].zero_size = {{{0}, {0, 5}, {0, 5}}};
  table.rows[1].second_derivative = false;
  table.rows.push_back(
      {.name = "a number",
       .fn = [](Inputs x) { return unpack(x[0], x[1], 0.5); },
       .inputs = {literal({2}, {1, 2}), literal({3}, {1, 0, 1}).as(boolean)},
       .expected = {1, 0.5, 2},
       .any_layout = false,
       .second_space = false});
  table.rows.push_back({.name = "broadcast",
                        .fn = unpack_all,
                        .inputs = {literal({2}, {1, 2}),
                                   literal({2, 2}, {1, 0, 1, 0}).as(boolean),
                                   literal({2}, {7, 8})},
                        .expected = {1, 8, 2, 8},
                        .any_layout = false,
                        .second_space = false});
  table.errors = {
      {.name = "count",
       .fn = unpack_all,
       .inputs = {uniform({2}, 0, 1), literal({3}, {0, 0, 1}).as(boolean),
                  uniform({3}, 0, 1)},
       .error = typeid(ValueError)},
      {.name = "fill",
       .fn = unpack_all,
       .inputs = {uniform({1}, 0, 1), literal({3}, {0, 0, 1}).as(boolean),
                  uniform({2}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "mask",
       .fn = unpack_all,
       .inputs = {uniform({1}, 0, 1), uniform({3}, 0, 1), uniform({3}, 0, 1)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kUnpackListed(unpack_table);

}  // namespace
}  // namespace neap::testing
