// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A stride of 2^63 - 1 made a convolution run for ever, and its sums wrapped.
// Every op that takes integers gives a result or a typed error, at once, for
// the largest and the smallest that there are.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <ctime>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/budget.hpp"
#include "neap/ops/conv/avg_pool2d.hpp"
#include "neap/ops/conv/conv1d.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv_transpose1d.hpp"
#include "neap/ops/conv/conv_transpose2d.hpp"
#include "neap/ops/conv/interpolate.hpp"
#include "neap/ops/conv/max_pool2d.hpp"
#include "neap/ops/indexing/embedding.hpp"
#include "neap/ops/linalg/triangle.hpp"
#include "neap/ops/reduction/cumsum.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/sequence/rotary_embedding.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/diagonal.hpp"
#include "neap/ops/shape/flip.hpp"
#include "neap/ops/shape/pad.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/split.hpp"
#include "neap/ops/shape/tile.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using Call = std::function<Tensor(const Tensor& x, std::int64_t n)>;

struct Row {
  std::string name;
  Call call;
};

void PrintTo(const Row& row, std::ostream* out) {
  *out << row.name;
}

constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kSmallest = std::numeric_limits<std::int64_t>::lowest();
constexpr std::int64_t power_of_two(int exponent) {
  return std::int64_t{1} << exponent;
}
constexpr std::array kExtremes = {
    kLargest,         kLargest - 1,     kLargest / 2,     kLargest / 2 + 1,
    kSmallest,        kSmallest + 1,    kSmallest / 2,    power_of_two(40),
    power_of_two(38), power_of_two(33), power_of_two(31), power_of_two(31) - 3,
    std::int64_t{-1}, std::int64_t{0}};

Tensor all(const memory::Vector<Tensor>& parts) {
  return concat(parts);
}

// x: (1, 2, 4, 4).
std::vector<Row> windows() {
  const Tensor w = full({2, 2, 3, 3}, 0.5);
  const Tensor d = full({2, 1, 3, 3}, 0.5);
  const auto line = [](const Tensor& x) { return reshape(x, {1, 2, 16}); };
  const Tensor w1 = full({2, 2, 3}, 0.5);
  return {{"conv2d stride",
           [=](auto& x, auto n) { return conv2d(x, w, {.stride = n}); }},
          {"conv2d padding",
           [=](auto& x, auto n) { return conv2d(x, w, {.padding = n}); }},
          {"conv2d dilation",
           [=](auto& x, auto n) { return conv2d(x, w, {.dilation = n}); }},
          {"conv2d groups",
           [=](auto& x, auto n) { return conv2d(x, w, {.groups = n}); }},
          {"conv2d padding and stride",
           [=](auto& x, auto n) {
             return conv2d(x, w, {.stride = n, .padding = n});
           }},
          {"conv2d all",
           [=](auto& x, auto n) {
             return conv2d(x, w, {.stride = n, .padding = n, .dilation = n});
           }},
          {"conv2d by channel",
           [=](auto& x, auto n) {
             return conv2d(x, d, {.stride = {1, n}, .padding = 1, .groups = 2});
           }},
          {"conv1d stride", [=](auto& x, auto n) {
             return conv1d(line(x), w1, {.stride = n});
           }}};
}

std::vector<Row> transposes() {
  const Tensor w = full({2, 2, 3, 3}, 0.5);
  return {
      {"conv_transpose2d stride",
       [=](auto& x, auto n) { return conv_transpose2d(x, w, {.stride = n}); }},
      {"conv_transpose2d stride of one place",
       [=](auto& x, auto n) {
         return conv_transpose2d(slice(slice(x, 2, 0, 1), 3, 0, 1), w,
                                 {.stride = n});
       }},
      {"conv_transpose2d stride and padding",
       [=](auto& x, auto n) {
         return conv_transpose2d(x, w, {.stride = n, .padding = n});
       }},
      {"conv_transpose2d dilation",
       [=](auto& x, auto n) {
         return conv_transpose2d(x, w, {.padding = 1, .dilation = n});
       }},
      {"conv_transpose2d output_padding", [=](auto& x, auto n) {
         return conv_transpose2d(
             x, w,
             {.stride = n, .output_padding = std::max(n, kSmallest + 1) - 1});
       }}};
}

