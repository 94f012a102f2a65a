// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sum_planes.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements of one thread

/// The sum of one channel's list, as far as it has come.
template <class T>
class ListSum {
 public:
  explicit ListSum(const double* state) noexcept : total_(state[0]) {
    static_assert(sizeof(partials_) == (kPlaneSumState - 1) * sizeof(double));
    std::memcpy(partials_.data(), state + 1, sizeof(partials_));
  }

  void keep(double* state) const noexcept {
    state[0] = total_;
    std::memcpy(state + 1, partials_.data(), sizeof(partials_));
  }

  /// Elements `at` and on of the list, a step apart.
  void add(const T* x, std::int64_t step, std::int64_t count,
           std::int64_t at) noexcept {
    while (count > 0) {
      const std::int64_t in_block = at % kReduceBlock;
      if (in_block == 0) {  // the block before is whole
        total_ += joined();
        partials_ = {};
      }
      const std::int64_t some = std::min(count, kReduceBlock - in_block);
      add_to_block(x, step, some, in_block % kPartials);
      x += some * step;
      at += some;
      count -= some;
    }
  }

  T end() const noexcept { return static_cast<T>(total_ + joined()); }

 private:
  static constexpr std::int64_t kPartials = kReducePartials<T>;

  void add_to_block(const T* x, std::int64_t step, std::int64_t count,
                    std::int64_t first) noexcept {
    const auto add_some = [&](std::int64_t from, std::int64_t some) {
      for (std::int64_t i = 0; i < some; ++i) {
        partials_[static_cast<std::size_t>(from + i)] += x[i * step];
      }
      x += some * step;
      count -= some;
    };
    if (first > 0) {
      add_some(first, std::min(count, kPartials - first));
    }
    while (count >= kPartials) {
      add_some(0, kPartials);
    }
    add_some(0, count);
  }

  double joined() const noexcept {
    std::array<T, kPartials> parts = partials_;
    for (auto half = parts.size() / 2; half > 0; half /= 2) {
      for (std::size_t i = 0; i < half; ++i) {
        parts[i] += parts[i + half];
      }
    }
    return static_cast<double>(parts[0]);
  }

  double total_;
  std::array<T, kPartials> partials_;
};

template <class T>
void sum_planes(const Args& args) noexcept {
  const Strided& x = args.in[0];
  const std::int64_t length = x.shape[2];
  const std::int64_t first = args.attrs_as<SumRowsAttrs>().first;
  const std::int64_t elements = std::max<std::int64_t>(x.shape[0] * length, 1);
  threads::parallel_for(
      *args.executor, x.shape[1], kGrain / elements + 1,
      [&](std::int64_t begin, std::int64_t end) noexcept {
        for (std::int64_t c = begin; c < end; ++c) {
          double* const state = args.out[0].as<double>() + c * kPlaneSumState;
          ListSum<T> sum(state);
          for (std::int64_t n = 0; n < x.shape[0]; ++n) {
            sum.add(x.as<const T>() + n * x.strides[0] + c * x.strides[1],
                    x.strides[2], length, (first + n) * length);
          }
          sum.keep(state);
        }
      });
}

template <class T>
void finish(const Args& args) noexcept {
  for (std::int64_t c = 0; c < args.in[0].shape[0]; ++c) {
    args.out[0].as<T>()[c] =
        ListSum<T>(args.in[0].as<const double>() + c * kPlaneSumState).end();
  }
}

void sum_planes_end(const Args& args) noexcept {
  args.out[0].dtype == f32 ? finish<float>(args) : finish<double>(args);
}

constexpr std::array kPlanes{
    Kernel{.name = "sum_planes.f32", .dtype = f32, .run = sum_planes<float>},
    Kernel{.name = "sum_planes.f64", .dtype = f64, .run = sum_planes<double>}};

constexpr std::array kEnd{
    Kernel{.name = "sum_planes_end.f64", .dtype = f64, .run = sum_planes_end}};

}  // namespace

constinit const KernelList sum_planes_kernels{"sum_planes", kPlanes};
constinit const KernelList sum_planes_end_kernels{"sum_planes_end", kEnd};

}  // namespace neap::kernels
