// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/fused_call.hpp"

#include <algorithm>
#include <array>

#include "neap/base/assert.hpp"
#include "neap/base/raise.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/program/dataflow.hpp"

namespace neap::compiler {
namespace {

using kernels::FusedOperand;
using tensor::Strided;

constexpr std::size_t kMaxSmall = kernels::kMaxOperands;

Strided shape_of(const Operand& operand) noexcept {
  return {nullptr, operand.layout->dtype, operand.layout->shape,
          operand.layout->strides};
}

bool is_bits(const Call& member, const Operand& operand) noexcept {
  return operand.layout->dtype == DType::kU8 &&
         kernels::has_packed_bits(*member.kernels);
}

// Views of a call's operands, without data.
struct Shapes {
  Shapes(const Program& program, const Call& call)
      : inputs(call.inputs.count), outputs(call.outputs.count) {
    std::size_t k = 0;
    for (const Operand& operand : program.in(call)) {
      views[k++] = shape_of(operand);
    }
    for (const Operand& operand : program.out(call)) {
      views[k++] = shape_of(operand);
    }
  }
  kernels::Args args(const void* attrs) const noexcept {
    const std::span<const Strided> all(views);
    return {
        all.first(inputs), all.subspan(inputs, outputs), attrs, {}, nullptr};
  }

  std::array<Strided, kMaxSmall> views;
  std::size_t inputs;
  std::size_t outputs;
};

kernels::PieceFunction piece_of(const Program& program, const Call& call) {
  const Shapes shapes(program, call);
  const kernels::Args args = shapes.args(program.attrs_of(call));
  const DType key = args.in.empty() ? args.out[0].dtype : args.in[0].dtype;
  kernels::isa();  // pins the instruction set
  const kernels::Kernel* kernel =
      kernels::runtime(call.space).find(*call.kernels, key, args);
  return kernel != nullptr && kernel->piece != nullptr ? kernel->piece(args)
                                                       : nullptr;
}

// Maps each operand of the members to an operand of the fused call or to an
// inner value.
class Places {
 public:
  Places(const Program& program, std::span<const Call> members,
         std::span<const Operand> in, std::span<const Operand> out)
      : program_(program), first_(members[0]), in_(in), out_(out) {
    for (const Call& member : members) {
      for (const Operand& made : program.out(member)) {
        if (!is_output(made.value) &&
            std::ranges::find(inner_, made.value) == inner_.end()) {
          inner_.push_back(made.value);
        }
      }
    }
  }

  bool fits() const noexcept {
    return in_.size() + out_.size() <= kernels::kMaxFusedViews &&
           inner_.size() <= kernels::kMaxFusedInner;
  }

  FusedOperand of(const Call& member, const Operand& operand) const {
    FusedOperand place;
    place.dtype = operand.layout->dtype;
    place.is_bits = is_bits(member, operand);
    const auto inner = std::ranges::find(inner_, operand.value);
    const auto made = std::ranges::find(out_, operand.value, &Operand::value);
    if (made != out_.end()) {
      place.place = FusedOperand::Place::kOut;
      place.index = static_cast<std::uint8_t>(made - out_.begin());
    } else if (inner != inner_.end()) {
      place.place = FusedOperand::Place::kInner;
      place.index = static_cast<std::uint8_t>(inner - inner_.begin());
    } else {
      const SeenOperand seen = seen_outside(program_, first_, member, operand);
      [[maybe_unused]] const auto at = std::ranges::find_if(
          in_, [&](const Operand& input) { return input == seen; });
      NEAP_ASSERT(at != in_.end(), "an input of a fused call is not listed");
      place.index = static_cast<std::uint8_t>(at - in_.begin());
    }
    return place;
  }

 private:
  bool is_output(ValueId id) const {
    return std::ranges::find(out_, id, &Operand::value) != out_.end();
  }

