// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Domain: the allocator. Every byte that Neap causes is allocated from a
// domain, with a tag, and freed to it. A domain owns its ledger (who has how
// much), its budget, its backends (one per memory space), its event log and its
// fault switch. There is a default one; a program may have more.
//
// Thread rule: every member function may be called from any thread; counts are
// exact at every instant (one lock orders them).
// LIFETIME: a domain outlives its handle while blocks of it are live or budgets
// of it are open; it is freed with the last of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/memory/backend.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/memory/tag.hpp"

namespace neap {
class Budget;
}

namespace neap::memory {

/// An open budget block's link in the list of its domain; for Budget alone.
struct BudgetLink {
  BudgetLink* next = nullptr;
  BudgetLink* previous = nullptr;
  Bytes bytes = kUnlimited;
};

/// The host allocator of a domain.
enum class HostAllocator : std::uint8_t {
  kAuto,    // NEAP_ALLOCATOR=pooled|system, else pooled (system under ASan)
  kPooled,  // size classes over pages that are kept for reuse
  kSystem,  // every block its own malloc: for sanitizers and valgrind
};

/// Row of the ledger: all live blocks that share one tag; 0: no block.
using BucketId = base::StrongId<struct BucketTag>;

struct Block {
  void* data = nullptr;  // nullptr exactly when size is 0
  Bytes size = 0;        // bytes asked for
  BucketId bucket{};
};

/// Alignment of every block unless asked otherwise: a cache line, and a whole
/// 512-bit vector.
inline constexpr Bytes kAlignment = 64;

struct Stats {
  Bytes live = 0;
  Bytes held = 0;
  Bytes idle = 0;      // part of held
  Bytes books = 0;     // part of held: the ledger's own tables
  Bytes external = 0;  // bytes of the process outside of the domain
  Bytes lent = 0;
  Bytes peak = 0;       // highest held
  Bytes live_peak = 0;  // highest live
  Bytes budget = kUnlimited;
  Bytes idle_limit = 0;
  std::int64_t live_blocks = 0;
  std::int64_t allocations = 0;   // granted, ever
  std::int64_t releases = 0;      // ever
  std::int64_t system_calls = 0;  // maps and unmaps (or mallocs) by backends
};

/// A line of a listing: live bytes and blocks under one tag.
struct Row {
  Tag tag;
  Bytes bytes = 0;
  std::int64_t blocks = 0;
};

enum class EventKind : std::uint8_t { kAllocate, kRelease, kRetag, kRefuse };

struct Event {
  std::uint64_t time;  // count of events since the domain was created
  EventKind kind;
  Tag tag;
  Bytes bytes;
  Bytes live_after;
  const void* address;
};

class Domain;

/// The domain used where the context names no other; never destroyed.
NEAP_API Domain& default_domain();

class NEAP_API Domain {
 public:
  struct Options {
    std::string_view name = "neap";
    Bytes budget = kUnlimited;
    /// Bound on idle bytes kept per space; beyond it pages return to the system
    /// at once. kUnlimited stands for a quarter of the machine's memory.
    Bytes idle_limit = kUnlimited;
    HostAllocator host = HostAllocator::kAuto;
    /// Events kept (the latest); 0 keeps none. 48 B each, taken at once.
    int event_capacity = 0;
    /// A dry run (rehearsal): elements of tensors are counted, allocated and
    /// held as ever, but there is no memory behind them. Everything else is
    /// real.
    bool is_rehearsal = false;
  };
  struct Closer {
    void operator()(Domain* domain) const noexcept;
  };
  using Handle = std::unique_ptr<Domain, Closer>;

  static Handle create() { return create(Options{}); }
  static Handle create(const Options& options);

  Domain(const Domain&) = delete;
  Domain& operator=(const Domain&) = delete;

  // --- allocation ---------------------------------------------------------

