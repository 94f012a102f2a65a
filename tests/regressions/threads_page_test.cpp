// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The rules for threads in a program were said in headers only. docs/threads.md
// says it; here is a test for each statement of it that examples/threads.cpp
// and the rooms' own tests do not make.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <optional>
#include <semaphore>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/containers.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/threads/pool.hpp"

namespace neap {
namespace {

template <class Body>
void in_threads(int count, const Body& body) {
  std::vector<std::thread> threads;
  threads.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&body, i] { body(i); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(ThreadsPageTest, ANewThreadStartsWithTheDefaults) {
  const auto domain = Domain::create();
  const UseDomain use_domain(*domain);
  const NoGrad no_grad;
  Generator generator(5);
  const UseGenerator use_generator(generator);
  threads::Pool pool(1);
  const tensor::ExecutionGuard use_pool(
      [&pool](tensor::Execution& c) { c.executor = &pool; });
  const Scope scope;
  in_threads(1, [&](int) {
    EXPECT_EQ(&memory::domain(), &memory::default_domain());
    EXPECT_TRUE(tensor::execution().grad_enabled);
    EXPECT_NE(&tensor::generator(), &generator);
    EXPECT_EQ(&tensor::executor(), &threads::default_pool());
    EXPECT_EQ(Scope::current(), nullptr);
    const Tensor w = requires_grad_(ones({2}));
    backward(sum(w * w));
    EXPECT_EQ(w.grad().at({0}), 2.0);
  });
}

// The second caller meets a pool that is at work.
TEST(ThreadsPageTest, OpsOfSeveralThreadsShareThePool) {
  threads::Pool pool(2);
  const Tensor x = full({200, 200}, 0.125);
  const memory::Vector<double> expected = matmul(x, x).to_vector();
  in_threads(3, [&](int) {
    const tensor::ExecutionGuard use(
        [&pool](tensor::Execution& c) { c.executor = &pool; });
    for (int i = 0; i < 20; ++i) {
      ASSERT_EQ(matmul(x, x).to_vector(), expected);
    }
  });
}

TEST(ThreadsPageTest, HandlesAreCopiedAndDroppedAnywhere) {
  const auto domain = Domain::create();
  {
    const UseDomain use(*domain);
    Tensor x = ones({100});
    std::vector<Tensor> copies(4, x);
    x = Tensor();
    in_threads(4, [&](int i) {
      Tensor mine = std::move(copies[static_cast<std::size_t>(i)]);
      for (int k = 0; k < 100; ++k) {
        const Tensor copy = mine;  // NOLINT(performance-unnecessary-copy*)
        ASSERT_EQ(copy.at({99}), 1.0);
      }
      mine = Tensor();
    });
  }
  EXPECT_EQ(domain->stats().live, 0);
}

TEST(ThreadsPageTest, TwoContributionsGiveTheSameBitsInEitherOrder) {
  const Tensor a = full({64}, 0.1);
  const Tensor b = full({64}, 0.7);
  std::optional<memory::Vector<double>> first;
  for (int round = 0; round < 20; ++round) {
    const Tensor w = requires_grad_(full({64}, 0.3));
    in_threads(2, [&](int i) { backward(sum(exp(w) * (i == 0 ? a : b))); });
    const memory::Vector<double> found = w.grad().to_vector();
    first = first ? first : std::optional(found);
    ASSERT_EQ(found, *first);
  }
}

// A hook of the first backward holds it inside while the second one comes.
TEST(ThreadsPageTest, OneBackwardAtATimeWalksANode) {
  const Tensor x = requires_grad_(ones({2}));
  const Tensor y = square(x);
  std::binary_semaphore is_inside(0);
  std::binary_semaphore may_end(0);
  std::atomic<std::thread::id> hooked;
  register_hook(y, [&](const Tensor&) {
    hooked = std::this_thread::get_id();
    is_inside.release();
    may_end.acquire();
  });
  const Tensor loss = sum(y);
  std::thread other([&] { backward(loss); });
  const std::thread::id id = other.get_id();
  is_inside.acquire();
  EXPECT_THROW(backward(sum(y)), GraphError);
  may_end.release();
  other.join();
  EXPECT_EQ(hooked.load(), id);
  EXPECT_THROW(backward(sum(y)), GraphError);  // it was consumed
  EXPECT_EQ(x.grad().at({0}), 2.0);
}

TEST(ThreadsPageTest, AScopeIsOfItsThread) {
  Tensor theirs;
  Tensor kept;
  {
    Scope scope;
    in_threads(1, [&](int) { theirs = ones({2}); });
    Tensor mine = ones({2});
    const Tensor passed = scope.keep(ones({3}));
    EXPECT_EQ(scope.size(), 2);
    in_threads(
        1, [dropped = std::move(mine)](int) { const Tensor copy = dropped; });
    in_threads(1, [&](int) { kept = passed * 2.0; });
  }
  EXPECT_EQ(theirs.at({1}), 1.0);
  EXPECT_EQ(kept.at({2}), 2.0);
}

TEST(ThreadsPageTest, AGeneratorOfItsOwnMakesAThreadsDrawsItsOwn) {
  const auto draws = [] {
    std::array<memory::Vector<double>, 3> found;
    in_threads(3, [&](int i) {
      Generator generator(static_cast<std::uint64_t>(i));
      const UseGenerator use(generator);
      for (int k = 0; k < 5; ++k) {
        found[static_cast<std::size_t>(i)] = randn({16}).to_vector();
      }
    });
    return found;
  };
  const auto first = draws();
  EXPECT_EQ(draws(), first);
  EXPECT_NE(first[0], first[1]);
}

TEST(ThreadsPageTest, AForkedChildGoesOnWithWorkersOfItsOwn) {
#if defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "ThreadSanitizer starts no threads in a forked child";
#endif
  threads::Pool pool(2);
  const tensor::ExecutionGuard use(
      [&pool](tensor::Execution& c) { c.executor = &pool; });
  const Tensor x = full({300, 300}, 0.125);
  const memory::Vector<double> expected = matmul(x, x).to_vector();
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(matmul(x, x).to_vector() == expected ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

}  // namespace
}  // namespace neap
