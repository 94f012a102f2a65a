// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "photo_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/out_of_memory.hpp"

namespace neap::app {
Result<Bytes> most_of_decoding(const data::ImageFolder& folder,
                               const data::ImageTransformOptions& options) {
  const data::ImageTransform transform(options);
  Bytes most = 0;
  for (std::int64_t index = 0; index < folder.size(); ++index) {
    const auto header = data::read_image_header(
        files::system_door(), folder.path(index), folder.limits());
    if (!header) {
      return tl::unexpected(header.error());
    }
    const Bytes cutting = 3 * header->height * header->width +
                          transform.most_bytes(header->height, header->width);
    most = std::max({most, header->most_bytes, cutting});
  }
  return most;
}

PhotoSet::PhotoSet(const data::ImageFolder& folder, DecodingRoom& room,
                   const data::ImageTransformOptions& options, Indices indices)
    : images_(folder, options), room_(&room), indices_(std::move(indices)) {}

Result<void> PhotoSet::load(data::SampleId id, std::span<std::byte> input,
                            std::span<std::byte> target) const {
  id.index = indices_[static_cast<std::size_t>(id.index)];
  try {
    return room_->run([&] { return images_.load(id, input, target); });
  } catch (const OutOfMemory& error) {
    if (error.details().reason != OutOfMemory::Reason::kBudget) {
      throw;
    }
    return failure(
        FailureKind::kTooLarge,
        fmt::format("{}: is larger than it was when the run began; "
                    "leave the images alone, and start it again",
                    base::shown_path(images_.folder().path(id.index))));
  }
}

std::uint64_t PhotoSet::fingerprint() const {
  const std::uint64_t found = room_->run([&] { return images_.fingerprint(); });
  return data::fingerprint(std::as_bytes(std::span(indices_)), found);
}

Bytes PhotoSet::bytes() const noexcept {
  return static_cast<Bytes>(indices_.capacity() * sizeof(indices_[0]));
}

}  // namespace neap::app
