// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/norm/running_stats.hpp"

#include <array>

#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace {

template <class T>
void move_towards(const Strided& running, std::int64_t c, double value,
                  double momentum) noexcept {
  T& x = element<T>(running, c);
  x = static_cast<T>(momentum * value +
                     (1.0 - momentum) * static_cast<double>(x));
}

template <class T>
void update(const Args& args, double momentum) noexcept {
  const auto count =
      static_cast<double>(args.attrs_as<RunningStatsAttrs>().count);
  for (std::int64_t c = 0; c < args.out[0].shape[0]; ++c) {
    const double mean = element<double>(args.in[0], 2 * c);
    const double var = element<double>(args.in[0], 2 * c + 1);
    move_towards<T>(args.out[0], c, mean, momentum);
    move_towards<T>(args.out[1], c, var * (count / (count - 1.0)), momentum);
  }
}

void running_stats(const Args& args) noexcept {
  double momentum = args.attrs_as<RunningStatsAttrs>().momentum;
  if (args.out.size() > 2) {
    auto& batches = *args.out[2].as<std::int64_t>();
    ++batches;
    if (momentum < 0.0) {
      momentum = 1.0 / static_cast<double>(batches);
    }
  }
  if (args.out[0].dtype == f32) {
    update<float>(args, momentum);
  } else {
    update<double>(args, momentum);
  }
}

constexpr std::array kAll{Kernel{
    .name = "running_stats.reference.f64", .dtype = f64, .run = running_stats}};

}  // namespace

constinit const KernelList running_stats_kernels{"running_stats", kAll};

}  // namespace neap::kernels
