// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StateFile: a file that holds storages which are away (tensor::Storage): the
// states of a step between its runs. It is there for as long as a step or one
// of those storages is: a step that ends leaves what it holds to whoever
// refers to it, and that comes home when it is touched.
//
//   take(s)          s goes away to a place of its own
//   write_anew(s)    other elements of s get a place, beside those that it has
//   fetch, write     a run has it in the arena, and writes it back
//   put_into()       it comes home (its keeper is told)
//
// What could not be written lies where the run left it, in the arena, is looked
// at there, and written again before the next run (write_again()).
//
// A place is written and read in parts, each with a checksum of its own: a run
// may have some parts of a storage in the arena, and not the others.
//
// Locks: the file's, which a run holds as long as it lasts and whoever moves
// elements for the time of that; then that of homecoming (tensor::Storage);
// then the books'. None is waited for by somebody who has a later one.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>

#include "neap/compile/spill_queue.hpp"
#include "neap/tensor/storage.hpp"

namespace neap::compiler {

class StateFile final : public tensor::KeeperLock,
                        public std::enable_shared_from_this<StateFile> {
 public:
  /// `part`: bytes of a part (SpillOptions::part). THROWS: as check_part();
  /// as SpillQueue.
  static std::shared_ptr<StateFile> create(files::Door& door,
                                           std::string_view folder,
                                           memory::Domain& domain, Bytes part);
  /// For create() alone.
  StateFile(files::Door& door, std::string_view folder, memory::Domain& domain,
            Bytes part);
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  /// A part has whole elements of every dtype, and a vector's worth of them.
  /// THROWS: ValueError.
  static void check_part(Bytes part);
  /// The one that a storage is away on; nullptr: none.
  static std::shared_ptr<StateFile> of(const tensor::Storage& storage) noexcept;
  /// It is there, reached by that door, for storages of that domain, and in
  /// such parts.
  bool is_in(const files::Door& door, std::string_view folder,
             const memory::Domain& domain, Bytes part) const noexcept {
    return &door_ == &door && folder_ == folder && &domain_ == &domain &&
           part_ == part;
  }

  static constexpr std::uint32_t kNone = ~0U;
  /// Its place here; kNone: it has none.
  std::uint32_t place_of(const tensor::Storage& storage) const noexcept;
  /// Sends it away to here, unless it is here. REQUIRES: it may go away.
  /// THROWS: IoError; OutOfMemory. It is as before then.
  void take(tensor::Storage& storage);
  /// Writes what all elements of the storage are to be from now on, beside
  /// those that it has: they are its own once it is sent away with the keeper,
  /// and leave nothing behind where the keeper ends before that. In a rehearsal
  /// nothing is written. LIFETIME: the storage outlives the keeper. THROWS:
  /// IoError; OutOfMemory; as lock().
  memory::Owned<tensor::Keeper> write_anew(tensor::Storage& storage,
                                           std::span<const std::byte> from);
  /// All that are here come home. THROWS: as tensor::Storage::bring_home(); the
  /// others are still here then.
  void give_back();
  /// Writes now what could not be written before. THROWS: IoError; what is not
  /// in the file then is where it was.
  void write_again();
  /// The arena goes: what could not be written gets to the file, or home, or is
  /// lost; whoever looks at it then, or runs with it, gets the IoError.
  void leave_arena() noexcept;

  /// Waits for a run of another thread. THROWS: ValueError in a run of this
  /// one: where it is of this file, which moves its states itself, and where it
  /// is of another, and this one is in use.
  void lock() override;
  void unlock() noexcept override { mutex_.unlock(); }

  // --- a run: as SpillQueue's, and all the while it holds the file ----------

  /// Holds the file until the end of its scope. A look of the thread that has
  /// it (of a rule of a custom op) at a storage that is away is refused.
  class Running {
   public:
    explicit Running(StateFile& file);
    ~Running();
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;

   private:
    StateFile& file_;
    std::unique_lock<std::mutex> lock_;
  };

  // All of these take bytes of a place from `offset` on, which is where a part
  // begins; they end where one does, or with the storage.

  /// Parts that were not to be read last time are looked at now, before the run
  /// writes anything: each in the first bytes of `into`. THROWS: IoError where
  /// one still is not.
  void expect_readable(std::uint32_t place, Bytes offset,
                       std::span<std::byte> into);
  void fetch(std::uint32_t place, Bytes offset,
             std::span<std::byte> into) noexcept;
  void write(std::uint32_t place, Bytes offset,
             std::span<const std::byte> from) noexcept;
  void await(std::uint32_t place, Bytes offset, Bytes size);
  void settle() noexcept { queue_.settle(); }
  /// After a failure of the run: these bytes were updated, to what lies there.
  /// REQUIRES: settled. LIFETIME: it lies there until write_again() or
  /// leave_arena().
  void keep_updated(std::uint32_t place, Bytes offset,
                    std::span<const std::byte> updated) noexcept;
  /// The same of a place whose bytes were not, but for those.
  void look_after(std::uint32_t place) noexcept;
  SpillCounts counts() const noexcept { return queue_.counts(); }

 private:
  class Kept;
  struct Part {
    bool is_zero = false;                    // nothing was written there
    bool is_doubtful = false;                // it could not be read
    std::span<const std::byte> unwritten{};  // in the arena: it is not here
    memory::Vector<std::byte> kept{};        // or here, where that has gone
  };
  struct Place {
    Bytes offset = 0;
    Bytes room = 0;
    std::uint32_t first = 0;             // of its parts
    std::uint32_t count = 0;             // of them
    tensor::Storage* storage = nullptr;  // none: the place is free
  };

  bool is_running_here() const noexcept {
    return runner_ == std::this_thread::get_id();
  }
  base::Ref<tensor::Storage> storage_at(std::uint32_t place);
  void put_into(std::uint32_t place, std::span<std::byte> into);
  void leave(std::uint32_t place) noexcept;
  std::uint32_t place_for(tensor::Storage& storage);
  memory::Owned<Kept> new_place(tensor::Storage& storage);
  std::span<Part> parts_of(std::uint32_t place) noexcept {
    return std::span(parts_).subspan(places_[place].first,
                                     places_[place].count);
  }
  // Calls do_it(part, where it lies in the file, its bytes of `bytes`) of each.
  template <class Byte, class Do>
  void for_parts(std::uint32_t place, Bytes offset, std::span<Byte> bytes,
                 const Do& do_it);
  void await_part(std::uint32_t at);
  static void keep(Part& part) noexcept;
  bool comes_home(std::uint32_t place) noexcept;
  bool keep_unwritten(std::uint32_t place) noexcept;
  bool is_unwritten(std::uint32_t place);
  void write_unwritten(std::uint32_t place);

  const files::Door& door_;
  memory::String folder_;
  memory::Domain& domain_;
  Bytes part_;        // bytes of each, but for the last one of a place
  std::mutex mutex_;  // of the queue and its moves
  std::atomic<std::thread::id> runner_;  // that has a run
  SpillQueue queue_;
  // `storage` of each, which ends at any time, and the number of places.
  std::mutex books_;
  memory::Vector<Place> places_;
  memory::Vector<Part> parts_;  // slots of the queue, the parts of each place
  bool has_unwritten_ = false;  // in the step's thread: some may be
};

}  // namespace neap::compiler
