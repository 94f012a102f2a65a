// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "fuzz_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>

#include "neap/compile/lower.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "random_step.hpp"

namespace neap::programs {
namespace {

constexpr int kActions = 18;
constexpr std::array<std::int64_t, 4> kBatches = {3, 3, 5, 3};

// A random step, cut short, and the size of its batches: large ones have values
// larger than a page, and only those go to a file.
struct Case {
  std::uint64_t seed;
  int actions;
  std::int64_t scale = 1;
  std::int64_t more = 0;

  std::int64_t batch(std::int64_t samples) const {
    return samples * scale + more;
  }
};

// A tenth of all steps has large batches, of those that spill values nearly
// all, and such that what one batch can do without, the others can, too.
Case case_of(std::uint64_t seed, bool spills) {
  if ((seed % 10 == 0) == spills) {
    return {seed, kActions};
  }
  return spills ? Case{.seed = seed, .actions = kActions, .more = 765}
                : Case{.seed = seed, .actions = kActions, .scale = 256};
}

compiler::Lowered lowered(const Case& which, std::int64_t batch,
                          const CompileOptions& options) {
  World world(which.seed);
  const UseGenerator use(world.generator);
  const tensor::Spec spec{f32, {which.batch(batch), World::kWidth}};
  return lower(RandomStep(which.seed, world, which.actions), {spec, spec},
               options);
}

// A limit that every batch can be made to fit.
bool is_feasible(const Case& which, const CompileOptions& limited) {
  try {
    for (const std::int64_t batch : kBatches) {
      const auto fits = lowered(which, batch, limited);
      if (fits.plan.space().bytes > limited.arena_limit) {
        throw InternalError("above the limit of the arena");
      }
    }
    return true;
  } catch (const PlanError&) {
    return false;  // no schedule of it is within that
  }
}

// A part of the arena, where there are plans for that; of steps that spill also
// a larger part, since few of them can do without much.
void set_limit(CompileOptions& options, int percent, const Case& which) {
  constexpr int kMostPercent = 97;
  const bool spills = !options.spill.folder.empty();
  const Bytes whole = lowered(which, kBatches[0], options).plan.space().bytes;
  CompileOptions limited = options;
  for (const int some : {percent, (percent + kMostPercent) / 2, kMostPercent}) {
    limited.arena_limit = whole * some / 100;
    if (is_feasible(which, limited)) {
      options = limited;
      return;
    }
    if (!spills) {
      return;
    }
  }
}

// Hashes of all that is seen after each call, results first.
using Trail = std::vector<std::uint64_t>;

template <class Call>
Trail trail_of(World& world, const Case& which, const Call& call) {
  Trail trail;
  for (std::size_t i = 0; i < kBatches.size(); ++i) {
    const std::int64_t batch = which.batch(kBatches[i]);
    const Tensor x = made_up(which.seed * 16 + i, batch);
    const Tensor y = made_up(which.seed * 16 + i + 8, batch);
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

// Elements of the results of the first call and of the gradients that it
// leaves.
using Elements = std::vector<std::vector<double>>;

template <class Call>
Elements first_call(World& world, const Case& which, const Call& call) {
  const std::int64_t batch = which.batch(kBatches[0]);
  const Tensor x = made_up(which.seed * 16, batch);
  const Tensor y = made_up(which.seed * 16 + 8, batch);
  const UseGenerator use(world.generator);
  Elements out;
  const auto add = [&out](const Tensor& tensor) {
    const auto elements = tensor.to_vector();
    out.emplace_back(elements.begin(), elements.end());
  };
  for (const Tensor& result : call(x, y)) {
    add(result);
  }
  for (const Tensor& weight : world.weights) {
    if (weight.grad().defined()) {
      add(weight.grad());
    }
  }
  return out;
}

// Sums of f32 in another order.
bool are_near(const Elements& a, const Elements& b) {
  constexpr double kShare = 2e-3;
  bool is_near = a.size() == b.size();
  for (std::size_t i = 0; is_near && i < a.size(); ++i) {
    double largest = 1e-3;
    for (const double element : a[i]) {
      largest = std::max(largest, std::abs(element));
    }
    is_near = a[i].size() == b[i].size();
    for (std::size_t k = 0; is_near && k < a[i].size(); ++k) {
      is_near = std::abs(a[i][k] - b[i][k]) <= kShare * largest;
    }
  }
  return is_near;
}

// Empty where a step in shards gives what the whole batch gives, but for
// rounding.
std::string difference_of_shards(const CompileOptions& options,
                                 const Case& which) {
  World whole(which.seed);
  const Elements eager =
      first_call(whole, which, RandomStep(which.seed, whole, which.actions));
  World world(which.seed);
  auto step = compile(RandomStep(which.seed, world, which.actions), options);
  const Elements cut =
      first_call(world, which,
                 [&](const Tensor& x, const Tensor& y) { return step(x, y); });
  return are_near(eager, cut) ? std::string()
                              : "the shards' result is not the batch's";
}

Trail run_eagerly(const Case& which) {
  World world(which.seed);
  const RandomStep step(which.seed, world, which.actions);
  return trail_of(world, which, step);
}

Trail run_compiled(const Variant& variant, const Case& which) {
  World world(which.seed);
  CompileOptions options;
  variant.set(options);
  if (options.max_batch > 0) {
    options.max_batch = which.batch(options.max_batch);
  }
  if (variant.arena_percent < 100) {
    set_limit(options, variant.arena_percent, which);
  }
  auto step = compile(RandomStep(which.seed, world, which.actions), options);
  return trail_of(world, which,
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

// Puts all that may be in a file between runs and between uses there.
void set_away(CompileOptions& options, compiler::Debug::Away how) {
  set_spill(options);
  options.debug.away = how;
}

// The same, and most of it is updated some elements at a time.
void set_parts(CompileOptions& options, compiler::Debug::Away how) {
  set_away(options, how);
  options.spill.part = 64;
}

// The run that a way has to agree with: a step in shards has bits of its own.
Trail reference(const Variant& variant, const Case& which) {
  CompileOptions options;
  variant.set(options);
  if (options.shards == 1) {
    return run_eagerly(which);
  }
  World world(which.seed);
  auto step =
      compile(RandomStep(which.seed, world, which.actions),
              {.shards = options.shards, .passes = compiler::Passes::none()});
  return trail_of(world, which,
                  [&](const Tensor& x, const Tensor& y) { return step(x, y); });
}

// Empty where both ways agree.
std::string difference(const Variant& variant, const Case& which) {
  try {
    CompileOptions options;
    variant.set(options);
    if (options.shards > 1) {
      if (std::string found = difference_of_shards(options, which);
          !found.empty()) {
        return found;
      }
    }
    const Trail eager = reference(variant, which);
    const Trail compiled = run_compiled(variant, which);
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

// Steps whose batch is cut, to the same bits or (shards) to bits of their own.
std::vector<Variant> cut_variants() {
  return {
      {"micro_batches", [](CompileOptions& o) { o.passes.micro_batches = 2; }},
      {"micro_batches_poisoned",
       [](CompileOptions& o) {
         o.passes.micro_batches = 3;
         o.debug.poison = true;
         o.debug.guards = true;
       },
       2},
      {"micro_batches_plain",
       [](CompileOptions& o) {
         o.passes = compiler::Passes::none();
         o.passes.micro_batches = 8;
       }},
      {"two_shards", [](CompileOptions& o) { o.shards = 2; }},
      {"shards_poisoned",
       [](CompileOptions& o) {
         o.shards = 3;
         o.debug.poison = true;
         o.debug.guards = true;
       },
       2},
      {"shards_fitted", [](CompileOptions& o) { o.shards = 4; }, 1, 90},
  };
}

}  // namespace

std::vector<Variant> variants() {
  std::vector<Variant> all = {
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
      {"away",
       [](CompileOptions& o) { set_away(o, compiler::Debug::Away::kEarly); }},
      {"away_tightly",
       [](CompileOptions& o) {
         set_away(o, compiler::Debug::Away::kTight);
         o.debug.poison = true;
       },
       2},
      {"parts",
       [](CompileOptions& o) { set_parts(o, compiler::Debug::Away::kEarly); }},
      {"parts_tightly",
       [](CompileOptions& o) {
         set_parts(o, compiler::Debug::Away::kTight);
         o.debug.poison = true;
       },
       2},
  };
  std::ranges::move(cut_variants(), std::back_inserter(all));
  return all;
}

bool spills(const Variant& variant) {
  CompileOptions options;
  variant.set(options);
  return !options.spill.folder.empty();
}

bool keeps_away(const Variant& variant) {
  CompileOptions options;
  variant.set(options);
  return options.debug.away != compiler::Debug::Away::kByPrice;
}

int count_paged(std::uint64_t first, int count) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t seed = first + static_cast<std::uint64_t>(i);
    CompileOptions options;
    set_paged(options);
    const auto paged = lowered(case_of(seed, false), kBatches[0], options);
    found += paged.plan.pages.views.empty() ? 0 : 1;
  }
  return found;
}

namespace {

template <class IsCounted>
int count_limited(std::uint64_t first, int count, int arena_percent,
                  const CompileOptions& given, const IsCounted& is_counted) {
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const Case which = case_of(first + static_cast<std::uint64_t>(i),
                               !given.spill.folder.empty());
    CompileOptions options = given;
    set_limit(options, arena_percent, which);
    const auto fitted = lowered(which, kBatches[0], options);
    found += is_counted(fitted.program.fitting) ? 1 : 0;
  }
  return found;
}

}  // namespace

int count_fitted(std::uint64_t first, int count, int arena_percent) {
  return count_limited(
      first, count, arena_percent, {},
      [](const compiler::Fitting& fitting) { return fitting.again != 0; });
}

int count_away(std::uint64_t first, int count) {
  CompileOptions options;
  set_away(options, compiler::Debug::Away::kEarly);
  int found = 0;
  for (int i = 0; i < count; ++i) {
    const Case which = case_of(first + static_cast<std::uint64_t>(i), true);
    World world(which.seed);
    const UseGenerator use(world.generator);
    auto step = compile(RandomStep(which.seed, world, which.actions), options);
    const std::int64_t batch = which.batch(kBatches[0]);
    step(made_up(which.seed, batch), made_up(which.seed + 1, batch));
    found += step.program().fitting.weights != 0 ? 1 : 0;
  }
  return found;
}

int count_spilled(std::uint64_t first, int count, int arena_percent) {
  CompileOptions options;
  set_spill(options);
  options.passes.micro_batches = 1;  // which need no file
  return count_limited(
      first, count, arena_percent, options,
      [](const compiler::Fitting& fitting) { return fitting.spilled != 0; });
}

std::string run_fuzz(const Variant& variant, std::uint64_t first, int count) {
  threads::Pool pool(variant.threads);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& c) { c.executor = &pool; });
  for (int i = 0; i < count; ++i) {
    Case which =
        case_of(first + static_cast<std::uint64_t>(i), spills(variant));
    if (difference(variant, which).empty()) {
      continue;
    }
    which.actions = 0;
    while (which.actions < kActions && difference(variant, which).empty()) {
      ++which.actions;
    }
    return fmt::format("step {}, {} actions, a batch of {}, {}: {}", which.seed,
                       which.actions, which.batch(kBatches[0]), variant.name,
                       difference(variant, which));
  }
  return {};
}

}  // namespace neap::programs
