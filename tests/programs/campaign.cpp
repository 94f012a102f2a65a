// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "campaign.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>

#include "neap/compile/lower.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "random_step.hpp"

namespace neap::programs {
namespace {

constexpr int kActions = 18;
constexpr std::array<std::int64_t, 4> kBatches = {3, 3, 5, 3};

// Some steps have batches whose values are larger than a page.
std::int64_t scale_of(std::uint64_t seed) {
  return seed % 10 == 0 ? 256 : 1;
}

compiler::Lowered lowered(std::uint64_t seed, int actions, std::int64_t batch,
                          const CompileOptions& options) {
  World world(seed);
  const UseGenerator use(world.generator);
  const tensor::Spec spec{f32, {batch * scale_of(seed), World::kWidth}};
  return lower(RandomStep(seed, world, actions), {spec, spec}, options);
}

// A part of the arena, where every batch can be made to fit that.
void set_limit(CompileOptions& options, int percent, std::uint64_t seed,
               int actions) {
  CompileOptions limited = options;
  limited.arena_limit =
      lowered(seed, actions, kBatches[0], options).plan.space().bytes *
      percent / 100;
  try {
    for (const std::int64_t batch : kBatches) {
      const auto fits = lowered(seed, actions, batch, limited);
      if (fits.plan.space().bytes > limited.arena_limit) {
        throw InternalError("above the limit of the arena");
      }
    }
    options = limited;
  } catch (const PlanError&) {
    // no schedule of it is within that
  }
}

// Hashes of all that is seen after each call, results first.
using Trail = std::vector<std::uint64_t>;

template <class Call>
Trail trail_of(World& world, std::uint64_t seed, const Call& call) {
  Trail trail;
  for (std::size_t i = 0; i < kBatches.size(); ++i) {
    const std::int64_t batch = kBatches[i] * scale_of(seed);
    const Tensor x = made_up(seed * 16 + i, batch);
    const Tensor y = made_up(seed * 16 + i + 8, batch);
    const UseGenerator use(world.generator);
    const Tensors results = call(x, y);
    std::uint64_t hash = 0;
    for (const Tensor& result : results) {
      hash = hash_of(result, hash);
    }
    trail.push_back(hash);
    trail.push_back(world.hash());
  }
  return trail;
}

Trail run_eagerly(std::uint64_t seed, int actions) {
  World world(seed);
  const RandomStep step(seed, world, actions);
  return trail_of(world, seed, step);
}

Trail run_compiled(const Variant& variant, std::uint64_t seed, int actions) {
  World world(seed);
  CompileOptions options;
  variant.set(options);
  options.max_batch *= scale_of(seed);
  if (variant.arena_percent < 100) {
    set_limit(options, variant.arena_percent, seed, actions);
  }
  auto step = compile(RandomStep(seed, world, actions), options);
  return trail_of(world, seed,
                  [&](const Tensor& x, const Tensor& y) { return step(x, y); });
}

void set_paged(CompileOptions& options) {
  options.paged = true;
  options.debug.scatter = true;
}

void set_spill(CompileOptions& options) {
  options.spill = {.folder = ".",
                   .write_rate = 1'000'000'000'000,
                   .fetch_rate = 1'000'000'000'000,
                   .least = 64};
  options.recompute = false;
}

// Empty where both ways agree.
std::string difference(const Variant& variant, std::uint64_t seed,
                       int actions) {
  try {
    const Trail eager = run_eagerly(seed, actions);
    const Trail compiled = run_compiled(variant, seed, actions);
    for (std::size_t i = 0; i < eager.size(); ++i) {
      if (eager[i] != compiled[i]) {
        return fmt::format("call {}: {} differ", i / 2,
                           i % 2 == 0 ? "results" : "parameters or state");
      }
    }
  } catch (const PlanError& error) {
    // Another program of the step, in another mode, may need more.
    return variant.arena_percent < 100 ? std::string() : error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return {};
}

}  // namespace

std::vector<Variant> variants() {
  return {
      {"planned", [](CompileOptions&) {}},
      {"plain", [](CompileOptions& o) { o.passes = compiler::Passes::none(); }},
      {"no_reuse", [](CompileOptions& o) { o.debug.no_reuse = true; }},
      {"poisoned", [](CompileOptions& o) { o.debug.poison = true; }},
      {"guarded", [](CompileOptions& o) { o.debug.guards = true; }},
      {"threaded", [](CompileOptions&) {}, 3},
      {"paged", set_paged},
      {"paged_threads",
       [](CompileOptions& o) {
         set_paged(o);
         o.debug.poison = true;
       },
       2},
      {"max_batch", [](CompileOptions& o) { o.max_batch = 5; }},
      {"kept", [](CompileOptions& o) { o.keep_all = true; }},
      {"unfused", [](CompileOptions& o) { o.passes.fuse = false; }},
      {"traced_order",
       [](CompileOptions& o) {
         o.passes.reorder = false;
         o.passes.gradient_release = false;
       }},
      {"fitted", [](CompileOptions&) {}, 1, 98},
      {"fitted_tightly",
       [](CompileOptions& o) {
         o.debug.poison = true;
         o.debug.guards = true;
       },
       2, 90},
      {"spilled", set_spill, 1, 80},
      {"spilled_poisoned",
       [](CompileOptions& o) {
         set_spill(o);
         o.debug.poison = true;
       },
       2, 60},
  };
}

int count_paged(std::uint64_t first, int count) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    CompileOptions options;
    set_paged(options);
    const auto paged = lowered(seed, kActions, kBatches[0], options);
    found += paged.plan.pages.views.empty() ? 0 : 1;
  }
  return found;
}

namespace {

// Of steps `first`, `first` + `by`, ...
template <class IsCounted>
int count_limited(std::uint64_t first, std::uint64_t by, int count,
                  int arena_percent, const CompileOptions& given,
                  const IsCounted& is_counted) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + by * static_cast<std::uint64_t>(i);
    CompileOptions options = given;
    set_limit(options, arena_percent, seed, kActions);
    const auto fitted = lowered(seed, kActions, kBatches[0], options);
    found += is_counted(fitted.program.fitting) ? 1 : 0;
  }
  return found;
}

}  // namespace

int count_fitted(std::uint64_t first, int count, int arena_percent) {
  return count_limited(
      first, 1, count, arena_percent, {},
      [](const compiler::Fitting& fitting) { return fitting.again != 0; });
}

int count_spilled(std::uint64_t first, int count, int arena_percent) {
  CompileOptions options;
  set_spill(options);
  return count_limited(
      10 * first, 10, count, arena_percent, options,
      [](const compiler::Fitting& fitting) { return fitting.spilled != 0; });
}

std::string run_campaign(const Variant& variant, std::uint64_t first,
                         int count) {
  threads::Pool pool(variant.threads);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& c) { c.executor = &pool; });
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    if (difference(variant, seed, kActions).empty()) {
      continue;
    }
    int actions = 0;
    while (actions < kActions && difference(variant, seed, actions).empty()) {
      ++actions;
    }
    return fmt::format("step {}, {} actions, {}: {}", seed, actions,
                       variant.name, difference(variant, seed, actions));
  }
  return {};
}

}  // namespace neap::programs
