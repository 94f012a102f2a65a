// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cost of an allocation and its release in a domain, beside malloc.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "neap/memory/domain.hpp"

namespace neap::memory {
namespace {

void pair_at_the_door(benchmark::State& state) {
  const Domain::Handle domain =
      Domain::create({.host = HostAllocator::kPooled});
  const Tag tag{.category = Category::kActivations,
                .owner = domain->owner("fc1"),
                .site = {}};
  const Bytes size = state.range(0);
  const Block neighbour = domain->allocate(size, tag);  // as in real use
  for (auto _ : state) {
    const Block block = domain->allocate(size, tag);
    benchmark::DoNotOptimize(block.data);
    domain->release(block);
  }
  domain->release(neighbour);
}

// Opens and closes a slab each time.
void lone_pair_at_the_door(benchmark::State& state) {
  const Domain::Handle domain =
      Domain::create({.host = HostAllocator::kPooled});
  const Tag tag{.category = Category::kActivations, .owner = {}, .site = {}};
  for (auto _ : state) {
    const Block block = domain->allocate(64, tag);
    benchmark::DoNotOptimize(block.data);
    domain->release(block);
  }
}

void pair_with_malloc(benchmark::State& state) {
  const auto size = static_cast<std::size_t>(state.range(0));
  for (auto _ : state) {
    void* block = std::malloc(size);  // NOLINT: what is compared with
    benchmark::DoNotOptimize(block);
    std::free(block);  // NOLINT
  }
}

BENCHMARK(pair_at_the_door)->Arg(64)->Arg(4 * kKiB)->Arg(kMiB);
BENCHMARK(lone_pair_at_the_door);
BENCHMARK(pair_with_malloc)->Arg(64)->Arg(4 * kKiB)->Arg(kMiB);

}  // namespace
}  // namespace neap::memory
