// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/max_pool2d.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "neap/graph/vertex.hpp"
#include "neap/kernels/conv/pool.hpp"
#include "neap/ops/conv/pool.hpp"
#include "neap/ops/conv/pool_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::testing {
namespace {

double largest(const std::vector<PoolElement>& window) {
  double best = -std::numeric_limits<double>::infinity();
  for (const PoolElement& element : window) {
    best = std::max(best, element.value);
  }
  return best;
}

OpRow max_row(std::string name, const Shape& shape,
              const MaxPoolOptions<2>& options) {
  return {.name = std::move(name),
          .fn = [options](Inputs x) { return max_pool2d(x[0], options); },
          .inputs = {distinct(shape)},
          .reference = pooled(windows_of(options), largest)};
}

OpTable max_pool2d_table() {
  OpTable table{.name = "max_pool2d", .op = &ops::kMaxPool2d};
  table.rows = {
      max_row("2 x 2", {2, 3, 6, 8}, {.kernel = 2}),
      max_row("3 x 3, stride 2", {1, 2, 7, 9},
              {.kernel = 3, .stride = 2, .padding = 1}),
      max_row("stride 1, no batch", {2, 5, 6},
              {.kernel = {3, 2}, .stride = 1, .padding = {1, 0}}),
      max_row("ceil", {1, 1, 8, 5},
              {.kernel = 3, .stride = 3, .ceil_mode = true}),
      max_row("dilation", {1, 2, 9, 8},
              {.kernel = {2, 3}, .stride = {1, 2}, .dilation = {3, 2}}),
      max_row("5 x 5", {1, 1, 11, 12}, {.kernel = 5, .stride = 4})};
  table.rows[0].zero_size = {{{0, 3, 4, 4}}, {{2, 0, 4, 4}}};
  table.rows.push_back(
      {.name = "the first of equal ones",
       .fn = [](Inputs x) { return max_pool2d(x[0], {.kernel = 2}); },
       .inputs = {literal({1, 1, 2, 4}, {1, 3, 2, 2, 3, 0, 2, 2})},
       .expected = {3, 2},
       .expected_vjp = {{0, 1, 1, 0, 0, 0, 0, 0}},
       .expected_jvp = {1, 1},
       .smooth = false});
  const auto refused = [](std::string name, const MaxPoolOptions<2>& options,
                          std::type_index error) {
    return ErrorRow{
        .name = std::move(name),
        .fn = [options](Inputs x) { return max_pool2d(x[0], options); },
        .inputs = {uniform({1, 1, 4, 4}, 0, 1)},
        .error = error};
  };
  table.errors = {
      refused("padding", {.kernel = 3, .padding = 2}, typeid(ValueError)),
      refused("stride", {.kernel = 2, .stride = -1}, typeid(ValueError)),
      refused("kernel", {.kernel = 5}, typeid(ShapeError)),
      refused("a window of padding alone",
              {.kernel = 2, .padding = 1, .dilation = 5}, typeid(ShapeError)),
      {.name = "integers",
       .fn = [](Inputs x) { return max_pool2d(x[0], {.kernel = 1}); },
       .inputs = {integers({1, 1, 4, 4}, 0, 3).as(i32)},
       .error = typeid(DTypeError)},
      {.name = "rank",
       .fn = [](Inputs x) { return max_pool2d(x[0], {.kernel = 1}); },
       .inputs = {uniform({4, 4}, 0, 1)},
       .error = typeid(ShapeError)}};
  return table;
}

const Listed kMaxPool2dListed(max_pool2d_table);

OpTable max_pool1d_table() {
  const auto fn = [](Inputs x) {
    return max_pool1d(x[0], {.kernel = 3, .stride = 2, .padding = 1});
  };
  Windows windows = windows_of(
      MaxPoolOptions<2>{.kernel = {1, 3}, .stride = {1, 2}, .padding = {0, 1}});
  windows.is_flat = true;
  return {.name = "max_pool1d",
          .rows = {{.name = "batch",
                    .fn = fn,
                    .inputs = {distinct({2, 3, 7})},
                    .reference = pooled(windows, largest),
                    .shape = Shape{2, 3, 4},
                    .zero_size = {{{0, 3, 7}}}},
                   {.name = "no batch",
                    .fn = fn,
                    .inputs = {distinct({3, 7})},
                    .reference = pooled(windows, largest),
                    .shape = Shape{3, 4}}},
          .errors = {{.name = "rank",
                      .fn = fn,
                      .inputs = {uniform({1, 1, 4, 4}, 0, 1)},
                      .error = typeid(ShapeError)}}};
}

const Listed kListed1d(max_pool1d_table);

OpTable adaptive_max_pool2d_table() {
  const auto row = [](std::string name, const Shape& shape, std::int64_t h,
                      std::int64_t w) {
    return OpRow{.name = std::move(name),
                 .fn =
                     [h, w](Inputs x) {
                       return adaptive_max_pool2d(x[0], {h, w});
                     },
                 .inputs = {distinct(shape)},
                 .reference = pooled(adaptive_windows(h, w), largest)};
  };
  OpTable table{.name = "adaptive_max_pool2d",
                .rows = {row("overlapping", {2, 2, 7, 5}, 3, 4),
                         row("even", {1, 2, 6, 4}, 3, 2),
                         row("as it is", {1, 2, 3, 4}, -1, 1)}};
  table.rows[0].zero_size = {{{0, 2, 7, 5}}};
  table.errors = {{.name = "size",
                   .fn = [](Inputs x) { return adaptive_max_pool2d(x[0], 0); },
                   .inputs = {uniform({1, 1, 4, 4}, 0, 1)},
                   .error = typeid(ValueError)}};
  return table;
}

const Listed kListedAdaptive(adaptive_max_pool2d_table);

// Bytes of data that a recorded call keeps beside its input and result.
Bytes kept_by(const MaxPoolOptions<2>& options) {
  const auto domain = memory::Domain::create({.name = "pool"});
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.domain = domain.get(); });
  const auto live = [&] {
    std::array<memory::Row, 64> rows;
    const int count = domain->live_rows(rows);
    Bytes bytes = 0;
    for (const memory::Row& row :
         std::span(rows).first(static_cast<std::size_t>(count))) {
      bytes += row.tag.category == memory::Category::kActivations ? row.bytes
                                                                  : Bytes{0};
    }
    return bytes;
  };
  const Tensor x = requires_grad_(ones({4, 2, 32, 32}));
  const Bytes before = live();
  const Tensor y = max_pool2d(x, options);
  return live() - before - 4 * y.element_count();
}

