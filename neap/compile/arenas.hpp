// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Arenas: one block of memory for each space, which all programs of a compiled
// step lie in, one at a time. Nothing in them outlasts a run but results, until
// the next. The host's may be in pages: then each program has addresses of its
// own for those of its buffers whose pages do not lie together, mapped once.
// Not thread-safe.
//
//   pages                |0|1|2|3|4|5|      as many as the largest program
//   needs views of program A   |4|1|2|            its buffers' addresses, on
//   the same views of program B   |0|5| |3|0|        pages
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "neap/compile/plan.hpp"

namespace neap::compiler {

/// The owner that arenas are counted under: brackets tell it from the layers.
inline constexpr std::string_view kArenaOwner = "(step's arena)";

class NEAP_API Arenas {
 public:
  /// `lent`: the host's arena is the user's memory, and never another.
  /// `is_paged`: it is one that programs may have views of.
  /// THROWS: OutOfMemory.
  explicit Arenas(memory::Domain& domain, std::span<std::byte> lent = {},
                  bool is_paged = false);
  ~Arenas();
  Arenas(const Arenas&) = delete;
  Arenas& operator=(const Arenas&) = delete;

  /// Sees to it that `plan` fits and has its views; true when what was in the
  /// arenas is there no more. A block that must grow gives its memory back
  /// first, unless `is_in_use`: an arena may then be gone after a throw, and is
  /// made at the next call. LIFETIME: of a plan with views: until forget().
  /// THROWS: OutOfMemory; PlanError where lent memory is too small, or what is
  /// there unless `may_grow`.
  bool fit(const Plan& plan, bool is_in_use, bool may_grow);
  /// Whether it fits as it is. An arena that was not made yet has room.
  bool has_room(const Plan& plan) const noexcept;
  /// The plan's views go.
  void forget(const Plan& plan) noexcept;

  std::byte* base(memory::SpaceId space) const noexcept {
    return at(space).base();
  }
  /// The begin of the views of a plan that fits; nullptr: it has none, or this
  /// is a rehearsal.
  std::byte* views(const Plan& plan) const noexcept;
  /// The address of an arena's buffer; nullptr: in views of a rehearsal.
  std::byte* address_of(const Plan& plan, BufferId buffer) const noexcept;
  Bytes capacity(memory::SpaceId space = memory::kHost) const noexcept {
    return at(space).capacity();
  }
  Bytes bytes() const noexcept;
  /// True for memory with a byte inside one of them, or of a view.
  bool overlaps(std::span<const std::byte> memory) const noexcept;
  memory::Domain& domain() const noexcept { return domain_; }
  /// Gives everything back but lent memory.
  void let_go() noexcept;
  /// Gives up the blocks, which stay as they are for as long as the process
  /// lives: an exchange that failed may still reach for them.
  void leave() noexcept;

 private:
  // The block of a space: of the domain, in pages, or lent.
  class Arena {
   public:
    Arena() = default;
    explicit Arena(std::span<std::byte> lent) noexcept : bytes_(lent) {}
    Arena(Bytes size, const memory::Tag& tag, memory::Domain& domain,
          bool is_paged);
    ~Arena();
    Arena(Arena&& other) noexcept;
    Arena& operator=(Arena&& other) noexcept;

    void leave() noexcept {
      bytes_ = {};
      domain_ = nullptr;
    }
    std::byte* base() const noexcept { return bytes_.data(); }
    Bytes capacity() const noexcept {
      return static_cast<Bytes>(bytes_.size());
    }
    memory::PagedArena& pages() noexcept { return *pages_; }

   private:
    std::span<std::byte> bytes_;
    memory::Block block_{};  // unless lent or in pages
    memory::Domain* domain_ = nullptr;
    std::optional<memory::PagedArena> pages_;
  };
  struct MappedView {
    const Plan* plan = nullptr;
    memory::PagedArena::Views views;
  };

  const Arena& at(memory::SpaceId space) const noexcept {
    return arenas_[space.value];
  }
  bool is_lent(memory::SpaceId space) const noexcept {
    return space == memory::kHost && !lent_.empty();
  }
  bool must_grow(const Plan& plan, memory::SpaceId space, bool may_grow) const;
  Arena make(memory::SpaceId space, Bytes bytes) const;
  memory::Vector<MappedView>::const_iterator find(
      const Plan& plan) const noexcept;
  void drop(memory::SpaceId space) noexcept;
  void touch(std::byte* begin, Bytes size) const noexcept;

  memory::Domain& domain_;
  std::array<Arena, memory::kMaxSpaces> arenas_;
  memory::Vector<MappedView> mapped_;  // of the host's pages
  std::span<std::byte> lent_;
  bool is_paged_;
  memory::Tag tag_;
};

}  // namespace neap::compiler
