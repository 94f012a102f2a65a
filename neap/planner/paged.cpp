// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/paged.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/planner/lower_bound.hpp"
#include "neap/planner/page_groups.hpp"

namespace neap::planner {
namespace {

struct Run {
  std::int64_t first;
  std::int64_t count;
};
using Runs = memory::Vector<Run>;

// The free pages, as runs that do not touch.
class FreePages {
 public:
  explicit FreePages(std::int64_t pages) {
    if (pages > 0) {
      runs_.emplace(0, pages);
    }
  }

  void give_back(Run run) {
    auto next = runs_.lower_bound(run.first);
    if (next != runs_.end() && run.first + run.count == next->first) {
      run.count += next->second;
      next = runs_.erase(next);
    }
    if (next != runs_.begin()) {
      const auto before = std::prev(next);
      if (before->first + before->second == run.first) {
        before->second += run.count;
        return;
      }
    }
    runs_.emplace_hint(next, run.first, run.count);
  }

  /// These very pages. RETURNS: false, and nothing has changed, where one of
  /// them is not free.
  bool take(const Run& wanted) {
    auto it = runs_.upper_bound(wanted.first);
    if (it == runs_.begin()) {
      return false;
    }
    --it;
    const Run whole = {it->first, it->second};
    const std::int64_t end = wanted.first + wanted.count;
    if (whole.first + whole.count < end) {
      return false;
    }
    if (end < whole.first + whole.count) {
      runs_.emplace_hint(std::next(it), end, whole.first + whole.count - end);
    }
    it->second = wanted.first - whole.first;
    if (it->second == 0) {
      runs_.erase(it);
    }
    return true;
  }

  /// The tightest single run, or else the longest ones. REQUIRES: so many are
  /// free.
  Runs take_any(std::int64_t count) {
    Runs all;
    const Run* tightest = nullptr;
    all.reserve(runs_.size());
    for (const auto& [first, length] : runs_) {
      all.push_back({first, length});
      if (length >= count &&
          (tightest == nullptr || length < tightest->count)) {
        tightest = &all.back();
      }
    }
    Runs taken;
    if (tightest != nullptr) {
      taken.push_back({tightest->first, count});
    } else {
      std::sort(all.begin(), all.end(), [](const Run& a, const Run& b) {
        return a.count != b.count ? a.count > b.count : a.first < b.first;
      });
      for (std::size_t i = 0; count > 0; ++i) {
        taken.push_back({all[i].first, std::min(all[i].count, count)});
        count -= taken.back().count;
      }
      std::sort(taken.begin(), taken.end(),
                [](const Run& a, const Run& b) { return a.first < b.first; });
    }
    for (const Run& run : taken) {
      take(run);
    }
    return taken;
  }

  /// The highest ones, each a run. REQUIRES: so many are free.
  Runs take_scattered(std::int64_t count) {
    Runs taken;
    for (; count > 0; --count) {
      const auto highest = std::prev(runs_.end());
      taken.push_back({highest->first + --highest->second, 1});
      if (highest->second == 0) {
        runs_.erase(highest);
      }
    }
    return taken;
  }

 private:
  std::map<std::int64_t, std::int64_t, std::less<>,
           memory::Allocator<std::pair<const std::int64_t, std::int64_t>>>
      runs_;  // count by first page
};

void check_pages(const Problem& merged, std::int64_t page_size) {
  if (page_size < 1) {
    base::raise<ValueError>("pages: {} is no size of a page", page_size);
  }
  for (const Buffer& b : merged.buffers) {
    if (b.fixed >= 0) {
      base::raise<ValueError>(
          "pages: a buffer is fixed at {}, but addresses are assigned here",
          b.fixed);
    }
    if (page_size % b.alignment != 0) {
      base::raise<ValueError>("pages: {} is no multiple of the alignment {}",
                              page_size, b.alignment);
    }
  }
}

// Walks through time; what comes takes its place in the plan, or what is free.
class Assigner {
 public:
  Assigner(const Problem& problem, const Solution& plan, std::int64_t pages,
           PageChoice choice)
      : problem_(problem),
        plan_(plan),
        choice_(choice),
        free_(pages),
        runs_(problem.buffers.size()) {}

  memory::Vector<Runs> run() {
    const auto by = [&](auto key) {
      memory::Vector<std::int32_t> order(problem_.buffers.size());
      std::iota(order.begin(), order.end(), 0);
      std::sort(
          order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
            return std::pair(buffer(a).*key, a) < std::pair(buffer(b).*key, b);
          });
      return order;
    };
    const auto comers = by(&Buffer::lower);
    const auto leavers = by(&Buffer::upper);
    std::size_t left = 0;
    for (const std::int32_t comer : comers) {
      for (; buffer(leavers[left]).upper <= buffer(comer).lower; ++left) {
        for (const Run& run : runs_of(leavers[left])) {
          free_.give_back(run);
        }
      }
      if (buffer(comer).size > 0) {
        settle(comer);
      }
    }
    return std::move(runs_);
  }

 private:
  const Buffer& buffer(std::int32_t i) const {
    return problem_.buffers[static_cast<std::size_t>(i)];
  }
  Runs& runs_of(std::int32_t i) { return runs_[static_cast<std::size_t>(i)]; }

  void settle(std::int32_t i) {
    if (choice_ == PageChoice::kScattered) {
      runs_of(i) = free_.take_scattered(buffer(i).size);
      return;
    }
    const Run planned = {plan_.offsets[static_cast<std::size_t>(i)],
                         buffer(i).size};
    if (free_.take(planned)) {
      runs_of(i).push_back(planned);
    } else {
      runs_of(i) = free_.take_any(buffer(i).size);
    }
  }

  const Problem& problem_;
  const Solution& plan_;
  PageChoice choice_;
  FreePages free_;
  memory::Vector<Runs> runs_;
};

}  // namespace

Paging assign_pages(const Problem& problem, std::int64_t page_size,
                    const SolveOptions& options, PageChoice choice) {
  const Merged merged = merge_aliases(problem);
  check_pages(merged.problem, page_size);
  const PageGroups groups = group_pages(merged.problem, page_size, options);
  const Solution plan = solve(groups.problem, options);
  Paging paging;
  paging.page_size = page_size;
  // Not the plan's, which says what one block cannot be below.
  paging.pages = lower_bound(groups.problem).height;
  const memory::Vector<Runs> runs =
      Assigner(groups.problem, plan, paging.pages, choice).run();
  paging.address_pages = paging.pages;
  memory::Vector<std::int64_t> first_pages;  // addresses of the groups
  for (const Runs& of_group : runs) {
    if (of_group.size() < 2) {
      first_pages.push_back(of_group.empty() ? 0 : of_group[0].first);
      continue;
    }
    first_pages.push_back(paging.address_pages);
    for (const Run& run : of_group) {
      paging.views.push_back(
          {.at = paging.address_pages, .from = run.first, .count = run.count});
      paging.address_pages += run.count;
    }
  }
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    const auto owner = static_cast<std::size_t>(merged.owner[i]);
    const auto group = static_cast<std::size_t>(groups.group_of[owner]);
    paging.addresses.push_back(first_pages[group] * page_size +
                               groups.at[owner] +
                               (b.alias_of >= 0 ? b.alias_at : 0));
  }
  return paging;
}

}  // namespace neap::planner
