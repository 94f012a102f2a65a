// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Instructions: a program made flat for running. What may move between two runs
// (arguments, the arena, ...) is a base, and an operand is its place on one.
//
//   form          mul.f32, [4] [4] -> [4]     kernel and views, of many calls
//   instruction   form, first place           8 bytes
//   places        arena+0, arena+64, ...      8 bytes an operand
//
// Calls that differ in addresses and attributes alone share a form: a step
// unrolled over time repeats the same few. Its views are told the addresses of
// a call right before the kernel runs, while they are in the first level cache.
#pragma once

#include "neap/compile/plan.hpp"
#include "neap/program/bind.hpp"

namespace neap::compiler {

class SpillQueue;
class StateFile;

struct Instruction {
  std::uint32_t form = 0;   // position in the forms
  std::uint32_t first = 0;  // of its places: inputs, outputs, scratch
};

class NEAP_API Instructions {
 public:
  /// LIFETIME: `program` and `plan` outlive this, and do not move. THROWS:
  /// OutOfMemory.
  Instructions(Program& program, const Plan& plan,
               memory::Vector<Binding> bindings);
  Instructions(const Instructions&) = delete;
  Instructions& operator=(const Instructions&) = delete;

  // --- bases: where what the program works on lies -------------------------

  std::size_t arena(memory::SpaceId space) const noexcept {
    return space.value;
  }
  /// Further addresses of the host's pages.
  std::size_t views() const noexcept { return memory::kMaxSpaces; }
  std::size_t argument(std::size_t i) const noexcept { return views() + 1 + i; }
  std::size_t external(std::size_t i) const noexcept {
    return argument(arguments_) + i;
  }
  std::size_t own(std::size_t i) const noexcept {
    return external(externals_) + i;
  }
  std::byte* base(std::size_t i) const noexcept { return bases_[i]; }
  void set_base(std::size_t i, std::byte* address) noexcept {
    if (bases_[i] != address) {
      move_base(i, address);
    }
  }
  void set_executor(threads::Executor& executor) noexcept;
  /// Sets the queue that moves values. LIFETIME: beyond the runs.
  void set_spill(SpillQueue* spill) noexcept { spill_ = spill; }
  SpillQueue* spill() const noexcept { return spill_; }
  /// Sets the file of states that are away, and the place in it of each of
  /// Program::away.
  /// LIFETIME: beyond the runs.
  void set_states(StateFile* file,
                  std::span<const std::uint32_t> places) noexcept {
    states_ = file;
    places_of_states_ = places;
  }

  // --- running -------------------------------------------------------------

  /// Checks of what is there before the run. THROWS: what they throw.
  void check_front();
  /// All the others, in order. THROWS: what a check throws; `at` is then the
  /// position of it in the body.
  void run(std::size_t& at);
  /// Runs the instruction at a position in the body.
  void run_one(std::size_t at) { run_one(tables(), front_ + at); }
  /// Instructions of the body.
  std::size_t size() const noexcept { return all_.size() - front_; }
  /// The position in Program::calls of an instruction of the body.
  std::uint32_t call(std::size_t at) const noexcept {
    return call_at(front_ + at);
  }
  /// The address of the first operand of an instruction of the body.
  const std::byte* address(std::size_t at) const noexcept {
    return to_address(places_[all_[front_ + at].first]);
  }
  /// Different forms of calls.
  std::size_t forms() const noexcept { return forms_.size(); }
  Bytes bytes() const noexcept;

 private:
  // An address as a number: bytes from the base where that is not known yet.
  using Place = std::uintptr_t;

  struct Form {
    /// The kernel's function; nullptr: a check, a transfer, another space's.
    void (*run)(const kernels::Args&) noexcept = nullptr;
    tensor::Strided* views = nullptr;  // inputs, then outputs: those of args
    std::uint32_t count = 0;           // of views
    bool has_attrs = false;            // of each call's own
    bool is_plain = true;              // no such attributes, and no scratch
    kernels::Args args;
    Binding binding;
  };
  class Builder;
  // The tables that a run reads, in registers from kernel to kernel.
  struct Tables {
    const Instruction* all;
    Form* forms;
    const Place* places;
  };
  Tables tables() noexcept {
    return {all_.data(), forms_.data(), places_.data()};
  }
  std::uint32_t call_at(std::size_t i) const noexcept {
    return calls_.empty() ? static_cast<std::uint32_t>(i) : calls_[i];
  }
  void run_one(const Tables& tables, std::size_t i) {
    const Instruction instruction = tables.all[i];
    Form& form = tables.forms[instruction.form];
    const Place* place = tables.places + instruction.first;
    tensor::Strided* const view = form.views;
    std::uint32_t k = form.count;
    switch (k) {  // a loop of so few turns would cost more than they do
      default:
        for (; k > 3; --k) {
          view[k - 1].data = to_address(place[k - 1]);
        }
        [[fallthrough]];
      case 3:
        view[2].data = to_address(place[2]);
        [[fallthrough]];
      case 2:
        view[1].data = to_address(place[1]);
        [[fallthrough]];
      case 1:
        view[0].data = to_address(place[0]);
        [[fallthrough]];
      case 0:
        break;
    }
    if (!form.is_plain) {
      set_others(form, i, place + form.count);
    }
    if (form.run != nullptr) [[likely]] {
      form.run(form.args);
    } else {
      run_special(form, i);
    }
  }
  static std::byte* to_address(Place place) noexcept {
    return reinterpret_cast<std::byte*>(place);  // NOLINT(*-no-int-to-ptr)
  }
  void set_others(Form& form, std::size_t i,
                  const Place* scratch) const noexcept {
    if (!form.args.scratch.empty()) {
      form.args.scratch = {to_address(*scratch), form.args.scratch.size()};
    }
    if (form.has_attrs) {
      form.args.attrs = program_.attrs_at(program_.calls.attrs_at(call_at(i)));
    }
  }
  void move_base(std::size_t i, std::byte* address) noexcept;
  void run_special(const Form& form, std::size_t i) const;
  void exchange(const Form& form, const Call& call) const;
  void move(const Form& form, const Call& call) const;
  void move_state(const Form& form, const Call& call) const;

  Program& program_;
  SpillQueue* spill_ = nullptr;
  StateFile* states_ = nullptr;
  std::span<const std::uint32_t> places_of_states_;
  const Plan& plan_;
  std::size_t arguments_;
  std::size_t externals_;
  memory::Vector<Instruction> all_;      // checks of the front, then the body
  memory::Vector<std::uint32_t> calls_;  // theirs; empty: in the same order
  std::size_t front_ = 0;
  memory::Vector<Place> places_;
  memory::Vector<Form> forms_;
  memory::Vector<tensor::Strided> views_;  // of forms
  memory::Vector<std::byte*> bases_;
  /// Nearly all places are in the host's arena: a bit each, places on further
  /// bases in lists, those of base i at [first[i], first[i + 1]).
  memory::Vector<std::uint64_t> is_in_arena_;
  memory::Vector<std::uint32_t> moved_;
  memory::Vector<std::uint32_t> first_moved_;
};

}  // namespace neap::compiler
