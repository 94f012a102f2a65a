// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Storage: the bytes under one or more tensors, owned (allocated from a domain)
// or lent by the user, with a version that counts writes. It is freed with the
// last array that refers to it. One thread writes at a time; counting
// references is safe from any.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <utility>

#include "neap/memory/containers.hpp"
#include "neap/memory/counted.hpp"
#include "neap/tensor/shared_block.hpp"

namespace neap::tensor {

/// Told when a lent storage is freed: only once armed, that is, once the
/// borrowing has succeeded; until then the memory is the caller's business.
class LentOwner {
 public:
  void arm() noexcept { is_armed_ = true; }
  bool is_armed() const noexcept { return is_armed_; }

  LentOwner() = default;
  virtual ~LentOwner() = default;
  LentOwner(const LentOwner&) = delete;
  LentOwner& operator=(const LentOwner&) = delete;

 private:
  bool is_armed_ = false;
};

/// Held while elements leave a Keeper, where a run of a step may have them for
/// a while. Lock order: this first, then the lock of Storage, under which a
/// keeper is found and goes; so whoever holds the latter never waits for a run.
class KeeperLock {
 public:
  /// THROWS: ValueError where this thread would wait for itself.
  virtual void lock() = 0;
  virtual void unlock() noexcept = 0;

  KeeperLock() = default;
  virtual ~KeeperLock() = default;
  KeeperLock(const KeeperLock&) = delete;
  KeeperLock& operator=(const KeeperLock&) = delete;
};

/// Has the elements of a storage that is away: in a file, or zeros that nobody
/// has touched. It goes when they are home, or with the storage.
class Keeper : public LentOwner {
 public:
  /// To be held for put_into(); nullptr: nothing is.
  virtual std::shared_ptr<KeeperLock> lock() const { return nullptr; }
  /// Puts all of the elements there. REQUIRES: lock(). THROWS: IoError; they
  /// are still kept then.
  virtual void put_into(std::span<std::byte> into) = 0;
  /// They are zeros, and put_into() cannot fail.
  virtual bool are_zeros() const noexcept { return false; }
};

/// A keeper of zeros: they take no memory. THROWS: OutOfMemory.
NEAP_API memory::Owned<Keeper> keeper_of_zeros();

/// The reason for which a storage has no elements to read or write.
enum class Absence : std::uint8_t {
  kNone,       // it has elements
  kTraced,     // it stands for a value of a trace
  kRehearsed,  // elements of a domain that is a dry run (rehearsal)
  kRevoked,    // a compiled step used the memory for its next call
  kAway,       // a Keeper has them; bring_home() fetches them
};

/// The storages that a thread created in some time: with numbers above `after`
/// up to `last`.
struct MadeBetween {
  std::uint64_t after = 0;
  std::uint64_t last = 0;
  /// False for a storage of another thread.
  bool has(std::uint64_t number) const noexcept {
    return after < number && number <= last;
  }
};

class NEAP_API Storage : public memory::Counted<Storage>, public SharedBlock {
 public:
  /// THROWS: OutOfMemory. The bytes are not initialised. `trailing` bytes
  /// follow the header, for what ends no later than it does.
  static base::Ref<Storage> allocate(Bytes size, const memory::Tag& tag,
                                     memory::Domain& domain,
                                     Bytes trailing = 0);
  /// Borrows `size` bytes in host memory; `owner` is destroyed with the
  /// storage. Counted as lent.
  static base::Ref<Storage> borrow(void* data, Bytes size,
                                   memory::Owned<LentOwner> owner,
                                   const memory::Tag& tag,
                                   memory::Domain& domain);

  /// Stands for `size` bytes that are not there: a value of a trace. Nothing is
  /// counted but the header. `owner` is destroyed with the storage.
  static base::Ref<Storage> stand_in(Bytes size, memory::Owned<LentOwner> owner,
                                     const memory::Tag& tag,
                                     memory::Domain& domain,
                                     Bytes trailing = 0);

  /// A storage of zeros that take no memory until they are fetched. THROWS:
  /// OutOfMemory.
  static base::Ref<Storage> allocate_away(Bytes size, const memory::Tag& tag,
                                          memory::Domain& domain,
                                          Bytes trailing = 0);

  // Created by allocate(), borrow(), stand_in() and allocate_away().
  Storage() noexcept : SharedBlock(Owner::kStorage), number_(next_number()) {}
  ~Storage();

  void release() noexcept {
    if (drop_reference()) {
      end();
    }
  }
  /// The body that shares the block ends.
  void body_ends() noexcept {
    if (SharedBlock::body_ends()) {
      destroy(this);
    }
  }

  /// A number unlike that of any other storage of the process, freed ones too;
  /// numbers of one thread rise.
  std::uint64_t number() const noexcept { return number_; }
  /// The number of the storage that this thread created last.
  static std::uint64_t latest_number() noexcept;

  std::byte* data() const noexcept {
    return static_cast<std::byte*>(block_.data);
  }
  Bytes size() const noexcept { return block_.size; }
  memory::SpaceId space() const noexcept { return tag_.space; }
  bool is_lent() const noexcept { return held_ == Held::kLent; }
  /// False: data() means nothing.
  bool has_elements() const noexcept { return absence() == Absence::kNone; }
  Absence absence() const noexcept {
    return absence_.load(std::memory_order_acquire);
  }
  /// The same, once those that are away are home. Whoever is about to look at
  /// elements asks this. THROWS: as bring_home().
  bool fetch_elements() {
    if (absence() == Absence::kAway) {
      bring_home();
    }
    return has_elements();
  }

