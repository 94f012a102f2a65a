// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/attr_pool.hpp"

#include <gtest/gtest.h>

#include "neap/memory/context.hpp"

namespace neap::compiler {
namespace {

// A thing that attributes of the op below own.
struct Owned {
  int references = 0;
};
struct OwnedAttrs {
  Owned* owned;
  double number;
};

// Uses of the op below.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
int counted = 0;

const graph::Op kOwning{
    .name = "owning",
    .formula = {},
    .count = [](const graph::Op& /*op*/, int by) noexcept { counted += by; },
    .copy_attrs =
        [](void* to, const void* from) noexcept {
          *static_cast<OwnedAttrs*>(to) = *static_cast<const OwnedAttrs*>(from);
          ++static_cast<OwnedAttrs*>(to)->owned->references;
        },
    .drop_attrs =
        [](void* attrs) noexcept {
          --static_cast<OwnedAttrs*>(attrs)->owned->references;
        }};

TEST(AttrPoolTest, KeepsBytesAndWhatTheyOwnForAsLongAsItIs) {
  Owned owned;
  {
    AttrPool pool;
    const std::uint32_t plain = pool.keep(nullptr, graph::Attrs(2.5));
    const std::uint32_t owning =
        pool.keep(&kOwning, graph::Attrs(OwnedAttrs{&owned, 7.0}));
    EXPECT_EQ(*static_cast<const double*>(pool.at(plain)), 2.5);
    EXPECT_EQ(static_cast<const OwnedAttrs*>(pool.at(owning))->number, 7.0);
    EXPECT_EQ(owned.references, 1);
    EXPECT_EQ(counted, 1);
    const AttrPool moved = std::move(pool);
    EXPECT_EQ(owned.references, 1);
  }
  EXPECT_EQ(owned.references, 0);
  EXPECT_EQ(counted, 0);
}

TEST(AttrPoolTest, ACopyOwnsAsMuchOnceMore) {
  Owned owned;
  AttrPool pool;
  const std::uint32_t at =
      pool.keep(&kOwning, graph::Attrs(OwnedAttrs{&owned, 7.0}));
  {
    AttrPool copy = pool;
    static_cast<OwnedAttrs*>(copy.at(at))->number = 8.0;
    EXPECT_EQ(static_cast<const OwnedAttrs*>(pool.at(at))->number, 7.0);
    EXPECT_EQ(owned.references, 2);
    EXPECT_EQ(counted, 2);
    pool = std::move(copy);
    EXPECT_EQ(owned.references, 1);
    EXPECT_EQ(counted, 1);
  }
  EXPECT_EQ(static_cast<const OwnedAttrs*>(pool.at(at))->number, 8.0);
  EXPECT_EQ(owned.references, 1);
  pool = AttrPool();
  EXPECT_EQ(owned.references, 0);
}

TEST(AttrPoolTest, EqualAttributesOfAnOpAreThereOnce) {
  const graph::Op plain{.name = "plain", .formula = {}};
  AttrPool pool;
  const std::uint32_t first = pool.keep(&plain, graph::Attrs(2.5));
  for (int i = 0; i < 100; ++i) {
    EXPECT_NE(pool.keep(&plain, graph::Attrs(100.0 + i)), first);
  }
  EXPECT_EQ(pool.keep(&plain, graph::Attrs(2.5)), first);
  AttrPool copy = pool;
  EXPECT_EQ(copy.keep(&plain, graph::Attrs(2.5)), first);
  EXPECT_EQ(*static_cast<const double*>(copy.at(first)), 2.5);
}

TEST(AttrPoolTest, AttributesThatARunRewritesAreEachCallsOwn) {
  graph::Op random{.name = "random", .formula = {}};
  random.facts.effect = graph::Effect::kRandom;
  AttrPool pool;
  const std::uint32_t first = pool.keep(&random, graph::Attrs(2.5));
  EXPECT_NE(pool.keep(&random, graph::Attrs(2.5)), first);
  EXPECT_NE(pool.keep(nullptr, graph::Attrs(2.5)),
            pool.keep(nullptr, graph::Attrs(2.5)));
}

TEST(AttrPoolTest, ACopyThatFindsNoMemoryCountsNothing) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  Owned owned;
  AttrPool pool;
  pool.keep(&kOwning, graph::Attrs(OwnedAttrs{&owned, 7.0}));
  for (int n = 1; n <= 2; ++n) {
    domain->fail_at(n);
    EXPECT_THROW(AttrPool{pool}, OutOfMemory);
    EXPECT_EQ(owned.references, 1);
    EXPECT_EQ(counted, 1);
  }
  domain->fail_at(0);
  pool = AttrPool();
}

}  // namespace
}  // namespace neap::compiler
