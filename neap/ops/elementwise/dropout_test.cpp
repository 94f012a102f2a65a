// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/dropout.hpp"

#include "neap/base/philox.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr double kRate = 0.4;

// The documented rule: the word of the element's index, against p.
std::vector<double> dropped(std::span<const HostArray> x) {
  const base::DrawKey key{7, 0};  // the row's seed, the first draw
  std::vector<double> y = x[0].values;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const bool keeps = base::uniform_f32(key.word(i)) >= kRate;
    y[i] = keeps ? y[i] / (1.0 - kRate) : 0.0;
  }
  return y;
}

Tensor drop(Inputs x) {
  return dropout(x[0], kRate);
}

OpTable dropout_table() {
  OpTable table{.name = "dropout", .op = &ops::kDropout};
  table.rows = {{.name = "plain",
                 .fn = drop,
                 .inputs = {positive({3, 7})},
                 .reference = dropped,
                 .zero_size = {{{0, 4}}}},
                {.name = "large",
                 .fn = drop,
                 .inputs = {positive({131, 263})},
                 .reference = dropped,
                 .second_derivative = false}};
  table.errors = {{.name = "p of 1",
                   .fn = [](Inputs x) { return dropout(x[0], 1.0); },
                   .inputs = {positive({3})},
                   .error = typeid(ValueError)},
                  {.name = "negative p",
                   .fn = [](Inputs x) { return dropout(x[0], -0.1); },
                   .inputs = {positive({3})},
                   .error = typeid(ValueError)},
                  {.name = "integers",
                   .fn = drop,
                   .inputs = {integers({3}, 0, 5).as(i32)},
                   .error = typeid(DTypeError)}};
  return table;
}

const Listed kListed(dropout_table);

OpTable dropout_off_table() {
  const auto same = [](std::span<const HostArray> x) { return x[0].values; };
  return {.name = "dropout, off",
          .rows = {{.name = "evaluating",
                    .fn = [](Inputs x) { return dropout(x[0], 0.4, false); },
                    .inputs = {positive({3, 7})},
                    .reference = same,
                    .zero_size = {{{0, 4}}}},
                   {.name = "p of 0",
                    .fn = [](Inputs x) { return dropout(x[0], 0.0); },
                    .inputs = {positive({3, 7})},
                    .reference = same}}};
}

const Listed kOffListed(dropout_off_table);

}  // namespace
}  // namespace neap::testing
