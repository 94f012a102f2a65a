// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/error.hpp"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

#include "neap/base/assert.hpp"
#include "neap/base/raise.hpp"
#include "neap/base/result.hpp"

namespace neap {
namespace {

using base::raise;

template <class E>
std::string text_of(void (*thrower)()) {
  try {
    thrower();
  } catch (const E& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(ErrorTest, FormatsItsTextAndThrowsTheNamedType) {
  const auto thrower = [] {
    raise<ShapeError>("softmax: axis {} out of range for rank {}", 3, 2);
  };
  EXPECT_EQ(text_of<ShapeError>(thrower),
            "softmax: axis 3 out of range for rank 2");
}

TEST(ErrorTest, EveryTypedErrorIsAnErrorAndAStandardException) {
  EXPECT_THROW(raise<DTypeError>("x"), Error);
  EXPECT_THROW(raise<ValueError>("x"), Error);
  EXPECT_THROW(raise<DeviceError>("x"), Error);
  EXPECT_THROW(raise<GraphError>("x"), Error);
  EXPECT_THROW(raise<UseAfterRelease>("x"), Error);
  EXPECT_THROW(raise<NameError>("x"), Error);
  EXPECT_THROW(raise<InternalError>("x"), std::exception);
}

TEST(ErrorTest, CutsALongMessageAtItsCapacity) {
  const std::string longest(2 * Error::kCapacity, 'x');
  const std::string kept(Error::kCapacity - 1, 'x');
  EXPECT_EQ(ValueError(longest).what(), kept);
  EXPECT_EQ(ValueError(kept).what(), kept);
}

TEST(ErrorTest, RaiseCutsALongMessageToo) {
  const auto thrower = [] {
    raise<ValueError>("{}", std::string(2 * Error::kCapacity, 'y'));
  };
  EXPECT_EQ(text_of<ValueError>(thrower),
            std::string(Error::kCapacity - 1, 'y'));
}

TEST(ErrorTest, CopiesWithoutThrowing) {
  static_assert(std::is_nothrow_copy_constructible_v<ShapeError>);
  const ShapeError error("matmul: 3 against 4");
  const ShapeError copy = error;
  EXPECT_STREQ(copy.what(), "matmul: 3 against 4");
}

TEST(ErrorTest, AssertionsThrowInCheckedBuildsOnly) {
#ifdef NEAP_CHECKED
  EXPECT_THROW(NEAP_ASSERT(1 + 1 == 3, "arithmetic"), InternalError);
#else
  EXPECT_NO_THROW(NEAP_ASSERT(1 + 1 == 3, "arithmetic"));
#endif
  EXPECT_NO_THROW(NEAP_ASSERT(1 + 1 == 2, "arithmetic"));
}

TEST(ResultTest, CarriesAValueOrAFailureWithItsKind) {
  const Result<int> good = 41;
  const Result<int> bad = failure(FailureKind::kTruncated, "a.gz: ends early");
  EXPECT_EQ(good.value(), 41);
  ASSERT_FALSE(bad.has_value());
  EXPECT_EQ(bad.error().kind, FailureKind::kTruncated);
  EXPECT_EQ(bad.error().message, "a.gz: ends early");
}

}  // namespace
}  // namespace neap
