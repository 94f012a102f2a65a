// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How batch_norm, group_norm and their gradients divide their work among
// threads: by channels, or by cells of groups.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

inline constexpr std::int64_t kNormWork = 4096;  // elements; a thread's range

/// Calls function(args, begin, end, at_once) for all channels of x (n, c, s),
/// which has elements: in whole numbers of `at_once`, or of 16 columns.
template <class Function>
void run_norm_channels(const Args& args, const Shape& x, std::int64_t at_once,
                       Function* function) noexcept {
  const std::int64_t channel = x[0] * x[2];
  const std::int64_t grain = x[2] == 1 ? 16 : at_once;
  threads::parallel_for(*args.executor, x[1],
                        (kNormWork / channel / grain + 1) * grain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          function(args, begin, end, at_once);
                        });
}

/// The same for all cells, of x in `groups`, one at a time.
template <class Function>
void run_norm_cells(const Args& args, const Shape& x, std::int64_t groups,
                    Function* function) noexcept {
  const std::int64_t cells = x[0] * groups;
  threads::parallel_for(*args.executor, cells,
                        kNormWork / (x.element_count() / cells) + 1,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          function(args, begin, end, 1);
                        });
}

}  // namespace neap::kernels
