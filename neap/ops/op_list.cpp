// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/op_list.hpp"

#include <array>

namespace neap::ops {

#define NEAP_COMPOSITE(name)
#define NEAP_OP(name) extern const graph::Op name;
#include "neap/ops/op_list.inc"
#undef NEAP_OP

namespace {

#define NEAP_OP(name) &name,
constexpr std::array kAll{
#include "neap/ops/op_list.inc"
};
#undef NEAP_OP
#undef NEAP_COMPOSITE

#define NEAP_OP(name)
#define NEAP_COMPOSITE(name) std::string_view(#name),
constexpr std::array kComposites{
#include "neap/ops/op_list.inc"
};
#undef NEAP_COMPOSITE
#undef NEAP_OP

}  // namespace

std::span<const graph::Op* const> all_ops() noexcept {
  return kAll;
}

std::span<const std::string_view> all_composites() noexcept {
  return kComposites;
}

}  // namespace neap::ops
