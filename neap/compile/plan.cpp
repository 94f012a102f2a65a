// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/plan.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/memory/system_pages.hpp"
#include "neap/planner/lower_bound.hpp"
#include "neap/planner/paged.hpp"
#include "neap/planner/validate.hpp"
#include "neap/program/pool_bytes.hpp"

namespace neap::compiler {
namespace {

using Clock = std::chrono::steady_clock;

// Below this a page more or less is not worth a mapping.
constexpr Bytes kLeastPagedPages = 16;
// A process may have some 65 000 mappings.
constexpr std::size_t kMostViews = 4096;

class Planning {
 public:
  Planning(const Program& program, Plan& out) : program_(program), out_(out) {
    out_.offsets.assign(out_.lifetimes.buffers.size(), 0);
  }

  void solve(memory::SpaceId space, const planner::SolveOptions& options,
             bool is_paged) {
    const SpaceProblem packing = problem_of(out_.lifetimes, space, out_.debug);
    if (packing.buffers.empty()) {
      return;
    }
    const planner::Solution solution = planner::solve(packing.problem, options);
    check(packing.problem, solution);
    for (std::size_t i = 0; i < packing.buffers.size(); ++i) {
      out_.offsets[packing.buffers[i].value] = solution.offsets[i] * kUnit;
    }
    SpacePlan& result = out_.spaces[space.value];
    result.bytes = solution.height * kUnit;
    result.lower_bound = solution.lower_bound * kUnit;
    result.is_proven = solution.is_proven;
    result.seconds = solution.seconds;
    result.method = solution.method;
    if (is_paged && space == memory::kHost) {
      use_pages(packing, result);
    }
    list_peak(packing, space);
  }

  void sum_up() {
    trim(out_.at_peak);
    std::ranges::sort(out_.at_peak, {}, [](const Live& live) {
      return std::tuple(-live.bytes, live.space.value, live.value, live.call);
    });
    for (const Live& live : out_.at_peak) {
      out_.by_category[static_cast<std::size_t>(live.category)] += live.bytes;
      auto row = std::find_if(
          out_.by_owner.begin(), out_.by_owner.end(),
          [&](const OwnerBytes& o) { return o.owner == live.owner; });
      if (row == out_.by_owner.end()) {
        row = out_.by_owner.insert(row, {live.owner, 0});
      }
      row->bytes += live.bytes;
    }
    std::ranges::sort(out_.by_owner, {}, [](const OwnerBytes& row) {
      return std::pair(-row.bytes, row.owner);
    });
  }

 private:
  // Pages instead, where they make the arena lower.
  void use_pages(const SpaceProblem& packing, SpacePlan& result) {
    const Bytes bound = planner::lower_bound(packing.problem).height * kUnit;
    const bool must = out_.debug.scatter;
    if (result.bytes < kLeastPagedPages * memory::page_bytes() ||
        (result.bytes == bound && !must)) {
      return;
    }
    const auto begin = Clock::now();
    // Heuristics will do for what need not lie together.
    const planner::Paging paging = planner::assign_pages(
        packing.problem, memory::page_bytes() / kUnit, {.work = 1},
        must ? planner::PageChoice::kScattered
             : planner::PageChoice::kTogether);
    const Bytes bytes = paging.pages * memory::page_bytes();
    result.seconds +=
        std::chrono::duration<double>(Clock::now() - begin).count();
    if ((bytes >= result.bytes && !must) || paging.views.size() > kMostViews) {
      return;
    }
    check(packing.problem, paging);
    take(packing, paging);
    result.bytes = bytes;
    result.lower_bound = bound;
    result.is_proven = bytes - bound < memory::page_bytes();
    result.method = "pages";
  }

  void take(const SpaceProblem& packing, const planner::Paging& paging) {
    for (std::size_t i = 0; i < packing.buffers.size(); ++i) {
      out_.offsets[packing.buffers[i].value] = paging.addresses[i] * kUnit;
    }
    PagePlan& pages = out_.pages;
    pages.bytes = (paging.address_pages - paging.pages) * memory::page_bytes();
    pages.views.reserve(paging.views.size());
    for (const planner::PageView& view : paging.views) {
      pages.views.push_back(
          {.at = (view.at - paging.pages) * memory::page_bytes(),
           .from = view.from * memory::page_bytes(),
           .size = view.count * memory::page_bytes()});
    }
  }

  static void check(const planner::Problem& problem,
                    const planner::Paging& paging) {
#ifdef NEAP_CHECKED
    require(planner::validate(problem, paging));
#else
    static_cast<void>(problem);
    static_cast<void>(paging);
#endif
  }

  static void check(const planner::Problem& problem,
                    const planner::Solution& solution) {
    if (solution.offsets.size() != problem.buffers.size()) {
      base::raise<InternalError>("plan: the planner placed {} of {} buffers",
                                 solution.offsets.size(),
                                 problem.buffers.size());
    }
#ifdef NEAP_CHECKED
    require(planner::validate(problem, solution));
#endif
  }

