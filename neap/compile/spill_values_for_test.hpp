// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Values that a test moves through a SpillQueue, and what the tests of one
// share.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "neap/compile/spill_queue.hpp"
#include "neap/files/temporary_folder.hpp"

namespace neap::compiler {

inline constexpr Bytes kPage = files::kDirectAlignment;

struct alignas(kPage) Page {
  std::array<std::byte, kPage> bytes;
};

// Values of some pages each in aligned memory, a slot each; value i lies in the
// file where it lies here.
class Values {
 public:
  Values(std::size_t count, std::size_t pages)
      : count_(count), pages_(pages), memory_(count * pages) {}

  std::size_t count() const noexcept { return count_; }
  Bytes file_bytes() const noexcept { return offset(count_); }
  Bytes offset(std::size_t i) const noexcept {
    return static_cast<Bytes>(i * pages_) * kPage;
  }
  std::span<std::byte> value(std::size_t i) noexcept {
    return std::as_writable_bytes(
        std::span(memory_).subspan(i * pages_, pages_));
  }
  /// Fills value i with what a turn gives it.
  void make(std::size_t i, unsigned turn) noexcept {
    unsigned seed = static_cast<unsigned>(i) * 7919U + turn;
    for (std::byte& byte : value(i)) {
      seed = seed * 1664525U + 1013904223U;
      byte = static_cast<std::byte>(seed >> 24U);
    }
  }
  bool is(std::size_t i, unsigned turn) {
    Values other(1, pages_);
    other.make(0, static_cast<unsigned>(i) * 7919U + turn);
    return std::memcmp(other.value(0).data(), value(i).data(),
                       value(i).size()) == 0;
  }
  void wipe(std::size_t i) noexcept {
    std::memset(value(i).data(), 0x5a, value(i).size());
  }

 private:
  std::size_t count_;
  std::size_t pages_;
  std::vector<Page> memory_;
};

inline void write(SpillQueue& queue, Values& values, std::size_t i) {
  queue.write(static_cast<std::uint32_t>(i), values.offset(i), values.value(i));
}

inline void fetch(SpillQueue& queue, Values& values, std::size_t i) {
  queue.fetch(static_cast<std::uint32_t>(i), values.offset(i), values.value(i));
}

inline void await(SpillQueue& queue, std::size_t i) {
  queue.await(static_cast<std::uint32_t>(i));
}

// All values to the file and back, as a step does it.
inline void move_all(SpillQueue& queue, Values& values, unsigned turn) {
  for (std::size_t i = 0; i < values.count(); ++i) {
    values.make(i, turn);
    write(queue, values, i);
  }
  for (std::size_t i = 0; i < values.count(); ++i) {
    await(queue, i);
    values.wipe(i);
  }
  for (std::size_t i = values.count(); i-- > 0;) {
    fetch(queue, values, i);
  }
  for (std::size_t i = values.count(); i-- > 0;) {
    await(queue, i);
  }
}

inline bool are_back(Values& values, unsigned turn) {
  for (std::size_t i = 0; i < values.count(); ++i) {
    if (!values.is(i, turn)) {
      return false;
    }
  }
  return true;
}

inline std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const IoError& error) {
    return error.what();
  }
  return "no IoError";
}

// The parameter: whether transfers may be direct.
class SpillQueueTest : public testing::TestWithParam<bool> {
 protected:
  SpillQueue::Options options() const { return {.may_be_direct = GetParam()}; }
  const std::string& path() const { return folder_.path(); }

  files::TemporaryFolder folder_;
  memory::Domain& domain_ = memory::default_domain();
};

}  // namespace neap::compiler
