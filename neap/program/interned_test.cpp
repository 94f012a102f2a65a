// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/interned.hpp"

#include <gtest/gtest.h>

#include "neap/program/program.hpp"

namespace neap::compiler {
namespace {

tensor::Layout column(std::int64_t offset) {
  return {DType::kF32, Shape{3}, Shape{4}, offset};
}

TEST(InternPoolTest, EqualValuesAreKeptOnce) {
  InternPool<tensor::Layout> pool;
  const auto first = pool.keep(column(1));
  const auto again = pool.keep(column(1));
  EXPECT_EQ(&*first, &*again);
  EXPECT_EQ(pool.size(), 1U);
}

TEST(InternPoolTest, WhateverDiffersIsAnother) {
  InternPool<tensor::Layout> pool;
  const auto first = pool.keep(column(1));
  EXPECT_FALSE(pool.keep(column(2)) == first);
  EXPECT_FALSE(pool.keep({DType::kI32, Shape{3}, Shape{4}, 1}) == first);
  EXPECT_FALSE(pool.keep({DType::kF32, Shape{4}, Shape{4}, 1}) == first);
  EXPECT_FALSE(pool.keep({DType::kF32, Shape{3}, Shape{3}, 1}) == first);
  EXPECT_EQ(pool.size(), 5U);
}

TEST(InternPoolTest, ValuesKeepTheirPlaceAsItGrows) {
  InternPool<tensor::Layout> pool;
  memory::Vector<Interned<tensor::Layout>> kept;
  for (std::int64_t i = 0; i < 2000; ++i) {
    kept.push_back(pool.keep(column(i)));
  }
  for (std::int64_t i = 0; i < 2000; ++i) {
    const auto k = static_cast<std::size_t>(i);
    EXPECT_EQ(kept[k]->offset, i);
    EXPECT_EQ(&*pool.keep(column(i)), &*kept[k]);
  }
}

TEST(InternPoolTest, BytesAreWhatTheDomainCounts) {
  const Bytes before = memory::domain().stats().live;
  InternPool<tensor::Layout> pool;
  for (std::int64_t i = 0; i < 300; ++i) {
    pool.keep(column(i));
  }
  EXPECT_EQ(memory::domain().stats().live - before, pool.bytes());
}

TEST(InternedTest, ADefaultOneMeansAValueByDefault) {
  const Interned<tensor::Layout> none;
  EXPECT_TRUE(none == tensor::Layout{});
  EXPECT_TRUE(none == Interned<tensor::Layout>());
}

TEST(InternedTest, ACopyOfAProgramSharesAndOutlivesThePool) {
  Program copy;
  Interned<tensor::Layout> layout;
  {
    Program program;
    layout = program.keep(column(7));
    copy = program.copy();
  }
  EXPECT_EQ(layout->offset, 7);
  EXPECT_EQ(&*copy.keep(column(7)), &*layout);
}

// Every handle is of the copy's own pools, which have what it needs alone.
TEST(InternedTest, ACopyApartOutlivesThePoolAndHasWhatItNeeds) {
  Program copy;
  {
    Program program;
    const auto layout = program.keep(column(7));
    ValueSpec spec;
    spec.size = 12;
    const ValueId value = program.add(Value{.spec = program.keep(spec)});
    program.operands.push_back({.value = value, .layout = layout});
    program.results.push_back({.operand = {.value = value, .layout = layout}});
    program.grads.emplace_back().last = {.value = value, .layout = layout};
    Call call;
    call.name = "some";
    program.add(call);
    for (int i = 0; i < 1000; ++i) {
      program.keep(column(100 + i));
    }
    copy = program.copy_apart();
    EXPECT_LT(copy.bytes(), program.bytes() / 4);
    const auto own = copy.keep(column(7));
    EXPECT_NE(&*own, &*layout);
    for (const Operand& operand :
         {copy.operands[0], copy.results[0].operand, copy.grads[0].last}) {
      EXPECT_EQ(&*operand.layout, &*own);
    }
  }
  EXPECT_EQ(copy.values[0].spec->size, 12);
  EXPECT_EQ(copy.operands[0].layout->offset, 7);
  EXPECT_EQ(copy.calls[0].name, "some");
}

TEST(InternedTest, AnOperandHasTwelveBytes) {
  EXPECT_EQ(sizeof(Operand), 12U);
}

}  // namespace
}  // namespace neap::compiler
