// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Op: everything about a primitive operation, as one constant descriptor. The
// tape, forward mode, tracing, planning and the tests read it; none of them
// knows any op by name.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "neap/graph/rows.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap {
class Operand;
}

namespace neap::graph {

using tensor::Layout;
using tensor::Spec;

inline constexpr int kMaxOutputs = 4;

class VjpContext;
class JvpContext;

/// An op's attributes: the bytes of one trivially copyable struct. They are
/// copied into tape nodes and programs, and compared as bytes. Whoever keeps
/// them beyond a call does so by Op::keep_attrs and Op::let_go_attrs, since a
/// pointer among them may stand for something that is counted.
class Attrs {
 public:
  Attrs() = default;
  // NOLINTBEGIN(google-explicit-constructor): implicit at call sites
  template <class T>
  requires(std::is_trivially_copyable_v<T> && !std::is_same_v<T, Attrs>)
      Attrs(const T& value)
  noexcept : data_(&value), size_(sizeof(T)) {}
  // NOLINTEND(google-explicit-constructor)
  Attrs(const void* data, std::uint32_t size) noexcept
      : data_(data), size_(size) {}

  template <class T>
  const T& as() const noexcept {
    return *static_cast<const T*>(data_);
  }
  const void* data() const noexcept { return data_; }
  std::uint32_t size() const noexcept { return size_; }

 private:
  const void* data_ = nullptr;
  std::uint32_t size_ = 0;
};

/// The part of a call that a shape rule and a cost see.
struct OpArgs {
  std::string_view name;  // name of the op, for messages
  std::span<const Spec> inputs;
  Attrs attrs;
};

/// The values that the vjp reads for the cotangent of an input. Bit i of a
/// mask stands for input (or output) i.
struct Reads {
  std::uint32_t inputs = 0;
  std::uint32_t outputs = 0;
  std::uint32_t shapes = 0;  // inputs of which the shape alone is needed
};

enum class Effect : std::uint8_t {
  kPure,
  kRandom,    // takes a draw of the generator, kept in its attributes
  kStateful,  // reads or writes what its operands do not show
};

/// Work and traffic of one call.
struct Cost {
  std::int64_t flops = 0;
  Bytes read = 0;
  Bytes written = 0;
};

/// An op's memory facts: data, so that planners and tests can use them.
struct Facts {
  /// [i]: for the cotangent of input i; the last entry serves further inputs.
  std::array<Reads, 4> vjp_reads{};
  /// Inputs whose memory output 0 may take over, element by element.
  std::uint32_t donates = 0;
  Effect effect = Effect::kPure;
  /// The offset of a random op's base::DrawKey in its attributes.
  std::int32_t draw_at = -1;
  /// The offset of a number (std::int64_t) in its attributes: that of the first
  /// of its draws, where the call is a part of a larger one. -1: there is none.
  std::int32_t first_at = -1;
  /// The number of draws of a call, those of its rows one after another;
  /// nullptr: one for each element of output 0.
  std::int64_t (*draws)(const OpArgs& args) = nullptr;
  /// Its kernels take every input for dense: whoever calls it makes them so.
  bool takes_dense = false;
  /// How it treats the rows of a batch; nullptr: it needs all of them at once.
  RowRule rows = nullptr;
  /// nullptr: one flop an output element, every operand moved once.
  Cost (*cost)(const OpArgs& args, std::span<const Spec> outputs) = nullptr;
};

struct Op {
  std::string_view name;
  std::string_view formula;  // states its source where it is not textbook
  int outputs = 1;
  /// Shape rule. THROWS: ShapeError, DTypeError, ValueError naming the op.
  void (*infer)(const OpArgs& args, std::span<Spec> outputs) = nullptr;
  /// Forward: a kernel, or (a view op) a layout on the input's storage.
  const kernels::KernelList* kernel = nullptr;
  Layout (*view)(const Layout& input, const Attrs& attrs) = nullptr;
  /// True: forward copies the elements of input 0 into the memory space that
  /// the shape rule names; one of the two is the host's.
  bool transfer = false;
  /// Derivative rules, written in other ops; nullptr: not differentiable.
  void (*vjp)(VjpContext& context) = nullptr;
  void (*jvp)(JvpContext& context) = nullptr;
  /// The local derivative, in place of both rules, for elementwise ops y =
  /// f(x): dx = slope(dy, v), where v is x or y ...
  Tensor (*slope)(const Operand& dy, const Operand& v) = nullptr;
  /// ... and for y = g s(v), the derivative of such an op: ds / dv.
  Tensor (*curvature)(const Operand& v) = nullptr;
  Facts facts{};

  // --- for ops that are created at run time, or whose attributes own something
  // ---

  /// `by` more refer to this descriptor; with the last one it is freed.
  /// nullptr: a constant of the program.
  void (*count)(const Op& op, int by) noexcept = nullptr;
  /// Called for each copy of the attributes that is kept ...
  void (*copy_attrs)(void* to, const void* from) noexcept = nullptr;
  /// ... and once at its end. Both nullptr: plain bytes.
  void (*drop_attrs)(void* attrs) noexcept = nullptr;

  void acquire() const noexcept {
    if (count != nullptr) {
      count(*this, 1);
    }
  }
  void release() const noexcept {
    if (count != nullptr) {
      count(*this, -1);
    }
  }
  /// Copies attributes to `to`, which is aligned as a pointer.
  void keep_attrs(void* to, const Attrs& from) const noexcept {
    if (copy_attrs != nullptr) {
      copy_attrs(to, from.data());
    } else if (from.size() != 0) {
      std::memcpy(to, from.data(), from.size());
    }
  }
  void let_go_attrs(void* attrs) const noexcept {
    if (drop_attrs != nullptr) {
      drop_attrs(attrs);
    }
  }
};

/// Cost of a call, from the facts or the default.
NEAP_API Cost cost_of(const Op& op, const OpArgs& args,
                      std::span<const Spec> outputs);

}  // namespace neap::graph