std::vector<Row> pools() {
  return {
      {"max_pool2d kernel",
       [](auto& x, auto n) { return max_pool2d(x, {.kernel = n}); }},
      {"max_pool2d kernel and padding",
       [](auto& x, auto n) {
         return max_pool2d(x, {.kernel = n, .stride = 1, .padding = n / 2});
       }},
      {"max_pool2d stride",
       [](auto& x, auto n) {
         return max_pool2d(x, {.kernel = 2, .stride = n});
       }},
      {"max_pool2d stride, upwards",
       [](auto& x, auto n) {
         return max_pool2d(x, {.kernel = 2, .stride = n, .ceil_mode = true});
       }},
      {"max_pool2d dilation",
       [](auto& x, auto n) {
         return max_pool2d(x, {.kernel = 2, .stride = 1, .dilation = n});
       }},
      {"avg_pool2d kernel and padding",
       [](auto& x, auto n) {
         return avg_pool2d(x, {.kernel = n, .stride = 1, .padding = n / 2});
       }},
      {"avg_pool2d stride, upwards",
       [](auto& x, auto n) {
         return avg_pool2d(x, {.kernel = 3, .stride = n, .ceil_mode = true});
       }},
      {"avg_pool2d divisor",
       [](auto& x, auto n) {
         return avg_pool2d(x, {.kernel = 2, .divisor_override = n});
       }},
      {"adaptive_avg_pool2d",
       [](auto& x, auto n) { return adaptive_avg_pool2d(x, n); }},
      {"adaptive_max_pool2d",
       [](auto& x, auto n) { return adaptive_max_pool2d(x, n); }},
      {"interpolate",
       [](auto& x, auto n) { return interpolate(x, {.size = n}); }},
      {"interpolate scale",
       [](auto& x, auto n) {
         return interpolate(x, {.scale = static_cast<double>(n)});
       }},
      {"interpolate bilinear", [](auto& x, auto n) {
         return interpolate(x, {.size = {1, n},
                                .mode = Interpolation::kBilinear,
                                .align_corners = true});
       }}};
}

std::vector<Row> layouts() {
  return {
      {"slice start", [](auto& x, auto n) { return slice(x, 3, n); }},
      {"slice stop", [](auto& x, auto n) { return slice(x, 3, 0, n); }},
      {"slice step", [](auto& x, auto n) { return slice(x, 3, 0, kEnd, n); }},
      {"slice all", [](auto& x, auto n) { return slice(x, 3, n, n, n); }},
      {"slice axis", [](auto& x, auto n) { return slice(x, n, 0); }},
      {"narrow start", [](auto& x, auto n) { return narrow(x, 3, n, 1); }},
      {"narrow length", [](auto& x, auto n) { return narrow(x, 3, 1, n); }},
      {"select", [](auto& x, auto n) { return select(x, 3, n); }}};
}

std::vector<Row> borders() {
  return {{"pad",
           [](auto& x, auto n) {
             return pad(x, {n, n});
           }},
          {"pad against",
           [](auto& x, auto n) {
             return pad(x, {n, -(n / 2)});
           }},
          {"pad reflect",
           [](auto& x, auto n) {
             return pad(x, {n, 0}, PadMode::kReflect);
           }},
          {"pad replicate",
           [](auto& x, auto n) {
             return pad(x, {0, n}, PadMode::kReplicate);
           }},
          {"tile", [](auto& x, auto n) { return tile(x, {n}); }},
          {"repeat",
           [](auto& x, auto n) {
             return repeat(x, {1, 1, n, n});
           }},
          {"repeat_interleave",
           [](auto& x, auto n) { return repeat_interleave(x, n, 3); }},
          {"roll", [](auto& x, auto n) { return roll(x, n, 3); }},
          {"roll all", [](auto& x, auto n) { return roll(x, n); }},
          {"flip", [](auto& x, auto n) { return flip(x, {n}); }},
          {"tril", [](auto& x, auto n) { return tril(x, n); }},
          {"triu", [](auto& x, auto n) { return triu(x, n); }}};
}

