// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/images/image_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "neap/base/outside.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/fingerprint.hpp"

namespace neap::data {
namespace {

template <class T>
memory::Allocator<T> data_allocator() {
  return memory::Allocator<T>(memory::Category::kData);
}

enum class FileKind { kImage, kForeignImage, kOther };

// By the ending of a name, as torchvision chooses.
FileKind kind_of(std::string_view name) noexcept {
  constexpr std::array<std::string_view, 3> kRead = {"jpeg", "jpg", "png"};
  constexpr std::array<std::string_view, 9> kForeign = {
      "avif", "bmp", "gif", "heic", "pgm", "ppm", "tif", "tiff", "webp"};
  const auto dot = name.rfind('.');
  if (dot == std::string_view::npos) {
    return FileKind::kOther;
  }
  const auto is_ending = [&](std::string_view ending) {
    return std::equal(ending.begin(), ending.end(), name.begin() + dot + 1,
                      name.end(), [](char wanted, char found) {
                        const bool is_upper = found >= 'A' && found <= 'Z';
                        return wanted == (is_upper ? found - 'A' + 'a' : found);
                      });
  };
  if (std::any_of(kRead.begin(), kRead.end(), is_ending)) {
    return FileKind::kImage;
  }
  return std::any_of(kForeign.begin(), kForeign.end(), is_ending)
             ? FileKind::kForeignImage
             : FileKind::kOther;
}

bool is_hidden(std::string_view name) noexcept {
  return name.starts_with('.');
}

std::string_view piece(const memory::Vector<char>& texts,
                       const memory::Vector<std::uint32_t>& ends,
                       std::int64_t index) noexcept {
  const auto at = static_cast<std::size_t>(index);
  const std::size_t begin = at == 0 ? 0 : ends[at - 1];
  return {texts.data() + begin, ends[at] - begin};
}

Result<void> append(std::string_view folder, std::string_view text,
                    memory::Vector<char>& texts,
                    memory::Vector<std::uint32_t>& ends) {
  if (text.size() > std::numeric_limits<std::uint32_t>::max() - texts.size()) {
    return failure(
        FailureKind::kTooLarge,
        fmt::format("{}: its names have more than 4 GiB; make several "
                    "folders of it",
                    base::shown_path(folder)));
  }
  texts.insert(texts.end(), text.begin(), text.end());
  ends.push_back(static_cast<std::uint32_t>(texts.size()));
  return {};
}

}  // namespace

// Walks through the folder, without recursion.
class ImageFolder::Scan {
 public:
  Scan(files::Door& door, ImageFolder& into) : door_(door), into_(into) {}

  Result<void> run();

 private:
  // A folder below a class's: its path from there, with a '/' at the end, or
  // nothing; and how many folders it is below.
  struct Below {
    std::string path;
    int depth = 0;
  };

  std::string path_of(std::string_view name) const {
    return fmt::format("{}/{}", std::string_view(into_.folder_), name);
  }
  Result<bool> is_folder(const std::string& path);
  Result<bool> is_new_folder(const std::string& path);
  Result<void> take_class(const std::string& name);
  Result<void> find_folders(const std::string& folder);
  Result<void> take_files(const std::string& folder, const std::string& below);

  files::Door& door_;
  ImageFolder& into_;
  std::vector<Below> folders_;  // of the present class
  /// Device and number of each: links that lead to one twice, or back, would
  /// have no end.
  std::set<std::pair<std::uint64_t, std::uint64_t>> known_;
};

Result<bool> ImageFolder::Scan::is_folder(const std::string& path) {
  return door_.inspect(path).map([](const files::PathFacts& facts) {
    return facts.kind == files::PathKind::kDirectory;
  });
}

Result<bool> ImageFolder::Scan::is_new_folder(const std::string& path) {
  const auto facts = door_.inspect(path);
  if (!facts) {
    return tl::unexpected(facts.error());
  }
  if (facts->kind != files::PathKind::kDirectory) {
    return false;
  }
  if (facts->number != 0 &&
      !known_.emplace(facts->device, facts->number).second) {
    return failure(FailureKind::kUnsupported,
                   fmt::format("{}: is a folder of its class already, by "
                               "another path; take the link out",
                               base::shown_path(path)));
  }
  return true;
}

Result<void> ImageFolder::Scan::run() {
  const std::string folder(into_.folder_);
  const auto names = door_.list(folder);
  if (!names) {
    return tl::unexpected(names.error());
  }
  for (const std::string& name : *names) {
    const auto found =
        is_hidden(name) ? Result<bool>(false) : is_folder(path_of(name));
    if (!found) {
      return tl::unexpected(found.error());
    }
    if (*found) {
      if (auto taken = take_class(name); !taken) {
        return taken;
      }
    }
  }
  if (into_.classes() == 0) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: has no folder for a class; put the images "
                               "of each class into a folder of its name",
                               base::shown_path(folder)));
  }
  into_.names_.shrink_to_fit();
  into_.name_ends_.shrink_to_fit();
  return {};
}

Result<void> ImageFolder::Scan::take_class(const std::string& name) {
  const std::string folder = path_of(name);
  const std::int64_t before = into_.size();
  if (auto good =
          append(folder, name, into_.class_names_, into_.class_name_ends_);
      !good) {
    return good;
  }
  if (auto found = find_folders(folder); !found) {
    return found;
  }
  for (const Below& below : folders_) {
    if (auto taken = take_files(folder, below.path); !taken) {
      return taken;
    }
  }
  if (into_.size() == before) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: has no image for its class (.png, .jpg or "
                               ".jpeg); remove the folder, or fill it",
                               base::shown_path(folder)));
  }
  into_.class_ends_.push_back(into_.size());
  return {};
}

