// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/copy.hpp"

#include "neap/ops/shape/contiguous.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

std::vector<double> same(std::span<const HostArray> x) {
  return x[0].values;
}

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

const Listed kListed(copy_table);

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
