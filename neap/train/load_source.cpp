// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/load_source.hpp"

#include <algorithm>

namespace neap::train {
namespace {

using formats::SafetensorsEntry;
using formats::SafetensorsFile;

memory::String name_for_module(std::string_view name,
                               const LoadOptions& options) {
  if (!options.prefix.empty() && name.starts_with(options.prefix)) {
    name.remove_prefix(options.prefix.size());
  }
  for (const Rename& rename : options.rename) {
    memory::String other = renamed(name, rename);
    if (!other.empty()) {
      return other;
    }
  }
  return memory::String(name);
}

}  // namespace

LoadSource::LoadSource(std::span<SafetensorsFile> files,
                       const LoadOptions& options, Differences& differences)
    : files_(files),
      has_table_(files.size() != 1 || !options.prefix.empty() ||
                 !options.rename.empty() || !options.ignore.empty()) {
  for (const SafetensorsFile& file : files) {
    size_ += file.entries().size();
  }
  if (has_table_) {
    fill_table(options, differences);
  }
}

void LoadSource::fill_table(const LoadOptions& options,
                            Differences& differences) {
  table_.reserve(size_);
  std::size_t number = 0;
  for (SafetensorsFile& file : files_) {
    for (const SafetensorsEntry& entry : file.entries()) {
      const Item item{&file, &entry, number++};
      memory::String name = name_for_module(entry.name, options);
      if (!matches_any(name, options.ignore)) {
        table_.push_back({std::move(name), item});
      }
    }
  }
  std::ranges::sort(table_, {}, &Named::name);
  for (std::size_t i = 1; i < table_.size(); ++i) {
    if (table_[i].name == table_[i - 1].name) {
      differences.add("\"{}\" and \"{}\" both become \"{}\"",
                      base::shown(table_[i - 1].item.entry->name),
                      base::shown(table_[i].item.entry->name),
                      base::shown(table_[i].name));
    }
  }
}

Item LoadSource::find(std::string_view name) const {
  if (!has_table_) {
    SafetensorsFile& file = files_.front();
    const SafetensorsEntry* entry = file.find(name);
    return entry == nullptr
               ? Item{}
               : Item{&file, entry,
                      static_cast<std::size_t>(entry - file.entries().data())};
  }
  const auto name_of_named = [](const Named& named) {
    return std::string_view(named.name);
  };
  const auto found = std::ranges::lower_bound(table_, name, {}, name_of_named);
  return found != table_.end() && found->name == name ? found->item : Item{};
}

}  // namespace neap::train
