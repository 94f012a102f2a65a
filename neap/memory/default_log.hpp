// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A log of events for the default domain, which nobody creates with options of
// their own: reports on a program that does not know of them ask for it before
// that domain is first used.
#pragma once

#include <span>

#include "neap/memory/domain.hpp"

namespace neap::memory {

/// The default domain will keep its latest events in `room`, from the first on.
/// LIFETIME: `room` is never freed. RETURNS: false where the domain is in use
/// already; then it keeps none.
[[nodiscard]] NEAP_API bool log_default_domain(std::span<Event> room) noexcept;

}  // namespace neap::memory
