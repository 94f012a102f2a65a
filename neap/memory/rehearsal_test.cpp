// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "neap/memory/domain.hpp"
#include "neap/memory/host_backends.hpp"
#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

Domain::Handle rehearsal() {
  return Domain::create({.is_rehearsal = true});
}

Domain::Handle pooled() {
  return Domain::create({.host = HostAllocator::kPooled});
}

TEST(RehearsalTest, ElementsHaveAPlaceAndNothingBehindIt) {
  const auto domain = rehearsal();
  const Bytes size = Bytes{1} << 42U;  // 4 TiB
  const Block block = domain->allocate_elements(size, Tag{});
  EXPECT_TRUE(SystemPages::is_imaginary(block.data));
  EXPECT_EQ(domain->stats().live, size);
  EXPECT_GE(domain->stats().held, size);
  domain->release(block);
  EXPECT_EQ(domain->stats().live, 0);
  EXPECT_TRUE(domain->is_consistent());
}

TEST(RehearsalTest, PlacesAreAlignedAndApart) {
  SystemPages pages(Backing::kNothing);
  std::uintptr_t above = 0;
  for (const Bytes alignment :
       {page_bytes(), 64 * kKiB, kHugePage, page_bytes()}) {
    const auto at = reinterpret_cast<std::uintptr_t>(
        pages.map(3 * page_bytes(), alignment));
    EXPECT_EQ(at % static_cast<std::uintptr_t>(alignment), 0U);
    EXPECT_TRUE(above == 0 ||
                at + static_cast<std::uintptr_t>(3 * page_bytes()) <= above);
    above = at;
  }
}

TEST(RehearsalTest, ElementsEndWhereTheirPagesFit32Bits) {
  const auto domain = rehearsal();
  const Bytes most = Bytes{1} << 43U;  // 8 TiB
  domain->release(domain->allocate_elements(most, Tag{}));
  EXPECT_THROW(domain->allocate_elements(most + 1, Tag{}), OutOfMemory);
}

TEST(RehearsalTest, EverythingElseIsReal) {
  const auto domain = rehearsal();
  for (const Bytes size : {Bytes{100}, Bytes{5000}, 3 * kMiB}) {
    const Block block = domain->allocate(size, Tag{});
    EXPECT_FALSE(SystemPages::is_imaginary(block.data));
    std::memset(block.data, 1, static_cast<std::size_t>(size));
    domain->release(block);
  }
}

TEST(RehearsalTest, AnotherDomainHasRealElements) {
  const auto domain = pooled();
  EXPECT_FALSE(domain->is_rehearsal());
  const Block block = domain->allocate_elements(kMiB, Tag{});
  std::memset(block.data, 1, static_cast<std::size_t>(kMiB));
  domain->release(block);
}

struct Live {
  Block real;
  Block rehearsed;
};

// The same requests: the same figures at every instant.
TEST(RehearsalTest, CountsAndHoldsAsThePooledDomain) {
  for (std::uint32_t seed = 1; seed <= 20; ++seed) {
    TestRandom random(seed);
    const auto real = pooled();
    const auto rehearsed = rehearsal();
    std::vector<Live> live;
    for (int i = 0; i < 400; ++i) {
      if (!live.empty() && random() % 5 < 2) {
        const auto at = random() % live.size();
        real->release(live[at].real);
        rehearsed->release(live[at].rehearsed);
        live[at] = live.back();
        live.pop_back();
      } else {
        const auto bits = 4 + random() % 18;
        const auto size = Bytes{1} + random() % (1U << bits);
        const bool elements = random() % 2 == 0;
        live.push_back(elements ? Live{real->allocate_elements(size, Tag{}),
                                       rehearsed->allocate_elements(size, {})}
                                : Live{real->allocate(size, Tag{}),
                                       rehearsed->allocate(size, Tag{})});
      }
      ASSERT_EQ(real->stats().held, rehearsed->stats().held) << seed;
      ASSERT_EQ(real->stats().idle, rehearsed->stats().idle) << seed;
      ASSERT_EQ(real->stats().live, rehearsed->stats().live) << seed;
    }
    EXPECT_EQ(real->stats().peak, rehearsed->stats().peak);
    EXPECT_TRUE(rehearsed->is_consistent());
    for (const Live& pair : live) {
      real->release(pair.real);
      rehearsed->release(pair.rehearsed);
    }
    EXPECT_EQ(real->trim(), rehearsed->trim());
  }
}

TEST(RehearsalTest, ABudgetBindsAsEver) {
  const auto domain = Domain::create({.budget = kGiB, .is_rehearsal = true});
  EXPECT_THROW(domain->allocate_elements(2 * kGiB, Tag{}), OutOfMemory);
  EXPECT_EQ(domain->stats().live, 0);
}

}  // namespace
}  // namespace neap::memory
