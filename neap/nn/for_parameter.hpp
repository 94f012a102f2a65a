// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The memory of a parameter, before it is one. Of layers' sources alone.
#pragma once

#include "neap/memory/context.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {

/// Not initialised, and counted as a parameter from the first byte on, so that
/// a refusal says what was asked for. THROWS: OutOfMemory.
inline Tensor for_parameter(const Shape& shape, DType dtype,
                            const CallSite& site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  return empty(shape, dtype, site);
}

}  // namespace neap::nn
