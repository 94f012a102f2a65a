// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/module_state.hpp"

#include "neap/base/shown.hpp"

namespace neap::train {
namespace {

using formats::SafetensorsEntry;
using formats::SafetensorsFile;

// All names of a tensor, its home first.
template <class Visit>
void for_each_name(const Parameter& parameter, const Visit& visit) {
  visit(parameter.name);
  for (const memory::String& alias : parameter.aliases) {
    visit(alias);
  }
}

}  // namespace

ParameterList tensors_of(const nn::Module& module) {
  ParameterList all = module.parameters();
  for (Parameter& buffer : module.buffers()) {
    all.push_back(std::move(buffer));
  }
  return all;
}

void name_tensors(const ParameterList& tensors,
                  memory::Vector<formats::NamedTensor>& named,
                  formats::Metadata& metadata) {
  metadata.push_back({"format", "pt"});
  for (const Parameter& parameter : tensors) {
    named.push_back({parameter.name, parameter.tensor});
    for (const memory::String& alias : parameter.aliases) {
      metadata.push_back({alias, parameter.name});
    }
  }
}

bool is_alike(const SafetensorsEntry& entry, const Tensor& tensor,
              Differences& differences) {
  if (entry.dtype == tensor.dtype() && entry.shape == tensor.shape()) {
    return true;
  }
  differences.add("\"{}\" is {} {} there, {} {} here", base::shown(entry.name),
                  name_of(entry.dtype), format_shape(entry.shape),
                  name_of(tensor.dtype()), format_shape(tensor.shape()));
  return false;
}

void add_names(const LoadReport& report, Differences& differences) {
  for (const memory::String& name : report.missing) {
    differences.add("\"{}\" is not there", base::shown(name));
  }
  for (const memory::String& name : report.unexpected) {
    differences.add("\"{}\" is not known here", base::shown(name));
  }
}

LoadReport stage_module(const nn::Module& module, const SafetensorsFile& file,
                        Staging& staging, Differences& differences,
                        const CallSite& site) {
  LoadReport report;
  const std::span<const SafetensorsEntry> entries = file.entries();
  memory::Vector<bool> is_taken(entries.size());
  for (const Parameter& parameter : tensors_of(module)) {
    int found = 0;
    for_each_name(parameter, [&](const memory::String& name) {
      const SafetensorsEntry* entry = file.find(name);
      if (entry == nullptr) {
        return;
      }
      is_taken[static_cast<std::size_t>(entry - entries.data())] = true;
      if (!is_alike(*entry, parameter.tensor, differences)) {
        ++found;  // and the load fails
      } else if (found++ == 0) {
        staging.add(*entry, parameter.tensor, site);
      } else {
        staging.add_name(*entry);
      }
    });
    if (found == 0) {
      report.missing.push_back(parameter.name);
    }
  }
  const bool has_optimizer = is_checkpoint(file);
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const bool is_model =
        !(has_optimizer && entries[i].name.starts_with(kOptimizerPrefix));
    if (is_model && !is_taken[i]) {
      report.unexpected.push_back(entries[i].name);
    }
  }
  return report;
}

}  // namespace neap::train
