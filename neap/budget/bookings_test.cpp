// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/bookings.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace neap::budget {
namespace {

// One flag a nanosecond.
class Slow {
 public:
  static constexpr std::int64_t kEnd = 100;
  bool is_free(std::int64_t start, std::int64_t duration) const {
    for (std::int64_t t = start; t < start + duration; ++t) {
      if (t < kEnd && busy_[static_cast<std::size_t>(t)]) {
        return false;
      }
    }
    return true;
  }
  void book(std::int64_t start, std::int64_t duration) {
    for (std::int64_t t = start; t < start + duration; ++t) {
      busy_[static_cast<std::size_t>(t)] = true;
    }
  }

 private:
  std::array<bool, kEnd> busy_{};
};

TEST(BookingsTest, FindTheFirstAndTheLastFreeTime) {
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](unsigned n) {
      return static_cast<std::int64_t>(random() % n);
    };
    Bookings bookings;
    Slow slow;
    for (int k = 0; k < 20; ++k) {
      const std::int64_t duration = 1 + below(7);
      const std::int64_t from = below(80);
      std::int64_t first = from;
      while (!slow.is_free(first, duration)) {
        ++first;
      }
      ASSERT_EQ(bookings.earliest(from, duration), first) << seed;
      const std::int64_t until = from + below(40);
      std::optional<std::int64_t> last;
      for (std::int64_t t = from; t + duration <= until; ++t) {
        last = slow.is_free(t, duration) ? t : last;
      }
      ASSERT_EQ(bookings.latest(from, until, duration), last) << seed;
      const std::int64_t start = last && below(2) == 0 ? *last : first;
      if (start + duration <= Slow::kEnd) {
        bookings.book(start, duration);
        slow.book(start, duration);
      }
    }
    bookings.clear();
    EXPECT_EQ(bookings.earliest(0, 50), 0);
  }
}

}  // namespace
}  // namespace neap::budget
