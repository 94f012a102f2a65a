// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/validate.hpp"

#include <algorithm>
#include <map>

namespace neap::planner {
namespace {

// An unaliased buffer takes a rectangle of time and memory.
struct Rectangle {
  std::int64_t lower;
  std::int64_t upper;
  std::int64_t offset;
  std::int64_t end;
  std::int32_t buffer;
};

Verdict check_each(const Problem& problem, const Solution& solution) {
  const std::size_t count = problem.buffers.size();
  if (solution.offsets.size() != count) {
    return {.fault = Fault::kCount};
  }
  Verdict worst;  // the first buffer of the first fault in Fault's order
  const auto blame = [&](Fault fault, std::size_t i) {
    if (worst.is_good() || fault < worst.fault) {
      worst = {.fault = fault, .first = static_cast<std::int32_t>(i)};
    }
  };
  for (std::size_t i = 0; i < count; ++i) {
    const Buffer& b = problem.buffers[i];
    const std::int64_t offset = solution.offsets[i];
    if (offset < 0 || offset > kNoLimit - b.size) {
      blame(Fault::kRange, i);
    } else if (offset % b.alignment != 0) {
      blame(Fault::kAlignment, i);
    } else if (b.fixed >= 0 && offset != b.fixed) {
      blame(Fault::kFixed, i);
    } else if (b.alias_of >= 0 &&
               offset - b.alias_at !=
                   solution.offsets[static_cast<std::size_t>(b.alias_of)]) {
      blame(Fault::kAlias, i);
    }
  }
  return worst;
}

// A rectangle for each group of aliases: it lives from the first's begin to the
// last's end, since what is written early is read late.
memory::Vector<Rectangle> rectangles(const Problem& problem,
                                     const Solution& solution) {
  memory::Vector<Rectangle> all(problem.buffers.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    all[i] = {.lower = b.lower,
              .upper = b.upper,
              .offset = solution.offsets[i],
              .end = solution.offsets[i] + b.size,
              .buffer = static_cast<std::int32_t>(i)};
  }
  for (const Buffer& b : problem.buffers) {
    if (b.alias_of >= 0) {
      Rectangle& group = all[static_cast<std::size_t>(b.alias_of)];
      group.lower = std::min(group.lower, b.lower);
      group.upper = std::max(group.upper, b.upper);
    }
  }
  std::erase_if(all, [&](const Rectangle& r) {
    return problem.buffers[static_cast<std::size_t>(r.buffer)].alias_of >= 0 ||
           r.offset == r.end;
  });
  return all;
}

using Live = std::map<
    std::int64_t, const Rectangle*, std::less<>,
    memory::Allocator<std::pair<const std::int64_t, const Rectangle*>>>;

Verdict overlap(const Rectangle& a, const Rectangle& b) noexcept {
  return {.fault = Fault::kOverlap,
          .first = std::min(a.buffer, b.buffer),
          .second = std::max(a.buffer, b.buffer)};
}

// A walk through time over what lives, ordered by offset. As long as nothing
// overlaps, a newcomer can only overlap its two neighbours.
Verdict check_overlaps(const memory::Vector<Rectangle>& all) {
  memory::Vector<const Rectangle*> comers;
  for (const Rectangle& r : all) {
    comers.push_back(&r);
  }
  memory::Vector<const Rectangle*> leavers = comers;
  std::sort(comers.begin(), comers.end(),
            [](auto* a, auto* b) { return a->lower < b->lower; });
  std::sort(leavers.begin(), leavers.end(),
            [](auto* a, auto* b) { return a->upper < b->upper; });
  Live live;
  std::size_t left = 0;
  for (const Rectangle* comer : comers) {
    for (; leavers[left]->upper <= comer->lower; ++left) {
      live.erase(leavers[left]->offset);
    }
    const auto next = live.lower_bound(comer->offset);
    if (next != live.end() && next->second->offset < comer->end) {
      return overlap(*comer, *next->second);
    }
    if (next != live.begin() && std::prev(next)->second->end > comer->offset) {
      return overlap(*comer, *std::prev(next)->second);
    }
    live.emplace_hint(next, comer->offset, comer);
  }
  return {};
}

Verdict check_height(const Problem& problem, const Solution& solution) {
  std::int64_t highest = 0;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    if (problem.buffers[i].size > 0) {
      highest =
          std::max(highest, solution.offsets[i] + problem.buffers[i].size);
    }
  }
  if (solution.height != highest) {
    return {.fault = Fault::kHeight};
  }
  if (solution.lower_bound > highest) {
    return {.fault = Fault::kBound};
  }
  if (highest > problem.capacity) {
    return {.fault = Fault::kCapacity};
  }
  return {};
}

}  // namespace

Verdict validate(const Problem& problem, const Solution& solution) {
  check(problem);
  if (const Verdict each = check_each(problem, solution); !each.is_good()) {
    return each;
  }
  if (const Verdict pairs = check_overlaps(rectangles(problem, solution));
      !pairs.is_good()) {
    return pairs;
  }
  return check_height(problem, solution);
}

const char* name_of(Fault fault) noexcept {
  switch (fault) {
    case Fault::kNone:
      return "none";
    case Fault::kCount:
      return "count";
    case Fault::kRange:
      return "range";
    case Fault::kAlignment:
      return "alignment";
    case Fault::kFixed:
      return "fixed";
    case Fault::kAlias:
      return "alias";
    case Fault::kOverlap:
      return "overlap";
    case Fault::kHeight:
      return "height";
    case Fault::kBound:
      return "bound";
    case Fault::kCapacity:
      return "capacity";
  }
  return "none";
}

}  // namespace neap::planner
