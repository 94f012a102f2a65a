// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/dist/fake_engine_for_test.hpp"

#include <gtest/gtest.h>

#include <array>

#include "neap/dist/errors.hpp"

namespace neap::dist {
namespace {

void await(Engine& engine, int slot) {
  while (!engine.is_done(slot)) {
    engine.rest();
  }
}

// Eight numbers from rank 0 to rank 1, looked at from the last one on.
void send_eight(Engine& engine) {
  std::array<int, 8> numbers{};
  for (int i = 0; i < 8; ++i) {
    auto& one = numbers[static_cast<std::size_t>(i)];
    if (engine.rank() == 0) {
      one = i;
      engine.send(i, 1, 5, std::as_bytes(std::span(&one, 1)));
    } else {
      engine.receive(i, 0, 5, std::as_writable_bytes(std::span(&one, 1)));
    }
  }
  for (int i = 7; i >= 0; --i) {
    await(engine, i);
    EXPECT_EQ(numbers[static_cast<std::size_t>(i)], i);
  }
}

TEST(FakeEngineTest, MessagesOfATagArriveInOrder) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    FakeWorld world(2, {.seed = seed});
    world.run(send_eight);
  }
}

// A message is on its way until both sides have begun.
TEST(FakeEngineTest, ASendWaitsForItsReceive) {
  FakeWorld world(2, {});
  world.run([](Engine& engine) {
    int number = 7;
    if (engine.rank() == 0) {
      engine.send(0, 1, 1, std::as_bytes(std::span(&number, 1)));
      EXPECT_FALSE(engine.is_done(0));
      const std::int64_t start = engine.now();
      await(engine, 0);
      EXPECT_GE(engine.now() - start, 2'000'000'000);
      return;
    }
    while (engine.now() < 2'000'000'000) {
      engine.rest();
    }
    int got = 0;
    engine.receive(0, 0, 1, std::as_writable_bytes(std::span(&got, 1)));
    await(engine, 0);
    EXPECT_EQ(got, 7);
  });
}

// Eight bytes to a rank that expects four.
void send_too_much(Engine& engine) {
  std::array<int, 2> numbers{};
  const auto bytes = std::as_writable_bytes(std::span(numbers));
  if (engine.rank() == 0) {
    engine.send(0, 1, 1, bytes);
    engine.rest();
    engine.rest();
  } else {
    engine.rest();
    engine.receive(0, 0, 1, bytes.first(4));
  }
}

TEST(FakeEngineTest, LengthsAreEqual) {
  FakeWorld world(2, {});
  EXPECT_THROW(world.run(send_too_much), DistError);
}

}  // namespace
}  // namespace neap::dist