TEST(MaxPool2dTest, KeepsAsFewBitsAsTheWindowAllows) {
  EXPECT_EQ(kept_by({.kernel = {1, 2}}), 8 * 32 * 16 * 1 / 8);
  EXPECT_EQ(kept_by({.kernel = 2}), 8 * 16 * 16 * 2 / 8);
  EXPECT_EQ(kept_by({.kernel = 3, .stride = 2, .padding = 1}),
            8 * 16 * 16 * 4 / 8);
  const NoGrad guard;
  EXPECT_EQ(kept_by({.kernel = 2}), 0);
}

TEST(MaxPool2dTest, NanWins) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Tensor y =
      max_pool2d(from_values({1, nan, 3, 4}, {1, 1, 2, 2}), {.kernel = 2});
  EXPECT_TRUE(std::isnan(y.item()));
}

constexpr const char* kName = "test";

kernels::PoolAttrs regular(std::int64_t h, std::int64_t w) {
  return {.h = ops::pool_axis(kName, h, {3, 2, 1, 1, false}),
          .w = ops::pool_axis(kName, w, {2, 2, 0, 1, true}),
          .keeps_codes = true};
}

kernels::PoolAttrs adaptive(std::int64_t h, std::int64_t w) {
  return {.h = ops::adaptive_axis(kName, h, 3),
          .w = ops::adaptive_axis(kName, w, 4),
          .keeps_codes = true};
}

Windows regular_windows() {
  return {places(3, 2, 1, 1, false), places(2, 2, 0, 1, true)};
}

