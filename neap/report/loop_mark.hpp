// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LoopMark: which of several callers' events are the ends of a loop's steps. A
// training step may update with several optimizers, one a layer, or with one of
// them several times: a step ends where the same one does so again. The first
// that is met is the mark; another becomes it where it is met five times and
// the mark is not, as in a loop after that one.
#pragma once

#include <algorithm>
#include <cstddef>

#include "neap/memory/containers.hpp"

namespace neap::report {

class LoopMark {
 public:
  enum class Event {
    kInside,  // of a step that goes on
    kEnd,     // of a step
    kOther,   // of a step of another loop than before, or of the first one
  };

  /// `who`: an address that tells callers apart. THROWS: OutOfMemory; nothing
  /// is noted then.
  Event next(const void* who) {
    if (who == mark_) {
      since_.clear();
      return Event::kEnd;
    }
    if (mark_ != nullptr && !is_often(who)) {
      return Event::kInside;
    }
    mark_ = who;
    since_.clear();
    return Event::kOther;
  }

 private:
  static constexpr std::int64_t kOften = 5;
  static constexpr std::size_t kMostCallers = 4096;

  struct Caller {
    const void* who = nullptr;
    std::int64_t met = 0;  // times since the mark was
  };

  bool is_often(const void* who) {
    auto found =
        std::find_if(since_.begin(), since_.end(),
                     [&](const Caller& caller) { return caller.who == who; });
    if (found == since_.end()) {
      if (since_.size() == kMostCallers) {
        since_.clear();
      }
      found = since_.insert(since_.end(), Caller{who, 0});
    }
    return ++found->met >= kOften;
  }

  const void* mark_ = nullptr;
  memory::Vector<Caller> since_;
};

}  // namespace neap::report
