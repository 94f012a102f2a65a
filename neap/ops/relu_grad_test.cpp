// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/relu_grad.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kSlope = 0.25;

bool bit(const HostArray& bits, std::size_t i) {
  return (static_cast<unsigned>(bits.values[i / 8]) >> i % 8 & 1U) != 0;
}

std::vector<double> with_slope(std::span<const HostArray> x, double slope) {
  std::vector<double> out = x[0].values;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out[i] *= bit(x[1], i) ? 1.0 : slope;
  }
  return out;
}

OpRow row(const char* name, const Shape& shape) {
  const std::int64_t bytes = (shape.element_count() + 7) / 8;
  return {.name = name,
          .fn = [](Inputs x) { return ops::relu_grad(x[0], x[1], 0.0); },
          .inputs = {uniform(shape, -2, 2), integers({bytes}, 0, 256).as(u8)},
          .reference = [](auto x) { return with_slope(x, 0.0); }};
}

OpTable relu_grad_table() {
  OpTable table{.name = "relu_grad", .op = &ops::kReluGrad};
  table.rows = {row("matrix", {3, 5}), row("rank 0", {}),
                row("large", {131, 263}), row("leaky", {7, 9})};
  table.rows[0].zero_size = {{{0, 4}, {0}}};
  table.rows[2].second_derivative = false;
  table.rows[3].fn = [](Inputs x) {
    return ops::relu_grad(x[0], x[1], kSlope);
  };
  table.rows[3].reference = [](auto x) { return with_slope(x, kSlope); };
  const OpFunction fn = table.rows[0].fn;
  table.errors = {
      {.name = "too few bits",
       .fn = fn,
       .inputs = {uniform({9}, 0, 1), integers({1}, 0, 256).as(u8)},
       .error = typeid(ShapeError)},
      {.name = "no bits",
       .fn = fn,
       .inputs = {uniform({3}, 0, 1), uniform({1}, 0, 1)},
       .error = typeid(DTypeError)},
      {.name = "integers",
       .fn = fn,
       .inputs = {integers({3}, 0, 9).as(i32), integers({1}, 0, 256).as(u8)},
       .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(relu_grad_table);

}  // namespace
}  // namespace neap::testing
