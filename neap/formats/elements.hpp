// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Elements between a view of any strides and dense bytes, in row-major order:
// for readers and writers, which have no graph to record copies.
#pragma once

#include <span>

#include "neap/tensor/strided.hpp"

namespace neap::formats {

/// Copies elements first, first + 1, ... until `into` is full.
/// REQUIRES: whole elements, and that many are there.
void gather(const tensor::Strided& from, std::int64_t first,
            std::span<std::byte> into) noexcept;

/// The other way.
void scatter(std::span<const std::byte> from, const tensor::Strided& into,
             std::int64_t first) noexcept;

}  // namespace neap::formats
