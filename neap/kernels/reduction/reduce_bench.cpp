// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Reductions beside a plain read loop over the same bytes, one after the other
// in the same run. "of_read" is the share of the loop's speed that is reached:
// best time against best time.
//
//   neap_kernels_bench --benchmark_filter='Reduce/sum'
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/amax.hpp"
#include "neap/kernels/reduction/argmax.hpp"
#include "neap/kernels/reduction/logsumexp.hpp"
#include "neap/kernels/reduction/sum.hpp"
#include "neap/kernels/reduction/var.hpp"
#include "neap/threads/pool.hpp"

namespace neap::kernels {
namespace {

using Clock = std::chrono::steady_clock;

struct Subject {
  const char* name;
  const KernelList* list;
  DType result;  // bool: as the input
};

struct Form {
  const char* name;
  std::uint64_t axes;
  std::int64_t rows;
  std::int64_t columns;
};

constexpr Subject kSubjects[] = {
    {"sum", &sum_kernels, boolean},
    {"amax", &amax_kernels, boolean},
    {"argmax", &argmax_kernels, i64},
    {"logsumexp", &logsumexp_kernels, boolean},
    {"var", &var_kernels, boolean},
};

// In the second level of cache, in the third, in memory.
constexpr Form kForms[] = {
    {"rows.L2", 0b10, 256, 512},         {"columns.L2", 0b01, 256, 512},
    {"all.L2", 0b11, 256, 512},          {"rows.L3", 0b10, 2048, 1024},
    {"columns.L3", 0b01, 2048, 1024},    {"all.L3", 0b11, 2048, 1024},
    {"rows.4096", 0b10, 4096, 4096},     {"columns.4096", 0b01, 4096, 4096},
    {"all.16M", 0b11, 4096, 4096},       {"narrow rows", 0b10, 1 << 20, 16},
    {"tall columns", 0b01, 1 << 20, 16},
};

using Wide [[gnu::vector_size(64)]] = std::uint64_t;

// Reads memory as fast as it comes: eight chains of the widest loads there are.
#if defined(__x86_64__)
[[gnu::target_clones("avx512f", "avx2", "default")]]
#endif
void read_words(const std::uint64_t* from, std::int64_t begin,
                std::int64_t end) {
  Wide sums[8] = {};
  for (std::int64_t i = begin; i + 64 <= end; i += 64) {
    for (std::int64_t k = 0; k < 8; ++k) {
      Wide words;
      std::memcpy(&words, from + i + 8 * k, sizeof(words));
      sums[k] ^= words;
    }
  }
  for (Wide& sum : sums) {
    benchmark::DoNotOptimize(sum);
  }
}

void read(threads::Executor& executor, const std::vector<float>& x) {
  const auto words = static_cast<std::int64_t>(x.size() / 2);
  const auto* from = reinterpret_cast<const std::uint64_t*>(x.data());
  threads::parallel_for(executor, words, 4096,
                        [from](std::int64_t begin, std::int64_t end) noexcept {
                          read_words(from, begin, end);
                        });
}

template <class Work>
double seconds(const Work& work) {
  const auto start = Clock::now();
  work();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

Strided result_of(const Form& form, DType dtype, std::vector<double>& y) {
  Strided view{reinterpret_cast<std::byte*>(y.data()),
               dtype,
               {form.rows, form.columns},
               {form.columns, 1}};
  for (int axis = 0; axis < 2; ++axis) {
    if ((form.axes >> axis & 1U) != 0) {
      view.shape[axis] = 1;
    }
  }
  view.strides = {view.shape[1], 1};
  return view;
}

void measure(benchmark::State& state, const Subject& subject, const Form& form,
             int thread_count) {
  threads::Pool pool(thread_count);
  std::vector<float> x(static_cast<std::size_t>(form.rows * form.columns),
                       0.5F);
  std::vector<double> y(
      static_cast<std::size_t>(std::max(form.rows, form.columns)));
  const Strided in{reinterpret_cast<std::byte*>(x.data()),
                   f32,
                   {form.rows, form.columns},
                   {form.columns, 1}};
  std::vector<double> mean(y.size());
  const DType dtype = subject.result == boolean ? f32 : subject.result;
  const std::array out{result_of(form, dtype, y), result_of(form, f32, mean)};
  const bool is_var = subject.list == &var_kernels;
  const ReduceAttrs attrs{form.axes};
  const VarAttrs var_attrs{.axes = form.axes};
  Args args{{&in, 1},
            std::span(out).first(is_var ? 2 : 1),
            is_var ? static_cast<const void*>(&var_attrs) : &attrs,
            {},
            &pool};
  const Kernel& kernel = find(*subject.list, memory::kHost, f32, args);
  std::vector<std::byte> scratch(
      static_cast<std::size_t>(scratch_bytes(kernel, args)));
  args.scratch = scratch;
  double best = std::numeric_limits<double>::infinity();
  double best_read = best;
  for (auto _ : state) {
    best_read = std::min(best_read, seconds([&] { read(pool, x); }));
    const double time = seconds([&] { kernel.run(args); });
    state.SetIterationTime(time);
    best = std::min(best, time);
  }
  const auto bytes = static_cast<double>(x.size() * sizeof(float));
  state.counters["GB/s"] = bytes / best * 1e-9;
  state.counters["of_read"] = best_read / best;
}

// Every subject, form and number of threads by name.
const bool kRegistered = [] {
  for (const Subject& subject : kSubjects) {
    for (const Form& form : kForms) {
      for (const int threads : {1, 2}) {
        const std::string name = std::string("Reduce/") + subject.name + "/" +
                                 form.name + "/t" + std::to_string(threads);
        benchmark::RegisterBenchmark(
            name.c_str(),
            [&subject, &form, threads](benchmark::State& state) {
              measure(state, subject, form, threads);
            })
            ->UseManualTime();
      }
    }
  }
  return true;
}();

}  // namespace
}  // namespace neap::kernels
