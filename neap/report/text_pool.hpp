// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TextPool: the table of texts of a snapshot while it is made: each text once.
#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "neap/report/snapshot.hpp"
#include "neap/report/wording.hpp"

namespace neap::report {

class TextPool {
 public:
  TextPool() { id(""); }

  /// THROWS: OutOfMemory.
  TextId id(std::string_view text) {
    const auto found = ids_.find(text);
    if (found != ids_.end()) {
      return found->second;
    }
    const auto next = static_cast<TextId>(ids_.size());
    ids_.emplace(memory::String(text), next);
    return next;
  }

  /// All texts, at their positions, as UTF-8: so they are what a file gives
  /// back. THROWS: OutOfMemory.
  memory::Vector<memory::String> take() {
    memory::Vector<memory::String> texts(ids_.size());
    for (const auto& [text, id] : ids_) {
      append_utf8(texts[id], text);
    }
    return texts;
  }

 private:
  std::map<memory::String, TextId, std::less<>,
           memory::Allocator<std::pair<const memory::String, TextId>>>
      ids_;
};

}  // namespace neap::report
