// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// `neap::save(model, path).value()`, as the headers show it, did not compile.
#include <gtest/gtest.h>

#include <array>
#include <string>

#include "neap/models/mlp.hpp"
#include "neap/train/save.hpp"

namespace neap {
namespace {

Result<void> outcome(bool is_good) {
  if (is_good) {
    return {};
  }
  return failure(FailureKind::kIo, "a.bin: the disk is full");
}

TEST(ResultOfVoidTest, HasNothingWhereAllWentWell) {
  EXPECT_NO_THROW(outcome(true).value());
  const Result<void> kept = outcome(true);
  EXPECT_NO_THROW(kept.value());
}

TEST(ResultOfVoidTest, ThrowsTheFailureAsEveryResultDoes) {
  const Result<void> kept = outcome(false);
  try {
    kept.value();
    ADD_FAILURE() << "no error";
  } catch (const tl::bad_expected_access<Failure>& error) {
    EXPECT_EQ(error.error().kind, FailureKind::kIo);
    EXPECT_EQ(error.error().message, "a.bin: the disk is full");
  }
  EXPECT_THROW(outcome(false).value(), tl::bad_expected_access<Failure>);
}

TEST(ResultOfVoidTest, IsLinkedToOthersAsBefore) {
  const auto twice = [](int x) -> Result<int> { return 2 * x; };
  const Result<void> end = outcome(true)
                               .and_then([&] { return twice(2); })
                               .and_then([](int x) { return outcome(x == 4); })
                               .and_then([] { return outcome(false); })
                               .map_error([](Failure failure) {
                                 failure.message += "!";
                                 return failure;
                               });
  ASSERT_FALSE(end.has_value());
  EXPECT_EQ(end.error().message, "a.bin: the disk is full!");
}

TEST(ResultOfVoidTest, ServesTheExampleOfTheHeader) {
  const std::array<std::int64_t, 2> widths = {4, 3};
  const models::Mlp model(widths);
  const std::string path =
      ::testing::TempDir() + "neap_result_of_void.safetensors";
  EXPECT_NO_THROW(save(model, path).value());
  EXPECT_THROW(save(model, "/nowhere/at/all.safetensors").value(),
               tl::bad_expected_access<Failure>);
}

}  // namespace
}  // namespace neap
