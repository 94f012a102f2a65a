// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/update_parts.hpp"

#include <algorithm>
#include <utility>

namespace neap::compiler {
namespace {

class Cutter {
 public:
  Cutter(Program& program, std::span<const UpdateCut> cuts,
         memory::Vector<AwayMoves>& moves)
      : program_(program),
        cuts_(cuts),
        moves_(moves),
        calls_(program.calls.like()) {}

  memory::Vector<std::uint32_t> run() {
    note_moves();
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      place_.push_back(next_place());
      if (next_cut_ < cuts_.size() && cuts_[next_cut_].call == i) {
        add_parts(program_.calls[i], cuts_[next_cut_++].each, i);
      } else {
        add(program_.calls[i], i);
      }
    }
    program_.calls = std::move(calls_);
    renumber_moves();
    return std::move(from_);
  }

 private:
  std::uint32_t next_place() const {
    return static_cast<std::uint32_t>(calls_.size());
  }

  // An output of an update that is cut has the number of its move.
  void note_moves() {
    move_of_.assign(program_.values.size(), kNoCall);
    parts_.resize(moves_.size());
    for (std::uint32_t m = 0; m < moves_.size(); ++m) {
      const MayGo& what = moves_[m].what;
      if (std::ranges::binary_search(cuts_, what.update, {},
                                     &UpdateCut::call)) {
        move_of_[what.after.value] = m;
      }
    }
  }

  void add(const Call& call, std::uint32_t from) {
    const std::uint32_t place = next_place();
    for (const Operand& out : program_.out(call)) {
      program_[out.value].index = place;
    }
    calls_.push_back(call);
    from_.push_back(from);
  }

  void add_parts(const Call& whole, std::int64_t each, std::uint32_t from) {
    const auto in = copy_of(program_.in(whole));
    const auto out = copy_of(program_.out(whole));
    const std::int64_t count = out[0].layout->shape.element_count();
    memory::Vector<ValueId> now;  // of outputs that are at home
    for (const Operand& made : out) {
      now.push_back(program_[made.value].over);
    }
    for (std::int64_t first = 0; first < count; first += each) {
      const tensor::Range elements{first, 1, std::min(each, count - first)};
      memory::Vector<Operand> read;
      for (const Operand& operand : in) {
        read.push_back(some_of(operand, operand.value, elements));
      }
      memory::Vector<Operand> made;
      for (std::size_t k = 0; k < out.size(); ++k) {
        const std::uint32_t move = move_of_[out[k].value.value];
        made.push_back(move != kNoCall
                           ? part(move, out[k], elements)
                           : at_home(out[k], now[k], elements, count));
      }
      Call call = whole;
      call.inputs = program_.add(read);
      call.outputs = program_.add(made);
      add(call, from);
    }
  }

  static memory::Vector<Operand> copy_of(std::span<const Operand> operands) {
    return {operands.begin(), operands.end()};
  }

  Operand some_of(const Operand& whole, ValueId value,
                  const tensor::Range& elements) {
    tensor::Layout flat = tensor::dense_layout(
        whole.layout->dtype, Shape{whole.layout->shape.element_count()});
    flat.offset = whole.layout->offset;
    return {value, program_.keep(tensor::sliced(flat, 0, elements))};
  }

  // A value after the part before; after the last one, that which others know.
  Operand at_home(const Operand& whole, ValueId& now,
                  const tensor::Range& elements, std::int64_t count) {
    const bool is_last = elements.start + elements.count == count;
    const ValueId made =
        is_last ? whole.value : program_.add(Value(program_[whole.value]));
    program_[made].over = now;
    now = made;
    return some_of(whole, made, elements);
  }

  // The first part has the values of the whole, where nobody else reads these.
  Operand part(std::uint32_t m, const Operand& whole,
               const tensor::Range& elements) {
    const MayGo& what = moves_[m].what;
    const Bytes width = size_of(whole.layout->dtype);
    const bool is_first = elements.start == 0;
    const bool has_reads = what.uses.size() > 1;
    MayGo some{.external = what.external,
               .update = next_place(),
               .size = elements.count * width,
               .offset = elements.start * width,
               .is_counted = !has_reads};
    some.uses.push_back(some.update);
    some.before = value_of_part(what.before, is_first && !has_reads, some.size);
    some.after = value_of_part(what.after, is_first, some.size);
    program_[some.after].over = some.before;
    const Operand out{
        some.after, program_.keep(tensor::dense_layout(whole.layout->dtype,
                                                       Shape{elements.count}))};
    parts_[m].push_back(std::move(some));
    return out;
  }

  ValueId value_of_part(ValueId whole, bool is_it, Bytes size) {
    Value value = program_[whole];
    ValueSpec spec = *value.spec;
    spec.shape = Shape{size / size_of(spec.dtype)};
    spec.size = size;
    value.spec = program_.keep(spec);
    if (is_it) {
      program_[whole].spec = value.spec;
      return whole;
    }
    return program_.add(value);
  }

  void renumber_moves() {
    memory::Vector<AwayMoves> out;
    for (std::uint32_t m = 0; m < moves_.size(); ++m) {
      AwayMoves& one = moves_[m];
      for (std::uint32_t& use : one.what.uses) {
        use = place_[use];
      }
      if (parts_[m].empty()) {
        one.what.update =
            one.what.update == kNoCall ? kNoCall : place_[one.what.update];
        out.push_back(std::move(one));
        continue;
      }
      if (one.what.uses.size() > 1) {  // the uses before
        one.what.uses.pop_back();
        one.what.update = kNoCall;
        one.what.after = kNoValue;
        out.push_back(
            {.what = std::move(one.what), .is_weight = one.is_weight});
      }
      for (MayGo& part : parts_[m]) {
        out.push_back({.what = std::move(part), .is_weight = one.is_weight});
      }
    }
    moves_ = std::move(out);
  }

  Program& program_;
  std::span<const UpdateCut> cuts_;
  memory::Vector<AwayMoves>& moves_;
  CallTable calls_;
  memory::Vector<std::uint32_t> from_;
  memory::Vector<std::uint32_t> place_;    // of each former call, its first
  memory::Vector<std::uint32_t> move_of_;  // of a value; kNoCall: of none
  memory::Vector<memory::Vector<MayGo>> parts_;  // of each move
  std::size_t next_cut_ = 0;
};

}  // namespace

std::int64_t elements_of_update(const Program& program, const Call& call) {
  const auto out = program.out(call);
  if (out.empty()) {
    return 0;
  }
  const tensor::Layout& first = *out[0].layout;
  const std::int64_t count = first.shape.element_count();
  const auto is_equal = [&](const Operand& operand) {
    return operand.layout->dtype == first.dtype &&
           operand.layout->shape.element_count() == count &&
           tensor::is_contiguous(operand.layout);
  };
  const auto is_all = [&](const Operand& operand) {
    return is_whole(operand.layout, program[operand.value].spec->size);
  };
  return std::ranges::all_of(program.in(call), is_equal) &&
                 std::ranges::all_of(out, is_equal) &&
                 std::ranges::all_of(out, is_all)
             ? count
             : 0;
}

memory::Vector<std::uint32_t> cut_updates(Program& program,
                                          std::span<const UpdateCut> cuts,
                                          memory::Vector<AwayMoves>& moves) {
  return Cutter(program, cuts, moves).run();
}

}  // namespace neap::compiler
