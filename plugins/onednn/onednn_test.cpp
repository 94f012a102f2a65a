// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The plug-in's products and convolutions lie close to our own, and what it
// does not take goes to ours.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <string_view>
#include <vector>

#include "neap/base/philox.hpp"
#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/engine/plugin.hpp"
#include "neap/kernels/gemm/matmul.hpp"
#include "neap/kernels/linalg/linear.hpp"
#include "neap/threads/pool.hpp"

namespace neap::kernels {
namespace {

struct Array {
  std::vector<float> elements;
  Strided view;

  explicit Array(const Shape& shape, std::uint64_t seed = 0)
      : elements(static_cast<std::size_t>(shape.element_count())) {
    const base::DrawKey key{seed, 0};
    for (std::size_t i = 0; i < elements.size(); ++i) {
      elements[i] = base::uniform_f32(key.word(i)) - 0.5F;
    }
    view = {reinterpret_cast<std::byte*>(elements.data()), f32, shape,
            base::row_major_strides(shape)};
  }
};

Strided transposed(Strided x) {
  const int last = x.shape.rank() - 1;
  std::swap(x.shape[last], x.shape[last - 1]);
  std::swap(x.strides[last], x.strides[last - 1]);
  return x;
}

void run(const Kernel& kernel, Args args) {
  std::vector<std::byte> scratch(
      static_cast<std::size_t>(scratch_bytes(kernel, args)));
  args.scratch = scratch;
  kernel.run(args);
}

// Our reference.
const Kernel& last_of(const KernelList& list) {
  const Kernel* last = nullptr;
  for (const Kernel& kernel : list.kernels) {
    last = kernel.dtype == f32 ? &kernel : last;
  }
  return *last;
}

class OnednnTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    const Result<void> loaded = load_plugin(NEAP_ONEDNN_FILE);
    ASSERT_TRUE(loaded) << loaded.error().message;
  }

  // Runs what find() gives and our own, at one thread and at two.
  static void expect_close(const KernelList& list, std::string_view kernel_name,
                           std::span<const Strided> in, const Shape& shape,
                           const void* attrs = nullptr) {
    for (const int threads : {1, 2}) {
      threads::Pool pool(threads);
      Array y(shape);
      Array expected(shape);
      Args args;
      args.in = in;
      args.out = {&y.view, 1};
      args.attrs = attrs;
      args.executor = &pool;
      const Kernel& kernel = find(list, memory::kHost, f32, args);
      ASSERT_EQ(kernel.name, kernel_name);
      run(kernel, args);
      args.out = {&expected.view, 1};
      run(last_of(list), args);
      for (std::size_t i = 0; i < y.elements.size(); ++i) {
        ASSERT_NEAR(y.elements[i], expected.elements[i], 1e-4) << i;
      }
    }
  }
};

TEST_F(OnednnTest, NamesItselfBesideOurs) {
  EXPECT_STREQ(kernel_set(), "neap+onednn");
}

TEST_F(OnednnTest, MayBeLoadedTwice) {
  EXPECT_TRUE(load_plugin(NEAP_ONEDNN_FILE));
  EXPECT_STREQ(kernel_set(), "neap+onednn");
}

TEST_F(OnednnTest, MultipliesMatricesThatLieEitherWay) {
  const Array a({37, 50}, 1);
  const Array b({50, 23}, 2);
  const Array a_turned({50, 37}, 3);
  const Array b_turned({23, 50}, 4);
  for (const Strided& x : {a.view, transposed(a_turned.view)}) {
    for (const Strided& y : {b.view, transposed(b_turned.view)}) {
      expect_close(matmul_kernels, "onednn.matmul.f32", std::array{x, y},
                   {37, 23});
    }
  }
}

TEST_F(OnednnTest, MultipliesBatchesAndBroadcastsThem) {
  const Array a({3, 1, 7, 8}, 1);
  const Array b({4, 8, 5}, 2);
  expect_close(matmul_kernels, "onednn.matmul.f32", std::array{a.view, b.view},
               {3, 4, 7, 5});
}

TEST_F(OnednnTest, MultipliesSingleRowsAndColumns) {
  const Array row({1, 9}, 1);
  const Array b({9, 4}, 2);
  const Array column({9, 1}, 3);
  expect_close(matmul_kernels, "onednn.matmul.f32",
               std::array{row.view, b.view}, {1, 4});
  expect_close(matmul_kernels, "onednn.matmul.f32",
               std::array{row.view, column.view}, {1, 1});
}

TEST_F(OnednnTest, AddsTheBiasOfALayer) {
  const Array x({64, 100}, 1);
  const Array w({30, 100}, 2);
  const Array bias({30}, 3);
  expect_close(linear_kernels, "onednn.linear.f32",
               std::array{x.view, w.view, bias.view}, {64, 30});
  expect_close(linear_kernels, "onednn.linear.f32", std::array{x.view, w.view},
               {64, 30});
}

TEST_F(OnednnTest, ConvolvesAndGivesBothGradients) {
  const Array x({2, 4, 9, 8}, 1);
  const Array w({6, 2, 3, 2}, 2);
  const Array y({2, 6, 5, 9}, 3);
  const Array bias({6}, 4);
  const ConvAttrs attrs{.stride = {2, 1},
                        .padding = {1, 1},
                        .x_extent = {9, 8},
                        .kernel = {3, 2},
                        .y_extent = {5, 9},
                        .groups = 2};
  expect_close(conv2d_kernels, "onednn.conv2d.f32",
               std::array{x.view, w.view, bias.view}, y.view.shape, &attrs);
  expect_close(conv_transpose2d_kernels, "onednn.conv_transpose2d.f32",
               std::array{y.view, w.view}, x.view.shape, &attrs);
  expect_close(conv2d_weight_kernels, "onednn.conv2d_weight.f32",
               std::array{x.view, y.view}, w.view.shape, &attrs);
}

TEST_F(OnednnTest, LeavesRepeatedAndEmptyOperandsToOurs) {
  Array a({5, 6}, 1);
  const Array b({6, 4}, 2);
  Strided repeated = a.view;
  repeated.strides = {0, 1};
  expect_close(matmul_kernels, "matmul.f32", std::array{repeated, b.view},
               {5, 4});
  const Array empty({5, 0});
  const Array nothing({0, 4});
  expect_close(matmul_kernels, "matmul.f32",
               std::array{empty.view, nothing.view}, {5, 4});
}

}  // namespace
}  // namespace neap::kernels
