// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/adapter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <type_traits>

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/models/adapter_files.hpp"
#include "neap/models/bert.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/llama.hpp"
#include "neap/models/vit.hpp"

namespace neap::models {

bool is_target(std::string_view path,
               std::span<const std::string> targets) noexcept {
  return targets.empty() ||
         std::ranges::any_of(targets, [&](std::string_view target) {
           return path == target ||
                  (path.ends_with(target) &&
                   path[path.size() - target.size() - 1] == '.');
         });
}

namespace {

// False for none of these.
template <class... Models>
bool visit_linears(nn::Layer& model, LinearVisit visit) {
  const auto visit_as = [&]<class Model>(std::type_identity<Model>) {
    auto* const found = dynamic_cast<Model*>(&model);
    if (found != nullptr) {
      found->each_linear(visit);
    }
    return found != nullptr;
  };
  return (visit_as(std::type_identity<Models>()) || ...);
}

}  // namespace

void each_linear(nn::Layer& model, LinearVisit visit) {
  if (!(visit_linears<Llama, Gpt, Bert, Vit>(model, visit))) {
    base::raise<ValueError>("adapter: expected a Llama, Gpt, Bert or Vit");
  }
}

void check_targets(nn::Layer& model, const AdapterOptions& options) {
  for (const std::string& target : options.targets) {
    bool is_there = false;
    each_linear(model, [&](nn::Linear& layer) {
      const memory::String path = layer.registry().path_from(model.registry());
      is_there = is_there || is_target(path, std::span(&target, 1));
    });
    if (!is_there) {
      base::raise<ValueError>("adapter: no linear layer's name ends in '{}'",
                              target);
    }
  }
}

bool is_whole(std::string_view path,
              std::span<const std::string> whole) noexcept {
  return std::ranges::any_of(whole, [&](std::string_view module) {
    return path.starts_with(module) &&
           (path.size() == module.size() || path[module.size()] == '.');
  });
}

namespace {

// Lets them be trained. THROWS: as add_adapter.
void thaw(nn::Layer& model, std::span<const std::string> whole) {
  for (const std::string& module : whole) {
    std::int64_t count = 0;
    for (const nn::Parameter& parameter : model.parameters()) {
      if (is_whole(parameter.name, std::span(&module, 1))) {
        graph::leaf_of(parameter.tensor)->set_requires_grad(true);
        ++count;
      }
    }
    if (count == 0) {
      base::raise<ValueError>("adapter: the model has no '{}' to be trained",
                              module);
    }
  }
}

}  // namespace

std::int64_t add_adapter(nn::Layer& model, const AdapterOptions& options,
                         CallSite site) {
  check_targets(model, options);
  std::int64_t count = 0;
  model.freeze();
  each_linear(model, [&](nn::Linear& layer) {
    const memory::String path = layer.registry().path_from(model.registry());
    if (is_target(path, options.targets) && !is_whole(path, options.whole)) {
      layer.adapt(options.lora, site);
      ++count;
    }
  });
  thaw(model, options.whole);
  return count;
}

nn::ParameterList trainable(const nn::Module& model) {
  nn::ParameterList all = model.parameters();
  std::erase_if(all, [](const nn::Parameter& parameter) {
    return !parameter.tensor.requires_grad();
  });
  return all;
}

}  // namespace neap::models
