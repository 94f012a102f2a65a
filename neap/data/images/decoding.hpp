// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Decoding: what a decoder written in C works with while it reads one image: a
// bounded heap of the current domain, the file's bytes by pieces, and the way
// out where something is wrong. Of this room alone.
//
// The way out is a jump, for nothing may be thrown through C. It passes over
// C++ frames without destructors only: run() begins a part of the work that
// may jump, and such a part, as everything that it calls before fail(), holds
// nothing that is to be destroyed. Exceptions of callbacks (OutOfMemory, a
// Failure of the file) are kept, and come out of failure().
//
// Thread rule: one thread.
#pragma once

#include <array>
#include <csetjmp>
#include <cstddef>
#include <exception>
#include <optional>
#include <span>
#include <string_view>

#include "neap/files/byte_source.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data::images {

/// Blocks of the current domain (category data), up to a limit together; all
/// that are left are freed at its end.
class DecoderHeap {
 public:
  static constexpr Bytes kAlignment = memory::kAlignment;  // of each block

  explicit DecoderHeap(Bytes limit);
  ~DecoderHeap();
  DecoderHeap(const DecoderHeap&) = delete;
  DecoderHeap& operator=(const DecoderHeap&) = delete;

  /// nullptr beyond the limit, or where the domain refuses; refusal() tells.
  void* take(std::size_t bytes) noexcept;
  void give_back(void* block) noexcept;
  /// Gives back all blocks.
  void clear() noexcept;
  /// The limit of what is there and what will be, in bytes.
  void set_limit(Bytes limit) noexcept { limit_ = limit; }
  /// Bytes that are taken now, with the heap's own 64 for each block.
  Bytes taken() const noexcept { return taken_; }
  /// The exception of the domain; null where the limit was met.
  const std::exception_ptr& refusal() const noexcept { return refusal_; }

 private:
  struct Head;
  void release(Head* head) noexcept;

  memory::Domain* domain_;
  memory::Tag tag_;
  Bytes limit_;
  Bytes taken_ = 0;
  Head* first_ = nullptr;
  std::exception_ptr refusal_;
};

class Decoding {
 public:
  static constexpr Bytes kBeforeHeader = 256 * kKiB;  // limit of the heap
  static constexpr Bytes kPieceBytes = 16 * kKiB;     // of a file

  /// LIFETIME: the source outlives it. THROWS: OutOfMemory.
  explicit Decoding(files::ByteSource& source);

  /// Runs part(state), which may fail(); false where it did.
  template <class State>
  bool run(void (*part)(State&), State& state) noexcept {
    if (setjmp(jump_) != 0) {  // NOLINT: the way out of C
      return false;
    }
    part(state);
    return true;
  }

  DecoderHeap& heap() noexcept { return heap_; }
  /// Memory of the heap; fails where there is none.
  void* take(std::size_t bytes) noexcept;

  /// The piece of the file that is read at present; after refill() the next.
  std::span<const std::byte> piece() const noexcept { return piece_; }
  /// False at the end of the file. Fails where the file does.
  bool refill() noexcept;

  /// Leaves the part that runs. The text is copied.
  [[noreturn]] void fail(FailureKind kind, const char* text) noexcept;
  [[noreturn]] void fail_truncated() noexcept;
  /// The failure of the part that failed. THROWS: what was thrown in a
  /// callback.
  tl::unexpected<Failure> failure() const;

 private:
  static constexpr std::size_t kTextBytes = 160;

  void read_piece() noexcept;

  files::ByteSource& source_;
  DecoderHeap heap_;
  memory::Vector<std::byte> buffer_;
  std::span<const std::byte> piece_;
  std::exception_ptr thrown_;
  std::optional<Failure> of_file_;
  FailureKind kind_ = FailureKind::kCorrupt;
  std::array<char, kTextBytes> text_{};
  std::jmp_buf jump_{};
};

}  // namespace neap::data::images
