// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/text_columns.hpp"

#include <gtest/gtest.h>

namespace neap::compiler {
namespace {

TEST(TextColumnsTest, AlignsAndLeavesOutWhatIsEmpty) {
  TextColumns table(
      {{"#", true}, {"name"}, {"unused"}, {"bytes", true}, {"x"}});
  table.add({"1", "longer", "", "10", ""});
  table.add({"20", "b", "", "", "y"});
  memory::String out;
  table.append_to(out);
  EXPECT_EQ(out,
            " #  name    bytes  x\n"
            " 1  longer     10\n"
            "20  b              y\n");
}

}  // namespace
}  // namespace neap::compiler
