// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A batch that is read has the bytes of its records, put together again.
#include "memory_door.hpp"
#include "neap/data/cifar.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

// The set's records, in the format of CIFAR-10's binary version.
std::string records_of(const data::ImageSet& set) {
  const auto labels = set.labels().values<std::uint8_t>();
  const auto images = set.images().values<std::uint8_t>();
  const std::size_t pixels = images.size() / labels.size();
  std::string bytes;
  for (std::size_t i = 0; i < labels.size(); ++i) {
    bytes += static_cast<char>(labels[i]);
    const auto image = images.subspan(i * pixels, pixels);
    bytes.append(image.begin(), image.end());
  }
  return bytes;
}

}  // namespace

void one_input(std::string_view bytes) {
  MemoryDoor door(bytes);
  if (const auto found = data::read_cifar10(door, "folder")) {
    expect(records_of(found->test) == bytes);
    expect(found->train.size() == 5 * found->test.size());
  }
  static_cast<void>(
      data::read_cifar100(door, "folder", data::Cifar100Labels::kFine));
}

}  // namespace neap::fuzz
