// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "shrink.hpp"

#include <algorithm>

namespace neap::lifetimes {
namespace {

bool drop_runs(Program& program, std::size_t length,
               const std::function<bool(const Program&)>& fails) {
  bool has_shrunk = false;
  for (std::size_t i = 0; i + length <= program.actions.size();) {
    Program less = program;
    const auto first = less.actions.begin() + static_cast<std::ptrdiff_t>(i);
    less.actions.erase(first, first + static_cast<std::ptrdiff_t>(length));
    if (fails(less)) {
      program = std::move(less);
      has_shrunk = true;
    } else {
      ++i;
    }
  }
  return has_shrunk;
}

}  // namespace

Program shrink(Program program,
               const std::function<bool(const Program&)>& fails) {
  std::size_t length = std::max<std::size_t>(program.actions.size() / 2, 1);
  for (;;) {
    const bool has_shrunk = drop_runs(program, length, fails);
    if (length > 1) {
      length /= 2;
    } else if (!has_shrunk) {
      break;
    }
  }
  for (Action& action : program.actions) {
    if (action.hops) {
      action.hops = false;
      action.hops = !fails(program);
    }
  }
  return program;
}

}  // namespace neap::lifetimes
