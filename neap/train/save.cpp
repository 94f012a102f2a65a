// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/save.hpp"

#include "neap/train/module_state.hpp"

namespace neap::train {
namespace {

files::Door& door_of(files::Door* door) noexcept {
  return door != nullptr ? *door : files::system_door();
}

}  // namespace

Result<void> save(const nn::Module& module, const std::string& path,
                  const SaveOptions& options, CallSite site) {
  const ParameterList tensors = tensors_of(module);
  memory::Vector<formats::NamedTensor> named;
  formats::Metadata metadata = options.metadata;
  std::erase_if(metadata, [](const formats::MetadataItem& item) {
    return item.key == "format";
  });
  name_tensors(tensors, named, metadata);
  return formats::write_safetensors(door_of(options.door), path, named,
                                    metadata, site);
}

Result<LoadReport> load(nn::Module& module, const std::string& path,
                        const LoadOptions& options, CallSite site) {
  auto file = formats::SafetensorsFile::open(door_of(options.door), path,
                                             options.verify);
  if (!file) {
    return tl::make_unexpected(std::move(file.error()));
  }
  Staging staging(*file);
  Differences differences;
  LoadReport report = stage_module(module, *file, staging, differences, site);
  if (options.strict) {
    add_names(report, differences);
  }
  if (!differences.empty()) {
    return tl::unexpected<Failure>(
        differences.failure(file->name(), "does not fit the model"));
  }
  return staging.read(site).map([&] {
    staging.commit(base::intern(site));
    return std::move(report);
  });
}

}  // namespace neap::train
