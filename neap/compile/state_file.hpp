// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StateFile: a file that holds storages which are away (tensor::Storage): the
// states of a step between its runs. It is there for as long as a step or one
// of those storages is: a step that ends leaves what it holds to whoever
// refers to it, and that comes home when it is touched.
//
//   take(s)          s goes away to a place of its own
//   fetch, write     a run has it in the arena, and writes it back
//   put_into()       it comes home (its keeper is told)
//
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

class StateFile : public std::enable_shared_from_this<StateFile> {
 public:
  /// THROWS: as SpillQueue.
  static std::shared_ptr<StateFile> create(files::Door& door,
                                           std::string_view folder,
                                           memory::Domain& domain);
  /// Of create().
  StateFile(files::Door& door, std::string_view folder, memory::Domain& domain);
  StateFile(const StateFile&) = delete;
  StateFile& operator=(const StateFile&) = delete;

  /// The one that a storage is away on; nullptr: none.
  static std::shared_ptr<StateFile> of(const tensor::Storage& storage) noexcept;
  /// It is there, reached by that door, and for storages of that domain.
  bool is_in(const files::Door& door, std::string_view folder,
             const memory::Domain& domain) const noexcept {
    return &door_ == &door && folder_ == folder && &domain_ == &domain;
  }

  static constexpr std::uint32_t kNone = ~0U;
  /// Its place here; kNone: it has none.
  std::uint32_t place_of(const tensor::Storage& storage) const noexcept;
  /// Sends it away to here, unless it is here. REQUIRES: it may go away.
  /// THROWS: IoError; OutOfMemory. It is as before then.
  void take(tensor::Storage& storage);
  /// All that are here come home. THROWS: as tensor::Storage::bring_home(); the
  /// others are still here then.
  void give_back();

  // --- a run: as SpillQueue's, and all the while it holds the file ----------

  /// Held until the end of its scope. While the thread that has it looks at the
  /// elements of a storage that is away (a rule of a custom op may), that is
  /// refused: the run moves them itself.
  class Running {
   public:
    explicit Running(StateFile& file) : file_(&file), lock_(file.mutex_) {
      file_->runner_ = std::this_thread::get_id();
    }
    ~Running() { end(); }
    Running(const Running&) = delete;
    Running& operator=(const Running&) = delete;
    void end() noexcept {
      if (lock_) {
        file_->runner_ = std::thread::id();
        lock_.unlock();
      }
    }

   private:
    StateFile* file_;
    std::unique_lock<std::mutex> lock_;
  };

  void fetch(std::uint32_t place, std::span<std::byte> into) noexcept;
  void write(std::uint32_t place, std::span<const std::byte> from) noexcept;
  void await(std::uint32_t place);
  void settle() noexcept { queue_.settle(); }
  /// After a failure: where the write of the storage failed, a copy of what it
  /// was to be is kept in memory, if there is any for it. REQUIRES: settled,
  /// and not held.
  void rescue(tensor::Storage& storage,
              std::span<const std::byte> from) noexcept;
  SpillCounts counts() const noexcept { return queue_.counts(); }

 private:
  class Kept;
  class Rescued;
  struct Place {
    Bytes offset = 0;
    Bytes room = 0;
    tensor::Storage* storage = nullptr;  // none: the place is free
    bool is_zero = false;                // nothing was written there
  };

  std::unique_lock<std::mutex> held() const;
  bool is_running_here() const noexcept {
    return runner_ == std::this_thread::get_id();
  }
  base::Ref<tensor::Storage> storage_at(std::uint32_t place);
  void put_into(std::uint32_t place, std::span<std::byte> into);
  void leave(std::uint32_t place) noexcept;
  std::uint32_t place_for(Bytes size);

  const files::Door& door_;
  memory::String folder_;
  memory::Domain& domain_;
  mutable std::mutex mutex_;  // storages may come home from several threads
  std::atomic<std::thread::id> runner_;  // that has a run
  SpillQueue queue_;
  memory::Vector<Place> places_;
};

}  // namespace neap::compiler
