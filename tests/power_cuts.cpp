// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "power_cuts.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace neap::tests {

using files::File;

Result<File> RecordingDoor::adopt(Result<File> file, FileStep step,
                                  const std::string& path) {
  if (file) {
    file->set_door(*this);
    paths_[file->handle()] = path;
    operations_.push_back({.step = step, .path = path});
  }
  return file;
}

Result<File> RecordingDoor::open_read(const std::string& path) {
  auto file = inner_.open_read(path);
  if (file) {
    file->set_door(*this);
  }
  return file;
}

Result<File> RecordingDoor::open_write(const std::string& path) {
  return adopt(inner_.open_write(path), FileStep::kCreate, path);
}

Result<File> RecordingDoor::open_append(const std::string& path) {
  return adopt(inner_.open_append(path), FileStep::kAppend, path);
}

Result<Bytes> RecordingDoor::read(File& file, std::span<std::byte> into) {
  return inner_.read(file, into);
}

Result<Bytes> RecordingDoor::read_at(File& file, Bytes offset,
                                     std::span<std::byte> into) {
  return inner_.read_at(file, offset, into);
}

Result<Bytes> RecordingDoor::write(File& file,
                                   std::span<const std::byte> from) {
  auto count = inner_.write(file, from);
  if (count) {
    const auto* bytes = reinterpret_cast<const char*>(from.data());
    operations_.push_back(
        {.step = FileStep::kWrite,
         .path = paths_.at(file.handle()),
         .other = std::string(bytes, static_cast<std::size_t>(*count))});
  }
  return count;
}

Result<void> RecordingDoor::sync(File& file) {
  operations_.push_back(
      {.step = FileStep::kSync, .path = paths_.at(file.handle())});
  return inner_.sync(file);
}

Result<Bytes> RecordingDoor::size(File& file) {
  return inner_.size(file);
}

Result<void> RecordingDoor::set_mode(File& file, std::uint32_t mode) {
  return inner_.set_mode(file, mode);
}

Result<void> RecordingDoor::close(File& file) {
  return inner_.close(file);
}

void RecordingDoor::abandon(File& file) noexcept {
  inner_.abandon(file);
}

Result<void> RecordingDoor::rename(const std::string& from,
                                   const std::string& to) {
  operations_.push_back({FileStep::kRename, from, to});
  return inner_.rename(from, to);
}

Result<void> RecordingDoor::remove(const std::string& path) {
  operations_.push_back({.step = FileStep::kRemove, .path = path});
  return inner_.remove(path);
}

Result<void> RecordingDoor::make_directory(const std::string& path) {
  return inner_.make_directory(path);
}

Result<void> RecordingDoor::sync_directory(const std::string& path) {
  operations_.push_back({.step = FileStep::kSyncFolder, .path = path});
  return inner_.sync_directory(path);
}

Result<bool> RecordingDoor::exists(const std::string& path) {
  return inner_.exists(path);
}

Result<files::PathFacts> RecordingDoor::inspect(const std::string& path) {
  return inner_.inspect(path);
}

Result<std::vector<std::string>> RecordingDoor::list(
    const std::string& directory) {
  return inner_.list(directory);
}

namespace {

// The bytes of a file, whatever it is called.
struct Content {
  std::string now;
  std::string synced;
};
using Names = std::map<std::string, std::shared_ptr<Content>>;

class Replay {
 public:
  explicit Replay(const Disk& before) {
    for (const auto& [path, bytes] : before) {
      now_[path] = std::make_shared<Content>(Content{bytes, bytes});
    }
    synced_ = now_;
  }

  void apply(const FileOperation& operation, bool is_torn) {
    const std::string& path = operation.path;
    switch (operation.step) {
      case FileStep::kCreate:
      case FileStep::kAppend:
        if (!now_.contains(path)) {
          now_[path] = std::make_shared<Content>();
        } else if (operation.step == FileStep::kCreate) {
          now_.at(path)->now.clear();
        }
        return;
      case FileStep::kWrite:
        now_.at(path)->now += operation.other.substr(
            0, operation.other.size() / (is_torn ? 2 : 1));
        return;
      case FileStep::kSync:
        now_.at(path)->synced = now_.at(path)->now;
        return;
      case FileStep::kRename:
        now_[operation.other] = now_.at(path);
        now_.erase(path);
        return;
      case FileStep::kRemove:
        now_.erase(path);
        return;
      case FileStep::kSyncFolder:
        sync_names(path);
        return;
    }
  }

  Disk found(AfterCut kept) const {
    const bool has_names =
        kept != AfterCut::kNothing && kept != AfterCut::kDataAlone;
    Disk disk;
    for (const auto& [path, content] : has_names ? now_ : synced_) {
      disk[path] = bytes_of(*content, kept);
    }
    return disk;
  }

 private:
  void sync_names(const std::string& folder) {
    const auto is_in = [&](const auto& named) {
      return files::directory_of(named.first) == folder;
    };
    std::erase_if(synced_, is_in);
    std::copy_if(now_.begin(), now_.end(),
                 std::inserter(synced_, synced_.end()), is_in);
  }
  static std::string bytes_of(const Content& content, AfterCut kept) {
    if (kept == AfterCut::kNothing || kept == AfterCut::kNamesAlone) {
      return content.synced;
    }
    std::string bytes = content.now;
    if (kept == AfterCut::kNamesWithZeroes) {
      const std::size_t same = std::min(content.synced.size(), bytes.size());
      std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(same), bytes.end(),
                '\0');
    }
    return bytes;
  }

  Names now_;
  Names synced_;
};

}  // namespace

Disk disk_after(const Disk& before,
                const std::vector<FileOperation>& operations, std::size_t count,
                AfterCut kept) {
  Replay replay(before);
  for (std::size_t i = 0; i < count; ++i) {
    replay.apply(operations[i], kept == AfterCut::kTornWrite && i + 1 == count);
  }
  return replay.found(kept);
}

}  // namespace neap::tests
