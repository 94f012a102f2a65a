// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Runs a program's calls as they are, fused ones as one, every memory a block
// of its own: for tests of passes. Host memory, no listeners, no gradients.
#pragma once

#include <cstring>
#include <map>
#include <vector>

#include "neap/program/fused_call.hpp"
#include "neap/program/interpret.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {

/// The elements' bytes, row-major.
inline std::vector<std::byte> dense_bytes(const tensor::Strided& view) {
  std::vector<std::byte> bytes;
  const auto width = static_cast<std::int64_t>(size_of(view.dtype));
  tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t at) {
    const std::byte* element = view.data + at * width;
    bytes.insert(bytes.end(), element, element + width);
  });
  return bytes;
}
inline std::vector<std::byte> dense_bytes(const Tensor& tensor) {
  return dense_bytes(tensor.array()->strided());
}

class TestRun {
 public:
  TestRun(Program& program, std::span<const Tensor> arguments)
      : program_(program), memories_(program.values.size()) {
    for (std::uint32_t v = 0; v < memories_.size(); ++v) {
      const Value& value = program.values[v];
      if (value.origin == Origin::kArgument) {
        fill(v, arguments[value.index]);
      } else if (value.origin == Origin::kExternal) {
        fill(v, program.externals[value.index].tensor);
      }
    }
  }

  /// The results, dense.
  std::vector<std::vector<std::byte>> run() {
    for (const Call& call : program_.calls) {
      if (call.kind == CallKind::kFused) {
        run_fused(call);
      } else if (is_move(call)) {
        move(call);
      } else {
        set_draw(call);
        run_call(program_, call, views(program_.in(call)),
                 views(program_.out(call)), program_.attrs_of(call));
      }
    }
    std::vector<std::vector<std::byte>> results;
    for (const Result& result : program_.results) {
      results.push_back(dense_bytes(view_of(result.operand)));
    }
    return results;
  }

 private:
  void fill(std::uint32_t v, const Tensor& tensor) {
    const auto& storage = *tensor.array()->storage();
    memories_[v].assign(storage.data(), storage.data() + storage.size());
  }

  std::uint32_t root(ValueId id) const {
    while (program_[id].over != kNoValue) {
      id = program_[id].over;
    }
    return id.value;
  }

  tensor::Strided view_of(const Operand& operand) {
    std::vector<std::byte>& memory = memories_[root(operand.value)];
    memory.resize(static_cast<std::size_t>(program_[operand.value].size));
    const tensor::Layout& layout = operand.layout;
    return {memory.data() + layout.offset * size_of(layout.dtype), layout.dtype,
            layout.shape, layout.strides};
  }
  std::vector<tensor::Strided> views(std::span<const Operand> operands) {
    std::vector<tensor::Strided> out;
    for (const Operand& operand : operands) {
      out.push_back(view_of(operand));
    }
    return out;
  }

  void set_draw(const Call& call) {
    if (call.draw_at < 0) {
      return;
    }
    auto* at = static_cast<std::byte*>(program_.attrs_of(call)) + call.draw_at;
    base::DrawKey key;
    std::memcpy(&key, at, sizeof(key));
    const base::DrawKey now = tensor::generator().state();
    key = {now.seed, now.draw + (key.draw - program_.first_draw.draw)};
    std::memcpy(at, &key, sizeof(key));
  }

  void move(const Call& call) {
    const Operand& moved = program_.moved(call);
    slots_.move(call, {view_of(moved).data,
                       static_cast<std::size_t>(program_[moved.value].size)});
  }

  void run_fused(const Call& call) {
    for (const Call& member : program_.members_of(call)) {
      set_draw(member);
    }
    const kernels::FusedCall fused = fused_call(program_, call);
    const auto in = views(program_.in(call));
    const auto out = views(program_.out(call));
    kernels::Args args{in, out, &fused, {}, &tensor::executor()};
    std::vector<std::byte> scratch(static_cast<std::size_t>(
        kernels::scratch_bytes(kernels::fused_kernel, args)));
    args.scratch = scratch;
    kernels::fused_kernel.run(args);
  }

  Program& program_;
  std::vector<std::vector<std::byte>> memories_;
  SlotMemory slots_;
};

}  // namespace neap::compiler
