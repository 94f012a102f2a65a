// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Samples with labels, apart: those to train on and those for the test.
#pragma once

#include <cstdint>

#include "neap/base/function_ref.hpp"
#include "neap/memory/containers.hpp"

namespace neap::app {

using Indices = memory::Vector<std::int64_t>;

/// In ascending order, each.
struct ClassParts {
  Indices train{memory::Allocator<std::int64_t>(memory::Category::kData)};
  Indices test{memory::Allocator<std::int64_t>(memory::Category::kData)};
};

/// Draws a share of the samples of each class for the test, rounded to the
/// nearest number; at least one of each is left to train on. The draw depends
/// on the numbers of the samples alone: it is that of every run.
ClassParts split_classes(
    std::int64_t size,
    base::FunctionRef<std::int64_t(std::int64_t index)> label_of, double share);

}  // namespace neap::app
