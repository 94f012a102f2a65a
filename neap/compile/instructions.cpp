// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/instructions.hpp"

#include <utility>

#include "neap/compile/spill_queue.hpp"
#include "neap/program/pool_bytes.hpp"
#include "neap/threads/executor.hpp"

namespace neap::compiler {
namespace {

bool is_there_before(const Program& program, std::span<const Operand> values) {
  for (const Operand& operand : values) {
    if (program[operand.value].origin == Origin::kCall) {
      return false;
    }
  }
  return true;
}

}  // namespace

class Instructions::Builder {
 public:
  Builder(Instructions& out, const Plan& plan) : out_(out), plan_(plan) {
    std::size_t views = 0;
    for (const Call& call : out.program_.calls) {
      views += call.inputs.count + call.outputs.count;
    }
    out.views_.reserve(views);  // they are pointed to
    out.all_.reserve(out.program_.calls.size());
    const std::size_t bases = out.own(std::size_t{plan.lifetimes.own_blocks});
    out.bases_.assign(bases, nullptr);
    out.first_patch_.assign(bases + 1, 0);
  }

  void run() {
    const Program& program = out_.program_;
    for (const bool is_front : {true, false}) {
      for (std::uint32_t i = 0; i < program.calls.size(); ++i) {
        const Call& call = program.calls[i];
        if (is_front == (call.kind == CallKind::kCheck &&
                         is_there_before(program, program.in(call)))) {
          add(i);
        }
      }
      if (is_front) {
        out_.front_ = out_.all_.size();
      }
    }
    sort_patches();
  }

 private:
  struct Placed {
    std::size_t base;
    Patch patch;
  };

  void add(std::uint32_t i) {
    Call& call = out_.program_.calls[i];
    const kernels::Kernel* kernel = out_.bindings_[i].kernel;
    Instruction instruction;
    instruction.call = i;
    if (kernel != nullptr && call.space == memory::kHost) {
      instruction.run = kernel->run;
    }
    instruction.args.in = add_views(out_.program_.in(call));
    instruction.args.out = add_views(out_.program_.out(call));
    const auto& fused = out_.bindings_[i].fused;
    instruction.args.attrs =
        fused == nullptr ? out_.program_.attrs_of(call) : fused.get();
    instruction.args.executor = &threads::serial_executor();
    const auto index = static_cast<std::uint32_t>(out_.all_.size());
    out_.all_.push_back(instruction);
    const BufferId scratch = plan_.lifetimes.scratch_of[i];
    if (scratch != kNoBuffer) {
      place(scratch, {.index = index, .is_scratch = true, .offset = 0});
    }
  }

  std::span<const tensor::Strided> add_views(
      std::span<const Operand> operands) {
    const std::size_t first = out_.views_.size();
    for (const Operand& operand : operands) {
      const auto index = static_cast<std::uint32_t>(out_.views_.size());
      out_.views_.push_back(view_of(operand, nullptr));
      if (out_.program_[operand.value].size != 0) {
        const tensor::Layout& layout = operand.layout;
        place(plan_.lifetimes.buffer_of[operand.value.value],
              {.index = index,
               .is_scratch = false,
               .offset = layout.offset * size_of(layout.dtype)});
      }
    }
    return std::span(out_.views_).subspan(first);
  }

  void place(BufferId id, Patch patch) {
    const Buffer& buffer = plan_.lifetimes.buffers[id.value];
    std::size_t base = out_.arena(buffer.space);
    switch (buffer.where) {
      case Where::kArena:
        patch.offset += plan_.address_of(id);
        if (plan_.is_in_views(id)) {
          base = out_.views();
          patch.offset -= plan_.space().bytes;
        }
        break;
      case Where::kArgument:
        base = out_.argument(buffer.index);
        break;
      case Where::kExternal:
        base = out_.external(buffer.index);
        break;
      case Where::kOwn:
        base = out_.own(buffer.index);
        break;
    }
    placed_.push_back({base, patch});
    ++out_.first_patch_[base + 1];
  }