std::vector<Row> parts() {
  return {
      {"diagonal", [](auto& x, auto n) { return diagonal(x, n, 2, 3); }},
      {"diag", [](auto& x,
                  auto n) { return diag(reshape(x, {x.element_count()}), n); }},
      {"split", [](auto& x, auto n) { return all(split(x, n, 3)); }},
      {"split sizes",
       [](auto& x, auto n) {
         return all(split(x, {n, n}, 3));
       }},
      {"chunk", [](auto& x, auto n) { return all(chunk(x, n, 3)); }},
      {"cumsum", [](auto& x, auto n) { return cumsum(x, n); }},
      {"sum", [](auto& x, auto n) { return sum(x, {n}); }},
      {"reshape",
       [](auto& x, auto n) {
         return reshape(x, {n, -1});
       }},
      {"reshape two",
       [](auto& x, auto n) {
         return reshape(x, {n, n});
       }},
      {"expand",
       [](auto& x, auto n) {
         return expand(slice(x, 3, 0, 1), {1, 2, 4, n});
       }},
      {"unsqueeze", [](auto& x, auto n) { return unsqueeze(x, n); }},
      {"flatten", [](auto& x, auto n) { return flatten(x, n, n); }},
      {"permute",
       [](auto& x, auto n) {
         return permute(x, {0, 1, 2, n});
       }},
      {"rotary first",
       [](auto& x, auto n) { return rotary_embedding(x, {.first = n}); }}};
}

std::vector<Row> made() {
  return {
      {"arange", [](auto&, auto n) { return arange(n); }},
      {"eye", [](auto&, auto n) { return eye(n); }},
      {"zeros",
       [](auto&, auto n) {
         return zeros({n, n});
       }},
      {"rand", [](auto&, auto n) { return rand({n}); }},
      {"randint", [](auto&, auto n) { return randint(n, kLargest, {4}); }},
      {"randint below",
       [](auto&, auto n) { return randint(kSmallest, n, {4}); }},
      {"one_hot", [](auto&, auto n) { return one_hot(zeros({3}, i64), n); }}};
}

// A result, with its backward, or an error of the library's.
void expect_an_end(const Row& row, std::int64_t n) {
  const Tensor x = requires_grad_(full({1, 2, 4, 4}, 0.5));
  const std::clock_t begin = std::clock();
  try {
    const Tensor y = row.call(x, n);
    if (y.requires_grad()) {
      backward(sum(y));
    }
  } catch (const Error&) {
  }
  const auto took = static_cast<double>(std::clock() - begin);
  EXPECT_LT(took / CLOCKS_PER_SEC, 10) << row.name << " of " << n;
}

std::vector<Row> rows() {
  std::vector<Row> out = windows();
  for (auto more :
       {transposes(), pools(), layouts(), borders(), parts(), made()}) {
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

class ExtremeIntegersTest : public testing::TestWithParam<Row> {};

TEST_P(ExtremeIntegersTest, EndsAtOnce) {
  // Beside the code, of which a build with a sanitizer has much more.
  const Bytes external = memory::default_domain().stats().external;
  const Budget budget(external + (Bytes{64} << 20));
  for (const std::int64_t n : kExtremes) {
    SCOPED_TRACE(n);
    expect_an_end(GetParam(), n);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, ExtremeIntegersTest, testing::ValuesIn(rows()),
                         [](const auto& row) {
                           std::string name = row.param.name;
                           for (char& c : name) {
                             c = std::isalnum(c) != 0 ? c : '_';
                           }
                           return name;
                         });

TEST(ExtremeStrideTest, AStrideBeyondTheImageTakesOneWindow) {
  const Tensor x = full({1, 2, 4, 4}, 0.5);
  const Tensor w = full({2, 2, 3, 3}, 0.5);
  EXPECT_EQ(conv2d(x, w, {.stride = kLargest}).to_vector(),
            conv2d(x, w, {.stride = 4}).to_vector());
  EXPECT_EQ(max_pool2d(x, {.kernel = 2, .stride = kLargest, .ceil_mode = true})
                .shape(),
            Shape({1, 2, 1, 1}));
}

}  // namespace
}  // namespace neap
