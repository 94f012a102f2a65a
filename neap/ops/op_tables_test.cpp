// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Runs every table of the files beside this one, and proves that there is one
// for every op.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>

#include "neap/ops/op_list.hpp"
#include "neap/testing/gtest.hpp"

namespace neap::testing {
namespace {

class OpTableTest : public ::testing::TestWithParam<OpTable> {};

TEST_P(OpTableTest, Agrees) {
  expect_ok(check(GetParam()));
}

std::string name_of_case(const ::testing::TestParamInfo<OpTable>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ops, OpTableTest, ::testing::ValuesIn(listed_tables()),
                         name_of_case);

TEST(OpTablesTest, NameEveryOp) {
  const std::vector<OpTable> tables = listed_tables();
  for (const graph::Op* op : ops::all_ops()) {
    EXPECT_TRUE(std::any_of(tables.begin(), tables.end(),
                            [op](const OpTable& t) { return t.op == op; }))
        << op->name << " has no table";
  }
}

TEST(OpTablesTest, NameEveryComposite) {
  const std::vector<OpTable> tables = listed_tables();
  for (const std::string_view name : ops::all_composites()) {
    EXPECT_TRUE(std::any_of(
        tables.begin(), tables.end(),
        [name](const OpTable& t) { return t.op == nullptr && t.name == name; }))
        << name << " has no table";
  }
}

TEST(OpTablesTest, DifferentiateEveryOpThatHasARule) {
  const std::vector<OpTable> tables = listed_tables();
  for (const graph::Op* op : ops::all_ops()) {
    if (op->vjp == nullptr && op->jvp == nullptr) {
      continue;
    }
    EXPECT_TRUE(std::any_of(tables.begin(), tables.end(),
                            [op](const OpTable& table) {
                              return table.op == op &&
                                     std::any_of(table.rows.begin(),
                                                 table.rows.end(),
                                                 [](const OpRow& row) {
                                                   return row.differentiable;
                                                 });
                            }))
        << op->name << " has derivative rules that no row checks";
  }
}

}  // namespace
}  // namespace neap::testing
