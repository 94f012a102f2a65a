// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/versions.hpp"

namespace neap::graph {

TracedWrites::Seen traced_writes(const tensor::Storage& storage) noexcept {
  const auto* book = dynamic_cast<const TracedWrites*>(trace());
  return book != nullptr ? book->writes_to(storage) : TracedWrites::Seen{};
}

}  // namespace neap::graph
