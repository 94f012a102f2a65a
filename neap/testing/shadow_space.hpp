// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ShadowSpace: a second memory space for tests. Its bytes are host memory, but
// the addresses that it hands out are shifted out of the address space, so that
// whatever takes them for host memory faults at once. Its runtime shifts views
// back and runs the host's kernels.
//
//   ShadowSpace shadow(domain);
//   Tensor there = shadow.from_host(x);  // add(there, there) runs there
//
// Thread rule: launches come from one thread at a time.
#pragma once

#include <cstdint>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/memory/domain.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::testing {

inline constexpr memory::SpaceId kShadow{1};

class NEAP_API ShadowSpace final : private kernels::SpaceRuntime {
 public:
  /// Adds the space to `domain` and to the kernels. LIFETIME: `domain`
  /// outlives this. THROWS: ValueError when either knows `space` already.
  explicit ShadowSpace(memory::Domain& domain, memory::SpaceId space = kShadow);
  /// REQUIRES: no block of the space is live.
  ~ShadowSpace() override;

  memory::SpaceId space() const noexcept { return space_; }
  std::int64_t launches() const noexcept { return launches_; }
  /// Views given to launches and copies that were not of this space. Such a
  /// launch is not run.
  std::int64_t foreign_views() const noexcept { return foreign_views_; }

  /// The same elements, strides and gaps included, in this space; no gradient.
  /// `domain` must be the current one. THROWS: OutOfMemory.
  Tensor from_host(const Tensor& host) const;
  /// The elements, dense, in host memory. THROWS: OutOfMemory.
  Tensor to_host(const Tensor& here) const;

 private:
  const kernels::Kernel* find(
      const kernels::KernelList& list, DType dtype,
      const kernels::Args& args) const noexcept override;
  void launch(const kernels::Kernel& kernel,
              const kernels::Args& args) noexcept override;
  void copy_from_host(const kernels::Strided& host,
                      const kernels::Strided& here) noexcept override;
  void copy_to_host(const kernels::Strided& here,
                    const kernels::Strided& host) noexcept override;

  memory::Domain& domain_;
  memory::SpaceId space_;
  std::int64_t launches_ = 0;
  std::int64_t foreign_views_ = 0;
};

}  // namespace neap::testing