using AttrsOf = kernels::PoolAttrs (*)(std::int64_t, std::int64_t);

Tensor grad(Inputs x, AttrsOf attrs_of) {
  const kernels::PoolAttrs attrs = attrs_of(x[1].size(2), x[1].size(3));
  return ops::max_pool2d_grad(x[0], ops::max_pool2d_of(x[1].detach(), attrs)[1],
                              attrs);
}

Tensor take(Inputs x, AttrsOf attrs_of) {
  const kernels::PoolAttrs attrs = attrs_of(x[1].size(2), x[1].size(3));
  return ops::max_pool2d_take(x[0], ops::max_pool2d_of(x[1].detach(), attrs)[1],
                              attrs);
}

// The position of the largest element of each window of x.
std::vector<std::size_t> winners(const HostArray& x, const Windows& windows) {
  std::vector<std::size_t> out;
  for_windows(x, windows, [&](const auto& window, const auto&, const auto&) {
    out.push_back(std::max_element(window.begin(), window.end(),
                                   [](const auto& a, const auto& b) {
                                     return a.value < b.value;
                                   })
                      ->at);
  });
  return out;
}

Reference grads(const Windows& windows) {
  return [windows](std::span<const HostArray> x) {
    std::vector<double> dx(x[1].values.size());
    const auto at = winners(x[1], windows);
    for (std::size_t i = 0; i < at.size(); ++i) {
      dx[at[i]] += x[0].values[i];
    }
    return dx;
  };
}

Reference taken(const Windows& windows) {
  return [windows](std::span<const HostArray> x) {
    std::vector<double> y;
    for (const std::size_t at : winners(x[1], windows)) {
      y.push_back(x[0].values[at]);
    }
    return y;
  };
}

ErrorRow bad_codes(OpFunction fn) {
  return {
      .name = "codes",
      .fn = std::move(fn),
      .inputs = {uniform({1, 1, 2, 2}, 0, 1), integers({1, 7}, 0, 2).as(u8)},
      .error = typeid(ShapeError)};
}

OpTable grad_table() {
  return {.name = "max_pool2d_grad",
          .op = &ops::kMaxPool2dGrad,
          .rows = {{.name = "regular",
                    .fn = [](Inputs x) { return grad(x, regular); },
                    .inputs = {uniform({2, 2, 4, 4}, -1, 1),
                               distinct({2, 2, 7, 7}).constant()},
                    .reference = grads(regular_windows()),
                    .zero_size = {{{0, 2, 4, 4}, {0, 2, 7, 7}}}},
                   {.name = "adaptive",
                    .fn = [](Inputs x) { return grad(x, adaptive); },
                    .inputs = {uniform({1, 2, 3, 4}, -1, 1),
                               distinct({1, 2, 7, 6}).constant()},
                    .reference = grads(adaptive_windows(3, 4))}},
          .errors = {bad_codes([](Inputs x) {
            return ops::max_pool2d_grad(x[0], x[1], regular(3, 4));
          })}};
}

OpTable take_table() {
  return {.name = "max_pool2d_take",
          .op = &ops::kMaxPool2dTake,
          .rows = {{.name = "regular",
                    .fn = [](Inputs x) { return take(x, regular); },
                    .inputs = {uniform({2, 2, 7, 7}, -1, 1),
                               distinct({2, 2, 7, 7}).constant()},
                    .reference = taken(regular_windows()),
                    .zero_size = {{{0, 2, 7, 7}, {0, 2, 7, 7}}}},
                   {.name = "adaptive",
                    .fn = [](Inputs x) { return take(x, adaptive); },
                    .inputs = {uniform({1, 2, 7, 6}, -1, 1),
                               distinct({1, 2, 7, 6}).constant()},
                    .reference = taken(adaptive_windows(3, 4))}},
          .errors = {bad_codes([](Inputs x) {
            return ops::max_pool2d_take(x[0], x[1], regular(2, 2));
          })}};
}

const Listed kGradListed(grad_table);
const Listed kTakeListed(take_table);

}  // namespace
}  // namespace neap::testing
