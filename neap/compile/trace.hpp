// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// trace: runs a step on tensors without elements, and returns what it did as a
// program. The step is the user's own code: ops, modules, backward, optimizers.
//
//   const Program program = trace(
//       [&](std::span<const Tensor> in, memory::Vector<Tensor>& out) {
//         out.push_back(relu(matmul(in[0], weight)));
//       },
//       std::array{Spec{f32, {64, 784}}});
//
// The step runs once, now; its control flow by host state (numbers, flags that
// it does not note) holds for every run of the program. Actions that a program
// cannot repeat are refused at their line: a host read of elements, a write by
// the host, a draw of another generator.
#pragma once

#include "neap/base/function_ref.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// A step over lists: puts its results into the vector, in order.
using Step = base::FunctionRef<void(std::span<const Tensor> arguments,
                                    memory::Vector<Tensor>& results)>;

/// The arguments of a step. A number is a tensor of spec {f64, {}} to it, which
/// takes part in ops as a plain number does.
struct GivenArguments {
  std::span<const tensor::Spec> specs;
  /// The arguments themselves; empty: all are dense.
  std::span<const Tensor> tensors{};
  /// 1 for each argument that is a number; empty: all that have their spec.
  std::span<const std::uint8_t> numbers{};
  /// The rows of all ranks' batch, where each has some of them; 0: the batch is
  /// the one of the specs.
  std::int64_t rows_of_all = 0;
  /// True: state that the step creates is away until a run needs it.
  bool is_state_late = false;

  bool is_number(std::size_t i) const {
    return numbers.empty() ? specs[i] == tensor::Spec{DType::kF64, {}}
                           : numbers[i] != 0;
  }
};

/// The scope that an argument is of.
enum class ArgumentPlace : std::uint8_t {
  kInside,    // the current one, or none where there is none
  kNowhere,   // none, while there is a current one
  kElsewhere  // another one
};
ArgumentPlace place_of(const GivenArguments& given, std::size_t i);

/// The program of a step for arguments of these specs. The user's state is
/// unchanged, elements, gradients of leaves and the generator's state included,
/// also after a throw; a storage that the step writes counts as written.
/// THROWS: TraceError for what a program cannot repeat, and inside another
/// trace, jvp or segment; whatever the step throws; OutOfMemory.
NEAP_API Program trace(Step step, std::span<const tensor::Spec> arguments,
                       CallSite site = CallSite::here());
/// The same, with views: tensors that have gaps are traced as the views that
/// they are, and the program holds for such views alone.
NEAP_API Program trace(Step step, const GivenArguments& given, CallSite site);

}  // namespace neap::compiler
