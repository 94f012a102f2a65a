// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/save.hpp"

#include "neap/formats/safetensors_folder.hpp"
#include "neap/train/module_state.hpp"

namespace neap::train {
namespace {

files::Door& door_of(files::Door* door) noexcept {
  return door != nullptr ? *door : files::system_door();
}

void check_patterns(const LoadOptions& options) {
  for (const Rename& rename : options.rename) {
    check(rename);
  }
  for (const auto* patterns :
       {&options.ignore, &options.transpose, &options.skip}) {
    for (const std::string& pattern : *patterns) {
      check_pattern(pattern);
    }
  }
}

// "FILE", or the folder of several.
std::string name_of_source(const LoadSource& source, const std::string& path) {
  return source.is_one_file() ? std::string(source.name())
                              : base::shown_path(path);
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
  check_patterns(options);
  auto files =
      formats::open_shards(door_of(options.door), path, options.verify);
  if (!files) {
    return tl::make_unexpected(std::move(files.error()));
  }
  Differences differences;
  const LoadSource source(*files, options, differences);
  Staging staging(options.in_place);
  LoadReport report =
      stage_module(module, source, options, staging, differences, site);
  if (options.strict) {
    add_names(report, differences);
  }
  if (!differences.empty()) {
    return tl::unexpected<Failure>(differences.failure(
        name_of_source(source, path), "does not fit the model"));
  }
  return staging.read(site).map([&] {
    staging.commit(base::intern(site));
    staging.finish(base::intern(site));
    return std::move(report);
  });
}

}  // namespace neap::train
