// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tag: the description of every request to a domain: where (space), what for
// (category), whose (owner, a path such as "encoder.fc1.weight") and from which
// line of the user's program (call site).
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/base/call_site.hpp"
#include "neap/base/strong_id.hpp"

namespace neap::memory {

/// A memory space: host memory is 0; others are added by add_space().
using SpaceId = base::StrongId<struct SpaceTag, std::uint8_t>;

inline constexpr SpaceId kHost{0};
inline constexpr int kMaxSpaces = 4;

/// A domain's own number for an owner path; 0 is the empty path.
using OwnerId = base::StrongId<struct OwnerTag>;

enum class Category : std::uint8_t {
  kParameters,
  kGradients,
  kOptimizerState,
  kBuffers,      // a module's non-trained state
  kInputs,       // batches given to a model
  kActivations,  // layer outputs and residuals
  kWorkspace,    // scratch of kernels, packing
  kGraph,        // tape nodes, handles, module and optimizer bookkeeping
  kData,         // data sets, file buffers
  kOther,
};

inline constexpr int kCategoryCount = 10;

/// "parameters", "optimizer state", ...
NEAP_API std::string_view name_of(Category category) noexcept;

struct Tag {
  Category category = Category::kOther;
  SpaceId space = kHost;
  OwnerId owner{};
  base::SiteId site{};
  friend bool operator==(const Tag&, const Tag&) = default;
};

}  // namespace neap::memory
