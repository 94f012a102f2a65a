// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How a fused call is laid out: the tiles of its inner values, how its outside
// operands are reached, how long a tile is.
#include <algorithm>
#include <numeric>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/fused.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kTileBytes = 16384;  // half of the first level cache
constexpr std::int64_t kMinTile = 256;      // elements
constexpr std::int64_t kMaxTile = 4096;
constexpr std::int64_t kLanes = 16;  // a tile is so many, or a multiple
// Between buffers, which would else begin at the same low 12 bits: a store
// delays a later load that does.
constexpr std::int64_t kStagger = 320;  // bytes

// Drops axes of extent 1 and merges neighbours; the logical order stays.
void simplify(Shape& extents, Shape& strides) noexcept {
  for (int axis = extents.rank() - 1; axis >= 0; --axis) {
    const bool merges = axis + 1 < extents.rank() &&
                        strides[axis] == strides[axis + 1] * extents[axis + 1];
    if (extents[axis] == 1 || merges) {
      if (extents[axis] != 1) {
        extents[axis + 1] *= extents[axis];
      }
      extents.erase(axis);
      strides.erase(axis);
    }
  }
  if (extents.rank() == 0) {
    extents = Shape{1};
    strides = Shape{1};
  }
}

// Elements after which the leading axes repeat what was there.
std::int64_t period_of(const Shape& extents, const Shape& strides) noexcept {
  std::int64_t period = 1;
  bool repeats = true;
  for (int axis = 0; axis < extents.rank(); ++axis) {
    repeats = repeats && strides[axis] == 0;
    period *= repeats ? 1 : extents[axis];
  }
  return period;
}

}  // namespace

bool FusedCall::add(PieceFunction function, const void* attrs,
                    std::span<const FusedOperand> inputs,
                    std::span<const FusedOperand> outputs) noexcept {
  const std::size_t count = inputs.size() + outputs.size();
  const auto index_fits = [](const FusedOperand& operand) {
    return operand.index < (operand.place == FusedOperand::Place::kInner
                                ? kMaxFusedInner
                                : kMaxFusedViews);
  };
  if (member_count_ == kMaxFusedMembers || count > kMaxOperands ||
      !std::ranges::all_of(inputs, index_fits) ||
      !std::ranges::all_of(outputs, index_fits)) {
    return false;
  }
  Member& member = members_[static_cast<std::size_t>(member_count_++)];
  member.function = function;
  member.attrs = attrs;
  member.inputs = static_cast<std::uint8_t>(inputs.size());
  member.count = static_cast<std::uint8_t>(count);
  std::ranges::copy(outputs,
                    std::ranges::copy(inputs, member.operands.begin()).out);
  return true;
}

void FusedCall::note_bits() noexcept {
  bits_in_ = 0;
  bits_out_ = 0;
  for (int m = 0; m < member_count_; ++m) {
    const Member& member = members_[static_cast<std::size_t>(m)];
    for (std::size_t k = 0; k < member.count; ++k) {
      const FusedOperand& operand = member.operands[k];
      const std::uint32_t bit = operand.is_bits ? 1U << operand.index : 0;
      bits_in_ |= operand.place == FusedOperand::Place::kIn ? bit : 0;
      bits_out_ |= operand.place == FusedOperand::Place::kOut ? bit : 0;
    }
  }
}

// Gives each inner value of a member's outputs a tile that is free: one that no
// member reads later than this one. One that this member itself reads last
// serves for the same dtype: element i is read before it is written.
bool FusedCall::place_outputs(int member, std::span<const int> last_use,
                              std::span<std::uint8_t> tile_of) noexcept {
  Member& made = members_[static_cast<std::size_t>(member)];
  std::array<bool, kMaxFusedTiles> may_reuse{};
  for (std::size_t k = 0; k < made.inputs; ++k) {
    const FusedOperand& operand = made.operands[k];
    if (operand.place == FusedOperand::Place::kInner &&
        last_use[operand.index] == member) {
      const bool fits =
          operand.dtype == made.operands[made.inputs].dtype && !operand.is_bits;
      may_reuse[tile_of[operand.index]] = fits;
    }
  }
  for (std::size_t k = made.inputs; k < made.count; ++k) {
    const FusedOperand& operand = made.operands[k];
    if (operand.place != FusedOperand::Place::kInner) {
      continue;
    }
    int tile = 0;
    const bool is_first = k == made.inputs;
    while (tile < tile_count_ &&
           tiles_[static_cast<std::size_t>(tile)].free_from > member &&
           !(is_first && may_reuse[static_cast<std::size_t>(tile)])) {
      ++tile;
    }
    if (tile == kMaxFusedTiles) {
      return false;
    }
    tile_count_ = std::max(tile_count_, tile + 1);
    Tile& taken = tiles_[static_cast<std::size_t>(tile)];
    taken.size = std::max(taken.size, size_of(operand.dtype));
    taken.free_from = last_use[operand.index] + 1;
    tile_of[operand.index] = static_cast<std::uint8_t>(tile);
    may_reuse[static_cast<std::size_t>(tile)] = false;
  }
  return true;
}

