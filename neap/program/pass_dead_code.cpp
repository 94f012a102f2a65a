// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/dataflow.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"

namespace neap::compiler {
namespace {

class DeadCode {
 public:
  explicit DeadCode(Program& program)
      : program_(program),
        flow_(program),
        value_is_needed_(program.values.size()),
        call_is_needed_(program.calls.size(), 0) {
    for (std::uint32_t v = 0; v < program.values.size(); ++v) {
      value_is_needed_[v] = flow_.outlives({v}) ? 1 : 0;
    }
  }

  void run() {
    for (std::size_t i = program_.calls.size(); i-- > 0;) {
      visit(i);
    }
    close_chains();
    memory::Vector<std::uint32_t> order;
    order.reserve(program_.calls.size());
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      if (call_is_needed_[i] != 0) {
        order.push_back(i);
      }
    }
    if (order.size() != program_.calls.size()) {
      keep_calls(program_, order);
    }
    tidy(program_);
  }

 private:
  // Whether the old elements matter to what the call makes of them.
  bool reads_old(const Call& call, const Operand& out) const {
    return call.reads_outputs ||
           !is_whole(out.layout, program_[out.value].spec->size);
  }

  void visit(std::size_t i) {
    const Call& call = program_.calls[i];
    // Another rank may need what this one gives to an exchange.
    bool is_needed = has_effect(call) || call.kind == CallKind::kExchange;
    for (const Operand& out : program_.out(call)) {
      is_needed = is_needed || value_is_needed_[out.value.value] != 0 ||
                  flow_.exists_before(out.value);
    }
    if (!is_needed) {
      return;
    }
    call_is_needed_[i] = 1;
    for (const Operand& in : program_.in(call)) {
      value_is_needed_[in.value.value] = 1;
    }
    for (const Operand& out : program_.out(call)) {
      const ValueId over = program_[out.value].over;
      if (over != kNoValue && reads_old(call, out)) {
        value_is_needed_[over.value] = 1;
      }
    }
  }

  // A value that took over a removed one takes over what that one had taken
  // over, or nothing.
  void close_chains() {
    for (std::size_t i = 0; i < program_.calls.size(); ++i) {
      for (const Operand& out : program_.out(program_.calls[i])) {
        ValueId& over = program_[out.value].over;
        if (over == kNoValue) {
          continue;
        }
        const Value& old = program_[over];
        if (old.origin == Origin::kCall && call_is_needed_[old.index] == 0) {
          over = old.over;  // closed before, since its call came before
        }
      }
    }
  }

  Program& program_;
  Dataflow flow_;
  memory::Vector<std::uint8_t> value_is_needed_;
  memory::Vector<std::uint8_t> call_is_needed_;
};

}  // namespace

void remove_dead_code(Program& program) {
  DeadCode(program).run();
}

}  // namespace neap::compiler