  const Program& program_;
  const Call& first_;
  std::span<const Operand> in_;
  std::span<const Operand> out_;
  memory::Vector<ValueId> inner_;
};

}  // namespace

std::int64_t fused_count(const Program& program, const Call& member) {
  return program.out(member)[0].layout->shape.element_count();
}

bool follows_index(const Program& program, const Call& reader,
                   const Operand& operand) {
  return is_whole(operand.layout, program[operand.value].size) &&
         (is_bits(reader, operand) || operand.layout->shape.element_count() ==
                                          fused_count(program, reader));
}

bool may_fuse(const Program& program, const Call& call) {
  if (call.kind != CallKind::kKernel || call.op == nullptr ||
      call.listener != nullptr || call.reads_outputs ||
      call.op->facts.effect == graph::Effect::kStateful ||
      call.outputs.count == 0 ||
      call.inputs.count + call.outputs.count > kMaxSmall) {
    return false;
  }
  const std::int64_t count = fused_count(program, call);
  const auto is_fresh = [&](const Operand& made) {
    return program[made.value].over == kNoValue &&
           follows_index(program, call, made);
  };
  const auto is_seen = [&](const Operand& read) {
    return !is_bits(call, read) || follows_index(program, call, read);
  };
  return count > 0 && std::ranges::all_of(program.out(call), is_fresh) &&
         std::ranges::all_of(program.in(call), is_seen) &&
         piece_of(program, call) != nullptr;
}

SeenOperand seen_outside(const Program& program, const Call& first,
                         const Call& member, const Operand& operand) {
  SeenOperand seen{operand.value, operand.layout};
  if (is_bits(member, operand)) {
    return seen;
  }
  const tensor::Layout& made = program.out(member)[0].layout;
  seen.layout.shape = made.shape;
  seen.layout.strides =
      kernels::broadcast_strides(shape_of(operand), made.shape);
  if (tensor::is_contiguous(seen.layout)) {
    seen.layout.shape = program.out(first)[0].layout->shape;
    seen.layout.strides = base::row_major_strides(seen.layout.shape);
  }
  return seen;
}

bool lay_out(const Program& program, std::span<const Call> members,
             std::span<const Operand> in, std::span<const Operand> out,
             kernels::FusedCall& fused) {
  const Places places(program, members, in, out);
  if (!places.fits()) {
    return false;
  }
  for (const Call& member : members) {
    std::array<FusedOperand, kMaxSmall> operands;
    std::size_t k = 0;
    for (const Operand& operand : program.in(member)) {
      operands[k++] = places.of(member, operand);
    }
    const std::size_t inputs = k;
    for (const Operand& operand : program.out(member)) {
      operands[k++] = places.of(member, operand);
    }
    const std::span<const FusedOperand> all(operands);
    if (!fused.add(piece_of(program, member), program.attrs_of(member),
                   all.first(inputs), all.subspan(inputs, k - inputs))) {
      return false;
    }
  }
  std::array<Strided, kernels::kMaxFusedViews> views;
  std::size_t k = 0;
  for (const std::span<const Operand> operands : {in, out}) {
    for (const Operand& operand : operands) {
      views[k++] = shape_of(operand);
    }
  }
  const std::span<const Strided> all(views);
  return fused.prepare(all.first(in.size()),
                       all.subspan(in.size(), out.size()));
}

kernels::FusedCall fused_call(const Program& program, const Call& call) {
  const std::span<const Call> members = program.members_of(call);
  kernels::FusedCall fused(fused_count(program, members[0]));
  if (!lay_out(program, members, program.in(call), program.out(call), fused)) {
    base::raise<InternalError>("fused: {} calls do not fit into one",
                               members.size());
  }
  return fused;
}

std::uint32_t fused_takeovers(const Program& program, const Call& call,
                              std::size_t k) {
  const std::span<const Operand> in = program.in(call);
  const Operand& made = program.out(call)[k];
  std::uint32_t mask = 0;
  for (std::size_t i = 0; i < in.size(); ++i) {
    mask |= in[i].layout == made.layout ? 1U << i : 0;
  }
  const auto refuse = [&](ValueId id) {
    for (std::size_t i = 0; i < in.size(); ++i) {
      mask &= in[i].value == id ? ~(1U << i) : ~0U;
    }
  };
  bool is_made = false;
  for (const Call& member : program.members_of(call)) {
    const bool makes_it = std::ranges::count(program.out(member), made.value,
                                             &Operand::value) != 0;
    const std::span<const Operand> reads = program.in(member);
    for (std::size_t r = 0; r < reads.size(); ++r) {
      const bool may_be_over = (member.op->facts.donates >> r & 1U) != 0;
      if (is_made || (makes_it && !may_be_over)) {
        refuse(reads[r].value);
      }
    }
    is_made = is_made || makes_it;
  }
  return mask;
}

}  // namespace neap::compiler
