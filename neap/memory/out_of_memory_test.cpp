// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/out_of_memory.hpp"

#include <gtest/gtest.h>

#include <string>

#include "neap/memory/owner_book.hpp"

namespace neap {
namespace {

OutOfMemory::Details details() {
  OutOfMemory::Details d;
  d.reason = OutOfMemory::Reason::kBudget;
  memory::copy_path("fc1", d.owner);
  d.tag.category = memory::Category::kActivations;
  d.tag.site = base::intern({"src/train.cpp", "step", 41});
  d.requested = 1'572'864;
  d.live = 700;
  d.held = 65'536;
  d.external = 4'000'000;
  d.peak = 70'000;
  d.budget = 5'000'000;
  return d;
}

TEST(OutOfMemoryTest, SaysWhatWasAskedByWhomAndWhatThereIs) {
  EXPECT_STREQ(
      OutOfMemory(details()).what(),
      "out of memory: 1.5 MiB (1 572 864 B) asked for activations of 'fc1' at "
      "train.cpp:41, over budget; live 700 B, held 64.0 KiB (65 536 B), "
      "external 3.8 MiB (4 000 000 B), peak 68.4 KiB (70 000 B), budget 4.8 "
      "MiB (5 000 000 B)");
}

TEST(OutOfMemoryTest, GroupsDigitsFromAThousandOn) {
  OutOfMemory::Details d = details();
  d.requested = 999'000;
  d.held = 1024;
  d.live = 999'999;
  d.peak = 1'000'000;
  const std::string text = OutOfMemory(d).what();
  EXPECT_NE(text.find("975.6 KiB (999 000 B) asked"), text.npos) << text;
  EXPECT_NE(text.find("live 976.6 KiB (999 999 B)"), text.npos) << text;
  EXPECT_NE(text.find("held 1.0 KiB (1 024 B)"), text.npos) << text;
  EXPECT_NE(text.find("peak 976.6 KiB (1 000 000 B)"), text.npos) << text;
}

TEST(OutOfMemoryTest, NamesOwnersOfOneLetter) {
  OutOfMemory::Details d = details();
  memory::copy_path("w", d.owner);
  memory::copy_path("b", d.holders[0].owner);
  d.holders[0].category = memory::Category::kParameters;
  d.holders[0].bytes = 600;
  const std::string text = OutOfMemory(d).what();
  EXPECT_NE(text.find("activations of 'w' at"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("; largest: parameters of 'b' 600 B")) << text;
}

TEST(OutOfMemoryTest, NamesTheLargestHolders) {
  OutOfMemory::Details d = details();
  d.budget = kUnlimited;
  d.reason = OutOfMemory::Reason::kSystem;
  memory::copy_path("fc2.weight", d.holders[0].owner);
  d.holders[0].category = memory::Category::kParameters;
  d.holders[0].bytes = 600;
  d.holders[1].category = memory::Category::kData;
  d.holders[1].bytes = 100;
  const std::string text = OutOfMemory(d).what();
  EXPECT_NE(text.find("refused by the system"), std::string::npos);
  EXPECT_TRUE(text.ends_with(
      "budget none; largest: parameters of 'fc2.weight' 600 B, data 100 B"));
}

TEST(OutOfMemoryTest, FitsItsTextWithTheLongestNames) {
  OutOfMemory::Details d = details();
  d.owner.fill('o');
  d.owner.back() = '\0';
  for (auto& holder : d.holders) {
    holder.owner = d.owner;
    holder.category = memory::Category::kOptimizerState;
    holder.bytes = kUnlimited;
  }
  d.live = d.held = d.external = d.peak = d.budget = kUnlimited - 1;
  const std::string text = OutOfMemory(d).what();
  EXPECT_LT(text.size(), static_cast<std::size_t>(Error::kCapacity));
  EXPECT_NE(text.find("largest: optimizer state"), std::string::npos);
}

TEST(OutOfMemoryTest, SaysWhenAnArenaIsFull) {
  OutOfMemory::Details d = details();
  d.reason = OutOfMemory::Reason::kArena;
  EXPECT_TRUE(std::string(OutOfMemory(d).what())
                  .ends_with("over its arena; live 700 B, held 64.0 KiB "
                             "(65 536 B)"));
}

}  // namespace
}  // namespace neap
