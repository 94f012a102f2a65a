// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A data set that was assigned over, or grew, was read by the size and the
// shapes that it had when its loader was made.
#include <gtest/gtest.h>

#include <algorithm>

#include "neap/data/loader.hpp"

namespace neap::data {
namespace {

// A set of `count` samples of `width` zeros.
struct Zeros {
  std::int64_t count = 0;
  std::int64_t width = 0;

  std::int64_t size() const { return count; }
  SampleSpec spec() const { return {{width}, f32, {}, i64}; }
  void load(std::int64_t /*index*/, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    std::fill(input.begin(), input.end(), std::byte{0});
    std::fill(target.begin(), target.end(), std::byte{0});
  }
};

TEST(DataSetChangedUnderALoaderTest, IsNoticedAtTheNextBatch) {
  for (const int prefetch : {0, 2}) {
    for (const Zeros& other : {Zeros{9, 2}, Zeros{1000, 2}, Zeros{10, 3}}) {
      Zeros set{10, 2};
      Loader loader(set, {.batch = 2, .prefetch = prefetch});
      loader.start(0);
      EXPECT_NE(loader.next(), nullptr);
      EXPECT_NE(loader.next(), nullptr);
      while (prefetch != 0 && loader.next() != nullptr) {
      }  // the reader is at the epoch's end
      set = other;
      loader.start(1);
      EXPECT_THROW(loader.next(), ValueError);
      set = {10, 2};
      EXPECT_NE(loader.next(), nullptr);
    }
  }
}

}  // namespace
}  // namespace neap::data
