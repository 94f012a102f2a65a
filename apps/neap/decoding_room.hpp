// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// DecodingRoom: memory for one image at a time, from its file to a sample. Its
// size is known beforehand, so that a run holds what was said of it, whichever
// image comes when: it is a domain of its own, and counts as external memory as
// long as it is there.
//
// Thread rule: any number of threads; they take turns.
#pragma once

#include <mutex>

#include "neap/memory/context.hpp"
#include "neap/memory/domain.hpp"

namespace neap::app {

class DecodingRoom {
 public:
  /// For work that takes at most so many bytes at once.
  explicit DecodingRoom(Bytes most);
  ~DecodingRoom();
  DecodingRoom(const DecodingRoom&) = delete;
  DecodingRoom& operator=(const DecodingRoom&) = delete;

  /// Does the work in this memory; nothing of it may stay. THROWS: OutOfMemory
  /// where it needs more than was said.
  template <class Work>
  auto run(const Work& work) {
    const std::lock_guard<std::mutex> lock(turn_);
    allow();
    const memory::UseDomain use(*domain_);
    return work();
  }

 private:
  void allow() noexcept;

  Bytes bytes_;
  memory::Domain::Handle domain_;
  std::mutex turn_;
};

}  // namespace neap::app
