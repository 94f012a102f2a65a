// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Several elementwise calls over the same number of elements as one call, a
// tile at a time: what one member makes and only others read never leaves the
// first level cache.
//
//   logical index   0 ............................. n   of every member
//   threads         |    part 0     |    part 1     |
//   tiles           |    |    |    ||    |    |    ||   small
//   in each tile    gather inputs; mul, exp, add, ...; scatter outputs
//
// Each element of a member is a pure function of its inputs and its logical
// index, so neither the cuts nor the fusion shows in the result: it has the
// bits of one call after another.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "neap/kernels/engine/elementwise.hpp"

namespace neap::kernels {

inline constexpr int kMaxFusedMembers = 16;
inline constexpr int kMaxFusedViews = 16;  // inputs and outputs of the call
inline constexpr int kMaxFusedTiles = 8;   // at one time
inline constexpr int kMaxFusedInner = 32;  // values that stay inside

/// An operand of a member.
struct FusedOperand {
  enum class Place : std::uint8_t {
    kIn,     // Args::in[index]
    kOut,    // Args::out[index]
    kInner,  // a value that only members see, number `index`
  };
  Place place = Place::kIn;
  std::uint8_t index = 0;
  DType dtype = DType::kF32;
  /// One bit an element, as in bits.hpp; a view of them is dense.
  bool is_bits = false;
  friend bool operator==(const FusedOperand&, const FusedOperand&) = default;
};

/// A fused call: Args::attrs of fused_kernel points to it. It is built once and
/// runs any number of times. Plain data; LIFETIME: the members' attributes are
/// read at each run, where they lie.
class NEAP_API FusedCall {
 public:
  /// `count`: elements of each member's output.
  explicit FusedCall(std::int64_t count) noexcept : count_(count) {}

  /// Appends a member: its function (Kernel::piece), and its operands, inputs
  /// first. False: it is one too many.
  /// REQUIRES: an inner value is an output before it is an input.
  [[nodiscard]] bool add(PieceFunction function, const void* attrs,
                         std::span<const FusedOperand> inputs,
                         std::span<const FusedOperand> outputs) noexcept;

  /// After the last member: lays the call out for operands of these layouts
  /// (their data may be null). All have the shape of the output of the member
  /// that they belong to, or one of as many elements in the same order; strides
  /// are 0 where it is broadcast. An output may lie exactly where an input of
  /// the same layout lies if no member after the one that writes it reads that
  /// input. False: more operands, or more inner values at one time, than fit.
  [[nodiscard]] bool prepare(std::span<const Strided> in,
                             std::span<const Strided> out) noexcept;

  std::int64_t count() const noexcept { return count_; }
  int members() const noexcept { return member_count_; }
  /// Elements of a tile.
  std::int64_t tile() const noexcept { return tile_; }
  /// Scratch for so many threads.
  Bytes scratch(int threads) const noexcept;
  void run(const Args& args) const noexcept;

  /// They do the same to their operands, attributes at the same address.
  friend bool operator==(const FusedCall&, const FusedCall&) = default;

 private:
  enum class Access : std::uint8_t { kDense, kBits, kStrided };

  struct Member {
    PieceFunction function = nullptr;
    const void* attrs = nullptr;
    std::array<FusedOperand, kMaxOperands> operands;
    std::array<std::uint8_t, kMaxOperands> places{};  // in Places
    std::uint8_t inputs = 0;
    std::uint8_t count = 0;
    friend bool operator==(const Member&, const Member&) = default;
  };

  struct View {
    Access access = Access::kDense;
    int size = 0;             // bytes of an element
    std::int64_t period = 1;  // elements after which it repeats itself
    std::int64_t buffer = 0;  // of strided ones: offset in a thread's scratch
    Shape extents;            // simplified: at least one axis
    Shape strides;
    friend bool operator==(const View&, const View&) = default;
  };

  struct Tile {
    int size = 0;             // bytes of an element
    std::int64_t offset = 0;  // in a thread's scratch
    int free_from = 0;        // the member whose outputs may take it
    friend bool operator==(const Tile&, const Tile&) = default;
  };

  struct Work;

  static constexpr std::int64_t kGrain = 16384;  // elements of a thread's range
  static constexpr std::int64_t kLine = 64;      // bytes; buffers begin at one

  void note_bits() noexcept;
  bool place_inner() noexcept;
  bool place_outputs(int member, std::span<const int> last_use,
                     std::span<std::uint8_t> tile_of) noexcept;
  void add_view(const Strided& view, bool is_bits) noexcept;
  int uses(int view) const noexcept;
  void choose_tile() noexcept;
  void place_buffers() noexcept;
  void run_part(const Args& args, int part, int parts) const noexcept;
  void run_tile(Work& work, std::int64_t first,
                std::int64_t size) const noexcept;
  void read_view(Work& work, int view, std::int64_t first,
                 std::int64_t size) const noexcept;

  std::int64_t count_ = 0;
  std::int64_t tile_ = 0;
  std::int64_t part_bytes_ = 0;  // of scratch, for one thread
  int member_count_ = 0;
  int input_count_ = 0;
  int view_count_ = 0;
  int tile_count_ = 0;
  std::uint32_t bits_in_ = 0;  // bit i: input i is packed bits
  std::uint32_t bits_out_ = 0;
  std::array<Member, kMaxFusedMembers> members_;
  std::array<View, kMaxFusedViews> views_;
  std::array<Tile, kMaxFusedTiles> tiles_;
};

/// Runs the FusedCall that Args::attrs points to, for operands of the layouts
/// that it was prepared for.
extern NEAP_API const Kernel fused_kernel;

/// Whether operands of u8 of this list's kernels are packed bits. Their pieces
/// get the address of the byte of the first element.
NEAP_API bool has_packed_bits(const KernelList& list) noexcept;

}  // namespace neap::kernels
