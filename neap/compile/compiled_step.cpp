// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/compiled_step.hpp"

#include "neap/base/raise.hpp"
#include "neap/compile/step_core.hpp"

namespace neap::compiler {

CompiledStep::CompiledStep(const CompileOptions& options, const CallSite& site)
    : core_(memory::make_owned<StepCore>(memory::Category::kGraph, options,
                                         site)) {}
CompiledStep::CompiledStep(CompiledStep&& other) noexcept = default;
CompiledStep& CompiledStep::operator=(CompiledStep&& other) noexcept = default;
CompiledStep::~CompiledStep() = default;

StepCore& CompiledStep::core() const {
  if (!core_) {
    base::raise<UseAfterRelease>(
        "compile: the compiled step was moved from; call the one that it was "
        "moved to");
  }
  return *core_;
}

void CompiledStep::call(Step step, std::span<const Argument> arguments,
                        base::FunctionRef<void(std::size_t)> expect,
                        base::FunctionRef<void(std::span<Tensor>)> take) {
  core().call(step, arguments, expect, take);
}

void CompiledStep::prepare(Step step, std::span<const tensor::Spec> arguments) {
  core().prepare(step, arguments);
}

const Program& CompiledStep::program() const {
  return core().program();
}

const Plan& CompiledStep::plan() const {
  return core().plan();
}

Prediction CompiledStep::prediction() const {
  return core().prediction();
}

Measured CompiledStep::measured() const {
  return core().measured();
}

int CompiledStep::programs() const {
  return core().programs();
}

std::int64_t CompiledStep::traces() const {
  return core().traces();
}

Bytes CompiledStep::arena_bytes() const {
  return core().arena_bytes();
}

const std::string& CompiledStep::why() const {
  return core().why();
}

void CompiledStep::set_profile(Profile* profile) {
  core().set_profile(profile);
}

void CompiledStep::reset() {
  core().reset();
}

}  // namespace neap::compiler
