// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random 32-bit numbers for this room's tests; the same seed, the same run.
#pragma once

#include <cstdint>
#include <random>

namespace neap::memory {

class TestRandom {
 public:
  explicit TestRandom(std::uint32_t seed) : engine_(seed) {}
  std::uint32_t operator()() { return static_cast<std::uint32_t>(engine_()); }

 private:
  std::mt19937 engine_;
};

}  // namespace neap::memory
