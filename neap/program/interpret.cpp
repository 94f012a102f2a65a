// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/interpret.hpp"

#include <algorithm>
#include <cstring>

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {

using base::raise;
using tensor::Storage;
using tensor::Strided;

namespace {

void transfer(const Program& program, const Call& call, const Strided& from,
              const Strided& to) {
  const memory::SpaceId source = program[program.in(call)[0].value].spec->space;
  const memory::SpaceId target =
      program[program.out(call)[0].value].spec->space;
  if (target == memory::kHost) {
    kernels::runtime(source).copy_to_host(from, to);
  } else {
    kernels::runtime(target).copy_from_host(from, to);
  }
}

void launch(const Call& call, std::span<const Strided> in,
            std::span<const Strided> out, const void* attrs) {
  kernels::Args args{in, out, attrs, {}, &tensor::executor()};
  kernels::SpaceRuntime& runtime = kernels::runtime(call.space);
  const DType key = in.empty() ? out[0].dtype : in[0].dtype;
  const kernels::Kernel& kernel =
      kernels::find(*call.kernels, runtime, key, args);
  base::Ref<Storage> scratch;
  if (const Bytes bytes = kernels::scratch_bytes(kernel, args); bytes != 0) {
    const memory::Tag tag{.category = memory::Category::kWorkspace,
                          .space = call.space,
                          .owner = call.owner,
                          .site = call.site};
    scratch = Storage::allocate(bytes, tag, memory::domain());
    args.scratch = {scratch->data(), static_cast<std::size_t>(bytes)};
  }
  runtime.launch(kernel, args);
}

}  // namespace

void run_call(const Program& program, const Call& call,
              std::span<const Strided> in, std::span<const Strided> out,
              const void* attrs) {
  switch (call.kind) {
    case CallKind::kKernel:
      return launch(call, in, out, attrs);
    case CallKind::kTransfer:
      return transfer(program, call, in[0], out[0]);
    case CallKind::kCheck:
      return call.look(call.name.data(), in, {attrs, call.attrs_size});
    case CallKind::kFused:
      raise<InternalError>("{}: a fused call run as one", call.name);
    case CallKind::kSpill:
    case CallKind::kFetch:
    case CallKind::kAwait:
      raise<InternalError>("{}: a move without a spill file", call.name);
    case CallKind::kExchange:
      raise<InternalError>("{}: an exchange without other ranks", call.name);
  }
}

void SlotMemory::move(const Call& call, std::span<std::byte> bytes) {
  if (call.kind == CallKind::kAwait) {
    return;
  }
  slots_.resize(std::max<std::size_t>(slots_.size(), call.slot + 1));
  memory::Vector<std::byte>& slot = slots_[call.slot];
  if (call.kind == CallKind::kSpill) {
    slot.assign(bytes.begin(), bytes.end());
  } else {
    std::copy_n(slot.begin(), bytes.size(), bytes.begin());
  }
}

namespace {

// A run: where each value's elements are.
class Run {
 public:
  Run(const Program& program, std::span<const Tensor> arguments)
      : program_(program), cells_(program.values.size()) {
    check_holds();
    bind_arguments(arguments);
    bind_externals();
  }

  void calls() {
    for (const Listening& heard : program_.listeners) {
      heard.listener->before_run();
    }
    for (const Call& call : program_.calls) {
      execute(call);
    }
  }

  memory::Vector<Tensor> finish() {
    memory::Vector<Tensor> results;
    for (const Result& result : program_.results) {
      results.push_back(tensor_of(result.operand));
    }
    memory::Vector<Tensor> grads;
    for (const LeafGrad& grad : program_.grads) {
      const memory::OutsideScopes apart;
      grads.push_back(grad.last.value != kNoValue ? tensor_of(grad.last)
                                                  : Tensor());
    }
    for (std::size_t i = 0; i < grads.size(); ++i) {
      if (program_.grads[i].is_set) {
        leaf_of(program_.grads[i]).set_grad(std::move(grads[i]));
      }
    }
    Generator& generator = tensor::generator();
    base::DrawKey key = generator.key();
    key.draw += program_.draws;
    generator.set_key(key);
    for (const Listening& heard : program_.listeners) {
      heard.listener->after_run(heard.calls);
    }
    return results;
  }

 private:
  struct alignas(16) Unit {
    std::byte bytes[16];  // NOLINT(*-avoid-c-arrays)
  };
  struct Cell {
    base::Ref<Storage> storage;
    std::int64_t offset = 0;  // bytes to the value's first
  };

  static graph::Leaf& leaf_of(const LeafGrad& grad) {
    return static_cast<graph::Leaf&>(*grad.leaf);
  }

  void check_holds() const {
    for (const Flag& flag : program_.flags) {
      if (*flag.flag != flag.value) {
        raise<TraceError>("interpret: a mode of a module has changed since");
      }
    }
    for (const LeafMode& mode : program_.leaves) {
      if (mode.leaf->requires_grad() != mode.requires_grad) {
        raise<TraceError>("interpret: a leaf was frozen, or is no more");
      }
    }
    for (const LeafGrad& grad : program_.grads) {
      if (grad.is_read && leaf_of(grad).grad().defined() != grad.was_defined) {
        raise<TraceError>("interpret: a leaf {} a gradient, as it {} before",
                          grad.was_defined ? "has not" : "has",
                          grad.was_defined ? "had" : "had not");
      }
    }
  }

  void bind_arguments(std::span<const Tensor> arguments) {
    if (arguments.size() != program_.arguments.size()) {
      raise<ShapeError>("interpret: {} arguments, expected {}",
                        arguments.size(), program_.arguments.size());
    }
    for (std::size_t v = 0; v < cells_.size(); ++v) {
      const Value& value = program_.values[v];
      if (value.origin != Origin::kArgument) {
        continue;
      }
      const Tensor& given = arguments[value.index];
      if (given.spec() != value.spec || !given.is_contiguous()) {
        raise<ShapeError>(
            "interpret: argument {} is {} {}, expected {} {}", value.index,
            name_of(given.dtype()), format_shape(given.shape()),
            name_of(value.spec->dtype), format_shape(value.spec->shape));
      }
      cells_[v] = {given.array()->storage(),
                   given.array()->layout().offset * size_of(given.dtype())};
    }
  }

  void bind_externals() {
    for (std::size_t v = 0; v < cells_.size(); ++v) {
      const Value& value = program_.values[v];
      if (value.origin == Origin::kExternal) {
        const Tensor& tensor = program_.externals[value.index].tensor;
        cells_[v] = {tensor.array()->storage(), 0};
      }
    }
    for (const LeafGrad& grad : program_.grads) {
      if (grad.entry != kNoValue) {
        bind_gradient(grad);
      }
    }
  }

  // The gradient that is there now, whichever tensor it is.
  void bind_gradient(const LeafGrad& grad) {
    const Tensor now = leaf_of(grad).grad();
    const Value& value = program_[grad.entry];
    if (now.array()->storage()->size() != value.spec->size ||
        now.spec() != value.spec || !now.is_contiguous()) {
      raise<TraceError>("interpret: a gradient of another form than before");
    }
    cells_[grad.entry.value] = {now.array()->storage(), 0};
  }

  Cell& cell(ValueId id) {
    Cell& found = cells_[id.value];
    const Value& value = program_[id];
    if (!found.storage && value.over != kNoValue) {
      found = cells_[value.over.value];
    } else if (!found.storage) {
      const memory::Tag tag{.category = value.spec->category,
                            .space = value.spec->space,
                            .owner = value.spec->owner,
                            .site = value.site};
      found.storage =
          Storage::allocate(value.spec->size, tag, memory::domain());
    }
    return found;
  }

  Strided view(const Operand& operand) {
    const Cell& at = cell(operand.value);
    const tensor::Layout& layout = operand.layout;
    return {
        at.storage->data() + at.offset + layout.offset * size_of(layout.dtype),
        layout.dtype, layout.shape, layout.strides};
  }

  Tensor tensor_of(const Operand& operand) {
    const Cell& at = cell(operand.value);
    tensor::Layout layout = operand.layout;
    layout.offset += at.offset / size_of(layout.dtype);
    return Tensor(tensor::Array::make(at.storage, layout));
  }

  // The attributes of this run.
  void* attrs_of(const Call& call) {
    attrs_.resize((call.attrs_size + sizeof(Unit) - 1) / sizeof(Unit));
    if (call.attrs_size == 0) {
      return nullptr;
    }
    auto* bytes = reinterpret_cast<std::byte*>(attrs_.data());
    std::memcpy(bytes, program_.attrs_of(call), call.attrs_size);
    if (call.listener != nullptr) {
      call.listener->write_attrs(call.listener_index, bytes);
    }
    if (call.draw_at >= 0) {
      base::DrawKey key;
      std::memcpy(&key, bytes + call.draw_at, sizeof(key));
      const base::DrawKey& now = tensor::generator().key();
      key = {now.seed, now.draw + (key.draw - program_.first_draw.draw)};
      std::memcpy(bytes + call.draw_at, &key, sizeof(key));
    }
    return bytes;
  }

  void execute(const Call& call) {
    if (call.kind == CallKind::kFused) {
      for (const Call& member : program_.members_of(call)) {
        execute(member);
      }
      return;
    }
    if (moves_state(call)) {
      move_state(call);
      return;
    }
    if (is_move(call)) {
      const Operand& moved = program_.moved(call);
      slots_.move(call,
                  {view(moved).data,
                   static_cast<std::size_t>(program_[moved.value].spec->size)});
      return;
    }
    memory::Vector<Strided> in;
    memory::Vector<Strided> out;
    for (const Operand& operand : program_.in(call)) {
      in.push_back(view(operand));
    }
    for (const Operand& operand : program_.out(call)) {
      out.push_back(view(operand));
    }
    run_call(program_, call, in, out, attrs_of(call));
    if (call.op == nullptr) {
      for (const Operand& operand : program_.out(call)) {
        cell(operand.value).storage->bump_version(call.site);
      }
    }
  }

  // Between the state's own storage and what stands for it in this run.
  void move_state(const Call& call) {
    const AwayState& state = program_.away[call.slot - kFirstAway];
    tensor::Storage& own =
        *program_.externals[state.external].tensor.array()->storage();
    std::byte* const here = view(program_.moved(call)).data;
    const auto size = static_cast<std::size_t>(state.size);
    if (call.kind == CallKind::kFetch && own.fetch_elements()) {
      std::copy_n(own.data() + state.offset, size, here);
    } else if (call.kind == CallKind::kSpill) {
      std::copy_n(here, size, own.data() + state.offset);
      own.bump_version(call.site);
    }
  }

  const Program& program_;
  memory::Vector<Cell> cells_;
  memory::Vector<Unit> attrs_;
  SlotMemory slots_;
};

}  // namespace

memory::Vector<Tensor> interpret(const Program& program,
                                 std::span<const Tensor> arguments) {
  Run run(program, arguments);
  run.calls();
  return run.finish();
}

}  // namespace neap::compiler
