// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "target.hpp"

#include <cstdint>

#include "neap/memory/context.hpp"
#include "neap/memory/domain.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data,
                                      std::size_t size) {
  using neap::memory::Domain;
  const auto domain = Domain::create(
      {.name = "fuzz", .host = neap::memory::HostAllocator::kSystem});
  {
    const neap::UseDomain use(*domain);
    neap::fuzz::one_input({reinterpret_cast<const char*>(data), size});
  }
  neap::fuzz::expect(domain->stats().live == 0);
  return 0;
}
