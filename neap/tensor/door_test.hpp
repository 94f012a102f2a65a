// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of the rooms above: a door and a generator of each test's own;
// the domain must be empty when the test ends.
#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "neap/memory/context.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {

class DoorTest : public ::testing::Test {
 protected:
  void TearDown() override { EXPECT_EQ(domain_->stats().live, 0); }

  /// Live bytes of a category under an owner's path.
  Bytes live(memory::Category category, std::string_view path) const {
    std::vector<memory::Row> rows(4096);
    const int count = domain_->live_rows(rows);
    Bytes bytes = 0;
    for (int i = 0; i < count; ++i) {
      const memory::Row& row = rows[static_cast<std::size_t>(i)];
      if (row.tag.category == category &&
          domain_->path_of(row.tag.owner) == path) {
        bytes += row.bytes;
      }
    }
    return bytes;
  }

  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_domain_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
};

}  // namespace neap
