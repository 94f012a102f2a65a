// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/train/staging.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>

#include "neap/base/shown.hpp"
#include "neap/compile/state_file.hpp"
#include "neap/formats/elements.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/host_access.hpp"
#include "neap/train/measures.hpp"
#include "neap/train/torn_load.hpp"

namespace neap::train {
namespace {

using formats::SafetensorsEntry;
using formats::SafetensorsFile;

using Piece = std::array<std::byte, 8 * kKiB>;

std::span<const std::byte> dense_bytes(const Tensor& tensor) noexcept {
  return {tensor.array()->strided().data,
          static_cast<std::size_t>(tensor.element_count() *
                                   size_of(tensor.dtype()))};
}

tensor::Storage& storage_of(const Tensor& tensor) {
  return *tensor.array()->storage();
}

// Dense bytes of all elements of a tensor, as its own view.
tensor::Strided dense_view(std::span<std::byte> bytes, const Tensor& like) {
  const tensor::Layout layout =
      tensor::dense_layout(like.dtype(), like.shape());
  return {bytes.data(), layout.dtype, layout.shape, layout.strides};
}

// The view as the file has it.
tensor::Strided as_stored(tensor::Strided view, bool is_transposed) noexcept {
  if (is_transposed) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  return view;
}

std::span<std::byte> bytes_of(tensor::Storage& storage) noexcept {
  return {storage.data(), static_cast<std::size_t>(storage.size())};
}

// All of its elements are away, and may stay so while they are written.
bool is_away(const Tensor& tensor) {
  return storage_of(tensor).is_away() && tensor::is_whole(tensor);
}

void put(std::span<const std::byte> from, const tensor::Strided& into,
         std::int64_t first) noexcept {
  if (tensor::is_contiguous({into.dtype, into.shape, into.strides, 0})) {
    std::ranges::copy(from, into.data + first * static_cast<std::int64_t>(
                                                    size_of(into.dtype)));
  } else {
    formats::scatter(from, into, first);
  }
}

// Reads an entry in pieces from its start to its end: visit(first element,
// piece) gives a result.
template <class Visit>
Result<void> for_each_piece(const Item& item, const Visit& visit) {
  const SafetensorsEntry& entry = *item.entry;
  Piece buffer;
  const auto total = static_cast<std::size_t>(entry.end - entry.begin);
  std::size_t done = 0;
  do {
    const std::span part(buffer.data(), std::min(total - done, buffer.size()));
    const auto first = static_cast<std::int64_t>(done) / size_of(entry.stored);
    if (auto read = item.file->read_elements(entry, first, part); !read) {
      return read;
    }
    if (auto good = visit(first, part); !good) {
      return good;
    }
    done += part.size();
  } while (done < total);
  return {};
}

// The elements of pieces in the dtype of a tensor.
class Converter {
 public:
  Converter(const Item& item, DType dtype)
      : item_(item),
        dtype_(dtype),
        is_needed_(!formats::is_native(item.entry->stored) ||
                   item.entry->dtype != dtype) {}

  // LIFETIME: the piece, or until the next call.
  Result<std::span<const std::byte>> operator()(
      std::span<const std::byte> piece) {
    if (!is_needed_) {
      return piece;
    }
    const auto count =
        piece.size() /
        static_cast<std::size_t>(formats::size_of(item_.entry->stored));
    const std::span into = std::span(buffer_).first(
        count * static_cast<std::size_t>(size_of(dtype_)));
    if (!formats::convert(item_.entry->stored, piece, dtype_, into)) {
      return failure(
          FailureKind::kMismatch,
          fmt::format("{}: \"{}\" has a number that {} has not",
                      item_.file->name(), base::shown(item_.entry->name),
                      name_of(dtype_)));
    }
    return into;
  }

