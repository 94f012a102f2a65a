// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/elementwise/logical.hpp"

#include <array>
#include <functional>

#include "neap/kernels/engine/scalar.hpp"

namespace neap::kernels {
namespace {

// These loops are exact and plain, so they are their own reference.
constexpr std::array kAnd{
    scalar_entry<std::bit_and<>, bool, 2>("logical_and.bool")};
constexpr std::array kOr{
    scalar_entry<std::bit_or<>, bool, 2>("logical_or.bool")};
constexpr std::array kXor{
    scalar_entry<std::bit_xor<>, bool, 2>("logical_xor.bool")};

}  // namespace

constinit const KernelList logical_and_kernels{"logical_and", kAnd};
constinit const KernelList logical_or_kernels{"logical_or", kOr};
constinit const KernelList logical_xor_kernels{"logical_xor", kXor};

}  // namespace neap::kernels
