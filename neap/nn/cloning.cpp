// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/cloning.hpp"

#include <algorithm>
#include <string_view>

#include "neap/base/raise.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/assign.hpp"
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
  if (made.size() > wanted.size()) {
    base::raise<ValueError>("clone: the copy has a \"{}\", the model has none",
                            std::string_view(made[wanted.size()].name));
  }
}

// Index, for each name, of the first name that means the same tensor.
memory::Vector<std::size_t> first_names(const ParameterList& names) {
  std::unordered_map<
      const tensor::Array*, std::size_t, std::hash<const void*>,
      std::equal_to<>,
      memory::Allocator<std::pair<const tensor::Array* const, std::size_t>>>
      seen;
  memory::Vector<std::size_t> firsts;
  firsts.reserve(names.size());
  for (const Parameter& name : names) {
    const auto [at, is_new] =
        seen.emplace(name.tensor.array().get(), firsts.size());
    firsts.push_back(at->second);
  }
  return firsts;
}

void check_ties(const ParameterList& wanted, const ParameterList& made) {
  const auto of_model = first_names(wanted);
  const auto of_copy = first_names(made);
  for (std::size_t i = 0; i < of_model.size(); ++i) {
    if (of_model[i] != of_copy[i]) {
      base::raise<ValueError>(
          "clone: \"{}\" is tied to \"{}\" in the {} alone",
          std::string_view(wanted[i].name),
          std::string_view(
              wanted[of_model[i] != i ? of_model[i] : of_copy[i]].name),
          of_model[i] != i ? "model" : "copy");
    }
  }
}

void fill_values(const ParameterList& model, const ParameterList& copy,
                 const CallSite& site) {
  const NoGrad quiet;
  for (std::size_t i = 0; i < model.size(); ++i) {
    const Tensor& from = model[i].tensor;
    const Tensor& to = copy[i].tensor;
    if (from.spec() != to.spec()) {
      base::raise<ValueError>(
          "clone: \"{}\" is {} {} in the model and {} {} in the copy",
          std::string_view(model[i].name), name_of(from.dtype()),
          format_shape(from.shape()), name_of(to.dtype()),
          format_shape(to.shape()));
    }
    copy_(to, from, site);
  }
}

// Ties that the model got after it was made; a name is tied to the home.
void tie_as(const Module& model, Module& copy) {
  for (const Parameter& home : model.parameters()) {
    for (const auto& alias : home.aliases) {
      if (copy.parameter(alias).array() != copy.parameter(home.name).array()) {
        copy.tie(alias, copy.parameter(home.name));
      }
    }
  }
}

void freeze_as(const ParameterList& model, const ParameterList& copy) {
  for (std::size_t i = 0; i < model.size(); ++i) {
    graph::leaf_of(copy[i].tensor)
        ->set_requires_grad(model[i].tensor.requires_grad());
  }
}

// The parts below a module by path; "" is the module itself.
memory::Vector<std::pair<memory::String, Registry*>> parts_of(Registry& top) {
  memory::Vector<std::pair<memory::String, Registry*>> parts;
  top.walk([&](Registry& at) { parts.emplace_back(at.path_from(top), &at); });
  return parts;
}

// THROWS: ValueError where one of the two has a part that the other has not.
void set_modes_as(Registry& model, Registry& copy) {
  const auto wanted = parts_of(model);
  const auto made = parts_of(copy);
  for (std::size_t i = 0; i < std::max(wanted.size(), made.size()); ++i) {
    const bool is_in_both = i < wanted.size() && i < made.size() &&
                            wanted[i].first == made[i].first;
    if (!is_in_both) {
      base::raise<ValueError>(
          "clone: the {} has a part \"{}\" where the {} has another, or none; "
          "the copy's constructor must add the same parts in the same order",
          i < wanted.size() ? "model" : "copy",
          std::string_view((i < wanted.size() ? wanted : made)[i].first),
          i < wanted.size() ? "copy" : "model");
    }
    made[i].second->set_training(wanted[i].second->is_training());
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
    });
    const NoGrad no_grad;
    made.copy = copy(Operand(entry.tensor, site_));
  }
  return made.copy;
}

void Cloning::fill(const Module& model, Module& copy) const {
  const ParameterList wanted = model.named_parameters();
  const ParameterList made = copy.named_parameters();
  const ParameterList buffers = model.buffers();
  const ParameterList made_buffers = copy.buffers();
  check_names(wanted, made);
  check_names(buffers, made_buffers);
  fill_values(wanted, made, site_);
  fill_values(buffers, made_buffers, site_);
  freeze_as(wanted, made);
  set_modes_as(model.registry(), copy.registry());
  copy.zero_grad();  // of what the constructor did
}

void Cloning::finish(Module& copy) const {
  const ParameterList wanted = model_.named_parameters();
  check_names(wanted, copy.named_parameters());
  const ParameterList buffers = model_.buffers();
  check_names(buffers, copy.buffers());
  tie_as(model_, copy);  // parts that were made anew know nothing of ties
  check_ties(wanted, copy.named_parameters());
  check_ties(buffers, copy.buffers());
}

}  // namespace neap::nn
