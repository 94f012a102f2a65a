// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/max_pool2d_grad.hpp"

#include "neap/ops/conv/max_pool2d_take.hpp"
#include "neap/ops/conv/pool.hpp"
#include "neap/ops/conv/pool_for_test.hpp"

namespace neap::testing {
namespace {

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

// Where the largest element of each window of x is.
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
