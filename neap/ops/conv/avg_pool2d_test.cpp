// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/avg_pool2d.hpp"

#include "neap/kernels/conv/pool.hpp"
#include "neap/ops/conv/pool.hpp"
#include "neap/ops/conv/pool_for_test.hpp"

namespace neap::testing {
namespace {

Windows places_of(const AvgPoolOptions<2>& o) {
  return windows_of(MaxPoolOptions<2>{.kernel = o.kernel,
                                      .stride = o.stride,
                                      .padding = o.padding,
                                      .ceil_mode = o.ceil_mode});
}

// The divisor of a window: places that are neither in x nor in its padding
// never count.
double divisor(const AvgPoolOptions<2>& o, const HostArray& x,
               const std::vector<std::int64_t>& rows,
               const std::vector<std::int64_t>& columns) {
  if (o.divisor_override) {
    return static_cast<double>(*o.divisor_override);
  }
  const auto count = [&](const std::vector<std::int64_t>& places, int axis) {
    const std::int64_t in = x.shape[x.shape.rank() - 2 + axis];
    const std::int64_t pad = o.count_include_pad ? o.padding[axis] : 0;
    return std::count_if(places.begin(), places.end(), [&](std::int64_t i) {
      return i >= -pad && i < in + pad;
    });
  };
  return static_cast<double>(count(rows, 0) * count(columns, 1));
}

Reference averaged(const AvgPoolOptions<2>& o) {
  return [o](std::span<const HostArray> x) {
    std::vector<double> y;
    for_windows(x[0], places_of(o),
                [&](const auto& window, const auto& rows, const auto& columns) {
                  double sum = 0.0;
                  for (const PoolElement& element : window) {
                    sum += element.value;
                  }
                  y.push_back(sum / divisor(o, x[0], rows, columns));
                });
    return y;
  };
}

double mean_of(const std::vector<PoolElement>& window) {
  double sum = 0.0;
  for (const PoolElement& element : window) {
    sum += element.value;
  }
  return sum / static_cast<double>(window.size());
}

OpRow row(std::string name, const Shape& shape,
          const AvgPoolOptions<2>& options) {
  return {.name = std::move(name),
          .fn = [options](Inputs x) { return avg_pool2d(x[0], options); },
          .inputs = {uniform(shape, -1, 1)},
          .reference = averaged(options)};
}

OpTable avg_pool2d_table() {
  OpTable table{
      .name = "avg_pool2d",
      .op = &ops::kAvgPool2d,
      .rows = {row("2 x 2", {2, 3, 6, 8}, {.kernel = 2}),
               row("padding counts", {1, 2, 7, 9},
                   {.kernel = 3, .stride = 2, .padding = 1}),
               row("padding does not count", {2, 5, 6},
                   {.kernel = {3, 2},
                    .stride = 1,
                    .padding = 1,
                    .count_include_pad = false}),
               row("ceil", {1, 1, 8, 5},
                   {.kernel = 3, .stride = 3, .padding = 1, .ceil_mode = true}),
               row("divisor", {1, 1, 4, 5},
                   {.kernel = 2, .stride = 3, .divisor_override = 7}),
               row("global", {2, 2, 5, 4}, {.kernel = {5, 4}})}};
  table.rows[0].zero_size = {{{0, 3, 4, 4}}, {{2, 0, 4, 4}}};
  table.errors = {
      {.name = "padding",
       .fn =
           [](Inputs x) {
             return avg_pool2d(x[0], {.kernel = 3, .padding = 2});
           },
       .inputs = {uniform({1, 1, 4, 4}, 0, 1)},
       .error = typeid(ValueError)},
      {.name = "divisor",
       .fn =
           [](Inputs x) {
             return avg_pool2d(x[0], {.kernel = 3, .divisor_override = 0});
           },
       .inputs = {uniform({1, 1, 4, 4}, 0, 1)},
       .error = typeid(ValueError)},
      {.name = "integers",
       .fn = [](Inputs x) { return avg_pool2d(x[0], {.kernel = 1}); },
       .inputs = {integers({1, 1, 4, 4}, 0, 3).as(i32)},
       .error = typeid(DTypeError)}};
  return table;
}

OpTable avg_pool1d_table() {
  const AvgPoolOptions<2> flat{.kernel = {1, 3},
                               .stride = {1, 2},
                               .padding = {0, 1},
                               .count_include_pad = false};
  Windows windows = places_of(flat);
  windows.is_flat = true;
  const auto fn = [](Inputs x) {
    return avg_pool1d(
        x[0],
        {.kernel = 3, .stride = 2, .padding = 1, .count_include_pad = false});
  };
  return {.name = "avg_pool1d",
          .rows = {{.name = "batch",
                    .fn = fn,
                    .inputs = {uniform({2, 3, 8}, -1, 1)},
                    .reference = pooled(windows, mean_of),
                    .shape = Shape{2, 3, 4},
                    .zero_size = {{{0, 3, 7}}}},
                   {.name = "no batch",
                    .fn = fn,
                    .inputs = {uniform({3, 8}, -1, 1)},
                    .reference = pooled(windows, mean_of),
                    .shape = Shape{3, 4}}},
          .errors = {{.name = "rank",
                      .fn = fn,
                      .inputs = {uniform({1, 1, 4, 4}, 0, 1)},
                      .error = typeid(ShapeError)}}};
}

OpTable adaptive_avg_pool2d_table() {
  const auto adaptive = [](std::string name, const Shape& shape, std::int64_t h,
                           std::int64_t w) {
    return OpRow{.name = std::move(name),
                 .fn =
                     [h, w](Inputs x) {
                       return adaptive_avg_pool2d(x[0], {h, w});
                     },
                 .inputs = {uniform(shape, -1, 1)},
                 .reference = pooled(adaptive_windows(h, w), mean_of)};
  };
  OpTable table{.name = "adaptive_avg_pool2d",
                .rows = {adaptive("overlapping", {2, 2, 7, 5}, 3, 4),
                         adaptive("global", {2, 3, 6, 4}, 1, 1),
                         adaptive("more than there are", {2, 2, 3}, 4, 6),
                         adaptive("as it is", {1, 2, 3, 4}, -1, 2)}};
  table.rows[0].zero_size = {{{0, 2, 7, 5}}};
  table.errors = {{.name = "nothing",
                   .fn = [](Inputs x) { return adaptive_avg_pool2d(x[0], 1); },
                   .inputs = {uniform({1, 1, 0, 4}, 0, 1)},
                   .error = typeid(ShapeError)}};
  return table;
}

OpTable adaptive_avg_pool1d_table() {
  Windows windows = adaptive_windows(-1, 3);
  windows.is_flat = true;
  const auto fn = [](Inputs x) { return adaptive_avg_pool1d(x[0], 3); };
  return {.name = "adaptive_avg_pool1d",
          .rows = {{.name = "overlapping",
                    .fn = fn,
                    .inputs = {uniform({2, 2, 7}, -1, 1)},
                    .reference = pooled(windows, mean_of),
                    .zero_size = {{{0, 2, 7}}}}},
          .errors = {{.name = "rank",
                      .fn = fn,
                      .inputs = {uniform({4}, 0, 1)},
                      .error = typeid(ShapeError)}}};
}

// g of x's windows; x is there for its shape.
OpTable avg_pool2d_grad_table() {
  const AvgPoolOptions<2> options{
      .kernel = {3, 2}, .stride = 2, .padding = {1, 0}, .ceil_mode = true};
  const kernels::PoolAttrs attrs{
      .h = ops::pool_axis("test", 7, {3, 2, 1, 1, true}),
      .w = ops::pool_axis("test", 6, {2, 2, 0, 1, true})};
  const auto reference = [options](std::span<const HostArray> g) {
    HostArray x{{g[0].shape[0], g[0].shape[1], 7, 6}, {}};
    x.values.resize(static_cast<std::size_t>(x.shape.element_count()));
    std::vector<double> dx(x.values.size());
    std::size_t i = 0;
    for_windows(x, places_of(options),
                [&](const auto& window, const auto& rows, const auto& columns) {
                  for (const PoolElement& element : window) {
                    dx[element.at] +=
                        g[0].values[i] / divisor(options, x, rows, columns);
                  }
                  ++i;
                });
    return dx;
  };
  return {.name = "avg_pool2d_grad",
          .op = &ops::kAvgPool2dGrad,
          .rows = {{.name = "regular",
                    .fn =
                        [attrs](Inputs x) {
                          return ops::avg_pool2d_grad(x[0], attrs);
                        },
                    .inputs = {uniform({2, 2, 4, 3}, -1, 1)},
                    .reference = reference,
                    .zero_size = {{{0, 2, 4, 3}}}}},
          .errors = {{.name = "shape",
                      .fn =
                          [attrs](Inputs x) {
                            return ops::avg_pool2d_grad(x[0], attrs);
                          },
                      .inputs = {uniform({2, 2, 3, 3}, -1, 1)},
                      .error = typeid(ShapeError)}}};
}

const Listed kAvgPool2dListed(avg_pool2d_table);
const Listed kListed1d(avg_pool1d_table);
const Listed kListedAdaptive(adaptive_avg_pool2d_table);
const Listed kListedAdaptive1d(adaptive_avg_pool1d_table);
const Listed kListedGrad(avg_pool2d_grad_table);

}  // namespace
}  // namespace neap::testing
