// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// State of a group, which its copies share: the engine, and how an exchange
// begins.
// For sources of this room.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/dist/group.hpp"
#include "neap/memory/containers.hpp"
#include "neap/tensor/storage.hpp"

namespace neap::dist {

inline constexpr std::size_t kMostListed = 8;
// Said by a rank that cannot take part; no hash is as improbable as others.
inline constexpr std::uint64_t kRefused = 0;
inline constexpr std::uint64_t kHashStart = 14695981039346656037ULL;

/// FNV-1a, 64 bits, of texts that end.
std::uint64_t hash_of(std::string_view text, std::uint64_t hash) noexcept;
/// "ranks 0, 2 and 3"
std::string listed(std::span<const int> ranks);

struct Group::State {
  State(std::shared_ptr<Engine> with, std::int64_t deadline)
      : engine(std::move(with)),
        values(static_cast<std::size_t>(engine->ranks()), 0,
               memory::Allocator<std::uint64_t>(memory::Category::kOther)),
        kept(memory::Allocator<base::Ref<tensor::Storage>>(
            memory::Category::kOther)) {
    exchanges.deadline = deadline;
    kept.reserve(2);
  }

  // Exchanges something; where that fails for other reasons than that ranks
  // differ, ranks may be at different places, and no later exchange is one.
  template <class Exchange>
  void exchange(const Exchange& do_it) {
    if (is_broken) {
      base::raise<DistError>(
          "dist: an exchange of this group has failed before; start again from "
          "a checkpoint");
    }
    try {
      do_it();
    } catch (...) {
      is_broken = true;
      throw;
    }
  }
  std::span<const std::uint64_t> gathered(std::uint64_t mine,
                                          std::string_view what) {
    exchange([&] {
      gather_from_ranks(*engine, exchanges, std::as_bytes(std::span(&mine, 1)),
                        std::as_writable_bytes(std::span(values)), what);
    });
    return values;
  }

  // Every exchange begins with it: the ranks do the same, at the same place.
  void begin(std::string_view kind, std::string_view what,
             std::string_view detail);
  // The others learn at once that this rank does not take part.
  void refuse(std::string_view what) noexcept {
    try {
      ++count;
      gathered(kRefused, what);
    } catch (...) {  // told of what happened here instead
    }
  }
  void expect_equal(std::uint64_t mine, std::string_view what,
                    std::string_view here);

  std::shared_ptr<Engine> engine;
  Exchanges exchanges;
  memory::Vector<std::uint64_t> values;  // room for one of each rank
  // Memory that an engine may still reach for, where an exchange failed.
  memory::Vector<base::Ref<tensor::Storage>> kept;
  std::uint64_t count = 0;  // of exchanges
  std::uint64_t steps = 0;  // compiled ones, made with it
  bool is_broken = false;
};

}  // namespace neap::dist
