// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Mixup (Zhang, Cisse, Dauphin and Lopez-Paz, "mixup: Beyond Empirical Risk
// Minimization", ICLR 2018), on a whole batch: sample i becomes
//
//   l x[i] + (1 - l) x[i - 1],  and its target  l t[i] + (1 - l) t[i - 1]
//
// with one l for the batch, from the distribution Beta(alpha, alpha). Sample 0
// is mixed with the last one. Targets t are probabilities, 1 for the label's
// class.
//
// The draw follows from seed, epoch and the batch's number in it alone.
#pragma once

#include <cstdint>
#include <span>

#include "neap/base/api.hpp"

namespace neap::data {

struct MixupOptions {
  double alpha = 0.0;        // 0: nothing is mixed; in [1e-3, 1e3]
  std::int64_t classes = 0;  // of the labels; columns of the targets
};

/// The share l of a batch, in [0, 1]. REQUIRES: alpha > 0.
NEAP_API double mixup_share(double alpha, std::uint64_t seed,
                            std::int64_t epoch, std::int64_t batch) noexcept;

/// Mixes the rows of `input`, (n, m) dense, in place; `spare` has m elements.
/// REQUIRES: n > 0.
void mix_rows(std::span<float> input, std::span<float> spare,
              double share) noexcept;

/// Targets (n, classes) of the labels (n), mixed. REQUIRES: labels are in [0,
/// classes).
void mix_labels(std::span<const std::int64_t> labels, std::int64_t classes,
                double share, std::span<float> targets) noexcept;

}  // namespace neap::data
