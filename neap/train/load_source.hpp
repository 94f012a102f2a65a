// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LoadSource: the tensors of one file or several, under the names that the
// module knows. Of this room alone.
// LIFETIME: files and options outlive it.
#pragma once

#include <span>

#include "neap/train/differences.hpp"
#include "neap/train/save.hpp"

namespace neap::train {

/// A tensor in a file; null: there is none.
struct Item {
  formats::SafetensorsFile* file = nullptr;
  const formats::SafetensorsEntry* entry = nullptr;
  std::size_t number = 0;  // among all of the source
};

class LoadSource {
 public:
  /// `differences` gets names that come to be the same. THROWS: OutOfMemory.
  LoadSource(std::span<formats::SafetensorsFile> files,
             const LoadOptions& options, Differences& differences);

  Item find(std::string_view name) const;
  /// Calls visit(name, item) for each tensor that is not left out.
  template <class Visit>
  void for_each(const Visit& visit) const {
    std::size_t number = 0;
    for (formats::SafetensorsFile& file : files_) {
      if (!has_table_) {
        for (const formats::SafetensorsEntry& entry : file.entries()) {
          visit(entry.name, Item{&file, &entry, number++});
        }
      }
    }
    for (const Named& named : table_) {
      visit(named.name, named.item);
    }
  }
  std::size_t size() const noexcept { return size_; }
  /// "FILE" or "FOLDER", for messages.
  std::string_view name() const noexcept { return files_.front().name(); }
  bool is_one_file() const noexcept { return files_.size() == 1; }
  std::span<formats::SafetensorsFile> files() const noexcept { return files_; }

 private:
  struct Named {
    memory::String name;
    Item item;
  };
  void fill_table(const LoadOptions& options, Differences& differences);

  std::span<formats::SafetensorsFile> files_;
  std::size_t size_ = 0;
  bool has_table_ = false;  // false: the names are those of the only file
  memory::Vector<Named> table_{
      memory::Allocator<Named>(memory::Category::kData)};  // by name
};

}  // namespace neap::train
