// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "output_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "run_parts.hpp"

namespace neap::app {
namespace {

// The file that a path means; for one that is not there, its folder and its
// name in that.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t number = 0;
  std::string name{};  // empty: it is there

  bool operator==(const Identity&) const = default;
};

std::string without_last_slashes(std::string path) {
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  return path;
}

// Nothing of a device or pipe, and of a path that cannot be looked at: who uses
// it is told why.
std::optional<Identity> identity_of(files::Door& door,
                                    const std::string& path) {
  const auto facts = door.inspect(without_last_slashes(path));
  if (!facts || facts->kind == files::PathKind::kOther) {
    return std::nullopt;
  }
  if (facts->kind != files::PathKind::kNothing) {
    return Identity{facts->device, facts->number};
  }
  const auto folder = door.inspect(files::directory_of(facts->target));
  if (!folder || folder->kind != files::PathKind::kDirectory) {
    return std::nullopt;
  }
  // The whole path where it has no slash: npos + 1 is 0.
  return Identity{folder->device, folder->number,
                  facts->target.substr(facts->target.rfind('/') + 1)};
}

struct Identified {
  const NamedFile* file;
  Identity identity;
};

// The identities of those paths that are files.
std::vector<Identified> identify(files::Door& door,
                                 std::span<const NamedFile> files) {
  std::vector<Identified> identified;
  for (const NamedFile& file : files) {
    if (file.path.empty()) {
      continue;
    }
    if (auto identity = identity_of(door, file.path)) {
      identified.push_back({&file, std::move(*identity)});
    }
  }
  return identified;
}

// Checks that none of `others` is the output.
Result<void> check_against(const Identified& output,
                           std::span<const Identified> others) {
  const auto same =
      std::ranges::find(others, output.identity, &Identified::identity);
  if (same == others.end()) {
    return {};
  }
  return failure(
      FailureKind::kMismatch,
      fmt::format("{} and {} are the same file, {}; give {} another",
                  output.file->option, same->file->option,
                  base::shown_path(same->file->path), output.file->option));
}

// A folder of images has other files, too.
bool is_of_images(std::string_view name) {
  constexpr std::array<std::string_view, 3> kEnds{"-ubyte", "-ubyte.gz",
                                                  ".bin"};
  return std::any_of(kEnds.begin(), kEnds.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

void add_images(files::Door& door, const char* option,
                const std::string& folder, std::vector<NamedFile>& files) {
  const auto names = door.list(folder);
  if (!names) {
    return;  // who reads it is told why
  }
  for (const std::string& name : *names) {
    if (is_of_images(name)) {
      files.push_back({option, fmt::format("{}/{}", folder, name)});
    }
  }
}

// Images in the sub-folders for classes; those that are deeper are not looked
// for.
void add_photos(files::Door& door, const std::string& folder,
                std::vector<NamedFile>& files) {
  constexpr std::array<std::string_view, 3> kEnds{".png", ".jpg", ".jpeg"};
  for (const std::string& name :
       door.list(folder).value_or(std::vector<std::string>())) {
    const std::string within = fmt::format("{}/{}", folder, name);
    for (const std::string& file :
         door.list(within).value_or(std::vector<std::string>())) {
      if (std::ranges::any_of(kEnds, [&](std::string_view end) {
            return file.ends_with(end);
          })) {
        files.push_back({"--path", fmt::format("{}/{}", within, file)});
      }
    }
  }
}

}  // namespace

Result<void> check_distinct(files::Door& door,
                            std::span<const NamedFile> outputs,
                            std::span<const NamedFile> inputs) {
  const std::vector<Identified> written = identify(door, outputs);
  const std::vector<Identified> read = identify(door, inputs);
  for (std::span<const Identified> rest = written; !rest.empty();) {
    const Identified& output = rest.front();
    rest = rest.subspan(1);
    if (auto good = check_against(output, rest); !good) {
      return good;
    }
    if (auto good = check_against(output, read); !good) {
      return good;
    }
  }
  return {};
}

NamedFile json_file(const TrainSettings& settings) {
  return {"--json", settings.json == "-" ? std::string() : settings.json};
}

std::vector<NamedFile> data_files(files::Door& door, const TrainSettings& s) {
  std::vector<NamedFile> files;
  if (s.data == "text" || s.data == "csv" || s.data == "jsonl") {
    files.push_back({"--path", s.path});
  } else if (s.data == "images") {
    add_photos(door, s.path, files);
  } else if (s.data == "cifar10" || s.data == "cifar100") {
    add_images(door, "--path", s.path, files);
  } else {
    add_images(door, "--data", data_directory(s), files);
  }
  return files;
}

void add_pretrained(files::Door& door, const std::string& folder,
                    std::vector<NamedFile>& files) {
  const auto names =
      folder.empty() ? std::vector<std::string>()
                     : door.list(folder).value_or(std::vector<std::string>());
  for (const std::string& name : names) {
    if (name.ends_with(".json") || name.ends_with(".safetensors")) {
      files.push_back({"--from", fmt::format("{}/{}", folder, name)});
    }
  }
}

Result<void> check_train_files(files::Door& door, const TrainSettings& s) {
  const std::array<NamedFile, 9> outputs{{{"--save", s.save},
                                          json_file(s),
                                          {"--metrics", s.metrics},
                                          {"--tensorboard", s.tensorboard},
                                          {"--svg", s.svg},
                                          {"--plan", s.plan},
                                          {"--page", s.page},
                                          {"--snapshot", s.snapshot},
                                          {"--trace", s.trace}}};
  std::vector<NamedFile> inputs = data_files(door, s);
  inputs.push_back({"--config", s.config});
  add_pretrained(door, s.from, inputs);
  if (s.kernels.find('/') != std::string::npos) {
    inputs.push_back({"--kernels", s.kernels});
  }
  if (auto good = check_distinct(door, outputs, inputs); !good) {
    return good;
  }
  const NamedFile resumed{"--resume", s.resume};
  return check_distinct(door, std::span(outputs).subspan(1),
                        std::span(&resumed, 1));
}

}  // namespace neap::app
