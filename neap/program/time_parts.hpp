// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Values over time that become a value for each piece, for pass_time.cpp.
#pragma once

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/program/call_maker.hpp"
#include "neap/program/time_layers.hpp"

namespace neap::compiler {

/// The pieces of a value over time.
struct Parts {
  memory::Vector<ValueId> pieces;
  memory::Vector<ValueId> ends;  // the last step that each computes, (b, h)
  std::int64_t steps = 0;
  std::int64_t each = 0;  // steps of a piece
  std::int64_t step = 0;  // elements
  bool is_reverse = false;
  bool has_whole = false;

  std::int64_t first(std::int64_t piece) const { return piece * each; }
  std::int64_t count(std::int64_t piece) const {
    return std::min(each, steps - first(piece));
  }
  // The time of a piece's last step in the order of the steps.
  std::int64_t end(std::int64_t piece) const {
    return is_reverse ? first(piece) : first(piece) + count(piece) - 1;
  }
};

class TimeParts : public CallMaker {
 public:
  TimeParts(Program& program, std::uint32_t pieces)
      : CallMaker(program),
        pieces_(pieces),
        parts_of_(program.values.size(), kNoCall) {}

 protected:
  std::int64_t each_of(const TimeLayer& layer) const {
    return (layer.steps + pieces_ - 1) / pieces_;
  }
  std::int64_t count_of(const TimeLayer& layer) const {
    const std::int64_t each = each_of(layer);
    return (layer.steps + each - 1) / each;
  }

  // --- values over time ------------------------------------------------------

  // A value that becomes one for each piece.
  Parts& split(const TimeLayer& layer, const Operand& value) {
    const auto count = static_cast<std::size_t>(count_of(layer));
    Parts parts{.pieces = memory::Vector<ValueId>(count, kNoValue),
                .ends = memory::Vector<ValueId>(count, kNoValue),
                .steps = layer.steps,
                .each = each_of(layer),
                .step = value.layout->shape.element_count() / layer.steps,
                .is_reverse = layer.is_reverse};
    parts_of_[value.value.value] = static_cast<std::uint32_t>(parts_.size());
    parts_.push_back(std::move(parts));
    return parts_.back();
  }
  Parts* parts_of(ValueId id) {
    const std::uint32_t at =
        id.value < parts_of_.size() ? parts_of_[id.value] : kNoCall;
    return at == kNoCall ? nullptr : &parts_[at];
  }

  // A part of an operand along an axis of rows or steps, of its piece, or of
  // the end of it, where it is of one.
  Operand part(const Operand& operand, int axis, std::int64_t first,
               std::int64_t count) {
    const Operand all = sliced(operand, axis, first, count);
    const Parts* parts = parts_of(operand.value);
    if (parts == nullptr) {
      return all;
    }
    tensor::Layout layout = all.layout;
    const std::int64_t time = layout.offset / parts->step;
    const std::int64_t piece = time / parts->each;
    const auto at = static_cast<std::size_t>(piece);
    const std::int64_t end = parts->end(piece);
    const std::int64_t last =
        tensor::extent_bytes(layout) / size_of(layout.dtype);
    const bool is_end = parts->ends[at] != kNoValue && time == end &&
                        last <= (end + 1) * parts->step;
    const std::int64_t from = is_end ? end : parts->first(piece);
    if (last > (parts->first(piece) + parts->count(piece)) * parts->step) {
      if (!parts->has_whole) {
        base::raise<InternalError>("time: steps of several pieces are read");
      }
      return all;
    }
    layout.offset -= from * parts->step;
    return view(is_end ? parts->ends[at] : parts->pieces[at], layout);
  }

  // The whole, with more of its steps or rows. The last makes the value that
  // others know.
  ValueId next_whole(ValueId latest, ValueId made, bool is_last) {
    if (!is_last) {
      return next_of(latest);
    }
    program_[made].over = latest;
    return made;
  }
  Operand zeros_like(std::uint32_t near, const Operand& made) {
    const Operand operand =
        fresh(made.value, made.layout->dtype, made.layout->shape);
    zeros(near, operand);
    return operand;
  }

  std::int64_t pieces_;
  memory::Vector<std::uint32_t> parts_of_;  // by value; kNoCall: it is whole
  memory::Vector<Parts> parts_;
};

}  // namespace neap::compiler
