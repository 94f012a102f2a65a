// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/cloning.hpp"

#include <algorithm>
#include <string_view>

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::nn {
namespace {

void check_names(const ParameterList& wanted, const ParameterList& made) {
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (i >= made.size() || wanted[i].name != made[i].name) {
      base::raise<ValueError>(
          "clone: the copy has no \"{}\" where the model has it; its "
          "constructor must add all parts in the same order",
          std::string_view(wanted[i].name));
    }
  }
}

}  // namespace

Cloning::Cloning(const Module& model, const std::type_info& asked,
                 CallSite site)
    : model_(model), site_(site) {
  if (typeid(model) != asked) {
    base::raise<ValueError>(
        "clone: the model is of a type derived from the one that is asked for, "
        "which has no clone of its own");
  }
  model.registry().walk([this](const Registry& at) {
    for (const Entry& entry : at.entries()) {
      Made& made = made_[entry.tensor.array().get()];
      if (made.home == nullptr || (made.home->is_tied && !entry.is_tied)) {
        made.home = &entry;
      }
    }
  });
}

bool Cloning::is_tied(const Entry& entry) const noexcept {
  const auto made = made_.find(entry.tensor.array().get());
  return made != made_.end() && made->second.home != &entry;
}

Tensor Cloning::copy_of(const Entry& entry) {
  Made& made = made_[entry.tensor.array().get()];
  if (made.home == nullptr) {
    made.home = &entry;
  }
  if (!made.copy.defined()) {
    const memory::ContextGuard guard([&entry](memory::Context& c) {
      c.category = entry.is_parameter ? memory::Category::kParameters
                                      : memory::Category::kBuffers;
      c.grad_enabled = false;
    });
    made.copy = copy(Operand(entry.tensor, site_));
  }
  return made.copy;
}

void Cloning::check(const Module& copy) const {
  check_names(model_.named_parameters(), copy.named_parameters());
  check_names(model_.buffers(), copy.buffers());
}

}  // namespace neap::nn
