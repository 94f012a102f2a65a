// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/external.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <thread>
#include <vector>

namespace neap::base {
namespace {

Bytes bytes_of(const std::string& name) {
  std::array<ExternalRow, kMaxExternalRows> rows{};
  const int count = external_rows(rows.data());
  Bytes bytes = -1;
  for (int i = 0; i < count; ++i) {
    const ExternalRow& row = rows[static_cast<std::size_t>(i)];
    bytes = name == row.name ? row.bytes : bytes;
  }
  return bytes;
}

Bytes sum_of_rows() {
  std::array<ExternalRow, kMaxExternalRows> rows{};
  const int count = external_rows(rows.data());
  Bytes sum = 0;
  for (int i = 0; i < count; ++i) {
    sum += rows[static_cast<std::size_t>(i)].bytes;
  }
  return sum;
}

TEST(ExternalTest, ReadsTheProcessOnceAtStart) {
  const Bytes at_start = external_at_start();
  EXPECT_GT(at_start, 256 * kKiB);
  std::vector<char> touched(16 * kMiB, 'x');
  EXPECT_EQ(touched.back(), 'x');
  EXPECT_EQ(external_at_start(), at_start);
  EXPECT_EQ(bytes_of("process at start"), at_start);
}

// Code that is paged in later is counted from the start.
TEST(ExternalTest, BoundsModulesWholeAndAnAllowance) {
  EXPECT_GE(external_at_start(), module_bytes() + kExternalAllowance);
  EXPECT_EQ(module_bytes(), module_bytes());
  EXPECT_EQ(module_bytes() % ::sysconf(_SC_PAGESIZE), 0);
}

TEST(ExternalTest, SumsUpEveryModuleThatIsLoaded) {
  const Bytes before = module_bytes();
  void* library = ::dlopen("libutil.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    GTEST_SKIP() << ::dlerror();
  }
  EXPECT_GE(module_bytes(), before);
  ::dlclose(library);
  EXPECT_EQ(module_bytes(), before);
}

TEST(ExternalTest, AddsToARowAndTakesBack) {
  const Bytes before = external_bytes();
  add_external("stacks", 3 * kMiB);
  add_external("stacks", kMiB);
  EXPECT_EQ(bytes_of("stacks"), 4 * kMiB);
  EXPECT_EQ(external_bytes(), before + 4 * kMiB);
  add_external("stacks", -4 * kMiB);
  EXPECT_EQ(external_bytes(), before);
}

TEST(ExternalTest, FindsARowByTheTextOfItsName) {
  const std::string first = "plug-in";
  const std::string second = "plug-in";
  static std::vector<std::string> kept = {first, second};
  add_external(kept[0].c_str(), 5);
  add_external(kept[1].c_str(), 6);
  EXPECT_EQ(bytes_of("plug-in"), 11);
}

TEST(ExternalTest, CountsExactlyFromManyThreads) {
  const Bytes before = external_bytes();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 1000; ++i) {
        add_external("busy", 3);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(external_bytes() - before, 4 * 1000 * 3);
}

// Python loads libraries for as long as it runs.
TEST(ExternalTest, RecountsMemoryThatWasTakenSinceTheStart) {
  const Bytes start = external_at_start();
  const Bytes before = external_bytes();
  std::vector<char> touched(64 * kMiB, 'x');
  EXPECT_EQ(touched.back(), 'x');
  const Bytes own = recount_external(0);
  EXPECT_GE(own, start + 48 * kMiB);  // an allowance may have covered a part
  EXPECT_EQ(external_bytes() - before, own - start);
  EXPECT_EQ(bytes_of("process at start"), own);
  EXPECT_EQ(sum_of_rows(), external_bytes());
}

TEST(ExternalTest, RecountsNothingThatDomainsHold) {
  external_at_start();  // of a process that holds nothing yet
  std::vector<char> held(64 * kMiB, 'x');
  EXPECT_EQ(held.back(), 'x');
  const Bytes with = recount_external(0);
  const Bytes without = recount_external(64 * kMiB);
  EXPECT_GE(with - without, 48 * kMiB);
}

TEST(ExternalTest, RecountsNoLessThanAtTheStart) {
  EXPECT_EQ(recount_external(1024 * kMiB), external_at_start());
  EXPECT_EQ(external_bytes(), sum_of_rows());
}

// Bytes declared under one name too many are folded, never lost, and the rows
// that are shown still add up to the total.
TEST(ExternalTest, FoldsNamesBeyondTheTableIntoItsLastRow) {
  static std::vector<std::string> names;
  for (int i = 0; i < 2 * kMaxExternalRows; ++i) {
    names.push_back("name " + std::to_string(i));
  }
  const Bytes before = external_bytes();
  for (const std::string& name : names) {
    add_external(name.c_str(), 10);
  }
  EXPECT_EQ(external_bytes() - before, 2 * kMaxExternalRows * 10);
  EXPECT_EQ(sum_of_rows(), external_bytes());
}

}  // namespace
}  // namespace neap::base
