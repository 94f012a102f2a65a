// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A program that knows nothing of reports. exit_page_test.py and doctor_test.py
// look at it, through the environment alone, as it trains and ends in one of
// several ways.
//
// usage: neap_watched_program [KIND...]
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <span>
#include <string_view>
#include <thread>
#include <vector>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// No object that goes while threads run on.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
std::span<char*> kinds;

bool is(std::string_view kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Tensors that outlive main, and go with the static objects.
std::vector<Tensor>& losses() {
  static std::vector<Tensor> instance;
  return instance;
}

void train(int steps) {
  neap::nn::Linear first(16, 32);
  neap::nn::Linear second(32, 4);
  neap::ParameterList parameters = first.parameters();
  for (const auto& parameter : second.parameters()) {
    parameters.push_back(parameter);
  }
  neap::optim::Adam adam(parameters, {.lr = 0.001});
  const auto body = [&](const Tensor& x) {
    Tensor loss = mean(square(second(relu(first(x)))));
    backward(loss);
    adam.step();
    adam.zero_grad();
    return loss;
  };
  auto step = neap::compile(body);
  if (is("prepared")) {
    step.prepare({neap::tensor::Spec{neap::f32, {8, 16}}});
  }
  if (is("evaluated")) {
    step(neap::ones({64, 16}));  // a larger arena than those that follow
  }
  const Tensor x = neap::ones({8, 16});
  for (int i = 0; i < steps; ++i) {
    const Tensor loss = is("eager") ? body(x) : step(x);
    if (is("grow")) {
      losses().push_back(loss + 1.0);  // planted growth
    }
  }
}

// Trains with an optimizer for each layer, which all create state at first.
void train_by_layers(int steps) {
  std::vector<neap::nn::Linear> layers;
  std::deque<neap::optim::Adam> optimizers;
  for (int i = 0; i < 5; ++i) {
    layers.emplace_back(16, 16);
    optimizers.emplace_back(layers.back().parameters(),
                            neap::optim::AdamOptions{.lr = 0.001});
  }
  for (int i = 0; i < steps; ++i) {
    Tensor y = neap::ones({8, 16});
    for (const neap::nn::Linear& layer : layers) {
      y = tanh(layer(y));
    }
    backward(mean(square(y)));
    for (neap::optim::Adam& adam : optimizers) {
      adam.step();
      adam.zero_grad();
    }
  }
}

// Calls a model that nobody trains.
void infer(int steps) {
  const neap::NoGrad guard;
  const neap::nn::Linear layer(16, 4);
  for (int i = 0; i < steps; ++i) {
    const Tensor y = layer(neap::ones({8, 16}));
    if (is("grow")) {
      losses().push_back(y + 1.0);  // planted growth
    }
  }
}

void leak() {
  auto* leaked = new Tensor;
  *leaked = neap::zeros({10, 100});  // planted leak
}  // NOLINT(clang-analyzer-cplusplus.NewDeleteLeaks): that is what it is for

void be_refused() {
  try {
    const neap::Budget budget(neap::memory::domain().stats().held +
                              neap::memory::domain().stats().external + 4096);
    static_cast<void>(neap::zeros({1000, 1000}));
  } catch (const neap::OutOfMemory&) {
    return;
  }
  std::abort();
}

// Trains in another thread, which nobody ends, while the process does.
void train_on() {
  static std::atomic<bool> has_begun{false};
  std::thread([] {
    for (;;) {
      train(3);
      has_begun = true;
    }
  }).detach();
  while (!has_begun) {
    std::this_thread::yield();
  }
}

void exit_in_a_child() {
  const pid_t child = ::fork();
  if (child == 0) {
    std::exit(0);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child || status != 0) {
    std::abort();
  }
}

}  // namespace

int main(int argc, char** argv) {
  kinds = std::span(argv, static_cast<std::size_t>(argc)).subspan(1);
  if (is("layers")) {
    train_by_layers(is("short") ? 1 : 20);
  } else if (is("inference")) {
    infer(is("short") ? 5 : 20);
  } else {
    train(is("long") ? 5000 : is("short") ? 5 : 20);
  }
  if (is("leak")) {
    leak();
  }
  if (is("refused")) {
    be_refused();
  }
  if (is("elsewhere")) {
    std::filesystem::current_path("/");
  }
  if (is("fork")) {
    exit_in_a_child();
  }
  if (is("busy")) {
    train_on();
  }
  if (is("deaf")) {
    ::close(STDERR_FILENO);
  }
  if (is("killed")) {
    ::raise(SIGKILL);
  }
  if (is("quick")) {
    std::quick_exit(0);
  }
  if (is("thrown")) {
    throw neap::ValueError("thrown");
  }
  if (is("replaced")) {
    ::execl("/bin/true", "true", nullptr);
  }
  if (is("thread")) {
    std::thread([] { std::exit(7); }).join();
  }
  std::puts("trained");
  return is("fails") ? 7 : 0;
}