bool FusedCall::place_inner() noexcept {
  using Place = FusedOperand::Place;
  std::array<int, kMaxFusedInner> last_use{};
  for (int m = 0; m < member_count_; ++m) {
    const Member& member = members_[static_cast<std::size_t>(m)];
    for (std::size_t k = 0; k < member.count; ++k) {
      if (member.operands[k].place == Place::kInner) {
        last_use[member.operands[k].index] = m;
      }
    }
  }
  std::array<std::uint8_t, kMaxFusedInner> tile_of{};
  for (int m = 0; m < member_count_; ++m) {
    Member& member = members_[static_cast<std::size_t>(m)];
    // Inputs first: their tiles may go on to other values with the outputs.
    std::array<std::uint8_t, kMaxOperands> read_from{};
    for (std::size_t k = 0; k < member.inputs; ++k) {
      read_from[k] = tile_of[member.operands[k].index];
    }
    if (!place_outputs(m, last_use, tile_of)) {
      return false;
    }
    for (std::size_t k = 0; k < member.count; ++k) {
      const FusedOperand& operand = member.operands[k];
      int place = operand.index;
      if (operand.place == Place::kOut) {
        place += input_count_;
      } else if (operand.place == Place::kInner) {
        place = kMaxFusedViews +
                (k < member.inputs ? read_from[k] : tile_of[operand.index]);
      }
      member.places[k] = static_cast<std::uint8_t>(place);
    }
  }
  return true;
}

void FusedCall::add_view(const Strided& view, bool is_bits) noexcept {
  View& seen = views_[static_cast<std::size_t>(view_count_++)];
  seen.size = size_of(view.dtype);
  seen.extents = view.shape;
  seen.strides = view.strides;
  if (is_bits) {
    seen.access = Access::kBits;
    return;
  }
  simplify(seen.extents, seen.strides);
  const bool is_dense = strides_are_dense(seen.extents, seen.strides);
  seen.access = is_dense ? Access::kDense : Access::kStrided;
  seen.period = period_of(seen.extents, seen.strides);
}

// How many operands of members a view is.
int FusedCall::uses(int view) const noexcept {
  int count = 0;
  for (int m = 0; m < member_count_; ++m) {
    const Member& member = members_[static_cast<std::size_t>(m)];
    count += static_cast<int>(std::count(member.places.begin(),
                                         member.places.begin() + member.count,
                                         static_cast<std::uint8_t>(view)));
  }
  return count;
}

// As many elements as keep what is made and read again in half of the first
// level cache; where a row is repeated, whole rows of it, which are then
// gathered once.
void FusedCall::choose_tile() noexcept {
  std::int64_t bytes = 0;
  for (int i = 0; i < tile_count_; ++i) {
    bytes += tiles_[static_cast<std::size_t>(i)].size;
  }
  for (int i = 0; i < view_count_; ++i) {
    const View& view = views_[static_cast<std::size_t>(i)];
    bytes += view.access == Access::kStrided || uses(i) > 1 ? view.size : 0;
  }
  tile_ = kTileBytes / std::max<std::int64_t>(bytes, 1) / kLanes * kLanes;
  tile_ = std::clamp(tile_, kMinTile, kMaxTile);
  std::int64_t step = 1;
  for (int i = 0; i < view_count_; ++i) {
    const View& view = views_[static_cast<std::size_t>(i)];
    const bool repeats =
        view.access == Access::kStrided && view.period < count_;
    const std::int64_t whole = std::lcm(view.period, kLanes);
    step = repeats && whole <= tile_ ? std::max(step, whole) : step;
  }
  tile_ = tile_ / step * step;
  tile_ = std::min(tile_, base::round_up(count_, kLanes));
}

void FusedCall::place_buffers() noexcept {
  part_bytes_ = 0;
  const auto take = [this](int size) {
    const std::int64_t offset = part_bytes_;
    part_bytes_ += base::round_up(tile_ * size, kLine) + kStagger;
    return offset;
  };
  for (int i = 0; i < tile_count_; ++i) {
    Tile& tile = tiles_[static_cast<std::size_t>(i)];
    tile.offset = take(tile.size);
  }
  for (int i = 0; i < view_count_; ++i) {
    View& view = views_[static_cast<std::size_t>(i)];
    view.buffer = view.access == Access::kStrided ? take(view.size) : 0;
  }
}

bool FusedCall::prepare(std::span<const Strided> in,
                        std::span<const Strided> out) noexcept {
  if (in.size() + out.size() > kMaxFusedViews) {
    return false;
  }
  input_count_ = static_cast<int>(in.size());
  view_count_ = 0;
  tile_count_ = 0;
  tiles_ = {};
  note_bits();
  for (std::size_t k = 0; k < in.size(); ++k) {
    add_view(in[k], (bits_in_ >> k & 1U) != 0);
  }
  for (std::size_t k = 0; k < out.size(); ++k) {
    add_view(out[k], (bits_out_ >> k & 1U) != 0);
  }
  if (!place_inner()) {
    return false;
  }
  choose_tile();
  place_buffers();
  return true;
}

}  // namespace neap::kernels
