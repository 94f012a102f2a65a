// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/module.hpp"

#include <algorithm>
#include <exception>

#include "neap/base/raise.hpp"
#include "neap/graph/update_watch.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/cloning.hpp"
#include "neap/tensor/element_sink.hpp"

namespace neap::nn {
namespace {

template <class Visit>
void for_each_parameter(const Registry& registry, Visit&& visit) {
  registry.walk([&](const Registry& at) {
    at.note_use();
    for (const Entry& entry : at.entries()) {
      if (entry.is_parameter) {
        visit(at, entry);
      }
    }
  });
}

memory::String path_of(const Registry& top, const Registry& at,
                       const Entry& entry) {
  memory::String path = at.path_from(top);
  if (!path.empty()) {
    path += '.';
  }
  path += entry.name;
  return path;
}

// A line for each name, of parameters or of buffers.
ParameterList list(const Registry& top, bool parameters) {
  ParameterList out;
  top.walk([&](const Registry& at) {
    at.note_use();
    for (const Entry& entry : at.entries()) {
      if (entry.is_parameter == parameters) {
        out.push_back({path_of(top, at, entry), entry.tensor, {}});
      }
    }
  });
  return out;
}

// A name of a tensor: the tensor's leaf, and where the name stands. Home names
// come before tied ones, and earlier ones before later ones.
struct Name {
  const tensor::GraphLink* leaf;
  bool is_tied;
  std::size_t index;
  auto operator<=>(const Name&) const = default;
};

}  // namespace

Module::Module(const Module& other, Cloning& cloning) : Module() {
  for (const Entry& entry : other.registry().entries()) {
    const Tensor copy = cloning.copy_of(entry);
    registry_->add_entry(entry.name, copy, entry.is_parameter, cloning.site(),
                         cloning.is_tied(entry));
    if (entry.is_parameter && !entry.tensor.requires_grad()) {
      graph::leaf_of(copy)->set_requires_grad(false);
    }
  }
  registry_->set_training(other.is_training());
}

// A registry that may not move is shared until the trace is refused: the step
// still finds it at both places.
Module::Module(Module&& other) noexcept
    : registry_(other.may_move() ? std::move(other.registry_)
                                 : other.registry_) {
  if (registry_) {
    registry_->renew();
  }
}

bool Module::may_move() const noexcept {
  return !registry_ || registry_->may_move();
}

Module::~Module() {
  if (registry_) {
    static_cast<void>(may_move());  // where it may not, the trace fails
    registry_->renew();
  }
}

// NOLINTNEXTLINE(performance-noexcept-move-constructor): it renames
Module& Module::operator=(Module&& other) {
  if (!may_move() || !other.may_move()) {
    return *this;
  }
  if (registry_ && other.registry_ && registry_->parent() != nullptr &&
      registry_ != other.registry_) {
    registry_->replace_by(other.registry_);
  }
  if (registry_ && registry_ != other.registry_) {
    registry_->retire();
  }
  registry_ = std::move(other.registry_);
  if (registry_) {
    registry_->renew();
  }
  return *this;
}

Registry& Module::registry() const {
  if (!registry_) {
    base::raise<UseAfterRelease>("module: used after it was moved from");
  }
  return *registry_;
}

ParameterList Module::parameters() const {
  memory::Vector<Name> names;
  for_each_parameter(registry(), [&](const Registry&, const Entry& entry) {
    names.push_back({entry.tensor.link().get(), entry.is_tied, names.size()});
  });
  ParameterList all = named_parameters();
  std::ranges::sort(names);
  // The first of a run of equal leaves takes the names of the others.
  for (std::size_t i = 0, first = 0; i < names.size(); ++i) {
    if (names[i].leaf != names[first].leaf) {
      first = i;
    } else if (i != first) {
      Parameter& alias = all[names[i].index];
      all[names[first].index].aliases.push_back(std::move(alias.name));
      alias.tensor = Tensor();
    }
  }
  std::erase_if(all, [](const Parameter& p) { return !p.tensor.defined(); });
  return all;
}

ParameterList Module::named_parameters() const {
  return list(registry(), true);
}

ParameterList Module::buffers() const {
  return list(registry(), false);
}

Tensor Module::parameter(std::string_view path) const {
  registry().note_use_of_all();
  return registry().at(path, true).tensor;
}

Tensor Module::buffer(std::string_view path) const {
  registry().note_use_of_all();
  return registry().at(path, false).tensor;
}

bool Module::has_parameter(std::string_view path) const noexcept {
  if (registry_) {
    registry_->note_use_of_all();
  }
  const Entry* entry = registry_ ? registry_->find(path) : nullptr;
  return entry != nullptr && entry->is_parameter;
}

void Module::tie(std::string_view path, const Tensor& home) {
  registry().tie(path, home);
}

bool Module::is_moved_from() const noexcept {
  if (registry_) {
    registry_->note_use();  // a step that asks depends on it
  }
  return !registry_;
}

void Module::train(bool is_training) noexcept {
  if (registry_) {
    registry_->walk([=](Registry& at) {
      at.note_use();
      at.set_training(is_training);
    });
  }
}

void Module::freeze() noexcept {
  zero_grad();
  if (registry_) {
    for_each_parameter(*registry_, [](const Registry&, const Entry& entry) {
      graph::leaf_of(entry.tensor)->set_requires_grad(false);
    });
  }
}

void Module::unfreeze() noexcept {
  if (registry_) {
    for_each_parameter(*registry_, [](const Registry&, const Entry& entry) {
      graph::leaf_of(entry.tensor)->set_requires_grad(true);
    });
  }
}

void Module::zero_grad() noexcept {
  if (registry_) {
    for_each_parameter(*registry_, [](const Registry&, const Entry& entry) {
      graph::leaf_of(entry.tensor)->set_grad({});
    });
  }
}

std::int64_t Module::parameter_count() const {
  std::int64_t count = 0;
  for (const Parameter& parameter : parameters()) {
    count += parameter.tensor.element_count();
  }
  return count;
}

Bytes Module::parameter_bytes() const {
  Bytes bytes = 0;
  for (const Parameter& parameter : parameters()) {
    bytes +=
        parameter.tensor.element_count() * size_of(parameter.tensor.dtype());
  }
  return bytes;
}

Tensor Module::register_parameter(std::string_view name, const Tensor& init,
                                  CallSite site) {
  registry().add_entry(name, init, true, site);
  tensor::offer_elements(init.array()->storage());
  return init;
}

Tensor Module::register_buffer(std::string_view name, const Tensor& init,
                               CallSite site) {
  registry().add_entry(name, init, false, site);
  return init;
}

void Module::register_module(std::string_view name, const Module& child) {
  registry().add_child(name, base::Ref<Registry>::share(&child.registry()));
}

// The outermost one sets the call site.
ModuleScope::ModuleScope(const Registry& registry, CallSite site)
    : ModuleScope(registry, site, memory::thread_context().site.value == 0) {}

ModuleScope::ModuleScope(const Registry& registry, CallSite site,
                         bool is_outermost)
    : ContextGuard([&](memory::Context& c) {
        // Owners are numbered per door; a module that is no part of another
        // has no path, and leaves the owner that is there.
        if (&memory::domain() == &registry.domain() &&
            registry.owner().value != 0) {
          c.owner = registry.owner();
        }
        if (c.site.value == 0) {
          c.site = base::intern(site);
        }
        // Each kind of op's own choice: activations for what ops make, graph
        // for the nodes that record them.
        c.category = memory::Category::kOther;
      }),
      call_(registry),
      told_(is_outermost && graph::update_watcher() != nullptr ? &registry
                                                               : nullptr),
      exceptions_(told_ != nullptr ? std::uncaught_exceptions() : 0) {}

ModuleScope::~ModuleScope() {
  graph::UpdateWatcher* watcher =
      told_ != nullptr ? graph::update_watcher() : nullptr;
  if (watcher != nullptr && std::uncaught_exceptions() == exceptions_) {
    watcher->called(told_);
  }
}

}  // namespace neap::nn
