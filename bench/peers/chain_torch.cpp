// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PyTorch's own cost of an operation, from C++, as a worker of chain_bench: a
// chain of multiplications and additions on 4 floats. Commands, a line each,
// answered with the seconds of each chain:
//   plain N      N chains without gradients
//   recorded N   with a tape, which is dropped
//   backward N   with a tape and its backward
#include <torch/version.h>

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>

namespace {

constexpr int kOps = 1000;

struct Chain {
  at::Tensor x = at::full({4}, 0.5F);
  at::Tensor a = at::full({4}, 0.999F);
  at::Tensor b = at::full({4}, 0.001F);
  at::Tensor cotangent = at::ones({4});

  at::Tensor forward() const {
    at::Tensor y = x;
    for (int i = 0; i < kOps; i += 2) {
      y = y * a;
      y = y + b;
    }
    return y;
  }

  void run(const std::string& command) {
    const bool is_recorded = command != "plain";
    x.requires_grad_(is_recorded);
    const c10::AutoGradMode mode(is_recorded);
    const at::Tensor y = forward();
    if (command == "backward") {
      y.backward(cotangent);
      x.mutable_grad().reset();
    }
  }
};

}  // namespace

int main() {
  at::set_num_threads(1);
  Chain chain;
  std::printf("PyTorch %s, C++\n", TORCH_VERSION);
  std::fflush(stdout);
  std::string command;
  for (int count = 0; std::cin >> command >> count;) {
    using Clock = std::chrono::steady_clock;
    for (int i = 0; i < count; ++i) {
      const auto begin = Clock::now();
      chain.run(command);
      const std::chrono::duration<double> seconds = Clock::now() - begin;
      std::printf("%.9f ", seconds.count());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
}
