// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One thread's part of the streams of limits.cpp.
#pragma once

#include <array>
#include <cstdint>

namespace neap::bench {

struct StreamPart {
  std::array<const float*, 3> in{};
  float* out = nullptr;  // nullptr: only read
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

}  // namespace neap::bench
