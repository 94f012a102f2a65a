// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "program.hpp"

#include <numeric>

namespace neap::lifetimes {
namespace {

constexpr std::array<KindInfo, kKinds> kInfo = {{
    {"leaf", 8},
    {"plain", 3},
    {"build", 40},
    {"build moved", 10},
    {"build no grad", 2},
    {"backward", 8},
    {"backward retain", 5},
    {"grad", 5},
    {"grad retain", 4},
    {"release", 3},
    {"drop", 12},
    {"drop revoked", 2},
    {"copy", 2},
    {"alias", 3},
    {"detach", 2},
    {"retain grad", 2},
    {"freeze", 1},
    {"require grad", 1},
    {"write", 2},
    {"zero grad", 2},
    {"take grad", 2},
    {"open scope", 2, true},
    {"close scope", 2, true},
    {"keep", 4, true},
    {"move to outer", 1, true},
    {"detach from scope", 1, true},
    {"attach", 1, true},
    {"release from scope", 1, true},
}};

// Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
    return z ^ (z >> 31U);
  }
  int below(int bound) noexcept {
    return static_cast<int>(next() % static_cast<std::uint64_t>(bound));
  }

 private:
  std::uint64_t state_;
};

Kind draw(Random& random) noexcept {
  static const int total = std::accumulate(
      kInfo.begin(), kInfo.end(), 0,
      [](int sum, const KindInfo& info) { return sum + info.weight; });
  int left = random.below(total);
  std::size_t kind = 0;
  while (left >= kInfo[kind].weight) {
    left -= kInfo[kind++].weight;
  }
  return static_cast<Kind>(kind);
}

}  // namespace

const KindInfo& info_of(Kind kind) noexcept {
  return kInfo[static_cast<std::size_t>(kind)];
}

void generate(std::uint64_t seed, Program& program) {
  constexpr int kHopOneIn = 24;
  Random random(seed);
  program.seed = seed;
  program.actions.resize(static_cast<std::size_t>(
      kMinActions + random.below(kMaxActions - kMinActions + 1)));
  for (Action& action : program.actions) {
    action.kind = draw(random);
    action.hops = random.below(kHopOneIn) == 0;
    const std::uint64_t bits = random.next();
    for (unsigned i = 0; i < 4; ++i) {
      action.picks[i] = static_cast<std::uint16_t>(bits >> 16U * i);
    }
  }
}

}  // namespace neap::lifetimes
