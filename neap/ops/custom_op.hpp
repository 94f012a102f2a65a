// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CustomOp: an operation of the user's own, equal to those of the library. A
// call of it is handled as theirs: it is recorded, differentiated in both modes
// and to any order that its rules allow, checked by OpTable, and its memory is
// counted.
//
// An op is constructed from a rule, a struct. Unmarked members may be left out:
//
//   struct SoftClip {
//     static constexpr std::string_view name = "soft_clip";   // needed
//     static constexpr std::string_view formula = "y = x / (a + |x|)";
//     static constexpr int inputs = 1;       // checked; else any number
//     static constexpr int outputs = 1;
//     static constexpr bool dense = true;    // forward is given rows without
//                                            // gaps (copies where need be)
//     static constexpr CustomOp::Facts facts{...};   // what vjp reads, ...
//     double a;                              // state
//
//     // needed; refuses a call by throwing a typed error
//     void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const;
//     // needed; writes all outputs
//     void forward(const CustomOp::Forward& c) const noexcept;
//     Bytes scratch(const CustomOp::Forward& c) const noexcept;
//     // derivatives, written in other ops
//     void vjp(CustomOp::Vjp& c) const;
//     void jvp(CustomOp::Jvp& c) const;
//     CustomOp::Cost cost(CustomOp::Specs in, CustomOp::Specs out) const;
//   };
//   const CustomOp soft_clip(SoftClip{.a = 2.0});
//   Tensor y = soft_clip(x);
//
// Members that are the same for every op of the rule are static; the others
// (tables, tensors, numbers) are its state. The state's memory is counted by
// the domain under the owner and the line that created the op, and is freed
// with the last of the op's handles and of the recorded calls that still need
// it.
//
// forward cannot throw: shape refuses what specs show, and a function around
// the op what values show.
//
// Thread rule: as Tensor's; forward may be run by several threads at once.
#pragma once

#include <initializer_list>
#include <span>
#include <string_view>

#include "neap/graph/recorder.hpp"
#include "neap/graph/rules.hpp"
#include "neap/ops/custom_rule.hpp"

namespace neap {

/// A handle to an op; copies share the rule. One that was moved from has none:
/// every use of it THROWS UseAfterRelease.
class NEAP_API CustomOp {
 public:
  using Spec = tensor::Spec;
  using Specs = std::span<const Spec>;
  using OutSpecs = std::span<Spec>;
  using Facts = graph::Facts;  // default: nothing read, no donation
  using Cost = graph::Cost;
  using Effect = graph::Effect;
  using Forward = ops::CustomForward;
  using Vjp = ops::CustomVjp;
  using Jvp = ops::CustomJvp;

  /// THROWS: ValueError for a rule that makes no sense (no name, more outputs
  /// than graph::kMaxOutputs); OutOfMemory.
  template <ops::CustomRule Rule>
  explicit CustomOp(Rule rule, CallSite site = CallSite::here())
      : state_(ops::CustomHolder<Rule>::make(std::move(rule), site)) {}

  /// Calls an op of one result. THROWS: what the rule's shape throws;
  /// ValueError for another number of operands than `inputs` or an op of
  /// several results; as any op (DTypeError, DeviceError, OutOfMemory).
  Tensor operator()(const Operand& a) const { return one({a}); }
  Tensor operator()(const Operand& a, const Operand& b) const {
    return one({a, b});
  }
  Tensor operator()(const Operand& a, const Operand& b,
                    const Operand& c) const {
    return one({a, b, c});
  }
  Tensor operator()(const Operand& a, const Operand& b, const Operand& c,
                    const Operand& d) const {
    return one({a, b, c, d});
  }
  /// An op of one result and any number of operands, none included.
  Tensor call(std::span<const Operand> operands,
              CallSite site = CallSite::here()) const;
  /// All results of an op. THROWS: as above.
  memory::Vector<Tensor> all(std::span<const Operand> operands,
                             CallSite site = CallSite::here()) const;
  memory::Vector<Tensor> all(std::initializer_list<Operand> operands,
                             CallSite site = CallSite::here()) const {
    return all(std::span(operands.begin(), operands.size()), site);
  }

  /// The descriptor, for OpTable::op and for tools. LIFETIME: this handle's.
  const graph::Op& op() const;

 private:
  Tensor one(std::initializer_list<Operand> operands) const {
    return call(std::span(operands.begin(), operands.size()),
                operands.begin()->site());
  }
  void run(std::span<const Operand> operands, const CallSite& site,
           std::span<Tensor> results) const;
  const ops::CustomState& state() const;

  base::Ref<ops::CustomState> state_;
};

}  // namespace neap
