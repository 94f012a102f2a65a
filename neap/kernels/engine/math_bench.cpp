// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Elementwise kernels of f32 by the level that holds their data: 2048 elements
// (the first cache), 64 Ki (the second), 1 Mi (the third), in one thread.
// Bytes a second count every operand once.
#include <benchmark/benchmark.h>

#include <vector>

#include "neap/kernels/activation/activations.hpp"
#include "neap/kernels/elementwise/arithmetic.hpp"
#include "neap/kernels/elementwise/clip.hpp"
#include "neap/kernels/elementwise/compare.hpp"
#include "neap/kernels/elementwise/exponential.hpp"
#include "neap/kernels/elementwise/logical.hpp"
#include "neap/kernels/elementwise/rounding.hpp"
#include "neap/kernels/elementwise/trigonometry.hpp"
#include "neap/kernels/elementwise/where.hpp"
#include "neap/kernels/engine/attrs.hpp"

namespace neap::kernels {
namespace {

// Numbers in [0.1, 0.9); truth values of the same memory are some true, some
// false.
class Operands {
 public:
  Operands(std::int64_t count, std::vector<DType> dtypes)
      : data_(dtypes.size(),
              std::vector<float>(static_cast<std::size_t>(count))) {
    for (std::size_t k = 0; k < dtypes.size(); ++k) {
      for (std::size_t i = 0; i < data_[k].size(); ++i) {
        data_[k][i] = 0.1F + 0.8F * static_cast<float>(i % 1009) / 1009.0F;
      }
      views_.push_back({reinterpret_cast<std::byte*>(data_[k].data()),
                        dtypes[k],
                        {count},
                        {1}});
      if (dtypes[k] == boolean) {
        auto* const flags = views_.back().as<std::uint8_t>();
        for (std::int64_t i = 0; i < count; ++i) {
          flags[i] = static_cast<std::uint8_t>(i % 3 == 0);
        }
      }
      bytes_ += count * size_of(dtypes[k]);
    }
  }
  std::span<const Strided> inputs() const {
    return std::span(views_).first(views_.size() - 1);
  }
  std::span<const Strided> output() const { return std::span(views_).last(1); }
  Bytes bytes() const { return bytes_; }

 private:
  std::vector<std::vector<float>> data_;
  std::vector<Strided> views_;
  Bytes bytes_ = 0;
};

// `dtypes` of the inputs, then the output.
void measure(benchmark::State& state, const KernelList* list,
             const std::vector<DType>& dtypes) {
  const Operands operands(state.range(0), dtypes);
  const ClipAttrs attrs{0.25, 0.75};  // read by clip alone
  const Args args{operands.inputs(),
                  operands.output(),
                  &attrs,
                  {},
                  &threads::serial_executor()};
  const Kernel& kernel = find(*list, memory::kHost, dtypes[0], args);
  for (auto _ : state) {
    kernel.run(args);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
  state.SetBytesProcessed(state.iterations() * operands.bytes());
}

void add_rows(const KernelList& list, const std::vector<DType>& dtypes) {
  benchmark::RegisterBenchmark(list.name,
                               [&list, dtypes](benchmark::State& state) {
                                 measure(state, &list, dtypes);
                               })
      ->Arg(2048)
      ->Arg(65536)
      ->Arg(1048576);
}

[[maybe_unused]] const bool kAdded = [] {
  for (const KernelList* list :
       {&abs_kernels,   &exp_kernels,   &expm1_kernels,    &log_kernels,
        &log1p_kernels, &log2_kernels,  &tanh_kernels,     &sigmoid_kernels,
        &sqrt_kernels,  &rsqrt_kernels, &sin_kernels,      &tan_kernels,
        &asin_kernels,  &atan_kernels,  &sinh_kernels,     &asinh_kernels,
        &erf_kernels,   &erfc_kernels,  &gaussian_kernels, &floor_kernels,
        &clip_kernels}) {
    add_rows(*list, {f32, f32});
  }
  for (const KernelList* list :
       {&add_kernels, &mul_kernels, &div_kernels, &maximum_kernels,
        &pow_kernels, &atan2_kernels}) {
    add_rows(*list, {f32, f32, f32});
  }
  add_rows(lt_kernels, {f32, f32, boolean});
  add_rows(logical_and_kernels, {boolean, boolean, boolean});
  add_rows(where_kernels, {boolean, f32, f32, f32});
  return true;
}();

}  // namespace
}  // namespace neap::kernels
