// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random programs. An action names what it acts on by numbers that are taken
// modulo what there is when it is performed, so that any part of a program is a
// program too: that is what lets a failing one be cut down.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace neap::lifetimes {

enum class Kind : std::uint8_t {
  kLeaf,
  kPlain,
  kBuild,
  kBuildMoved,
  kBuildNoGrad,
  kBackward,
  kBackwardRetain,
  kGrad,
  kGradRetain,
  kRelease,
  kDrop,
  kDropRevoked,
  kCopy,
  kAlias,
  kDetach,
  kRetainGrad,
  kFreeze,
  kRequireGrad,
  kWrite,
  kZeroGrad,
  kTakeGrad,
  kOpenScope,
  kCloseScope,
  kKeep,
  kMoveToOuter,
  kDetachFromScope,
  kAttach,
  kReleaseFromScope,
  kCount
};

inline constexpr auto kKinds = static_cast<std::size_t>(Kind::kCount);

struct KindInfo {
  std::string_view name;
  int weight;                 // how often it is drawn
  bool is_of_scopes = false;  // only the thread that opened them may
};
const KindInfo& info_of(Kind kind) noexcept;

struct Action {
  Kind kind = Kind::kLeaf;
  bool hops = false;  // performed by another thread
  std::array<std::uint16_t, 4> picks{};
};

struct Program {
  std::uint64_t seed = 0;
  std::vector<Action> actions;
};

/// kMinActions to kMaxActions actions; the same for the same seed.
inline constexpr int kMinActions = 36;
inline constexpr int kMaxActions = 60;
void generate(std::uint64_t seed, Program& program);

}  // namespace neap::lifetimes
