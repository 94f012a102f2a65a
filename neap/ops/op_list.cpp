// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/op_list.hpp"

#include <array>

namespace neap::ops {

#define NEAP_OP(name) extern const graph::Op name;
#include "neap/ops/op_list.inc"
#undef NEAP_OP

namespace {

#define NEAP_OP(name) &name,
constexpr std::array kAll{
#include "neap/ops/op_list.inc"
};
#undef NEAP_OP

}  // namespace

std::span<const graph::Op* const> all_ops() noexcept {
  return kAll;
}

}  // namespace neap::ops