  [[maybe_unused]] static void require(const planner::Verdict& verdict) {
    if (!verdict.is_good()) {
      base::raise<InternalError>("plan: the planner's answer is wrong, {} ({})",
                                 planner::name_of(verdict.fault),
                                 verdict.first);
    }
  }

  // Where the sum of what lives is largest, the earliest of several.
  void find_peak(const planner::Problem& problem, SpacePlan& result) const {
    memory::Vector<std::int64_t> change(out_.lifetimes.calls + 2, 0);
    for (const planner::Buffer& buffer : problem.buffers) {
      change[static_cast<std::size_t>(buffer.lower)] += buffer.size;
      change[static_cast<std::size_t>(buffer.upper)] -= buffer.size;
    }
    std::int64_t live = 0;
    for (std::uint32_t t = 0; t < change.size(); ++t) {
      live += change[t];
      if (live * kUnit > result.live_at_peak) {
        result.live_at_peak = live * kUnit;
        result.peak_call = t;
      }
    }
  }

  void list_peak(const SpaceProblem& packing, memory::SpaceId space) {
    SpacePlan& result = out_.spaces[space.value];
    find_peak(packing.problem, result);
    // The value that is in a buffer at that instant: the latest begun.
    memory::Vector<ValueId> latest(out_.lifetimes.buffers.size(), kNoValue);
    for (std::uint32_t v = 0; v < program_.values.size(); ++v) {
      const Value& value = program_.values[v];
      ValueId& current = latest[out_.lifetimes.buffer_of[v].value];
      if (value.origin == Origin::kCall && value.index <= result.peak_call &&
          (current == kNoValue || program_[current].index <= value.index)) {
        current = {v};
      }
    }
    for (std::size_t i = 0; i < packing.buffers.size(); ++i) {
      const planner::Buffer& lives = packing.problem.buffers[i];
      if (lives.lower <= result.peak_call && result.peak_call < lives.upper &&
          lives.size != 0) {
        const BufferId id = packing.buffers[i];
        const Buffer& buffer = out_.lifetimes.buffers[id.value];
        const ValueId now =
            buffer.value == kNoValue || latest[id.value] != kNoValue
                ? latest[id.value]
                : buffer.value;  // without reuse: not begun yet
        out_.at_peak.push_back(
            describe(buffer, now, lives.size * kUnit, out_.offsets[id.value]));
      }
    }
  }

  Live describe(const Buffer& buffer, ValueId id, Bytes bytes,
                Bytes offset) const {
    Live live{.value = id,
              .call = buffer.first,
              .bytes = bytes,
              .offset = offset,
              .space = buffer.space};
    if (id != kNoValue) {
      const Value& value = program_[id];
      live.call = value.index;
      live.category = value.spec->category;
      live.owner = value.spec->owner;
      live.site = value.site;
    } else {
      const Call& call = program_.calls[buffer.first];
      live.category = memory::Category::kWorkspace;
      live.owner = call.owner;
      live.site = call.site;
    }
    return live;
  }

  const Program& program_;
  Plan& out_;
};

}  // namespace

Plan plan(const Program& program, int threads, const Debug& debug,
          const planner::SolveOptions& options, bool is_paged) {
  Plan out;
  out.lifetimes = lifetimes(program, debug);
  out.threads = threads;
  out.debug = debug;
  Planning planning(program, out);
  for (std::uint8_t s = 0; s < memory::kMaxSpaces; ++s) {
    planning.solve({s}, options, is_paged);
  }
  planning.sum_up();
  return out;
}

Bytes Plan::arena_bytes() const noexcept {
  Bytes sum = 0;
  for (const SpacePlan& space : spaces) {
    sum += space.bytes;
  }
  return sum;
}

double Plan::seconds() const noexcept {
  double sum = 0;
  for (const SpacePlan& space : spaces) {
    sum += space.seconds;
  }
  return sum;
}

Bytes Plan::own_bytes() const noexcept {
  Bytes sum = 0;
  for (const Buffer& buffer : lifetimes.buffers) {
    sum += buffer.where == Where::kOwn ? buffer.size : 0;
  }
  return sum;
}

Bytes Plan::bytes() const noexcept {
  return pool_bytes(lifetimes.buffers, lifetimes.buffer_of,
                    lifetimes.scratch_of, offsets, pages.views, at_peak,
                    by_owner);
}

memory::Vector<Bytes> value_offsets(const Plan& plan) {
  memory::Vector<Bytes> offsets;
  offsets.reserve(plan.lifetimes.buffer_of.size());
  for (const BufferId id : plan.lifetimes.buffer_of) {
    const bool is_inside =
        plan.lifetimes.buffers[id.value].where == Where::kArena;
    offsets.push_back(is_inside ? plan.address_of(id) : -1);
  }
  return offsets;
}

}  // namespace neap::compiler
