// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// An array that is read is written and read again: the same bytes.
#include "memory_door.hpp"
#include "neap/formats/idx.hpp"
#include "target.hpp"

namespace neap::fuzz {

void one_input(std::string_view bytes) {
  MemoryDoor door(bytes);
  auto reader = formats::IdxReader::open(door, "in");
  if (!reader) {
    return;
  }
  const formats::IdxHeader header = reader->header();
  const auto size = static_cast<std::size_t>(header.data_bytes);
  memory::Vector<std::byte> elements(size);
  if (!reader->read_all(elements)) {
    return;
  }
  expect(formats::write_idx(door, "out", header.dtype, header.shape, elements)
             .has_value());
  auto again = formats::IdxReader::open(door, "out");
  expect(again.has_value() && again->header().dtype == header.dtype &&
         again->header().shape == header.shape);
  memory::Vector<std::byte> same(size);
  expect(again->read_all(same).has_value());
  expect(same == elements);
}

}  // namespace neap::fuzz
