// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A config of timm's as options of a ResNet.
#include <fmt/format.h>

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/models/config_forms.hpp"

namespace neap::models {
namespace {

struct Architecture {
  std::string_view name;
  std::int64_t layers;
};
constexpr Architecture kResNets[] = {{"resnet18", 18},
                                     {"resnet34", 34},
                                     {"resnet50", 50},
                                     {"resnet101", 101},
                                     {"resnet152", 152}};

// Members that do not change what a network computes.
constexpr std::string_view kOfNoAccount[] = {
    "num_features", "pretrained_cfg", "label_names", "label_descriptions"};

}  // namespace

ResNetOptions read_resnet(JsonConfig& config, std::string_view name,
                          const PretrainedOptions& options) {
  ResNetOptions o{.stem = ResNetStem::kLarge, .dtype = options.dtype};
  const auto* const found =
      std::ranges::find(kResNets, name, &Architecture::name);
  if (found == std::end(kResNets)) {
    config.complain(fmt::format(
        "architecture is {}; resnet18, resnet34, resnet50, resnet101 and "
        "resnet152 are implemented",
        base::shown(name)));
    return o;
  }
  o.layers = found->layers;
  o.classes = config.number("num_classes", 1000);
  if (options.classes > 0) {
    o.classes = options.classes;
  }
  if (const std::string pool = config.text("global_pool", "avg");
      pool != "avg") {
    config.complain(fmt::format("global_pool is {}, avg is implemented",
                                base::shown(pool)));
  }
  for (const std::string_view key : kOfNoAccount) {
    config.pass(key);
  }
  return o;
}

}  // namespace neap::models
