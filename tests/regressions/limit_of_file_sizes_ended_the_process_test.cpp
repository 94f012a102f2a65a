// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program with a limit of the size of its files (RLIMIT_FSIZE) was ended by
// SIGXFSZ where the library saved a model, made a file for values of a step, or
// laid out a step in pages: an error of the caller's kind is what it gets.
#include <gtest/gtest.h>

#include <filesystem>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/files/io_error.hpp"
#include "neap/files/size_limit_for_test.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/save.hpp"

namespace neap::compiler {
namespace {

constexpr rlim_t kLimit = 4 * 1024;

using files::expect_in_a_child;
using files::set_size_limit;

// Products that are kept for backward.
struct Net {
  std::vector<Tensor> weights;

  Net() {
    seed(1);
    for (int i = 0; i < 8; ++i) {
      weights.push_back(requires_grad_(randn({32, 32}) * 0.2));
    }
  }
  auto step() {
    return [this](const Tensor& x) {
      Tensor y = x;
      for (const Tensor& w : weights) {
        y = tanh(matmul(y, w));
      }
      const Tensor loss = sum(square(y));
      backward(loss);
      const NoGrad none;
      for (const Tensor& w : weights) {
        sub_(w, w.grad() * 0.01);
        set_grad(w, {});
      }
      return loss;
    };
  }
  std::vector<std::vector<float>> state() const {
    std::vector<std::vector<float>> all;
    for (const Tensor& w : weights) {
      all.push_back(floats(w));
    }
    return all;
  }
};

class LimitOfFileSizesTest : public testing::Test {
 protected:
  CompileOptions spilling() const {
    return {.arena_limit = 256 * kKiB,
            .spill = {.folder = folder_.path(),
                      .write_rate = 4'000'000'000,
                      .fetch_rate = 4'000'000'000,
                      .least = 4 * kKiB},
            .recompute = false};
  }

  files::TemporaryFolder folder_;
  const Tensor x_ = ones({512, 32});
};

TEST_F(LimitOfFileSizesTest, AModelThatIsSavedBeyondItLeavesTheOldFile) {
  const nn::Linear model(64, 64);
  folder_.put("model.safetensors", "old");
  expect_in_a_child([&] {
    set_size_limit(kLimit);
    const auto saved = neap::save(model, folder_.at("model.safetensors"));
    return !saved.has_value() && saved.error().kind == FailureKind::kIo;
  });
  EXPECT_EQ(folder_.get("model.safetensors"), "old");
}

TEST_F(LimitOfFileSizesTest, AStepThatSpillsBeyondItIsRefusedAndGoesOnLater) {
  expect_in_a_child([&] {
    Net plain;
    const double expected = plain.step()(x_).item();
    Net net;
    auto step = neap::compile(net.step(), spilling());
    const auto before = net.state();
    set_size_limit(kLimit);
    try {
      step(x_);
      return false;
    } catch (const IoError&) {
    }
    const bool is_as_before = net.state() == before;
    set_size_limit(files::size_limits().rlim_max);
    return is_as_before && step(x_).item() == expected &&
           net.state() == plain.state();
  });
}

// The file is there, and the thread beside the step writes into it.
TEST_F(LimitOfFileSizesTest, AWriteOfALaterStepBeyondItIsATypedError) {
  expect_in_a_child([&] {
    Net net;
    auto step = neap::compile(net.step(), spilling());
    step(x_);
    const auto before = net.state();
    set_size_limit(kLimit);
    try {
      step(x_);
      return false;
    } catch (const IoError&) {
      return net.state() == before;
    } catch (const TornStep&) {
      return true;
    }
  });
}

TEST_F(LimitOfFileSizesTest, AStepInPagesBeyondItIsOutOfMemory) {
  expect_in_a_child([&] {
    Net net;
    CompileOptions options{.paged = true};
    options.debug.scatter = true;  // in pages, small as it is
    auto step = neap::compile(net.step(), options);
    const auto before = net.state();
    set_size_limit(kLimit);
    try {
      step(x_);
      return false;
    } catch (const OutOfMemory&) {
      return net.state() == before;
    }
  });
}

}  // namespace
}  // namespace neap::compiler
