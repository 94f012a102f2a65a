// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/elements.hpp"

#include <gmock/gmock.h>

#include <array>

namespace neap::formats {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

// Elements 10 i + j at row i and column j, stored by columns with gaps.
class ElementsTest : public ::testing::Test {
 protected:
  ElementsTest() {
    for (int i = 0; i < 2; ++i) {
      for (int j = 0; j < 3; ++j) {
        elements_[static_cast<std::size_t>(2 * (2 * j + i))] =
            static_cast<std::byte>(10 * i + j);
      }
    }
  }
  tensor::Strided view() {
    return {elements_.data(), u8, Shape{2, 3}, Shape{2, 4}};
  }

  std::array<std::byte, 12> elements_{};
};

TEST_F(ElementsTest, GathersInRowMajorOrderFromAnyElement) {
  std::array<std::byte, 4> some{};
  gather(view(), 1, some);
  EXPECT_THAT(some, ElementsAre(std::byte{1}, std::byte{2}, std::byte{10},
                                std::byte{11}));
  std::byte last{};
  gather(view(), 5, std::span(&last, 1));
  EXPECT_EQ(last, std::byte{12});
}

TEST_F(ElementsTest, ScattersAsItGathers) {
  std::array<std::byte, 6> all{};
  gather(view(), 0, all);
  elements_.fill({});
  scatter(std::span(all).first(5), view(), 0);
  scatter(std::span(all).subspan(5), view(), 5);
  std::array<std::byte, 6> again{};
  gather(view(), 0, again);
  EXPECT_EQ(again, all);
}

TEST_F(ElementsTest, OfNoElementsNothingIsTouched) {
  elements_.fill(std::byte{9});
  const tensor::Strided none{elements_.data(), u8, Shape{0, 3}, Shape{3, 1}};
  gather(none, 0, {});
  scatter({}, none, 0);
  EXPECT_THAT(elements_, Each(std::byte{9}));
}

}  // namespace
}  // namespace neap::formats
