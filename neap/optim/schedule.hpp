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

/// After a warm-up, a straight line from `lr` down to `min` at step `total`;
/// `min` from there on.
NEAP_API Schedule linear(double lr, std::int64_t total, std::int64_t warmup = 0,
                         double min = 0.0) noexcept;

/// Warm-up, then `lr`, then over the last `decay` of `total` steps a straight
/// line down to `min` ("WSD": Hu et al., "MiniCPM", 2024); `min` from there on.
NEAP_API Schedule warmup_stable_decay(double lr, std::int64_t total,
                                      std::int64_t warmup, std::int64_t decay,
                                      double min = 0.0) noexcept;

/// Half a cosine from lr / 25 up to `lr` over the first `rise` (a share) of
/// `total` steps, then half a cosine down to lr / 250 000 at the last of them
/// (Smith and Topin, "Super-convergence", 2018; torch.optim.lr_scheduler's
/// OneCycleLR, which turns the momentum as well).
NEAP_API Schedule one_cycle(double lr, std::int64_t total,
                            double rise = 0.3) noexcept;

/// Half cosines from `lr` to `min`, each `factor` times as long as the one
/// before it; the first has `first` steps (SGDR; torch's
/// CosineAnnealingWarmRestarts).
NEAP_API Schedule cosine_restarts(double lr, std::int64_t first,
                                  std::int64_t factor = 1,
                                  double min = 0.0) noexcept;

/// After a warm-up of `warmup` steps, lr sqrt(warmup / (step + 1)) (Vaswani et
/// al., "Attention is all you need", 2017).
NEAP_API Schedule inverse_sqrt(double lr, std::int64_t warmup) noexcept;

/// lr, times `factor` after every `every` steps.
NEAP_API Schedule step_decay(double lr, std::int64_t every,
                             double factor = 0.1) noexcept;

/// lr gamma^step.
NEAP_API Schedule exponential(double lr, double gamma) noexcept;

}  // namespace neap::optim
