// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/planner/validate.hpp"

namespace neap::planner {
namespace {

// Views lie one after the other, from the last page to the last address.
bool are_views_in_line(const Paging& paging) {
  std::int64_t at = paging.pages;
  for (const PageView& view : paging.views) {
    if (view.at != at || view.count < 1 || view.from < 0 ||
        view.from > paging.pages - view.count) {
      return false;
    }
    at += view.count;
  }
  return paging.page_size >= 1 && at == paging.address_pages;
}

// A buffer cut where the pages behind it jump; each piece a buffer, fixed
// where it really lies.
class Pieces {
 public:
  Pieces(const Problem& problem, const Paging& paging)
      : problem_(problem), paging_(paging) {
    problem_of_pieces_.capacity = paging.pages * paging.page_size;
    for (const Buffer& b : problem.buffers) {
      lifetimes_.push_back({.lower = b.lower, .upper = b.upper});
    }
    for (const Buffer& b : problem.buffers) {
      if (b.alias_of >= 0) {
        Buffer& group = lifetimes_[static_cast<std::size_t>(b.alias_of)];
        group.lower = std::min(group.lower, b.lower);
        group.upper = std::max(group.upper, b.upper);
      }
    }
  }

  Verdict check() {
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      if (problem_.buffers[i].alias_of < 0 && !cut(i)) {
        return {.fault = Fault::kRange, .first = static_cast<std::int32_t>(i)};
      }
    }
    for (std::size_t i = 0; i < problem_.buffers.size(); ++i) {
      const Buffer& b = problem_.buffers[i];
      const auto of = static_cast<std::size_t>(std::max(b.alias_of, 0));
      if (b.alias_of >= 0 &&
          paging_.addresses[i] != paging_.addresses[of] + b.alias_at) {
        return {.fault = Fault::kAlias, .first = static_cast<std::int32_t>(i)};
      }
    }
    return check_pieces();
  }

 private:
  // RETURNS: false for an address that is none, or that goes on from the pages
  // into views.
  bool cut(std::size_t i) {
    Buffer piece = lifetimes_[i];
    std::int64_t at = paging_.addresses[i];
    std::int64_t left = problem_.buffers[i].size;
    const std::int64_t pages_end = paging_.pages * paging_.page_size;
    if (at < 0 || at % problem_.buffers[i].alignment != 0 ||
        (at < pages_end && left > pages_end - at)) {
      return false;
    }
    while (left > 0) {
      std::int64_t end = pages_end;
      std::int64_t from = 0;  // what is to be added for the real place
      if (at >= end) {
        const PageView* view = view_at(at / paging_.page_size);
        if (view == nullptr) {
          return false;
        }
        end = (view->at + view->count) * paging_.page_size;
        from = (view->from - view->at) * paging_.page_size;
      }
      piece.size = std::min(left, end - at);
      problem_of_pieces_.buffers.push_back(piece);
      where_.offsets.push_back(at + from);
      whose_.push_back(static_cast<std::int32_t>(i));
      at += piece.size;
      left -= piece.size;
    }
    return true;
  }

  const PageView* view_at(std::int64_t page) const {
    const auto next = std::upper_bound(
        paging_.views.begin(), paging_.views.end(), page,
        [](std::int64_t p, const PageView& view) { return p < view.at; });
    return next == paging_.views.begin() || page >= paging_.address_pages
               ? nullptr
               : &*std::prev(next);
  }

  Verdict check_pieces() {
    for (std::size_t k = 0; k < where_.offsets.size(); ++k) {
      where_.height =
          std::max(where_.height,
                   where_.offsets[k] + problem_of_pieces_.buffers[k].size);
    }
    Verdict verdict = validate(problem_of_pieces_, where_);
    // Pieces are in the order of their buffers, so the lower number stays
    // first.
    for (std::int32_t* piece : {&verdict.first, &verdict.second}) {
      if (*piece >= 0) {
        *piece = whose_[static_cast<std::size_t>(*piece)];
      }
    }
    return verdict;
  }

  const Problem& problem_;
  const Paging& paging_;
  memory::Vector<Buffer> lifetimes_;  // with those of aliases
  Problem problem_of_pieces_;
  Solution where_;
  memory::Vector<std::int32_t> whose_;
};

}  // namespace

Verdict validate(const Problem& problem, const Paging& paging) {
  check(problem);
  if (paging.addresses.size() != problem.buffers.size()) {
    return {.fault = Fault::kCount};
  }
  if (!are_views_in_line(paging)) {
    return {.fault = Fault::kHeight};
  }
  return Pieces(problem, paging).check();
}

}  // namespace neap::planner
