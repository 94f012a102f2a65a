// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// States of a file that several threads look at, beside a run that has it.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <span>
#include <thread>
#include <vector>

#include "neap/base/error.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/files/door.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

class StateFileThreadsTest : public ::testing::Test {
 protected:
  std::shared_ptr<StateFile> file() const {
    return StateFile::create(files::system_door(), folder.path(),
                             memory::domain(), 4 * kKiB);
  }
  static tensor::Storage& storage_of(const Tensor& tensor) {
    return *tensor.array()->storage();
  }
  // Long enough that another thread waits for what this one has.
  static void pause() {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  files::TemporaryFolder folder;
};

// A rule of a custom op looks at a state of its run while another thread waits
// for the run to end, with a look at another state.
TEST_F(StateFileThreadsTest, ALookInARunIsRefusedWhileAnotherThreadWaits) {
  const auto states = file();
  const Tensor a = arange(1000);
  const Tensor b = arange(1000);
  states->take(storage_of(a));
  states->take(storage_of(b));
  double seen = 0;
  std::thread other;
  {
    const StateFile::Running run(*states);
    other = std::thread([&] { seen = b.at({8}); });
    pause();
    EXPECT_THROW(a.at({7}), ValueError);
    EXPECT_TRUE(storage_of(b).is_away());
    // A storage that no run has comes home meanwhile.
    const Tensor zeros(tensor::Array::allocate_away(
        {f32, {8}}, memory::current_tag(memory::Category::kOther),
        memory::domain()));
    EXPECT_EQ(zeros.at({7}), 0.0);
  }
  other.join();
  EXPECT_EQ(seen, 8.0);
  EXPECT_EQ(a.at({7}), 7.0);
}

// A state ends in one thread while a run of another has its file.
TEST_F(StateFileThreadsTest, AStateEndsBesideARun) {
  const auto states = file();
  Tensor a = arange(1000);
  const Tensor b = arange(1000);
  states->take(storage_of(a));
  states->take(storage_of(b));
  {
    const StateFile::Running run(*states);
    std::thread([&] { a = Tensor(); }).join();
  }
  const Tensor c = arange(1000);
  states->take(storage_of(c));
  EXPECT_EQ(b.at({9}), 9.0);
  EXPECT_EQ(c.at({9}), 9.0);
}

// A run reads weights where they are when it begins: another step, which sends
// them away to the same file, waits until the run has ended.
TEST_F(StateFileThreadsTest, NothingGoesAwayToTheFileOfARun) {
  const auto states = file();
  const Tensor weight = arange(1000);
  const Tensor zeros(tensor::Array::allocate_away(
      {f32, {8}}, memory::current_tag(memory::Category::kOther),
      memory::domain()));
  std::thread other;
  {
    const StateFile::Running run(*states);
    other = std::thread([&] {
      states->take(storage_of(zeros));
      states->take(storage_of(weight));
    });
    pause();
    EXPECT_EQ(states->place_of(storage_of(zeros)), StateFile::kNone);
    EXPECT_FALSE(storage_of(weight).is_away());
  }
  other.join();
  EXPECT_NE(states->place_of(storage_of(zeros)), StateFile::kNone);
  EXPECT_TRUE(storage_of(weight).is_away());
  EXPECT_EQ(weight.at({7}), 7.0);
}

// A storage that goes to and fro is copied as it is, in memory or away.
TEST_F(StateFileThreadsTest, ACopyHasTheElementsWhereverTheyAre) {
  const auto states = file();
  const Tensor weight = full({1 << 14}, 3.0);
  std::atomic<bool> is_over{false};
  std::thread moves([&] {
    while (!is_over) {
      states->take(storage_of(weight));
      storage_of(weight).bring_home();
    }
  });
  int wrong = 0;
  std::vector<float> copy(1 << 14);
  for (int i = 0; i < 200; ++i) {
    std::ranges::fill(copy, 0.0F);
    storage_of(weight).copy_elements(0,
                                     std::as_writable_bytes(std::span(copy)));
    wrong += std::ranges::count(copy, 3.0F) == 1 << 14 ? 0 : 1;
  }
  is_over = true;
  moves.join();
  EXPECT_EQ(wrong, 0);
}

// Two runs, whose rules look at each other's states.
TEST_F(StateFileThreadsTest, NoTwoRunsWaitForEachOther) {
  const std::array files{file(), file()};
  const std::array states{arange(1000), arange(1000)};
  std::atomic<int> running{0};
  std::array<bool, 2> is_refused{};
  std::array<std::thread, 2> threads;
  for (std::size_t i = 0; i < 2; ++i) {
    files[i]->take(storage_of(states[i]));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    threads[i] = std::thread([&, i] {
      const StateFile::Running run(*files[i]);
      ++running;
      while (running < 2) {
        std::this_thread::yield();
      }
      try {
        states[1 - i].at({7});
      } catch (const ValueError&) {
        is_refused[i] = true;
      }
      ++running;
      while (running < 4) {
        std::this_thread::yield();
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(is_refused[0] && is_refused[1]);
}

// Each look sees the state of before or after a run, never of within it.
TEST_F(StateFileThreadsTest, LooksAndRunsTakeTurns) {
  const auto states = file();
  const Tensor a = full({1 << 14}, 0.0);
  std::atomic<bool> is_over{false};
  int torn = 0;
  std::thread looks([&] {
    while (!is_over) {
      std::array<float, 1 << 14> copy{};
      if (storage_of(a).copy_away(std::as_writable_bytes(std::span(copy)))) {
        torn += copy.front() == copy.back() ? 0 : 1;
      }
    }
  });
  states->take(storage_of(a));
  const std::uint32_t place = states->place_of(storage_of(a));
  for (int i = 1; i <= 50; ++i) {
    const StateFile::Running run(*states);
    std::array<float, 1 << 14> values{};
    values.fill(static_cast<float>(i));
    states->write(place, 0, std::as_bytes(std::span(values)));
    states->await(place, 0, sizeof(values));
  }
  is_over = true;
  looks.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(a.at({77}), 50.0);
}

}  // namespace
}  // namespace neap::compiler
