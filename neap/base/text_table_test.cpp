// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/text_table.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace neap::base {
namespace {

TEST(TextTableTest, AlignsAndLeavesOutWhatIsEmpty) {
  TextTable<> table(
      {{"#", true}, {"name"}, {"unused"}, {"bytes", true}, {"x"}});
  table.add({"1", "longer", "", "10", ""});
  table.add({"20", "b", "", "", "y"});
  std::string out;
  table.append_to(out);
  EXPECT_EQ(out,
            " #  name    bytes  x\n"
            " 1  longer     10\n"
            "20  b              y\n");
}

TEST(TextTableTest, TakesAListOfCellsAndIndents) {
  TextTable<> table({{"name"}, {"bytes", true}});
  table.add(std::vector<std::string>{"a", "10"});
  EXPECT_EQ(table.rows(), 1U);
  std::string out = "title\n";
  table.append_to(out, 2);
  EXPECT_EQ(out,
            "title\n"
            "  name  bytes\n"
            "  a        10\n");
}

}  // namespace
}  // namespace neap::base
