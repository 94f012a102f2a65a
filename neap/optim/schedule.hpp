// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Schedule: the learning rate as a pure function of the step, counted from 0.
// A value that holds its numbers inline and is defined for every step, so a
// resumed run finds its rate.
//
//   adam.set_schedule(optim::cosine(1e-3, steps));
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "neap/base/api.hpp"

namespace neap::optim {

class Schedule {
 public:
  static constexpr std::size_t kCapacity = 48;  // bytes of a function's own

  /// Empty: only operator bool may be used.
  Schedule() = default;

  /// A schedule by any small, trivially copyable function of the step.
  // NOLINTBEGIN(google-explicit-constructor): a lambda is a schedule
  template <class Rate>
  requires(std::is_trivially_copyable_v<Rate> && sizeof(Rate) <= kCapacity &&
           !std::same_as<Rate, Schedule> &&
           std::is_invocable_r_v<double, const Rate&, std::int64_t>)
      Schedule(const Rate& rate)
  noexcept
      : call_([](const void* bytes, std::int64_t step) {
          return static_cast<double>((*static_cast<const Rate*>(bytes))(step));
        }) {
    ::new (static_cast<void*>(bytes_.data())) Rate(rate);
  }
  // NOLINTEND(google-explicit-constructor)

  explicit operator bool() const noexcept { return call_ != nullptr; }
  /// REQUIRES: is one.
  double operator()(std::int64_t step) const {
    return call_(bytes_.data(), step);
  }

 private:
  double (*call_)(const void* bytes, std::int64_t step) = nullptr;
  alignas(std::max_align_t) std::array<std::byte, kCapacity> bytes_{};
};

NEAP_API Schedule constant(double lr) noexcept;

/// lr / steps, 2 lr / steps, ..., lr; then lr.
NEAP_API Schedule warm_up(double lr, std::int64_t steps) noexcept;

/// After a warm-up of `warmup` steps, half a cosine from `lr` down to `min` at
/// step `total` (Loshchilov and Hutter, "SGDR", 2017); `min` from there on.
NEAP_API Schedule cosine(double lr, std::int64_t total, std::int64_t warmup = 0,
                         double min = 0.0) noexcept;

/// lr, times `factor` after every `every` steps.
NEAP_API Schedule step_decay(double lr, std::int64_t every,
                             double factor = 0.1) noexcept;

/// lr gamma^step.
NEAP_API Schedule exponential(double lr, double gamma) noexcept;

}  // namespace neap::optim
