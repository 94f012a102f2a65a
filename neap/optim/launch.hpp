// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by in-place updates: where they run, what they are noted under, and
// the memory they take before they write. For sources of this room only.
#pragma once

#include <string_view>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::optim {

/// The context's call site, or else `site`.
base::SiteId site_or_context(const CallSite& site) noexcept;

/// THROWS: ShapeError, DTypeError, DeviceError for a gradient unlike its
/// parameter.
void check_gradient(std::string_view name, const Tensor& parameter,
                    const Tensor& grad);

/// A dense tensor of zeros, of `like`'s dtype, space and door.
/// THROWS: OutOfMemory; DTypeError, DeviceError as kernels::find.
Tensor zeros_for(const Tensor& like, const Shape& shape, const memory::Tag& tag,
                 threads::Executor& executor);

/// The same, without memory until it is fetched. THROWS: OutOfMemory.
Tensor late_zeros_for(const Tensor& like, const Shape& shape,
                      const memory::Tag& tag);

/// The scratch that a kernel needs, in the space and domain of `beside`;
/// null where it needs none. THROWS: OutOfMemory.
base::Ref<tensor::Storage> scratch_for(const kernels::Kernel& kernel,
                                       const kernels::Args& args,
                                       const Tensor& beside, memory::Tag tag);

}  // namespace neap::optim
