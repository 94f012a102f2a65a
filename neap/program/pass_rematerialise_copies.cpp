// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>

#include "neap/ops/shape/views.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/order.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

constexpr int kRounds = 8;  // peaks that are looked at, one after another

// A round: what lies idle at the program's peak as it is now.
class Round {
 public:
  explicit Round(Program& program)
      : program_(program), flow_(program), memories_(program, flow_) {
    Meter meter(program, flow_, memories_);
    Order own(program.calls.size());
    std::iota(own.begin(), own.end(), 0U);
    peak_ = meter.measure(own);
  }

  Bytes bytes() const noexcept { return peak_.bytes; }

  /// False: nothing lies idle there.
  bool run() {
    for (std::uint32_t i = 0; i < peak_.place; ++i) {
      if (is_copy_of_what_stays(program_.calls[i])) {
        find_gap(i);
      }
    }
    if (again_.empty()) {
      return false;
    }
    insert();
    return true;
  }

 private:
  struct Again {
    std::uint32_t call;    // the copy
    std::uint32_t before;  // the reader that it is made once more for
  };

  // A source that no call writes may be read at any instant.
  bool is_copy_of_what_stays(const Call& call) const {
    if (call.kind != CallKind::kKernel || call.op != &ops::kCopy) {
      return false;
    }
    const ValueId from = program_.in(call)[0].value;
    const ValueId to = program_.out(call)[0].value;
    return program_[from].origin != Origin::kCall &&
           flow_.heir(from) == kNoValue && program_[to].over == kNoValue &&
           flow_.heir(to) == kNoValue && !flow_.outlives(to);
  }

  // Idle at the peak: readers before it and after it, or only after it.
  void find_gap(std::uint32_t i) {
    const auto readers =
        flow_.readers(program_.out(program_.calls[i])[0].value);
    const auto next = std::ranges::lower_bound(readers, peak_.place);
    const bool is_idle = next != readers.begin() && next != readers.end() &&
                         *next != peak_.place;
    if (is_idle) {
      again_.push_back({i, *next});
    }
  }

  void insert() {
    std::ranges::sort(again_, {}, [](const Again& again) {
      return std::pair(again.before, again.call);
    });
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    Order order;
    order.reserve(count + again_.size());
    auto next = again_.begin();
    for (std::uint32_t i = 0; i < count; ++i) {
      for (; next != again_.end() && next->before == i; ++next) {
        order.push_back(add(*next));
      }
      order.push_back(i);
    }
    keep_calls(program_, order);
  }

  // The new copy's place in Program::calls; later readers read it.
  std::uint32_t add(const Again& again) {
    Call call = program_.calls[again.call];
    const Operand from = program_.in(call)[0];
    Operand to = program_.out(call)[0];
    const ValueId old = to.value;
    const auto place = static_cast<std::uint32_t>(program_.calls.size());
    Value value = program_[old];
    value.index = place;
    to.value = program_.add(value);
    call.inputs = program_.add(std::span(&from, 1));
    call.outputs = program_.add(std::span(&to, 1));
    program_.add(call);
    for (const std::uint32_t reader : flow_.readers(old)) {
      if (reader >= again.before) {
        rename(program_.calls[reader], old, to.value);
      }
    }
    return place;
  }

  void rename(const Call& call, ValueId old, ValueId now) {
    const auto rename_in = [&](const Range& range) {
      for (Operand& operand :
           std::span(program_.operands).subspan(range.first, range.count)) {
        operand.value = operand.value == old ? now : operand.value;
      }
    };
    rename_in(call.inputs);
    for (const Call& member : program_.members_of(call)) {
      rename_in(member.inputs);
    }
  }

  Program& program_;
  const Dataflow flow_;
  const Memories memories_;
  Peak peak_;
  memory::Vector<Again> again_;
};

}  // namespace

void rematerialise_copies(Program& program) {
  bind(program, tensor::executor());  // scratch takes part in the peak
  for (int round = 0; round < kRounds; ++round) {
    if (!Round(program).run()) {
      break;
    }
  }
}

}  // namespace neap::compiler
