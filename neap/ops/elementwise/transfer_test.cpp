// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/transfer.hpp"

#include "neap/memory/context.hpp"
#include "neap/testing/op_table.hpp"
#include "neap/testing/shadow_space.hpp"

namespace neap::testing {
namespace {

std::vector<double> same(std::span<const HostArray> x) {
  return x[0].values;
}

// check() itself provides the second space.
Tensor there_and_back(Inputs x) {
  return to(to(x[0], kShadow), memory::kHost);
}

OpTable transfer_table() {
  return {
      .name = "to",
      .op = &ops::kTransfer,
      .rows = {{.name = "there and back",
                .fn = there_and_back,
                .inputs = {integers({3, 5}, 0, 2)},
                .reference = same,
                .zero_size = {{{0, 4}}},
                .dtypes = {f32, f64, bf16, i32, i64, u8, boolean},
                .second_space = false}},
      .errors = {{.name = "no such space",
                  .fn = [](Inputs x) { return to(x[0], memory::SpaceId{3}); },
                  .inputs = {uniform({3}, 0, 1)},
                  .error = typeid(DeviceError),
                  .says = "space 3"}}};
}

const Listed kListed(transfer_table);

}  // namespace
}  // namespace neap::testing
