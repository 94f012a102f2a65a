// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/fill.hpp"

#include "neap/memory/tag.hpp"
#include "neap/tensor/tensor.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// fill has no operands; the input says only which dtype and space is meant.
Tensor sevens(Inputs x) {
  tensor::Spec spec = x[0].spec();
  spec.shape = {3, 70};
  return ops::filled(spec, 7.0, CallSite::here());
}

OpTable fill_table() {
  return {
      .name = "fill",
      .op = &ops::kFill,
      .rows = {
          {.name = "any dtype",
           .fn = sevens,
           .inputs = {uniform({1}, -1, 1)},
           .expected = std::vector<double>(210, 7.0),
           .shape = Shape{3, 70},
           .dtypes = {f32, f64, bf16, i32, i64, u8},
           .differentiable = false},
          {.name = "no elements",
           .fn =
               [](Inputs x) {
                 return ops::filled({x[0].dtype(), {0, 3}, x[0].space()}, 1.0,
                                    CallSite::here());
               },
           .inputs = {uniform({1}, -1, 1)},
           .reference =
               [](std::span<const HostArray>) { return std::vector<double>(); },
           .shape = Shape{0, 3},
           .zero_size = {{{0}}},
           .differentiable = false}}};
}

const Listed kListed(fill_table);

}  // namespace
}  // namespace neap::testing
