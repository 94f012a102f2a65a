// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/problem.hpp"

#include <algorithm>
#include <numeric>

#include "neap/base/raise.hpp"

namespace neap::planner {
namespace {

using base::raise;

// a + b, where neither is negative; kNoLimit stands for what does not fit.
std::int64_t saturated_sum(std::int64_t a, std::int64_t b) noexcept {
  return a > kNoLimit - b ? kNoLimit : a + b;
}

// The conditions of a buffer by itself.
void check_buffer(const Buffer& b, std::size_t i, std::int64_t capacity) {
  if (b.lower >= b.upper) {
    raise<ValueError>("plan: buffer {} lives from {} to {}, which is no time",
                      i, b.lower, b.upper);
  }
  if (b.size < 0) {
    raise<ValueError>("plan: buffer {} has the negative size {}", i, b.size);
  }
  if (b.alignment < 1) {
    raise<ValueError>("plan: buffer {} has alignment {}, 1 is the least", i,
                      b.alignment);
  }
  if (b.fixed < 0) {
    return;
  }
  if (b.fixed % b.alignment != 0) {
    raise<ValueError>("plan: buffer {} is fixed at {}, no multiple of {}", i,
                      b.fixed, b.alignment);
  }
  if (b.size > capacity || b.fixed > capacity - b.size) {
    raise<ValueError>(
        "plan: buffer {} of size {} is fixed at {}, beyond the capacity {}", i,
        b.size, b.fixed, capacity);
  }
}

void check_alias(const Problem& problem, std::size_t i) {
  const Buffer& b = problem.buffers[i];
  if (b.alias_of < 0) {
    return;
  }
  const auto of = static_cast<std::size_t>(b.alias_of);
  if (of >= problem.buffers.size()) {
    raise<ValueError>("plan: buffer {} is an alias of {}, there are {}", i, of,
                      problem.buffers.size());
  }
  const Buffer& owner = problem.buffers[of];
  if (of == i) {
    raise<ValueError>("plan: buffer {} is an alias of itself", i);
  }
  if (owner.alias_of >= 0) {
    raise<ValueError>("plan: buffer {} is an alias of {}, an alias itself", i,
                      of);
  }
  if (b.alias_at < 0 || b.alias_at > owner.size ||
      b.size > owner.size - b.alias_at) {
    raise<ValueError>(
        "plan: buffer {} of size {} sticks out of buffer {} of size {}, where "
        "it lies at {}",
        i, b.size, of, owner.size, b.alias_at);
  }
  if (b.fixed >= 0) {
    raise<ValueError>("plan: buffer {} is fixed, fix buffer {} it lies in", i,
                      of);
  }
  if (b.alias_at % b.alignment != 0) {
    raise<ValueError>("plan: buffer {} lies at {}, no multiple of {}", i,
                      b.alias_at, b.alignment);
  }
}

// The least common multiple; kNoLimit where 64 bits do not hold it.
std::int64_t common_multiple(std::int64_t a, std::int64_t b) noexcept {
  const std::int64_t rest = b / std::gcd(a, b);
  return a > kNoLimit / rest ? kNoLimit : a * rest;
}

// Every end that some plan without needless gaps has must be a number.
void check_sums(const Problem& problem) {
  std::int64_t highest = 0;
  std::int64_t sum = 0;
  for (const Buffer& b : problem.buffers) {
    if (b.alias_of < 0) {
      sum = saturated_sum(sum, saturated_sum(b.size, b.alignment));
    }
    if (b.fixed >= 0) {
      highest = std::max(highest, saturated_sum(b.fixed, b.size));
    }
  }
  if (saturated_sum(sum, highest) == kNoLimit) {
    raise<ValueError>("plan: the sizes add up to more than 64 bits hold");
  }
}

}  // namespace

void check(const Problem& problem) {
  if (problem.buffers.size() > std::numeric_limits<std::int32_t>::max()) {
    raise<ValueError>("plan: {} buffers are more than 32 bits count",
                      problem.buffers.size());
  }
  if (problem.capacity < 0) {
    raise<ValueError>("plan: the capacity {} is negative", problem.capacity);
  }
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    check_buffer(problem.buffers[i], i, problem.capacity);
    check_alias(problem, i);
  }
  check_sums(problem);
}

Merged merge_aliases(const Problem& problem) {
  check(problem);
  const std::size_t count = problem.buffers.size();
  Merged merged;
  merged.problem.capacity = problem.capacity;
  merged.owner.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (problem.buffers[i].alias_of < 0) {
      merged.owner[i] =
          static_cast<std::int32_t>(merged.problem.buffers.size());
      merged.problem.buffers.push_back(problem.buffers[i]);
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Buffer& b = problem.buffers[i];
    if (b.alias_of < 0) {
      continue;
    }
    const std::int32_t at = merged.owner[static_cast<std::size_t>(b.alias_of)];
    merged.owner[i] = at;
    Buffer& group = merged.problem.buffers[static_cast<std::size_t>(at)];
    group.lower = std::min(group.lower, b.lower);
    group.upper = std::max(group.upper, b.upper);
    group.alignment = common_multiple(group.alignment, b.alignment);
  }
  // A group's alignment is larger than its members', its fixed offset is not.
  check(merged.problem);
  return merged;
}

}  // namespace neap::planner