 private:
  Item item_;
  DType dtype_;
  bool is_needed_;
  std::array<std::byte, 8 * std::tuple_size_v<Piece>> buffer_;
};

std::string quoted(const Item& item) {
  return fmt::format("\"{}\"", base::shown(item.entry->name));
}

// Reads a whole entry into dense bytes of a tensor's elements.
Result<void> read_dense(const Item& item, std::span<std::byte> bytes,
                        const Tensor& like, bool is_transposed) {
  return item.file->read_into(
      *item.entry, as_stored(dense_view(bytes, like), is_transposed));
}

}  // namespace

void Staging::add(const Item& item, const Tensor& into, bool is_transposed,
                  const CallSite& site) {
  if (is_away(into)) {
    if (!is_rehearsed(into)) {
      tensor::check_host_look(into, "load", site, true);
    }
  } else if (!is_rehearsed(into)) {
    tensor::check_host_access(into, "load", site, true);
  }
  staged_.push_back(
      {.item = item, .into = into, .is_transposed = is_transposed});
}

void Staging::add_name(const Item& other) {
  names_.push_back({staged_.size() - 1, other});
}

memory::Tag Staging::tag_for(const Staged& staged, base::SiteId site) noexcept {
  memory::Tag tag = storage_of(staged.into).tag();
  tag.category = memory::Category::kData;
  tag.site = site;
  return tag;
}

// Tensors that are away come first, while no copies take memory.
Result<void> Staging::read(const CallSite& site) {
  const memory::OutsideScopes outside;
  const base::SiteId where = base::intern(site);
  for (Staged& staged : staged_) {
    if (is_away(staged.into)) {
      if (auto read = read_away(staged, where); !read) {
        return read;
      }
    }
  }
  if (!in_place_) {
    make_copies(where);
  }
  for (Staged& staged : staged_) {
    if (is_rehearsed(staged.into)) {
      return {};
    }
    if (auto read = read_here(staged, where); !read) {
      return read;
    }
  }
  for (const Name& name : names_) {
    if (auto same = compare(name); !same) {
      return same;
    }
  }
  return {};
}

// To the file that has the elements of before. State that nobody has used yet
// is in none: memory that becomes its own.
Result<void> Staging::read_away(Staged& staged, base::SiteId site) {
  tensor::Storage& storage = storage_of(staged.into);
  const auto file = compiler::StateFile::of(storage);
  if (file == nullptr && is_rehearsed(staged.into)) {
    staged.from = copy_of(staged, site);
    return {};
  }
  if (file == nullptr) {
    staged.home.emplace(storage);
    return read_dense(staged.item, staged.home->bytes(), staged.into,
                      staged.is_transposed);
  }
  const auto copy = tensor::Storage::allocate(
      storage.size(), tag_for(staged, site), storage.domain());
  if (!is_rehearsed(staged.into)) {
    auto read = read_dense(staged.item, bytes_of(*copy), staged.into,
                           staged.is_transposed);
    if (!read) {
      return read;
    }
  }
  staged.keeper = file->write_anew(storage, bytes_of(*copy));
  return {};
}

Tensor Staging::copy_of(const Staged& staged, base::SiteId site) {
  return Tensor(tensor::Array::allocate(staged.into.spec(),
                                        tag_for(staged, site),
                                        storage_of(staged.into).domain()));
}

// For all of the others, or for none.
void Staging::make_copies(base::SiteId site) {
  try {
    for (Staged& staged : staged_) {
      if (!is_away(staged.into)) {
        staged.from = copy_of(staged, site);
      }
    }
  } catch (const OutOfMemory& error) {
    if (error.details().reason != OutOfMemory::Reason::kBudget &&
        error.details().reason != OutOfMemory::Reason::kSystem) {
      throw;
    }
    for (Staged& staged : staged_) {
      if (!is_away(staged.into)) {
        staged.from = Tensor();
        staged.is_direct = true;
      }
    }
  }
}

Result<void> Staging::read_here(Staged& staged, base::SiteId site) {
  if (staged.is_direct) {
    return look_through(staged);
  }
  if (in_place_ && !staged.keeper && !staged.home) {
    storage_of(staged.into).bump_version(site);
    return staged.item.file->read_into(
        *staged.item.entry,
        as_stored(staged.into.array()->strided(), staged.is_transposed));
  }
  return staged.from.defined()
             ? staged.item.file->read_into(
                   *staged.item.entry, as_stored(staged.from.array()->strided(),
                                                 staged.is_transposed))
             : Result<void>();
}

Result<void> Staging::look_through(Staged& staged) {
  formats::Digest digest;
  Converter converted(staged.item, staged.into.dtype());
  return for_each_piece(staged.item,
                        [&](std::int64_t /*first*/,
                            std::span<const std::byte> piece) -> Result<void> {
                          digest.update(piece);
                          return converted(piece).map([](auto) {});
                        })
      .map([&] { staged.digest = digest.value(); });
}

// Both are in the file. What is read from its start on is compared with its
// checksum at its end, the tensor's own entry was before.
Result<void> Staging::compare(const Name& name) const {
  const Item& own = staged_[name.staged].item;
  const auto differ = [&] {
    return failure(
        FailureKind::kMismatch,
        fmt::format("{}: {} and {} are one tensor of the model and "
                    "two in the file",
                    own.file->name(), quoted(own), quoted(name.item)));
  };
  if (own.entry->stored != name.item.entry->stored) {
    return differ();
  }
  Piece buffer;
  return for_each_piece(own, [&](std::int64_t first,
                                 std::span<const std::byte> piece) {
    const std::span other = std::span(buffer).first(piece.size());
    Result<void> read =
        name.item.file->read_elements(*name.item.entry, first, other);
    if (read && std::memcmp(other.data(), piece.data(), piece.size()) != 0) {
      read = differ();
    }
    return read;
  });
}

void Staging::commit(base::SiteId site) noexcept {
  for (Staged& staged : staged_) {
    tensor::Storage& storage = storage_of(staged.into);
    if (staged.keeper) {
      storage.send_away(std::move(staged.keeper));
    } else if (staged.home) {
      staged.home->begin();
    } else if (staged.is_direct || !staged.from.defined() ||
               is_rehearsed(staged.into)) {
      continue;  // not yet, or in its place
    } else {
      put(dense_bytes(staged.from), staged.into.array()->strided(), 0);
    }
    storage.bump_version(site);
  }
}

Result<void> Staging::overwrite(const Staged& staged) {
  formats::Digest digest;
  Converter converted(staged.item, staged.into.dtype());
  const tensor::Strided into =
      as_stored(staged.into.array()->strided(), staged.is_transposed);
  auto written = for_each_piece(
      staged.item,
      [&](std::int64_t first,
          std::span<const std::byte> piece) -> Result<void> {
        digest.update(piece);
        return converted(piece).map([&](std::span<const std::byte> elements) {
          put(elements, into, first);
        });
      });
  if (written && digest.value() != staged.digest) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{}: was changed while it was read",
                               staged.item.file->name()));
  }
  return written;
}

void Staging::finish(base::SiteId site) {
  for (std::size_t i = 0; i < staged_.size(); ++i) {
    const Staged& staged = staged_[i];
    if (!staged.is_direct || is_rehearsed(staged.into)) {
      continue;
    }
    storage_of(staged.into).bump_version(site);
    const auto written = overwrite(staged);
    if (written) {
      continue;
    }
    std::string rest;
    for (std::size_t k = i + 1; k < staged_.size(); ++k) {
      if (staged_[k].is_direct) {
        rest += (rest.empty() ? "" : ", ") + quoted(staged_[k].item);
      }
    }
    throw TornLoad(
        fmt::format("load: {} has parts of two states{}, all else is loaded; "
                    "load again, or start again: {}",
                    quoted(staged.item),
                    rest.empty() ? rest : ", and these are as before: " + rest,
                    written.error().message),
        written.error().kind);
  }
}

}  // namespace neap::train
