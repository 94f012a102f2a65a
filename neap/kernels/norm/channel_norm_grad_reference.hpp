// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The readable form of channel_norm_grad.hpp.
#pragma once

#include <algorithm>
#include <cmath>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/norm/channel_norm_grad.hpp"

namespace neap::kernels {

template <class T>
void clear_as(const Strided& sums) noexcept {
  std::fill_n(sums.as<T>(), sums.shape.element_count(), T(0));
}

/// dw and db, where nothing is added to them.
inline void clear_sums(const Args& args) noexcept {
  for (const Strided& sums : args.out.subspan(1)) {
    sums.dtype == f32 ? clear_as<float>(sums) : clear_as<double>(sums);
  }
}

// One cell after the other, in double, rounded once; dw and db as they are
// added up.
template <class T>
class GradReference {
 public:
  explicit GradReference(const Args& args) noexcept
      : args_(args),
        wanted_(args.attrs_as<ChannelNormGradAttrs>()),
        samples_(args.in[1].shape[0]),
        channels_(args.in[1].shape[1]),
        length_(args.in[1].shape[2]),
        groups_(wanted_.groups) {}

  void run() const noexcept {
    clear_sums(args_);
    if (args_.in[1].shape.element_count() == 0) {
      return;
    }
    const std::int64_t cells = groups_ == 0 ? channels_ : samples_ * groups_;
    for (std::int64_t cell = 0; cell < cells; ++cell) {
      run_cell(cell);
    }
  }

 private:
  // Calls body(i, c) for the elements of a cell.
  template <class Body>
  void for_cell(std::int64_t cell, const Body& body) const noexcept {
    const std::int64_t of = groups_ == 0 ? 1 : channels_ / groups_;
    for (std::int64_t i = 0; i < samples_ * channels_ * length_; ++i) {
      const std::int64_t n = i / length_ / channels_;
      const std::int64_t c = i / length_ % channels_;
      if (cell == (groups_ == 0 ? c : n * groups_ + c / of)) {
        body(i, c);
      }
    }
  }

  void run_cell(std::int64_t cell) const noexcept {
    const double mean = element<double>(args_.in[2], 2 * cell);
    const double var = element<double>(args_.in[2], 2 * cell + 1);
    const double scale = 1.0 / std::sqrt(var + wanted_.eps);
    const auto dy = [&](std::int64_t i) {
      return static_cast<double>(element<T>(args_.in[0], i));
    };
    const auto xhat = [&](std::int64_t i) {
      return (static_cast<double>(element<T>(args_.in[1], i)) - mean) * scale;
    };
    const auto g = [&](std::int64_t i, std::int64_t c) {
      return args_.in.size() > 3
                 ? dy(i) * static_cast<double>(element<T>(args_.in[3], c))
                 : dy(i);
    };
    double count = 0.0;
    double mean_g = 0.0;
    double along = 0.0;
    for_cell(cell, [&](std::int64_t i, std::int64_t c) {
      count += 1.0;
      mean_g += g(i, c);
      along += g(i, c) * xhat(i);
    });
    for_cell(cell, [&](std::int64_t i, std::int64_t c) {
      if (wanted_.dw) {
        args_.out[1].as<T>()[c] += static_cast<T>(dy(i) * xhat(i));
      }
      if (wanted_.db) {
        args_.out[2].as<T>()[c] += static_cast<T>(dy(i));
      }
      if (wanted_.dx) {
        element<T>(args_.out[0], i) = static_cast<T>(
            scale * (g(i, c) - mean_g / count - xhat(i) * along / count));
      }
    });
  }

  const Args& args_;
  const ChannelNormGradAttrs& wanted_;
  std::int64_t samples_;
  std::int64_t channels_;
  std::int64_t length_;
  std::int64_t groups_;
};

}  // namespace neap::kernels
