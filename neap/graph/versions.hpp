// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Versions of storages, as nodes read them. While a step is traced its writes
// are noted and not made: the tape of that trace must see them, and nothing
// else may, so that a graph which was recorded before still finds what it
// saved. A trace that keeps this book is a TracedWrites, too.
#pragma once

#include "neap/graph/trace.hpp"
#include "neap/tensor/storage.hpp"

namespace neap::graph {

class NEAP_API TracedWrites {
 public:
  struct Seen {
    std::uint32_t count = 0;  // of writes, so far
    base::SiteId site{};      // of the last
  };
  TracedWrites() = default;
  virtual ~TracedWrites() = default;
  TracedWrites(const TracedWrites&) = delete;
  TracedWrites& operator=(const TracedWrites&) = delete;

  /// The writes to a storage that were noted and that its own version does not
  /// count.
  virtual Seen writes_to(const tensor::Storage& storage) const noexcept = 0;
};

/// The writes of the current thread's trace; none outside one.
NEAP_API TracedWrites::Seen traced_writes(
    const tensor::Storage& storage) noexcept;

/// How often the storage was written, as seen from here.
inline std::uint32_t version_of(const tensor::Storage& storage) noexcept {
  return storage.writes() +
         (trace() != nullptr ? traced_writes(storage).count : 0);
}

/// The line of the last write.
inline base::SiteId written_at(const tensor::Storage& storage) noexcept {
  const TracedWrites::Seen seen =
      trace() != nullptr ? traced_writes(storage) : TracedWrites::Seen{};
  return seen.count != 0 ? seen.site : storage.written_at();
}

}  // namespace neap::graph