  /// THROWS: OutOfMemory (budget, system or injected); nothing has changed.
  /// Zero bytes give a null block that still counts as one.
  /// THROWS: ValueError for a negative size or a bad alignment (a power of two
  /// up to 4096), DeviceError for a space without a backend.
  Block allocate(Bytes size, const Tag& tag, Bytes alignment = kAlignment);
  void release(const Block& block, Bytes alignment = kAlignment) noexcept;
  /// Allocates the elements of a tensor: in a dry run (rehearsal) the block may
  /// not be touched.
  Block allocate_elements(Bytes size, const Tag& tag);
  bool is_rehearsal() const noexcept { return is_rehearsal_; }

  /// Frees memory of holders that cannot keep a Block (standard containers):
  /// the tag and size name the ledger row again.
  void* allocate_raw(Bytes size, const Tag& tag, Bytes alignment = kAlignment);
  void release_raw(void* data, Bytes size, const Tag& tag,
                   Bytes alignment = kAlignment) noexcept;

  /// Moves a live block to another category and owner. THROWS: OutOfMemory
  /// when the ledger cannot grow; the block is then unchanged.
  void retag(Block& block, Category category, OwnerId owner);

  /// Memory of the user's that Neap borrows: counted, not owned.
  void lend(Bytes bytes, const Tag& tag);
  void unlend(Bytes bytes, const Tag& tag) noexcept;

  // --- owners -------------------------------------------------------------

  /// Interns a path. THROWS: OutOfMemory.
  OwnerId owner(std::string_view path);
  /// LIFETIME: the text lives as long as the domain.
  std::string_view path_of(OwnerId owner) const noexcept;

  // --- listings -----------------------------------------------------------

  Stats stats() const noexcept;
  /// Live rows now; fills at most rows.size() and returns how many there are.
  int live_rows(std::span<Row> rows) const noexcept;
  /// Rows at the instant of the live peak: their bytes add up to
  /// stats().live_peak.
  int peak_rows(std::span<Row> rows) const noexcept;
  Tag tag_of(BucketId bucket) const noexcept;
  /// Starts new peaks (held and live) from what is there now.
  void reset_peak() noexcept;
  /// The latest events, oldest first; returns how many were written.
  int events(std::span<Event> out) const noexcept;

  // --- limits, trimming, faults -------------------------------------------

  /// The bound that holds now: the least of the domain's own and of those of
  /// all open Budget blocks, of whatever thread.
  Bytes budget() const noexcept;
  /// Sets the domain's own bound on held + external. Bytes that are held
  /// already stay, even beyond it. Bounds of open Budget blocks stay as they
  /// are.
  void set_budget(Bytes budget) noexcept;
  /// Returns every idle page of every space to the system; the result is their
  /// bytes.
  Bytes trim() noexcept;
  /// Counts down on every request to this domain: the n-th from now (1: the
  /// next) throws OutOfMemory with Reason::kInjected. 0 switches it off.
  void fail_at(std::int64_t n) noexcept;
  /// Requests since fail_at was last set (or ever): how a sweep knows its end.
  std::int64_t requests() const noexcept;

  /// Adds a space of its own backend. THROWS: ValueError when it exists.
  void add_space(SpaceId space, std::unique_ptr<Backend> backend);
  /// Undoes add_space. REQUIRES: not the host; no live block in the space.
  void remove_space(SpaceId space) noexcept;
  bool has_space(SpaceId space) const noexcept;

  /// The name it was created with, cut to 32 bytes.
  std::string_view name() const noexcept;
  /// Walks all bookkeeping and says whether it is consistent; for tests.
  bool is_consistent() const noexcept;

 private:
  friend NEAP_API Domain& default_domain();
  friend class neap::Budget;
  struct Impl;
  void open_budget(BudgetLink& link) noexcept;
  void close_budget(BudgetLink& link) noexcept;
  explicit Domain(const Options& options);
  ~Domain();
  bool is_rehearsal_ = false;
  std::unique_ptr<Impl> impl_;
};

}  // namespace neap::memory
