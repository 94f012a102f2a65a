// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Results: the handles that a run gives. Elements in the arena are the caller's
// until the next call, which revokes the storages that are still held; kept
// ones lie in blocks that go with the last handle. Headers and blocks that
// nobody holds any more are used again, so that a settled loop asks the door
// for nothing.
#pragma once

#include "neap/compile/arenas.hpp"
#include "neap/compile/leaf_grads.hpp"

namespace neap::compiler {

class NEAP_API Results {
 public:
  /// LIFETIME: of all, beyond this. THROWS: OutOfMemory.
  Results(const Program& program, const Plan& plan);
  ~Results();
  Results(const Results&) = delete;
  Results& operator=(const Results&) = delete;

  std::size_t count() const noexcept { return program_.results.size(); }
  /// True while a handle to elements in the arena is held.
  bool are_held() const noexcept;

  /// Bytes of the blocks of kept results that are there.
  Bytes kept_bytes() const noexcept;

  /// Makes ahead what the first run will be given, but for results that lie in
  /// arguments, which nobody knows yet. THROWS: OutOfMemory, and it is as if
  /// nothing had been asked.
  void reserve(const Arenas& arenas, const LeafGrads& grads);
  /// Does only that part of reserve() which outlasts the first run: the
  /// storages of results in the arenas. THROWS: OutOfMemory.
  void reserve_places(const Arenas& arenas);
  /// Makes the handles of the coming run, and finds its kept blocks; those of
  /// the run before stay as they are. THROWS: OutOfMemory, and it is as if
  /// nothing had been asked.
  void acquire(const Arenas& arenas, const LeafGrads& grads,
               std::span<const Tensor> arguments);
  /// The memory of an own block that is not a gradient's.
  std::byte* own_block(std::size_t index) const noexcept;
  /// The run begins: handles of the one before to elements in the arena mean
  /// nothing from now on. `site`: who says so.
  void begin(base::SiteId site) noexcept;
  /// Like begin(), with no run of this program to come.
  void revoke(base::SiteId site) noexcept;
  /// An acquired handle, before it is given.
  Tensor& next(std::size_t result) noexcept;
  /// The handles that were acquired.
  void give(std::span<Tensor> out) noexcept;
  void abandon() noexcept;

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  // A storage that results lie on, and their arrays, which outlive handles.
  struct BackingStorage {
    base::Ref<tensor::Storage> storage;
    memory::Vector<base::Ref<tensor::Array>> arrays;
    const std::byte* address = nullptr;
    bool is_free() const noexcept;  // nobody else has any of it
  };
  // The results that lie in a buffer.
  struct OutputBuffer {
    BufferId buffer = kNoBuffer;
    std::size_t first_slot = 0;
    std::size_t slot_count = 0;
    bool is_entry = false;    // a gradient that a leaf has when a run begins
    bool is_of_step = false;  // computed: in the arena or a kept block
    std::array<BackingStorage, 2> backings;  // in the arena: the first alone
    std::size_t chosen = 0;
    BackingStorage fresh;  // for the coming run, where no other will do
  };
  struct Slot {
    Operand operand;
    std::size_t result = 0;
    Tensor next;
  };
  BackingStorage& choose(OutputBuffer& output, const Arenas& arenas,
                         const LeafGrads& grads,
                         std::span<const Tensor> arguments);
  BackingStorage& choose_in_arena(OutputBuffer& output, const Arenas& arenas);
  BackingStorage& choose_kept(OutputBuffer& output);
  BackingStorage& choose_on(OutputBuffer& output,
                            base::Ref<tensor::Storage> storage);
  BackingStorage make_backing(const OutputBuffer& output,
                              base::Ref<tensor::Storage> storage,
                              const tensor::Layout* seen = nullptr) const;
  const Value& value_of(const OutputBuffer& output) const noexcept {
    return program_[slots_[output.first_slot].operand.value];
  }

  const Program& program_;
  const Plan& plan_;
  memory::Vector<Slot> slots_;  // by output
  memory::Vector<OutputBuffer> buffers_;
  memory::Vector<std::size_t> buffer_of_block_;  // of own blocks; kNone: none
};

}  // namespace neap::compiler
