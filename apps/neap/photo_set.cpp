// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "photo_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "neap/base/philox.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/out_of_memory.hpp"

namespace neap::app {
namespace {

// The image's place in the order in which a class is drawn for the test.
std::uint32_t place_of(std::int64_t index) noexcept {
  constexpr std::uint64_t kSeed = 0x70686f746f73;  // the same for every run
  return base::DrawKey{kSeed, static_cast<std::uint64_t>(index)}.word(0);
}

// Takes `count` of the images [begin, end) for the test.
void split_class(std::int64_t begin, std::int64_t end, std::int64_t count,
                 PhotoParts& parts) {
  Indices drawn{memory::Allocator<std::int64_t>(memory::Category::kData)};
  for (std::int64_t index = begin; index < end; ++index) {
    drawn.push_back(index);
  }
  std::ranges::sort(drawn, {}, [](std::int64_t index) {
    return std::pair(place_of(index), index);
  });
  const auto middle = drawn.begin() + count;
  std::sort(drawn.begin(), middle);
  std::sort(middle, drawn.end());
  parts.test.insert(parts.test.end(), drawn.begin(), middle);
  parts.train.insert(parts.train.end(), middle, drawn.end());
}

}  // namespace

PhotoParts split_photos(const data::ImageFolder& folder, double share) {
  PhotoParts parts;
  std::int64_t begin = 0;
  while (begin < folder.size()) {
    const std::int64_t label = folder.label(begin);
    std::int64_t end = begin + 1;
    while (end < folder.size() && folder.label(end) == label) {
      ++end;
    }
    const auto count = static_cast<std::int64_t>(
        std::floor(share * static_cast<double>(end - begin) + 0.5));
    split_class(begin, end, std::min(count, end - begin - 1), parts);
    begin = end;
  }
  return parts;
}

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