// A name that ends as an image's is not looked at: there are many of them.
Result<void> ImageFolder::Scan::find_folders(const std::string& folder) {
  constexpr int kMostDepth = 32;
  folders_.assign(1, {});
  known_.clear();
  if (const auto own = is_new_folder(folder); !own) {
    return tl::unexpected(own.error());
  }
  for (std::size_t at = 0; at < folders_.size(); ++at) {
    const Below below = folders_[at];
    const std::string whole = fmt::format("{}/{}", folder, below.path);
    const auto names = door_.list(whole);
    if (!names) {
      return tl::unexpected(names.error());
    }
    for (const std::string& name : *names) {
      if (is_hidden(name) || kind_of(name) != FileKind::kOther) {
        continue;
      }
      const auto found = is_new_folder(whole + name);
      if (!found) {
        return tl::unexpected(found.error());
      }
      if (*found && below.depth == kMostDepth) {
        return failure(
            FailureKind::kUnsupported,
            fmt::format("{}: its folders are nested more than {} deep; does a "
                        "link lead back?",
                        base::shown_path(folder), kMostDepth));
      }
      if (*found) {
        folders_.push_back({below.path + name + "/", below.depth + 1});
      }
    }
  }
  // Without its '/', as torchvision compares: "a-b" is before "a/b".
  const auto key = [](const Below& one) {
    return std::string_view(one.path).substr(
        0, one.path.size() - (one.path.empty() ? 0 : 1));
  };
  std::sort(folders_.begin(), folders_.end(),
            [&](const Below& a, const Below& b) { return key(a) < key(b); });
  return {};
}

Result<void> ImageFolder::Scan::take_files(const std::string& folder,
                                           const std::string& below) {
  const auto names = door_.list(fmt::format("{}/{}", folder, below));
  if (!names) {
    return tl::unexpected(names.error());
  }
  for (const std::string& name : *names) {
    const FileKind kind = is_hidden(name) ? FileKind::kOther : kind_of(name);
    if (kind == FileKind::kForeignImage) {
      return failure(
          FailureKind::kUnsupported,
          fmt::format(
              "{}: only PNG and JPEG are read; convert the image, or "
              "take it out",
              base::shown_path(fmt::format("{}/{}{}", folder, below, name))));
    }
    if (kind == FileKind::kImage) {
      if (auto good =
              append(folder, below + name, into_.names_, into_.name_ends_);
          !good) {
        return good;
      }
    }
  }
  return {};
}

ImageFolder::ImageFolder(files::Door& door, std::string_view folder,
                         const ImageLimits& limits)
    : door_(&door),
      limits_(limits),
      folder_(folder, data_allocator<char>()),
      names_(data_allocator<char>()),
      name_ends_(data_allocator<std::uint32_t>()),
      class_names_(data_allocator<char>()),
      class_name_ends_(data_allocator<std::uint32_t>()),
      class_ends_(data_allocator<std::int64_t>()) {}

Result<ImageFolder> ImageFolder::open(files::Door& door,
                                      std::string_view folder,
                                      const ImageLimits& limits) {
  check_limits(limits);
  ImageFolder found(door, folder, limits);
  if (auto good = Scan(door, found).run(); !good) {
    return tl::unexpected(std::move(good.error()));
  }
  return found;
}

std::string_view ImageFolder::class_name(std::int64_t label) const noexcept {
  return piece(class_names_, class_name_ends_, label);
}

std::string_view ImageFolder::name(std::int64_t index) const noexcept {
  return piece(names_, name_ends_, index);
}

std::int64_t ImageFolder::label(std::int64_t index) const noexcept {
  return std::upper_bound(class_ends_.begin(), class_ends_.end(), index) -
         class_ends_.begin();
}

std::string ImageFolder::path(std::int64_t index) const {
  return fmt::format("{}/{}/{}", std::string_view(folder_),
                     class_name(label(index)), name(index));
}

Result<Image> ImageFolder::read(std::int64_t index) const {
  base::tell_of_question("read", "for an image of a folder", {});
  return read_image(*door_, path(index), limits_);
}

Bytes ImageFolder::bytes() const noexcept {
  const auto of = [](const auto& vector) {
    return static_cast<Bytes>(vector.capacity() * sizeof(vector[0]));
  };
  return of(names_) + of(name_ends_) + of(class_names_) + of(class_name_ends_) +
         of(class_ends_);
}

std::uint64_t ImageFolder::fingerprint() const {
  std::uint64_t found =
      data::fingerprint({size(), classes(), limits_.channels, limits_.pixels});
  if (!limits_.turns_upright) {  // what others begin with stays as it was
    found = data::fingerprint({0}, found);
  }
  found = data::fingerprint(std::as_bytes(std::span(names_)), found);
  found = data::fingerprint(std::as_bytes(std::span(name_ends_)), found);
  found = data::fingerprint(std::as_bytes(std::span(class_names_)), found);
  found = data::fingerprint(std::as_bytes(std::span(class_name_ends_)), found);
  found = data::fingerprint(std::as_bytes(std::span(class_ends_)), found);
  for (const std::int64_t index : {std::int64_t{0}, size() - 1}) {
    if (const auto image = read_image(*door_, path(index), limits_)) {
      found = data::fingerprint({image->height, image->width}, found);
      found = data::fingerprint(std::as_bytes(std::span(image->pixels)), found);
    }
  }
  return found;
}

}  // namespace neap::data
