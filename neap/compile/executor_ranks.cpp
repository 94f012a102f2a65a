// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A digest of a run, which the ranks of a step compare before it.
#include <string_view>

#include "neap/base/version.hpp"
#include "neap/compile/executor.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/plugin.hpp"
#include "neap/program/hash.hpp"
#include "neap/program/rank_cut.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {
namespace {

void add(std::string_view text, Hash& hash) {
  hash.add(text.size());
  hash.add(text.data(), text.size());
}

// Processors with fused multiply-add have one set of bits.
std::string_view bits_of_processor() {
  const std::string_view isa = kernels::isa();
  return isa == "sse4" || isa == "baseline" ? isa : "fused multiply-add";
}

void add_elements(const Tensor& tensor, Hash& hash) {
  const tensor::Strided view = tensor.array()->strided();
  if (tensor.array()->storage()->has_elements() && tensor.is_contiguous()) {
    hash.add(view.data, static_cast<std::size_t>(tensor.element_count() *
                                                 size_of(view.dtype)));
  }
}

}  // namespace

std::uint64_t Executor::run_digest(std::uint64_t step,
                                   std::span<const Tensor> arguments) {
  Hash hash;
  hash.add(step);
  hash.add(exchanges_);
  add(version(), hash);
  add(kernels::kernel_set(), hash);
  add(bits_of_processor(), hash);
  if (domain_.is_rehearsal()) {
    return hash.get();
  }
  if (program_.draws != 0) {
    hash.add(tensor::generator().key().seed);
    hash.add(tensor::generator().key().draw);
  }
  write_attrs();
  for (const Listener& one : listeners_) {
    hash.add(one.attrs, one.size);
  }
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!is_shared_out(program_, i)) {
      add_elements(arguments[i], hash);
    }
  }
  const bool is_changed = state_writes(program_) != states_seen_;
  hash.add(is_changed);
  if (is_changed) {
    hash.add(state_digest(program_));
  }
  return hash.get();
}

}  // namespace neap::compiler
