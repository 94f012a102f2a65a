// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/safetensors_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "neap/base/shown.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/safetensors_header.hpp"
#include "neap/formats/whole_text.hpp"

namespace neap::formats {
namespace {

using Files = memory::Vector<SafetensorsFile>;

constexpr std::string_view kWhole = "model.safetensors";
constexpr std::string_view kIndex = "model.safetensors.index.json";

memory::String empty_text() {
  return memory::String(memory::Allocator<char>(memory::Category::kData));
}

// A tensor of the index, and the number of its file.
struct Mapped {
  memory::String tensor;
  std::size_t file = 0;
};

struct Index {
  memory::Vector<memory::String> files{
      memory::Allocator<memory::String>(memory::Category::kData)};
  memory::Vector<Mapped> tensors{
      memory::Allocator<Mapped>(memory::Category::kData)};
};

// A file of the same folder, by a name that cannot lead elsewhere.
bool is_plain_name(std::string_view name) noexcept {
  return name.ends_with(".safetensors") && !name.starts_with('.') &&
         name.size() <= 255 && std::ranges::none_of(name, [](char c) {
           return c == '/' || c == '\\' || c == ':' ||
                  static_cast<unsigned char>(c) < ' ';
         });
}

class IndexParser {
 public:
  IndexParser(std::string_view text, std::string_view path)
      : json_(text), path_(path) {}

  Result<Index> parse() {
    if (!top() || !json_.finish()) {
      return tl::unexpected<Failure>(
          refusal_
              ? std::move(*refusal_)
              : Failure{FailureKind::kCorrupt,
                        fmt::format("{}: {} at byte {} of this index of "
                                    "shards; fetch it again",
                                    path_, json_.fault(), json_.position())});
    }
    if (!has_map_) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}: no index of shards, it has no "
                                 "\"weight_map\"",
                                 path_));
    }
    if (index_.files.empty()) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}: names no file; fetch it again", path_));
    }
    std::ranges::sort(index_.tensors, {}, &Mapped::tensor);
    const auto twice =
        std::ranges::adjacent_find(index_.tensors, {}, &Mapped::tensor);
    if (twice != index_.tensors.end()) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}: names {} twice; fetch it again", path_,
                                 quoted(twice->tensor)));
    }
    return std::move(index_);
  }

 private:
  bool refuse(FailureKind kind, std::string message) {
    refusal_ = {kind, fmt::format("{}: {}", path_, message)};
    return false;
  }

  // Calls member(key) behind each key of an object.
  template <class Member>
  bool object(const Member& member) {
    if (!json_.expect('{')) {
      return false;
    }
    if (json_.accept('}')) {
      return true;
    }
    memory::String key = empty_text();
    do {
      if (!json_.string(key) || !json_.expect(':') || !member(key)) {
        return false;
      }
    } while (json_.accept(','));
    return json_.expect('}');
  }

  bool top() {
    return object([&](const memory::String& key) {
      if (key != "weight_map") {
        return json_.skip();
      }
      if (has_map_) {
        return refuse(FailureKind::kCorrupt, "has two \"weight_map\"");
      }
      has_map_ = true;
      return object([&](const memory::String& tensor) { return map(tensor); });
    });
  }

  bool map(const memory::String& tensor) {
    memory::String file = empty_text();
    if (!json_.string(file)) {
      return false;
    }
    if (!is_plain_name(file)) {
      return refuse(FailureKind::kCorrupt,
                    fmt::format("puts {} into {}, which is no safetensors file "
                                "of the same folder",
                                quoted(tensor), quoted(file)));
    }
    const auto found = std::ranges::find(index_.files, file);
    const auto at = static_cast<std::size_t>(found - index_.files.begin());
    if (found == index_.files.end()) {
      if (at == kMostShards) {
        return refuse(FailureKind::kTooLarge,
                      fmt::format("names more than {} files", kMostShards));
      }
      index_.files.push_back(std::move(file));
    }
    index_.tensors.push_back({tensor, at});
    return true;
  }

  JsonCursor json_;
  std::string_view path_;
  Index index_;
  bool has_map_ = false;
  std::optional<Failure> refusal_;
};

// The tensors that the index gives to the files are those that they have.
Result<void> check_contents(const Index& index, const Files& files,
                            std::string_view path) {
  for (const Mapped& mapped : index.tensors) {
    if (files[mapped.file].find(mapped.tensor) == nullptr) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}: {} is not in {}, where it should be",
                                 path, quoted(mapped.tensor),
                                 base::shown(index.files[mapped.file])));
    }
  }
  const auto name_of_mapped = [](const Mapped& mapped) {
    return std::string_view(mapped.tensor);
  };
  for (std::size_t i = 0; i < files.size(); ++i) {
    for (const SafetensorsEntry& entry : files[i].entries()) {
      const auto mapped = std::ranges::lower_bound(
          index.tensors, std::string_view(entry.name), {}, name_of_mapped);
      if (mapped == index.tensors.end() || mapped->tensor != entry.name ||
          mapped->file != i) {
        return failure(
            FailureKind::kCorrupt,
            fmt::format("{}: does not give {} to {}, which has it", path,
                        quoted(entry.name), base::shown(index.files[i])));
      }
    }
  }
  return {};
}

Result<Files> open_one(files::Door& door, const std::string& path,
                       Verify verify) {
  return SafetensorsFile::open(door, path, verify)
      .map([](SafetensorsFile&& file) {
        Files files{
            memory::Allocator<SafetensorsFile>(memory::Category::kData)};
        files.push_back(std::move(file));
        return files;
      });
}

Result<Files> open_indexed(files::Door& door, const std::string& path,
                           Verify verify) {
  const auto text = read_whole_text(door, path, kMaxSafetensorsHeader);
  if (!text) {
    return tl::make_unexpected(text.error());
  }
  const std::string shown = base::shown_path(path);
  const auto index = IndexParser(*text, shown).parse();
  if (!index) {
    return tl::make_unexpected(index.error());
  }
  Files files{memory::Allocator<SafetensorsFile>(memory::Category::kData)};
  files.reserve(index->files.size());
  const std::string folder = files::directory_of(path);
  for (const memory::String& name : index->files) {
    auto file =
        SafetensorsFile::open(door, folder + "/" + std::string(name), verify);
    if (!file) {
      return tl::make_unexpected(std::move(file.error()));
    }
    files.push_back(std::move(*file));
  }
  return check_contents(*index, files, shown).map([&] {
    return std::move(files);
  });
}

}  // namespace

Result<Files> open_shards(files::Door& door, const std::string& path,
                          Verify verify) {
  const auto facts = door.inspect(path);
  if (!facts) {
    return tl::make_unexpected(facts.error());
  }
  if (facts->kind != files::PathKind::kDirectory) {
    return path.ends_with(".json") ? open_indexed(door, path, verify)
                                   : open_one(door, path, verify);
  }
  for (const std::string_view name : {kWhole, kIndex}) {
    const std::string inside = path + "/" + std::string(name);
    const auto is_there = door.exists(inside);
    if (!is_there) {
      return tl::make_unexpected(is_there.error());
    }
    if (*is_there) {
      return name == kWhole ? open_one(door, inside, verify)
                            : open_indexed(door, inside, verify);
    }
  }
  return failure(
      FailureKind::kNotFound,
      fmt::format("{}: has neither {} nor {}; convert the weights to "
                  "safetensors",
                  base::shown_path(path), kWhole, kIndex));
}

}  // namespace neap::formats
