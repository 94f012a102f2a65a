// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/page_groups.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "neap/planner/lower_bound.hpp"

namespace neap::planner {
namespace {

std::int64_t pages_for(std::int64_t size, std::int64_t page_size) {
  return size / page_size + (size % page_size == 0 ? 0 : 1);
}

PageGroups in_whole_pages(const Problem& problem, std::int64_t page_size) {
  PageGroups groups;
  groups.problem.buffers.reserve(problem.buffers.size());
  for (const Buffer& b : problem.buffers) {
    groups.problem.buffers.push_back({.lower = b.lower,
                                      .upper = b.upper,
                                      .size = pages_for(b.size, page_size)});
  }
  groups.group_of.resize(problem.buffers.size());
  std::iota(groups.group_of.begin(), groups.group_of.end(), 0);
  groups.at.assign(problem.buffers.size(), 0);
  return groups;
}

// The small buffers of a problem, laid out by themselves.
class Small {
 public:
  Small(const Problem& problem, std::int64_t page_size)
      : problem_(problem), page_size_(page_size) {
    for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
      if (problem.buffers[i].size > 0 && problem.buffers[i].size < page_size) {
        which_.push_back(i);
        alone_.buffers.push_back(problem.buffers[i]);
      }
    }
  }

  std::size_t count() const noexcept { return which_.size(); }

  PageGroups group(const SolveOptions& options) {
    offsets_ = solve(alone_, options).offsets;
    root_.resize(count());
    std::iota(root_.begin(), root_.end(), std::size_t{0});
    unite();
    return make();
  }

 private:
  struct Touch {  // of a page
    std::int64_t page;
    std::int64_t lower;
    std::int64_t upper;
    std::size_t small;
  };

  std::int64_t first_page(std::size_t i) const {
    return offsets_[i] / page_size_;
  }
  std::int64_t last_page(std::size_t i) const {
    return (offsets_[i] + alone_.buffers[i].size - 1) / page_size_;
  }

  std::size_t root(std::size_t i) {
    while (root_[i] != i) {
      i = root_[i] = root_[root_[i]];
    }
    return i;
  }

  // Unites the groups of buffers that are on a page at the same instant.
  void unite() {
    memory::Vector<Touch> touches;
    for (std::size_t i = 0; i < count(); ++i) {
      for (std::int64_t page = first_page(i); page <= last_page(i); ++page) {
        const Buffer& b = alone_.buffers[i];
        touches.push_back({page, b.lower, b.upper, i});
      }
    }
    std::sort(touches.begin(), touches.end(),
              [](const Touch& a, const Touch& b) {
                return std::pair(a.page, a.lower) < std::pair(b.page, b.lower);
              });
    const Touch* before = nullptr;
    std::int64_t upper = 0;
    for (const Touch& touch : touches) {
      const bool is_apart = before == nullptr || before->page != touch.page ||
                            touch.lower >= upper;
      if (!is_apart) {
        root_[root(touch.small)] = root(before->small);
      }
      upper = is_apart ? touch.upper : std::max(upper, touch.upper);
      before = &touch;
    }
  }

  PageGroups make() {
    PageGroups groups = in_whole_pages(problem_, page_size_);
    memory::Vector<std::int64_t> begin(count(), kNoLimit);  // of roots
    memory::Vector<std::int64_t> end(count(), 0);
    for (std::size_t i = 0; i < count(); ++i) {
      const std::size_t r = root(i);
      begin[r] = std::min(begin[r], first_page(i));
      end[r] = std::max(end[r], last_page(i) + 1);
    }
    for (std::size_t i = 0; i < count(); ++i) {
      const std::size_t r = root(i);
      Buffer& group = groups.problem.buffers[which_[r]];
      const Buffer& mine = alone_.buffers[i];
      group.lower = std::min(group.lower, mine.lower);
      group.upper = std::max(group.upper, mine.upper);
      group.size = end[r] - begin[r];
      if (r != i) {
        groups.problem.buffers[which_[i]].size = 0;
      }
      groups.group_of[which_[i]] = static_cast<std::int32_t>(which_[r]);
      groups.at[which_[i]] = offsets_[i] - begin[r] * page_size_;
    }
    return groups;
  }

  const Problem& problem_;
  std::int64_t page_size_;
  Problem alone_;
  memory::Vector<std::size_t> which_;     // in the problem
  memory::Vector<std::int64_t> offsets_;  // in units
  memory::Vector<std::size_t> root_;
};

}  // namespace

PageGroups group_pages(const Problem& problem, std::int64_t page_size,
                       const SolveOptions& options) {
  PageGroups whole = in_whole_pages(problem, page_size);
  Small small(problem, page_size);
  if (small.count() < 2) {
    return whole;
  }
  PageGroups shared = small.group(options);
  const bool is_fewer =
      lower_bound(shared.problem).height < lower_bound(whole.problem).height;
  return is_fewer ? shared : whole;
}

}  // namespace neap::planner