  // A storage that owns its bytes may give them back for a while, though
  // tensors refer to it. In a rehearsal they are counted so, too.

  /// True: it has no bytes, and a keeper has its elements.
  bool is_away() const noexcept { return held_ == Held::kAway; }
  bool may_go_away() const noexcept {
    return held_ == Held::kOwned || held_ == Held::kAway;
  }
  /// Frees the bytes, or gives up the keeper that there was. REQUIRES:
  /// may_go_away(), and `keeper`, or in a rehearsal nobody, has the elements.
  void send_away(memory::Owned<Keeper> keeper) noexcept;
  /// Fetches the elements, if they are away, into bytes of its own. Any thread
  /// that may read the elements may call it. THROWS: OutOfMemory; IoError. It
  /// is as before then.
  void bring_home();
  /// Copies the elements to `into`, as many bytes, and they stay away. False:
  /// they are not away. THROWS: IoError.
  bool copy_away(std::span<std::byte> into);
  /// Copies the elements from byte `offset` on to `into`, wherever they are
  /// when it is called: no other thread sends them away meanwhile. REQUIRES:
  /// elements that are away are copied as a whole. THROWS: as bring_home().
  void copy_elements(Bytes offset, std::span<std::byte> into);
  /// The keeper that has the elements; nullptr where they are in memory, or
  /// nowhere.
  Keeper* keeper() const noexcept {
    return is_away() ? static_cast<Keeper*>(lent_owner_.get()) : nullptr;
  }
  /// The owner of a lent storage or a stand-in, else nullptr.
  LentOwner* lent_owner() const noexcept { return lent_owner_.get(); }
  /// The elements are no longer this storage's; `site`: whose they are now.
  /// The bytes are freed, if they were its own.
  void revoke(base::SiteId site) noexcept;
  /// Category, owner and call site that the bytes are counted under.
  const memory::Tag& tag() const noexcept { return tag_; }
  /// A compiled step's run returned it as a result, without a graph.
  bool is_of_step() const noexcept { return is_of_step_; }
  void mark_of_step() noexcept { is_of_step_ = true; }
  /// The tag that headers are counted under: bookkeeping, in host memory
  /// whatever the space of the bytes.
  memory::Tag header_tag() const noexcept { return header_of(tag_); }
  /// Counts the bytes under another category and owner from now on.
  /// THROWS: OutOfMemory (only when the ledger cannot grow).
  void retag(memory::Category category, memory::OwnerId owner);

  /// Frees the bytes early; size() is 0 then. REQUIRES: nobody reads or writes
  /// them any more.
  void let_go() noexcept;

  /// The number of writes since the bytes were first filled. A step that is
  /// traced is refused where it asks, since its own writes come in its runs.
  std::uint32_t version(
      const CallSite& site = CallSite::here()) const noexcept {
    base::tell_of_question("version", "how often elements were written", site);
    return writes();
  }
  /// The same for the library, which is no question of a step's.
  std::uint32_t writes() const noexcept {
    return version_.load(std::memory_order_relaxed);
  }
  base::SiteId written_at() const noexcept { return written_at_; }
  /// Counts a write; called by every write into a storage that others may refer
  /// to.
  void bump_version(base::SiteId site) noexcept {
    version_.fetch_add(1, std::memory_order_relaxed);
    written_at_ = site;
  }

 private:
  static memory::Tag header_of(memory::Tag tag) noexcept {
    tag.category = memory::Category::kGraph;
    tag.space = memory::kHost;
    return tag;
  }
  static std::uint64_t next_number() noexcept;
  friend class Overwrite;
  template <class Use>
  void use_keeper(const Use& use);
  void come_home(const memory::Block& block) noexcept;
  enum class Held : std::uint8_t { kNothing, kOwned, kLent, kStandIn, kAway };
  void end() noexcept;

  Held held_ = Held::kNothing;
  std::atomic<Absence> absence_{Absence::kNone};
  bool is_of_step_ = false;
  std::atomic<std::uint32_t> version_{0};
  memory::Block block_{};
  memory::Tag tag_{};
  base::SiteId written_at_{};
  memory::Owned<LentOwner> lent_owner_;
  std::uint64_t number_;
};

/// Memory for a storage that is about to be written as a whole: what is away is
/// not fetched, so that elements that are lost do not matter. Nothing changes
/// before begin(); it does nothing for a storage that is home, or of a
/// rehearsal.
class NEAP_API Overwrite {
 public:
  /// LIFETIME: the storage outlives this. THROWS: OutOfMemory; ValueError where
  /// the run of a step, in this thread, has the elements.
  explicit Overwrite(Storage& storage);
  ~Overwrite();
  Overwrite(Overwrite&& other) noexcept;
  Overwrite(const Overwrite&) = delete;
  Overwrite& operator=(const Overwrite&) = delete;

  /// The memory, as large as the storage, which may be filled ahead; empty:
  /// there is none.
  std::span<std::byte> bytes() const noexcept;
  /// The storage is home. REQUIRES: all of it is written now, or was ahead.
  void begin() noexcept;

 private:
  Storage* storage_;  // nullptr: there is nothing to do
  memory::Block block_{};
};

}  // namespace neap::tensor