  // By base, the order within one kept.
  void sort_patches() {
    for (std::size_t b = 1; b < out_.first_patch_.size(); ++b) {
      out_.first_patch_[b] += out_.first_patch_[b - 1];
    }
    memory::Vector<std::uint32_t> next(out_.first_patch_);
    out_.patches_.resize(placed_.size());
    for (const Placed& placed : placed_) {
      out_.patches_[next[placed.base]++] = placed.patch;
    }
  }

  Instructions& out_;
  const Plan& plan_;
  memory::Vector<Placed> placed_;
};

Instructions::Instructions(Program& program, const Plan& plan,
                           memory::Vector<Binding> bindings)
    : program_(program),
      plan_(plan),
      bindings_(std::move(bindings)),
      arguments_(program.arguments.size()),
      externals_(program.externals.size()) {
  Builder(*this, plan).run();
}

void Instructions::move_base(std::size_t i, std::byte* address) noexcept {
  bases_[i] = address;
  for (std::uint32_t p = first_patch_[i]; p < first_patch_[i + 1]; ++p) {
    const Patch& patch = patches_[p];
    std::byte* place = address != nullptr ? address + patch.offset : nullptr;
    if (patch.is_scratch) {
      Instruction& instruction = all_[patch.index];
      instruction.args.scratch = {
          place,
          static_cast<std::size_t>(program_.calls[instruction.call].scratch)};
    } else {
      views_[patch.index].data = place;
    }
  }
}

void Instructions::set_executor(threads::Executor& executor) noexcept {
  if (all_.empty() || all_[0].args.executor == &executor) {
    return;
  }
  for (Instruction& instruction : all_) {
    instruction.args.executor = &executor;
  }
}

void Instructions::check_front() const {
  for (const Instruction& instruction : std::span(all_).first(front_)) {
    run_special(instruction);
  }
}

void Instructions::run(std::size_t& at) const {
  const std::span<const Instruction> instructions = body();
  for (at = 0; at < instructions.size(); ++at) {
    run_one(instructions[at]);
  }
}

void Instructions::run_special(const Instruction& instruction) const {
  const Call& call = program_.calls[instruction.call];
  const Binding& binding = bindings_[instruction.call];
  if (call.kind == CallKind::kCheck) {
    call.look(call.name.data(), instruction.args.in,
              {instruction.args.attrs, call.attrs_size});
  } else if (is_move(call)) {
    move(instruction, call);
  } else if (call.kind == CallKind::kTransfer) {
    const tensor::Strided& from = instruction.args.in[0];
    const tensor::Strided& to = instruction.args.out[0];
    const ValueId target = program_.out(call)[0].value;
    if (program_[target].spec->space == memory::kHost) {
      binding.runtime->copy_to_host(from, to);
    } else {
      binding.runtime->copy_from_host(from, to);
    }
  } else {
    binding.runtime->launch(*binding.kernel, instruction.args);
  }
}

// A value's buffer has whole pages of the file, but for guard bands.
void Instructions::move(const Instruction& instruction,
                        const Call& call) const {
  const SpillSlot& slot = program_.slots[call.slot];
  const Bytes size = plan_.debug.guards
                         ? program_[program_.moved(call).value].size
                         : slot.size;
  const auto bytes_of = [&](std::span<const tensor::Strided> views) {
    return std::span(views[0].data, static_cast<std::size_t>(size));
  };
  switch (call.kind) {
    case CallKind::kSpill:
      spill_->write(call.slot, slot.offset, bytes_of(instruction.args.in));
      break;
    case CallKind::kFetch:
      spill_->fetch(call.slot, slot.offset, bytes_of(instruction.args.out));
      break;
    default:
      spill_->await(call.slot);
  }
}

Bytes Instructions::bytes() const noexcept {
  return pool_bytes(bindings_, all_, views_, bases_, patches_, first_patch_);
}

}  // namespace neap::compiler
