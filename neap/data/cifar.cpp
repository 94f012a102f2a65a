// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/cifar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {
namespace {

using files::File;

constexpr std::int64_t kSide = 32;
constexpr std::int64_t kChannels = 3;
constexpr Bytes kPixels = kChannels * kSide * kSide;
constexpr std::int64_t kRecordsAtOnce = 16;

struct Layout {
  std::array<int, 2> classes{};  // of each label byte; 0: there is none
  std::size_t label = 0;         // which of them is the target

  Bytes label_bytes() const noexcept { return classes[1] == 0 ? 1 : 2; }
  Bytes record() const noexcept { return label_bytes() + kPixels; }
};

struct Part {
  File file;
  std::int64_t records = 0;
};

Result<Part> open_part(files::Door& door, const std::string& path,
                       Bytes record) {
  auto file = door.open_read(path);
  if (!file) {
    return tl::unexpected(std::move(file.error()));
  }
  const auto size = file->size();
  if (!size) {
    return tl::unexpected(size.error());
  }
  if (*size == 0 || *size % record != 0) {
    return failure(
        FailureKind::kTruncated,
        fmt::format("{}: {} bytes, expected a whole number of records of {} "
                    "(the binary version of CIFAR); fetch it again",
                    base::shown_path(path), *size, record));
  }
  return Part{std::move(*file), *size / record};
}

// A set, as it is filled.
struct Filling {
  Tensor images;  // (n, 3, 32, 32)
  Tensor labels;  // (n)
  std::int64_t filled = 0;
};

Result<void> take_record(std::span<const std::uint8_t> record,
                         const Layout& layout, const File& file,
                         Filling& into) {
  const auto label_bytes = static_cast<std::size_t>(layout.label_bytes());
  for (std::size_t i = 0; i < label_bytes; ++i) {
    if (record[i] >= layout.classes[i]) {
      return failure(
          FailureKind::kCorrupt,
          fmt::format("{}: label {} of sample {} is out of range for {} "
                      "classes; is it CIFAR's binary version?",
                      file.name(), record[i], into.filled, layout.classes[i]));
    }
  }
  const auto at = static_cast<std::size_t>(into.filled++);
  into.labels.mutable_values<std::uint8_t>()[at] = record[layout.label];
  const auto pixels = record.subspan(label_bytes);
  std::copy(pixels.begin(), pixels.end(),
            into.images.mutable_values<std::uint8_t>()
                .subspan(at * static_cast<std::size_t>(kPixels))
                .begin());
  return {};
}

Result<void> read_part(Part& part, const Layout& layout, Filling& into) {
  const auto record = static_cast<std::size_t>(layout.record());
  memory::Vector<std::uint8_t> buffer(
      record * kRecordsAtOnce, 0,
      memory::Allocator<std::uint8_t>(memory::Category::kData));
  if (!into.images.array()->storage()->has_elements()) {
    return {};  // a rehearsal: the buffer alone
  }
  for (std::int64_t left = part.records; left > 0;) {
    const auto count = static_cast<std::size_t>(std::min(left, kRecordsAtOnce));
    const auto bytes = std::span(buffer).first(count * record);
    auto good = files::read_exact(part.file, std::as_writable_bytes(bytes));
    for (std::size_t i = 0; good && i < count; ++i) {
      good = take_record(bytes.subspan(i * record, record), layout, part.file,
                         into);
    }
    if (!good) {
      return good;
    }
    left -= static_cast<std::int64_t>(count);
  }
  return {};
}

Result<ImageSet> read_set(files::Door& door, std::string_view directory,
                          std::span<const std::string_view> names,
                          const Layout& layout) {
  constexpr std::size_t kMostParts = 5;
  std::array<Part, kMostParts> parts;
  std::int64_t records = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    auto part = open_part(door, fmt::format("{}/{}", directory, names[i]),
                          layout.record());
    if (!part) {
      return tl::unexpected(std::move(part.error()));
    }
    parts[i] = std::move(*part);
    records += parts[i].records;
  }
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kData; });
  Filling filling{empty({records, kChannels, kSide, kSide}, u8),
                  empty({records}, u8)};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (auto read = read_part(parts[i], layout, filling); !read) {
      return tl::unexpected(std::move(read.error()));
    }
  }
  return ImageSet(std::move(filling.images), std::move(filling.labels),
                  layout.classes[layout.label]);
}

Result<TrainAndTest> read_both(files::Door& door, std::string_view directory,
                               std::span<const std::string_view> train_names,
                               std::string_view test_name,
                               const Layout& layout) {
  auto test = read_set(door, directory, std::span(&test_name, 1), layout);
  if (!test) {
    return tl::unexpected(std::move(test.error()));
  }
  auto train = read_set(door, directory, train_names, layout);
  if (!train) {
    return tl::unexpected(std::move(train.error()));
  }
  const auto statistics = train->channel_statistics();
  train->standardise_channels(statistics);
  test->standardise_channels(statistics);
  return TrainAndTest{std::move(*train), std::move(*test)};
}

}  // namespace

Result<TrainAndTest> read_cifar10(files::Door& door,
                                  std::string_view directory) {
  static constexpr std::string_view kTrain[] = {
      "data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
      "data_batch_4.bin", "data_batch_5.bin"};
  return read_both(door, directory, kTrain, "test_batch.bin",
                   {.classes = {10, 0}, .label = 0});
}

Result<TrainAndTest> read_cifar100(files::Door& door,
                                   std::string_view directory,
                                   Cifar100Labels labels) {
  static constexpr std::string_view kTrain[] = {"train.bin"};
  return read_both(
      door, directory, kTrain, "test.bin",
      {.classes = {20, 100},
       .label = labels == Cifar100Labels::kFine ? std::size_t{1} : 0});
}

}  // namespace neap::data
