// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/triangle.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

template <class Keep>
std::vector<double> kept(const HostArray& x, const Keep& keep) {
  std::vector<double> y = x.values;
  const std::int64_t rows = x.shape.back(2);
  const std::int64_t columns = x.shape.back(1);
  for (std::size_t at = 0; at < y.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at) / columns % rows;
    const auto j = static_cast<std::int64_t>(at) % columns;
    y[at] = keep(j - i) ? y[at] : 0.0;
  }
  return y;
}

OpTable triangle_table() {
  OpTable table{.name = "triangle", .op = &ops::kTriangle};
  table.rows = {
      {.name = "lower",
       .fn = [](Inputs x) { return tril(x[0]); },
       .inputs = {uniform({2, 3, 4}, -1, 1)},
       .reference =
           [](auto x) { return kept(x[0], [](auto k) { return k <= 0; }); },
       .zero_size = {{{0, 4, 4}}, {{2, 0, 3}}, {{2, 3, 0}}}},
      {.name = "lower, off the diagonal",
       .fn = [](Inputs x) { return tril(x[0], -2); },
       .inputs = {uniform({5, 3}, -1, 1)},
       .reference =
           [](auto x) { return kept(x[0], [](auto k) { return k <= -2; }); }},
      {.name = "upper",
       .fn = [](Inputs x) { return triu(x[0], 1); },
       .inputs = {uniform({4, 6}, -1, 1)},
       .reference =
           [](auto x) { return kept(x[0], [](auto k) { return k >= 1; }); }},
      {.name = "everything",
       .fn = [](Inputs x) { return triu(x[0], -(std::int64_t{1} << 62)); },
       .inputs = {uniform({4, 6}, -1, 1)},
       .reference = [](auto x) { return x[0].values; }},
      {.name = "every dtype",
       .fn = [](Inputs x) { return tril(x[0], 1); },
       .inputs = {integers({2, 3, 3}, 0, 2)},
       .reference =
           [](auto x) { return kept(x[0], [](auto k) { return k <= 1; }); },
       .dtypes = {bf16, i32, i64, u8, boolean},
       .differentiable = false}};
  table.errors = {{.name = "rank",
                   .fn = [](Inputs x) { return tril(x[0]); },
                   .inputs = {uniform({3}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

const Listed kListed(triangle_table);

}  // namespace
}  // namespace neap::testing
