// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Instructions: a program made flat for running. Every view, attribute and
// scratch block is found once; what may move between two runs (arguments, the
// arena, ...) is a base, and the views that lie on it are known, so that a move
// costs those views alone.
#pragma once

#include "neap/compile/plan.hpp"
#include "neap/program/bind.hpp"

namespace neap::compiler {

class SpillQueue;

struct Instruction {
  /// The kernel's function; nullptr: look at the call (instructions.cpp).
  void (*run)(const kernels::Args&) noexcept = nullptr;
  kernels::Args args;
  std::uint32_t call = 0;  // position in Program::calls
};

class NEAP_API Instructions {
 public:
  /// LIFETIME: `program` and `plan` outlive this, and do not move.
  /// THROWS: OutOfMemory.
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
  /// Where moved values go. LIFETIME: beyond the runs.
  void set_spill(SpillQueue* spill) noexcept { spill_ = spill; }
  SpillQueue* spill() const noexcept { return spill_; }

  // --- running -------------------------------------------------------------

  /// Checks of what is there before the run. THROWS: what they throw.
  void check_front() const;
  /// All the others, in order. THROWS: what a check throws; `at` is then the
  /// position of it in body().
  void run(std::size_t& at) const;
  /// Runs an instruction.
  void run_one(const Instruction& instruction) const {
    if (instruction.run != nullptr) [[likely]] {
      instruction.run(instruction.args);
    } else {
      run_special(instruction);
    }
  }
  std::span<const Instruction> body() const noexcept {
    return std::span(all_).subspan(front_);
  }
  Bytes bytes() const noexcept;

 private:
  struct Patch {
    std::uint32_t index = 0;  // of a view, or of a call with scratch in all_
    bool is_scratch = false;
    Bytes offset = 0;  // from the base
  };
  class Builder;
  void move_base(std::size_t i, std::byte* address) noexcept;
  void run_special(const Instruction& instruction) const;
  void move(const Instruction& instruction, const Call& call) const;

  Program& program_;
  const Plan& plan_;
  SpillQueue* spill_ = nullptr;
  memory::Vector<Binding> bindings_;
  std::size_t arguments_;
  std::size_t externals_;
  memory::Vector<Instruction> all_;  // checks of the front, then the body
  std::size_t front_ = 0;
  memory::Vector<tensor::Strided> views_;
  memory::Vector<std::byte*> bases_;
  memory::Vector<Patch> patches_;              // those of base i are
  memory::Vector<std::uint32_t> first_patch_;  // [first[i], first[i + 1])
};

}  // namespace neap::compiler
