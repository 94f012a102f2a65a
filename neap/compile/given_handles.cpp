// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/given_handles.hpp"

namespace neap::compiler {

void GivenHandles::add_argument(const Tensor& stand_in, std::uint32_t i) {
  arguments_.emplace(stand_in.shared().get(), i);
}

void GivenHandles::note(Program& program, std::uint32_t at,
                        const Tensor& handle) {
  const tensor::Body* body = handle.shared().get();
  const auto [first, is_first] = first_.emplace(body, at);
  Result& result = program.results[at];
  if (!is_first) {
    result.shared = SharedWith::kResult;
    result.index = first->second;
  } else if (const auto argument = arguments_.find(body);
             argument != arguments_.end()) {
    result.shared = SharedWith::kArgument;
    result.index = argument->second;
  }
}

Result* GivenHandles::find(Program& program,
                           const tensor::Body* body) const noexcept {
  const auto found = first_.find(body);
  return found != first_.end() ? &program.results[found->second] : nullptr;
}

}  // namespace neap::compiler
