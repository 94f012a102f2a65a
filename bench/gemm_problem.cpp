// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "gemm_problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>

namespace neap::bench {
namespace {

enum class Layout { kNn, kNt, kTn };

void add(std::vector<Problem>& to, const char* group, std::int64_t m,
         std::int64_t n, std::int64_t k, Layout layout,
         std::int64_t batch = 1) {
  Problem x{.group = group,
            .name = batch == 1 ? fmt::format("{}x{}x{}", m, n, k)
                               : fmt::format("{}*{}x{}x{}", batch, m, n, k),
            .batch = batch,
            .m = m,
            .n = n,
            .k = k,
            .a_is_transposed = layout == Layout::kTn,
            .b_is_transposed = layout == Layout::kNt};
  to.push_back(std::move(x));
}

// y = x w^T, dx = dy w, dw = dy^T x of one layer; thin ones by themselves.
void add_layer(std::vector<Problem>& to, std::int64_t rows, std::int64_t out,
               std::int64_t in, bool is_first) {
  const char* group = out == 10 ? "thin" : "layers";
  add(to, group, rows, out, in, Layout::kNt);
  if (!is_first) {
    add(to, group, rows, in, out, Layout::kNn);
  }
  add(to, group, out, in, rows, Layout::kTn);
}

}  // namespace

std::vector<Problem> all_problems() {
  std::vector<Problem> all;
  for (const std::int64_t rows : {64, 512}) {  // the MLP 784-512-256-10
    add_layer(all, rows, 512, 784, true);
    add_layer(all, rows, 256, 512, false);
    add_layer(all, rows, 10, 256, false);
  }
  add_layer(all, 1024, 384, 128, false);   // GPT tiny, the query-key-value
  add_layer(all, 2048, 1152, 384, false);  // GPT nano, likewise
  add_layer(all, 2048, 1536, 384, false);  // its feed-forward, up
  add_layer(all, 2048, 384, 1536, false);  // and down
  add_layer(all, 32, 1024, 256, false);    // a step of the LSTM
  constexpr std::array kLayouts{Layout::kNn, Layout::kNt, Layout::kTn};
  for (const std::int64_t size : {128, 256, 512, 1024, 2048}) {
    for (const Layout layout : kLayouts) {
      add(all, "squares", size, size, size, layout);
    }
  }
  for (const Layout layout : kLayouts) {
    add(all, "small", 32, 32, 32, layout);
    add(all, "small", 64, 64, 64, layout);
  }
  for (const Layout layout : kLayouts) {
    add(all, "batched", 64, 32, 64, layout, 64);
    add(all, "batched", 64, 64, 32, layout, 64);
    add(all, "batched", 32, 32, 32, layout, 128);
    add(all, "batched", 16, 16, 16, layout, 256);
    add(all, "batched", 256, 256, 64, layout, 48);
  }
  const std::size_t f32_squares = all.size();
  for (std::size_t i = 0; i < f32_squares; ++i) {
    if (all[i].group == "squares" || all[i].group == "small") {
      all.push_back(all[i]);
      all.back().group = "f64";
      all.back().is_f64 = true;
    }
  }
  for (std::size_t i = 0; i < f32_squares; ++i) {
    all.push_back(all[i]);
    all.back().group = "bf16 " + all[i].group;
    all.back().is_bf16 = true;
  }
  std::ranges::stable_sort(all, {}, [](const Problem& x) {
    return x.group == "thin" ? 1 : x.group == "layers" ? 0 : 2;
  });
  return all;
}

Elements::Elements(std::int64_t count, bool is_f64) {
  const auto n = static_cast<std::size_t>(count);
  const std::size_t bytes = (n * (is_f64 ? 8 : 4) + 63) / 64 * 64;
  data_.reset(std::aligned_alloc(64, bytes));
  if (data_ == nullptr) {
    throw std::bad_alloc();
  }
  std::uint32_t state = 1;  // any numbers of the same size will do
  for (std::size_t i = 0; i < n; ++i) {
    state = state * 1664525U + 1013904223U;
    const double value = static_cast<double>(state >> 8) * 0x1p-24 - 0.5;
    if (is_f64) {
      as<double>()[i] = value;
    } else {
      as<float>()[i] = static_cast<float>(value);
    }
  }
}

}  // namespace neap::bench
