// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/call_table.hpp"

#include <gtest/gtest.h>

#include "neap/ops/elementwise/arithmetic.hpp"

namespace neap::compiler {
namespace {

Call call_at(std::uint32_t place) {
  Call call;
  call.name = ops::kMul.name;
  call.op = &ops::kMul;
  call.kernels = ops::kMul.kernel;
  call.inputs = {3 * place, 2};
  call.outputs = {3 * place + 2, 1};
  call.attrs = place;
  call.attrs_size = 8;
  call.site.value = place;
  call.scratch = 64;
  return call;
}

TEST(CallTableTest, GivesBackWhatItWasGiven) {
  CallTable table;
  for (std::uint32_t i = 0; i < 100; ++i) {
    table.push_back(call_at(i));
  }
  for (std::uint32_t i = 0; i < 100; ++i) {
    EXPECT_TRUE(table[i] == call_at(i)) << i;
  }
  std::uint32_t next = 0;
  for (const Call& call : table) {
    EXPECT_TRUE(call == call_at(next++));
  }
  EXPECT_EQ(next, 100U);
}

TEST(CallTableTest, KeepsTheMembersOfAFusedCall) {
  Call fused = call_at(0);
  fused.kind = CallKind::kFused;
  fused.op = nullptr;
  fused.attrs = 0;
  fused.attrs_size = 0;
  fused.members = {5, 2};
  CallTable table;
  table.push_back(fused);
  EXPECT_TRUE(table[0] == fused);
}

TEST(CallTableTest, ACallIsChangedAlone) {
  CallTable table;
  table.push_back(call_at(0));
  table.push_back(call_at(1));
  const CallTable copy = table;
  table.change(0, [](Call& call) { call.segment = 7; });
  EXPECT_EQ(table[0].segment, 7U);
  EXPECT_TRUE(table[1] == call_at(1));
  EXPECT_TRUE(copy[0] == call_at(0));
}

TEST(CallTableTest, ACallOfAKnownFormTakes24Bytes) {
  CallTable table;
  table.push_back(call_at(0));
  table.reserve(1001);
  const Bytes before = table.bytes();
  CallTable more = table;
  more.reserve(2001);
  for (std::uint32_t i = 0; i < 1000; ++i) {
    more.push_back(call_at(i));
  }
  EXPECT_EQ(more.bytes() - before, 24 * 1000);
}

}  // namespace
}  // namespace neap::compiler
