// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/bind.hpp"

#include <array>

#include "neap/program/fused_call.hpp"
#include "neap/program/ranks.hpp"

namespace neap::compiler {
namespace {

// Kernels are chosen by layouts and by whether there are elements, never by
// elements: this address stands for any storage, and is not touched.
std::byte* some_address() noexcept {
  alignas(memory::kAlignment) static std::byte place{};
  return &place;
}

class Binder {
 public:
  Binder(Program& program, threads::Executor& executor)
      : program_(program), executor_(executor) {}

  Binding bind(Call& call) {
    call.scratch = 0;
    switch (call.kind) {
      case CallKind::kCheck:
      case CallKind::kSpill:
      case CallKind::kFetch:
      case CallKind::kAwait:
        return {};
      case CallKind::kExchange:
        call.scratch = staging_of(call);
        return {};
      case CallKind::kTransfer:
        return {nullptr, &kernels::runtime(other_space(call)), {}};
      case CallKind::kFused:
        return bind_fused(call);
      case CallKind::kKernel:
        break;
    }
    show(program_.in(call), in_);
    show(program_.out(call), out_);
    const kernels::Args args{
        in_, out_, program_.attrs_of(call), {}, &executor_};
    const DType key = in_.empty() ? out_[0].dtype : in_[0].dtype;
    kernels::SpaceRuntime& runtime = kernels::runtime(call.space);
    const kernels::Kernel& kernel =
        kernels::find(*call.kernels, runtime, key, args);
    call.scratch = kernels::scratch_bytes(kernel, args);
    return {&kernel, &runtime, {}};
  }

 private:
  Bytes staging_of(const Call& call) const {
    const auto* attrs =
        static_cast<const ExchangeAttrs*>(program_.attrs_of(call));
    return attrs->is_sum ? program_.ranks->staging_bytes(
                               program_[program_.out(call)[0].value].spec->size)
                         : 0;
  }
  Binding bind_fused(Call& call) {
    Binding out{&kernels::fused_kernel, &kernels::runtime(call.space),
                shared(fused_call(program_, call))};
    call.scratch = out.fused->scratch(executor_.threads());
    return out;
  }
  // Shares equal calls: a step unrolled over time repeats the same few.
  std::shared_ptr<const kernels::FusedCall> shared(
      const kernels::FusedCall& fused) {
    for (const auto& known : known_) {
      if (known != nullptr && *known == fused) {
        return known;
      }
    }
    auto& place = known_[next_++ % known_.size()];
    place = std::allocate_shared<const kernels::FusedCall>(
        memory::Allocator<kernels::FusedCall>(), fused);
    return place;
  }
  void show(std::span<const Operand> operands,
            memory::Vector<tensor::Strided>& views) const {
    views.clear();
    for (const Operand& operand : operands) {
      const bool is_empty = program_[operand.value].spec->size == 0;
      views.push_back(view_of(operand, is_empty ? nullptr : some_address()));
    }
  }
  memory::SpaceId other_space(const Call& call) const {
    const memory::SpaceId to =
        program_[program_.out(call)[0].value].spec->space;
    return to != memory::kHost
               ? to
               : program_[program_.in(call)[0].value].spec->space;
  }

  Program& program_;
  threads::Executor& executor_;
  memory::Vector<tensor::Strided> in_;
  memory::Vector<tensor::Strided> out_;
  std::array<std::shared_ptr<const kernels::FusedCall>, 64> known_;  // latest
  std::size_t next_ = 0;
};

}  // namespace

tensor::Strided view_of(const Operand& operand, std::byte* data) noexcept {
  const tensor::Layout& layout = operand.layout;
  if (data != nullptr) {
    data += layout.offset * size_of(layout.dtype);
  }
  return {data, layout.dtype, layout.shape, layout.strides};
}

memory::Vector<Binding> bind(Program& program, threads::Executor& executor) {
  memory::Vector<Binding> out;
  out.reserve(program.calls.size());
  Binder binder(program, executor);
  for (std::size_t i = 0; i < program.calls.size(); ++i) {
    Call call = program.calls[i];
    const Bytes scratch = call.scratch;
    out.push_back(binder.bind(call));
    if (call.scratch != scratch) {
      program.calls.set(i, call);
    }
  }
  return out;
}

}  // namespace neap::compiler
