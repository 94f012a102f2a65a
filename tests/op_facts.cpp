// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Prints what the descriptors of all ops say, as JSON: scripts/ops_page.py
// makes docs/ops.md of it.
#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "neap/ops/op_list.hpp"

namespace neap {
namespace {

using nlohmann::json;

json reads_of(const graph::Op& op) {
  json reads = json::array();
  for (const graph::Reads& read : op.facts.vjp_reads) {
    reads.push_back({{"inputs", read.inputs}, {"outputs", read.outputs}});
  }
  return reads;
}

/// Dtypes of the key operand; empty: no kernel runs.
json dtypes_of(const graph::Op& op) {
  json dtypes = json::array();
  if (op.kernel == nullptr) {
    return dtypes;
  }
  for (const DType dtype : {f32, f64, bf16, i32, i64, u8, boolean}) {
    for (const kernels::Kernel& kernel : op.kernel->kernels) {
      if (kernel.dtype == dtype) {
        dtypes.push_back(name_of(dtype));
        break;
      }
    }
  }
  return dtypes;
}

json facts_of(const graph::Op& op) {
  return {{"name", op.name},
          {"formula", op.formula},
          {"outputs", op.outputs},
          {"is_view", op.view != nullptr},
          {"has_vjp", op.vjp != nullptr},
          {"has_jvp", op.jvp != nullptr},
          {"is_random", op.facts.effect == graph::Effect::kRandom},
          {"donates", op.facts.donates},
          {"dtypes", dtypes_of(op)},
          {"reads", reads_of(op)}};
}

json all_facts() {
  json ops = json::array();
  for (const graph::Op* op : ops::all_ops()) {
    ops.push_back(facts_of(*op));
  }
  json composites = json::array();
  for (const std::string_view name : ops::all_composites()) {
    composites.push_back(name);
  }
  return {{"ops", ops}, {"composites", composites}};
}

}  // namespace
}  // namespace neap

int main() {
  try {
    fmt::print("{}\n", neap::all_facts().dump(1));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "op_facts: {}\n", error.what());
    return 1;
  }
}
