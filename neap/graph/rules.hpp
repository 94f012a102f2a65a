// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The contexts of derivative rules. A rule is a function over tensors, written
// in other ops; these two classes pass it its operands and take its results.
#pragma once

#include <cstring>
#include <span>

#include "neap/graph/node.hpp"

namespace neap::graph {

/// The context of the reverse rule of one recorded call: cotangents of the
/// outputs in, cotangents of the inputs out.
class NEAP_API VjpContext {
 public:
  /// `cotangents` (one an output, undefined: zero), `asked` (one an output: its
  /// cotangent is wanted itself and stays), `wanted` and `results` (one an
  /// input) outlive the context, and so do `sums`: for each input that is
  /// wanted, the sum of the cotangents that it was given before. With
  /// `keep_graph` the residuals carry their nodes on the tape, so that the
  /// rule's own ops are recorded through them.
  VjpContext(const Node& node, std::span<Tensor> cotangents,
             std::span<const std::uint8_t> asked,
             std::span<const std::uint8_t> wanted, std::span<Tensor> results,
             std::span<Tensor* const> sums, bool keep_graph) noexcept
      : node_(node),
        cotangents_(cotangents),
        asked_(asked),
        wanted_(wanted),
        results_(results),
        sums_(sums),
        keep_graph_(keep_graph) {}

  const Op& op() const noexcept { return node_.op(); }
  /// Cotangent of output k; undefined where nothing flowed into it.
  const Tensor& cotangent(int k = 0) const noexcept {
    return cotangents_[static_cast<std::size_t>(k)];
  }
  /// Like cotangent(), for its last use in a rule: an op that is given it may
  /// take over its memory. cotangent(k) is undefined afterwards.
  Tensor take_cotangent(int k = 0) noexcept;
  /// The sum that other calls have given input i so far, undefined where none
  /// has: for a rule whose cotangent is zero but for a part. The rule adds its
  /// part to it and sets the sum, at a cost that is the part's, where all the
  /// input's zeros would otherwise be created and added. REQUIRES: needs(i).
  Tensor take_sum(int i) noexcept {
    return std::move(*sums_[static_cast<std::size_t>(i)]);
  }
  int inputs() const noexcept { return static_cast<int>(wanted_.size()); }
  /// Whether input i's cotangent is wanted.
  bool needs(int i) const noexcept {
    return wanted_[static_cast<std::size_t>(i)] != 0;
  }
  /// Kept operands. REQUIRES: the op's facts declare the read; THROWS:
  /// InternalError otherwise.
  Tensor input(int i) const;
  Tensor output(int k = 0) const;
  /// REQUIRES: declared in Reads::shapes or Reads::inputs.
  Shape input_shape(int i) const noexcept;

  template <class T>
  T attrs() const noexcept {
    T value;  // the tape stores attributes unaligned
    std::memcpy(&value, node_.attrs().data(), sizeof(T));
    return value;
  }
  /// Sets the cotangent of input i (at most once; undefined: zero).
  void set(int i, Tensor cotangent) noexcept {
    results_[static_cast<std::size_t>(i)] = std::move(cotangent);
  }

 private:
  const Node& node_;
  std::span<Tensor> cotangents_;
  std::span<const std::uint8_t> asked_;
  std::span<const std::uint8_t> wanted_;
  std::span<Tensor> results_;
  std::span<Tensor* const> sums_;
  Shape taken_shape_;  // shape of output 0, once its cotangent was taken
  mutable std::uint16_t shape_cursor_ = 0;
  bool keep_graph_;
};

/// The context of the forward rule of one call: tangents of the inputs in,
/// tangents of the outputs out.
class NEAP_API JvpContext {
 public:
  /// `call` with the inputs that the rule may read; the others may be
  /// overwritten by now, taken over by an output. `tangents` has one an input.
  JvpContext(const OpCall& call, std::span<const Tensor> outputs,
             std::span<const Tensor> tangents,
             std::span<Tensor> results) noexcept
      : call_(call),
        outputs_(outputs),
        tangents_(tangents),
        results_(results) {}

  const Op& op() const noexcept { return call_.op; }
  int inputs() const noexcept { return static_cast<int>(call_.inputs.size()); }
  /// Tangent of input i; undefined where it is zero.
  const Tensor& tangent(int i = 0) const noexcept {
    return tangents_[static_cast<std::size_t>(i)];
  }
  /// REQUIRES: the op's facts declare that the vjp reads input i for the
  /// cotangent of an input that has a tangent here; THROWS: InternalError
  /// otherwise.
  const Tensor& input(int i = 0) const;
  /// Shape, dtype and space of any input.
  Spec input_spec(int i) const;
  const Tensor& output(int k = 0) const noexcept {
    return outputs_[static_cast<std::size_t>(k)];
  }
  template <class T>
  const T& attrs() const noexcept {
    return call_.attrs.as<T>();
  }
  void set(int k, Tensor tangent) noexcept {
    results_[static_cast<std::size_t>(k)] = std::move(tangent);
  }

  /// The inputs that a rule given these tangents may read, as a mask (inputs
  /// beyond 31 share the last bit).
  static std::uint32_t reads(const Op& op,
                             std::span<const Tensor> tangents) noexcept;

 private:
  const OpCall& call_;
  std::span<const Tensor> outputs_;
  std::span<const Tensor> tangents_;
  std::span<Tensor> results_;
};

}  // namespace neap::graph
