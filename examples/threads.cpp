// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Several threads of a program, and Neap: an executor of the program's own, a
// model that threads share, gradients that threads add up, a compiled step that
// one thread at a time may call, a budget that bounds them all.
#include <array>
#include <cstdint>
#include <cstdio>
#include <system_error>
#include <thread>

#include "neap/neap.hpp"

namespace {

using neap::Tensor;

// Runs body(0) and body(1) at the same time.
template <class Body>
void in_two_threads(const Body& body) {
  std::thread other([&] { body(1); });
  body(0);
  other.join();
}

// Two threads of the program's own: the caller's, and one more for each job.
class OwnThreads final : public neap::threads::Executor {
 public:
  int threads() const noexcept override { return 2; }
  void run(int parts, neap::threads::PartFunction function,
           void* context) noexcept override {
    const auto run_from = [=](int first) noexcept {
      for (int part = first; part < parts; part += 2) {
        function(context, part);
      }
    };
    try {
      std::thread other(run_from, 1);
      run_from(0);
      other.join();
    } catch (const std::system_error&) {  // no thread to be had
      run_from(0);
      run_from(1);
    }
  }
};

// The same bits by the default pool, by one thread and by the program's own.
bool computes_on_own_threads() {
  const Tensor x = neap::randn({300, 300});
  neap::threads::set_default_threads(2);
  const neap::memory::Vector<double> by_pool = matmul(x, x).to_vector();
  neap::threads::set_default_threads(1);
  const neap::memory::Vector<double> by_one = matmul(x, x).to_vector();
  OwnThreads own;
  const neap::tensor::ExecutionGuard use(
      [&own](neap::tensor::Execution& context) { context.executor = &own; });
  const neap::memory::Vector<double> by_own = matmul(x, x).to_vector();
  std::printf("pool, one thread, own threads: the same bits\n");
  return by_pool == by_one && by_one == by_own;
}

// One model read by two threads; each has its own inputs and results.
bool shares_a_model() {
  neap::models::Mlp model(std::array<std::int64_t, 3>{8, 16, 4});
  const Tensor x = neap::randn({5, 8});
  std::array<neap::memory::Vector<double>, 2> answers;
  in_two_threads([&](std::size_t me) {
    const neap::NoGrad no_grad;  // of this thread alone
    answers[me] = model(x).to_vector();
  });
  std::printf("two threads, one model: the same answers\n");
  return answers[0] == answers[1];
}

// Each thread builds and differentiates a graph of its own; what both give a
// shared parameter adds up.
bool adds_gradients() {
  const Tensor w = requires_grad_(neap::full({3}, 2.0));
  in_two_threads([&w](std::size_t me) {
    backward(sum(w * w) * static_cast<double>(me + 1));
  });
  std::printf("d/dw (w w + 2 w w) at 2: %g\n", w.grad().at({0}));
  return w.grad().at({0}) == 12.0;
}

// A step runs one call at a time: a second call is refused, and may be made
// again.
bool calls_one_step_from_two_threads() {
  auto step = neap::compile([](const Tensor& x) { return exp(x) * 2.0; },
                            {.keep_all = true});
  const Tensor x = neap::zeros({1000});
  std::array<int, 2> right = {0, 0};
  in_two_threads([&](std::size_t me) {
    while (right[me] < 100) {
      try {
        right[me] += step(x).at({999}) == 2.0 ? 1 : 0;
      } catch (const neap::ValueError&) {  // the other thread is inside
        std::this_thread::yield();
      }
    }
  });
  std::printf("one step, two threads: %d right calls\n", right[0] + right[1]);
  return true;
}

// A budget of one thread bounds what the others ask the domain for.
bool bounds_all_threads() {
  neap::memory::trim();  // idle pages would do, and are held already
  const neap::memory::Stats now = neap::memory::domain().stats();
  const neap::Budget budget(now.held + now.external + neap::kMiB);
  bool is_refused = false;
  std::thread other([&is_refused] {
    try {
      const Tensor x = neap::zeros({1024, 1024});
    } catch (const neap::OutOfMemory&) {
      is_refused = true;
    }
  });
  other.join();
  std::printf("4 MiB in another thread, 1 MiB to spare: refused\n");
  return is_refused;
}

bool run() {
  return computes_on_own_threads() && shares_a_model() && adds_gradients() &&
         calls_one_step_from_two_threads() && bounds_all_threads();
}

}  // namespace

int main() {
  const bool is_right = run();
  const neap::Bytes live = neap::memory::domain().stats().live;
  std::printf("live at exit: %s\n", neap::format_bytes(live).c_str());
  return is_right && live == 0 ? 0 : 1;
}
