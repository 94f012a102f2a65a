// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <numeric>
#include <unordered_map>

#include "neap/program/bind.hpp"
#include "neap/program/order.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/program/takeover.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

// FNV-1a over words.
class Hash {
 public:
  void add(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x100000001b3U;
    value_ ^= value_ >> 29U;
  }
  void add(const Shape& shape) noexcept {
    for (const std::int64_t extent : shape) {
      add(static_cast<std::uint64_t>(extent));
    }
  }
  void add(const void* data, std::size_t size) noexcept {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < size; ++i) {
      add(std::uint64_t{bytes[i]});
    }
  }
  std::uint64_t value() const noexcept { return value_; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325U;
};

// Headroom for keeping values longer, so that nowhere more is needed than at
// the peak of the program as it came. Memory that the merged calls no longer
// need is not subtracted, so that this is on the safe side.
class Room {
 public:
  Room(const Program& program, const Dataflow& flow)
      : program_(program),
        flow_(flow),
        memories_(program, flow),
        needed_(program.calls.size()),
        ends_(program.values.size(), 0) {
    memory::Vector<std::uint32_t> order(program.calls.size());
    std::iota(order.begin(), order.end(), 0U);
    peak_ = Meter(program, flow, memories_).measure(order, {}, needed_).bytes;
    for (std::uint32_t v = 0; v < ends_.size(); ++v) {
      const auto readers = flow.readers({v});
      ends_[v] = flow.outlives({v}) ? end()
                 : readers.empty()  ? program.values[v].index
                                    : readers.back();
    }
  }

  /// Keeps what `earlier` makes as long as what `later`, the call `until`,
  /// does. False, and nothing is changed: there is no room for it.
  bool keep(const Call& earlier, const Call& later, std::uint32_t until) {
    std::uint32_t from = until;
    Bytes bytes = 0;
    for (const Operand& out : program_.out(earlier)) {
      const std::uint32_t last = ends_[out.value.value];
      if (last < until) {
        from = std::min(from, last);
        bytes += memories_.sizes[out.value.value];
      }
    }
    // A value that ends at a call is still there as the call runs, unless the
    // call may take it over.
    if (from < until &&
        takeover_mask(program_, flow_, program_.calls[from]) == 0) {
      ++from;
    }
    const auto gap = std::span(needed_).subspan(from, until - from);
    if (std::any_of(gap.begin(), gap.end(),
                    [&](Bytes needed) { return needed + bytes > peak_; })) {
      return false;
    }
    for (Bytes& needed : gap) {
      needed += bytes;
    }
    for (std::uint32_t k = 0; k < later.outputs.count; ++k) {
      std::uint32_t& last = ends_[program_.out(earlier)[k].value.value];
      last = std::max(last, ends_[program_.out(later)[k].value.value]);
    }
    return true;
  }

 private:
  std::uint32_t end() const noexcept {
    return static_cast<std::uint32_t>(program_.calls.size());
  }

  const Program& program_;
  const Dataflow& flow_;
  Memories memories_;
  memory::Vector<Bytes> needed_;        // while a call runs
  memory::Vector<std::uint32_t> ends_;  // the last call that reads a value
  Bytes peak_ = 0;
};

class Common {
 public:
  explicit Common(Program& program)
      : program_(program),
        flow_(program),
        room_(program, flow_),
        same_as_(program.values.size()),
        stands_for_outliving_(program.values.size(), 0) {
    for (std::uint32_t v = 0; v < same_as_.size(); ++v) {
      same_as_[v] = {v};
    }
  }

  void run() {
    memory::Vector<std::uint32_t> order;
    order.reserve(program_.calls.size());
    for (std::uint32_t i = 0; i < program_.calls.size(); ++i) {
      const Call& call = program_.calls[i];
      for (Operand& in : inputs(call)) {
        in.value = same_as_[in.value.value];
      }
      if (!may_merge(call) || !merge(i)) {
        order.push_back(i);
      }
    }
    if (order.size() == program_.calls.size()) {
      return;
    }
    for (Result& result : program_.results) {
      result.operand.value = same_as_[result.operand.value.value];
    }
    for (LeafGrad& grad : program_.grads) {
      if (grad.last.value != kNoValue) {
        grad.last.value = same_as_[grad.last.value.value];
      }
    }
    keep_calls(program_, order);
    tidy(program_);
  }

 private:
  std::span<Operand> inputs(const Call& call) {
    return std::span(program_.operands)
        .subspan(call.inputs.first, call.inputs.count);
  }

