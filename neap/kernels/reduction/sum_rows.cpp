// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/reduction/sum_rows.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/reduction/reduce.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;     // elements of one thread
constexpr std::int64_t kLine = 64;         // columns of a smallest range
constexpr std::int64_t kTogether = 1'024;  // columns; their blocks stay in L1

// Columns [begin, begin + count), count at most kTogether.
template <class T>
void add_rows(const Args& args, std::int64_t begin,
              std::int64_t count) noexcept {
  const Strided& x = args.in[0];
  auto* totals = args.out[0].as<double>() + begin;
  double* blocks = totals + x.shape[1];
  std::array<T, kTogether> block;
  std::transform(blocks, blocks + count, block.begin(),
                 [](double number) { return static_cast<T>(number); });
  const std::int64_t first = args.attrs_as<SumRowsAttrs>().first;
  for (std::int64_t row = 0; row < x.shape[0]; ++row) {
    if ((first + row) % kReduceBlock == 0) {  // the one before is whole
      for (std::int64_t c = 0; c < count; ++c) {
        totals[c] += static_cast<double>(block[static_cast<std::size_t>(c)]);
        block[static_cast<std::size_t>(c)] = T(0);
      }
    }
    const T* from = x.as<const T>() + row * x.strides[0] + begin * x.strides[1];
    for (std::int64_t c = 0; c < count; ++c) {
      block[static_cast<std::size_t>(c)] += from[c * x.strides[1]];
    }
  }
  std::copy_n(block.begin(), count, blocks);
}

template <class T>
void sum_rows(const Args& args) noexcept {
  const std::int64_t rows = std::max<std::int64_t>(args.in[0].shape[0], 1);
  threads::parallel_for(
      *args.executor, args.in[0].shape[1], (kGrain / rows / kLine + 1) * kLine,
      [&](std::int64_t begin, std::int64_t end) noexcept {
        for (; begin < end; begin += kTogether) {
          add_rows<T>(args, begin, std::min(kTogether, end - begin));
        }
      });
}

template <class T>
void finish(const Args& args) noexcept {
  const std::int64_t columns = args.in[0].shape[1];
  const auto* totals = args.in[0].as<const double>();
  for (std::int64_t c = 0; c < columns; ++c) {
    args.out[0].as<T>()[c] = static_cast<T>(totals[c] + totals[columns + c]);
  }
}

void sum_rows_end(const Args& args) noexcept {
  args.out[0].dtype == f32 ? finish<float>(args) : finish<double>(args);
}

constexpr std::array kRows{
    Kernel{.name = "sum_rows.f32", .dtype = f32, .run = sum_rows<float>},
    Kernel{.name = "sum_rows.f64", .dtype = f64, .run = sum_rows<double>}};

constexpr std::array kEnd{
    Kernel{.name = "sum_rows_end.f64", .dtype = f64, .run = sum_rows_end}};

}  // namespace

constinit const KernelList sum_rows_kernels{"sum_rows", kRows};
constinit const KernelList sum_rows_end_kernels{"sum_rows_end", kEnd};

}  // namespace neap::kernels
