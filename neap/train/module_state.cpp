// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/module_state.hpp"

#include "neap/base/shown.hpp"
#include "neap/train/checkpoint_keys.hpp"

namespace neap::train {
namespace {

using formats::SafetensorsEntry;

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
  return is_alike(entry, tensor.dtype(), tensor.shape(), differences);
}

bool is_alike(const SafetensorsEntry& entry, DType dtype, const Shape& shape,
              Differences& differences) {
  if (entry.dtype == dtype && entry.shape == shape) {
    return true;
  }
  differences.add("\"{}\" is {} {} there, {} {} here", base::shown(entry.name),
                  name_of(entry.dtype), format_shape(entry.shape),
                  name_of(dtype), format_shape(shape));
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

namespace {

// Stages the names of one tensor of the module after the other.
class Stager {
 public:
  Stager(const LoadSource& source, const LoadOptions& options, Staging& staging,
         Differences& differences, const CallSite& site)
      : source_(source),
        options_(options),
        staging_(staging),
        differences_(differences),
        site_(site),
        is_taken_(source.size()),
        is_checkpoint_(source.is_one_file() &&
                       is_checkpoint(source.files().front())) {}

  void stage(const Parameter& parameter) {
    int found = 0;
    bool is_skipped = false;
    for_each_name(parameter, [&](const memory::String& name) {
      Item item = source_.find(name);
      if (item.entry == nullptr) {
        return;
      }
      is_taken_[item.number] = true;
      if (const Item average = average_of(name); average.entry != nullptr) {
        item = average;
      }
      const bool is_transposed =
          parameter.tensor.rank() == 2 && matches_any(name, options_.transpose);
      if (may_skip(name) && !has_shape(item, parameter.tensor, is_transposed)) {
        is_skipped = true;
      } else if (!fits(item, name, parameter.tensor, is_transposed)) {
        ++found;  // and the load fails
      } else if (found++ == 0) {
        staging_.add(item, parameter.tensor, is_transposed, site_);
      } else {
        staging_.add_name(item);
      }
    });
    if (found == 0) {
      (is_skipped || may_skip(parameter.name) ? report_.skipped
                                              : report_.missing)
          .push_back(parameter.name);
    }
  }

  // With the names that nothing of the module has taken.
  LoadReport finish() {
    source_.for_each([&](std::string_view name, const Item& item) {
      const bool is_model =
          !(is_checkpoint_ && name.starts_with(kOptimizerPrefix));
      if (is_model && !is_taken_[item.number]) {
        report_.unexpected.push_back(memory::String(name));
      }
    });
    return std::move(report_);
  }

 private:
  // None unless they are asked for.
  Item average_of(std::string_view name) const {
    return options_.averages && is_checkpoint_
               ? source_.find(state_name(kAverage, name))
               : Item{};
  }
  bool may_skip(std::string_view name) const noexcept {
    return matches_any(name, options_.skip);
  }
  static Shape shape_there(const Item& item, bool is_transposed) {
    Shape shape = item.entry->shape;
    if (is_transposed && shape.rank() == 2) {
      std::swap(shape[0], shape[1]);
    }
    return shape;
  }
  static bool has_shape(const Item& item, const Tensor& tensor,
                        bool is_transposed) {
    return shape_there(item, is_transposed) == tensor.shape();
  }
  bool fits(const Item& item, std::string_view name, const Tensor& tensor,
            bool is_transposed) {
    const bool is_good =
        has_shape(item, tensor, is_transposed) &&
        (item.entry->dtype == tensor.dtype() ||
         (options_.convert &&
          formats::may_convert(item.entry->stored, tensor.dtype())));
    if (!is_good) {
      differences_.add("\"{}\" is {} {} there, {} {} here", base::shown(name),
                       formats::name_of(item.entry->stored),
                       format_shape(shape_there(item, is_transposed)),
                       name_of(tensor.dtype()), format_shape(tensor.shape()));
    }
    return is_good;
  }

  const LoadSource& source_;
  const LoadOptions& options_;
  Staging& staging_;
  Differences& differences_;
  const CallSite& site_;
  memory::Vector<bool> is_taken_;
  bool is_checkpoint_;
  LoadReport report_;
};

}  // namespace

LoadReport stage_module(const nn::Module& module, const LoadSource& source,
                        const LoadOptions& options, Staging& staging,
                        Differences& differences, const CallSite& site) {
  Stager stager(source, options, staging, differences, site);
  for (const Parameter& parameter : tensors_of(module)) {
    stager.stage(parameter);
  }
  return stager.finish();
}

}  // namespace neap::train