  // Calls without inputs (fills) cost less to make again than to keep.
  bool may_merge(const Call& call) const {
    const bool is_plain =
        (call.kind == CallKind::kKernel || call.kind == CallKind::kTransfer) &&
        call.op != nullptr && !has_effect(call) && call.listener == nullptr &&
        call.op->copy_attrs == nullptr && call.op->drop_attrs == nullptr &&
        call.op->count == nullptr && call.inputs.count != 0;
    if (!is_plain) {
      return false;
    }
    for (const Operand& out : program_.out(call)) {
      if (program_[out.value].over != kNoValue ||
          flow_.heir(out.value) != kNoValue) {
        return false;
      }
    }
    return true;
  }

  // True when an earlier call makes the same; it then stands for this one.
  bool merge(std::uint32_t i) {
    const Call& call = program_.calls[i];
    const std::uint64_t hash = hash_of(call);
    const auto [first, last] = seen_.equal_range(hash);
    for (auto it = first; it != last; ++it) {
      const Call& earlier = program_.calls[it->second];
      if (is_same(earlier, call) && may_stand_for(earlier, call) &&
          room_.keep(earlier, call, i)) {
        for (std::uint32_t k = 0; k < call.outputs.count; ++k) {
          same_as_[program_.out(call)[k].value.value] =
              program_.out(earlier)[k].value;
        }
        note_outliving(earlier, call);
        return true;
      }
    }
    seen_.emplace(hash, i);
    return false;
  }

  std::uint64_t hash_of(const Call& call) const {
    Hash hash;
    hash.add(reinterpret_cast<std::uintptr_t>(call.op));
    hash.add(call.segment);
    hash.add(call.space.value);
    hash.add(program_.attrs_of(call), call.attrs_size);
    for (const Operand& in : program_.in(call)) {
      hash.add(in.value.value);
      hash.add(static_cast<std::uint64_t>(in.layout->offset));
      hash.add(in.layout->shape);
      hash.add(in.layout->strides);
    }
    return hash.value();
  }

  bool is_same(const Call& a, const Call& b) const {
    if (a.op != b.op || a.kind != b.kind || a.segment != b.segment ||
        a.space != b.space || a.stream != b.stream ||
        a.attrs_size != b.attrs_size || a.inputs.count != b.inputs.count ||
        a.outputs.count != b.outputs.count ||
        (a.attrs_size != 0 &&
         std::memcmp(program_.attrs_of(a), program_.attrs_of(b),
                     a.attrs_size) != 0)) {
      return false;
    }
    for (std::uint32_t k = 0; k < a.inputs.count; ++k) {
      const Operand& x = program_.in(a)[k];
      const Operand& y = program_.in(b)[k];
      if (x.value != y.value || !(x.layout == y.layout)) {
        return false;
      }
    }
    for (std::uint32_t k = 0; k < a.outputs.count; ++k) {
      const tensor::Spec& x = program_[program_.out(a)[k].value].spec;
      const tensor::Spec& y = program_[program_.out(b)[k].value].spec;
      if (x != y) {
        return false;
      }
    }
    return true;
  }

  // Two results stay two: whoever gets them may write into one.
  bool may_stand_for(const Call& earlier, const Call& later) const {
    for (std::uint32_t k = 0; k < later.outputs.count; ++k) {
      if (flow_.outlives(program_.out(later)[k].value) &&
          outlives(program_.out(earlier)[k].value)) {
        return false;
      }
    }
    return true;
  }

  // Tells whether a value outlives the program by now: it stands for those that
  // were merged into it.
  bool outlives(ValueId id) const {
    return flow_.outlives(id) || stands_for_outliving_[id.value] != 0;
  }
  void note_outliving(const Call& earlier, const Call& later) {
    for (std::uint32_t k = 0; k < later.outputs.count; ++k) {
      if (flow_.outlives(program_.out(later)[k].value)) {
        stands_for_outliving_[program_.out(earlier)[k].value.value] = 1;
      }
    }
  }

  Program& program_;
  Dataflow flow_;
  Room room_;
  memory::Vector<ValueId> same_as_;
  memory::Vector<std::uint8_t> stands_for_outliving_;
  std::unordered_multimap<
      std::uint64_t, std::uint32_t, std::hash<std::uint64_t>, std::equal_to<>,
      memory::Allocator<std::pair<const std::uint64_t, std::uint32_t>>>
      seen_;
};

}  // namespace

void merge_common(Program& program) {
  bind(program, tensor::executor());  // scratch takes part in the peak
  Common(program).run();
}

}  // namespace neap::compiler
