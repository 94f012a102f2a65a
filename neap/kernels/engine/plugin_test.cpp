// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Plug-ins that are refused; a refusal changes nothing. plugins/ tests those
// that are taken.
#include "neap/kernels/engine/plugin.hpp"

#include <gtest/gtest.h>

#include <string>

namespace neap::kernels {
namespace {

void expect_refusal(const std::string& which, FailureKind kind,
                    const std::string& words) {
  const Result<void> loaded = load_plugin(which);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().kind, kind);
  EXPECT_NE(loaded.error().message.find(words), std::string::npos)
      << loaded.error().message;
  EXPECT_STREQ(kernel_set(), "neap");
}

TEST(PluginTest, SaysWhereItLookedForWhatIsNotThere) {
  expect_refusal("no-such", FailureKind::kNotFound, "/neap_no-such.so");
  expect_refusal("/no/such.so", FailureKind::kNotFound, "/no/such.so");
}

TEST(PluginTest, RefusesWhatIsNoSharedObject) {
  expect_refusal(NEAP_FIXTURE_FOLDER "/fixture_none.cpp", FailureKind::kCorrupt,
                 "fixture_none.cpp");
}

TEST(PluginTest, RefusesWhatExportsNoPlugin) {
  expect_refusal(NEAP_FIXTURE_FOLDER "/fixture_none.so", FailureKind::kCorrupt,
                 "neap_kernel_plugin");
}

TEST(PluginTest, RefusesAnotherInterface) {
  expect_refusal(NEAP_FIXTURE_FOLDER "/fixture_abi.so", FailureKind::kMismatch,
                 "interface 999, expected");
}

TEST(PluginTest, RefusesAnotherVersion) {
  expect_refusal(NEAP_FIXTURE_FOLDER "/fixture_version.so",
                 FailureKind::kMismatch, "built for version 0.0.0");
}

}  // namespace
}  // namespace neap::kernels
