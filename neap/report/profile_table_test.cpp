// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/profile_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "neap/report/text_pool.hpp"

namespace neap::report {
namespace {

Snapshot timed() {
  TextPool texts;
  Snapshot s;
  const auto add = [&](std::string_view op, std::string_view layer,
                       std::int64_t ns) {
    s.calls.push_back({.op = texts.id(op),
                       .layer = texts.id(layer),
                       .ns = ns,
                       .flops = 2'000'000,
                       .moved = 1'000'000});
  };
  add("matmul", "fc1", 1'000'000);
  add("matmul", "fc2", 3'000'000);
  add("relu", "fc1", 500'000);
  add("check", "", -1);
  s.texts = texts.take();
  s.sums.flops_a_second = 4'000'000'000;
  s.sums.bytes_a_second = 1'000'000'000;
  return s;
}

TEST(ProfileTableTest, AddsUpByOpAndByLayer) {
  const memory::String table = profile_table(timed());
  EXPECT_EQ(std::string(table),
            "op                           calls        ms       %  GFLOP/s"
            "    GB/s   limit\n"
            "matmul                           2     4.000    88.9      1.0"
            "     0.5    50 %\n"
            "relu                             1     0.500    11.1      4.0"
            "     2.0   200 %\n"
            "all                              3     4.500   100.0      1.3"
            "     0.7    67 %\n"
            "\n"
            "layer                        calls        ms       %  GFLOP/s"
            "    GB/s   limit\n"
            "fc2                              1     3.000    66.7      0.7"
            "     0.3    33 %\n"
            "fc1                              2     1.500    33.3      2.7"
            "     1.3   133 %\n"
            "all                              3     4.500   100.0      1.3"
            "     0.7    67 %\n");
}

TEST(ProfileTableTest, WithoutTimesThereIsNone) {
  Snapshot s = timed();
  for (Snapshot::Call& call : s.calls) {
    call.ns = -1;
  }
  EXPECT_EQ(profile_table(s), "");
  Snapshot empty;
  empty.texts.emplace_back();
  EXPECT_EQ(profile_table(empty), "");
}

TEST(ProfileTableTest, WithoutLimitsThereIsNoShare) {
  Snapshot s = timed();
  s.sums.bytes_a_second = -1;
  const memory::String table = profile_table(s);
  EXPECT_EQ(table.find("limit"), memory::String::npos);
  EXPECT_EQ(table.find("200 %"), memory::String::npos);
}

TEST(ProfileTableTest, ManyRowsAreSummedAndLinesFitATerminal) {
  TextPool texts;
  Snapshot s;
  for (int i = 0; i < 40; ++i) {
    s.calls.push_back(
        {.op = texts.id("an_op_with_a_very_long_name_" + std::to_string(i)),
         .ns = 1000});
  }
  s.texts = texts.take();
  s.sums.flops_a_second = s.sums.bytes_a_second = 1;
  const memory::String table = profile_table(s);
  EXPECT_NE(table.find("26 more"), memory::String::npos);
  std::size_t begin = 0;
  for (std::size_t end = table.find('\n'); end != memory::String::npos;
       begin = end + 1, end = table.find('\n', begin)) {
    EXPECT_LE(end - begin, std::size_t{80});
  }
}

TEST(ProfileTableTest, LimitsAreMeasured) {
  const MachineLimits limits = measure_limits();
  EXPECT_GT(limits.flops, 1e8);
  EXPECT_GT(limits.bytes, 1e8);
}

}  // namespace
}  // namespace neap::report
