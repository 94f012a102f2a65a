// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A file that is read is written and read again: the same names, dtypes,
// shapes, texts and elements.
#include <algorithm>
#include <cstring>

#include "memory_door.hpp"
#include "neap/formats/safetensors.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

using formats::SafetensorsEntry;
using formats::SafetensorsFile;

void expect_same(SafetensorsFile& a, SafetensorsFile& b) {
  expect(a.entries().size() == b.entries().size());
  for (const SafetensorsEntry& entry : a.entries()) {
    const SafetensorsEntry* other = b.find(entry.name);
    expect(other != nullptr && other->dtype == entry.dtype &&
           other->shape == entry.shape);
    const auto x = a.read(entry);  // widened, as it was written
    memory::Vector<std::byte> y(
        static_cast<std::size_t>(other->end - other->begin));
    expect(x.has_value());
    expect(b.read_elements(*other, 0, y).has_value());
    expect(static_cast<std::size_t>(x->element_count()) *
                   static_cast<std::size_t>(size_of(x->dtype())) ==
               y.size() &&
           std::equal(y.begin(), y.end(), x->array()->strided().data));
  }
  expect(a.metadata().size() == b.metadata().size());
  for (const formats::MetadataItem& item : a.metadata()) {
    const memory::String* text = b.find_text(item.key);
    expect(text != nullptr && *text == item.value);
  }
}

}  // namespace

void one_input(std::string_view bytes) {
  MemoryDoor door(bytes);
  for (const formats::Verify verify :
       {formats::Verify::kOn, formats::Verify::kOff}) {
    auto file = SafetensorsFile::open(door, "in", verify);
    if (!file) {
      continue;
    }
    memory::Vector<formats::NamedTensor> tensors;
    for (const SafetensorsEntry& entry : file->entries()) {
      auto read = file->read(entry);
      if (!read) {
        return;
      }
      tensors.push_back({entry.name, *read});
    }
    for (const formats::MetadataItem& item : file->metadata()) {
      if (item.key.starts_with("neap.xxh3.")) {
        return;  // a key that no file of Neap's has
      }
    }
    expect(formats::write_safetensors(door, "out", tensors, file->metadata())
               .has_value());
    auto again = SafetensorsFile::open(door, "out");
    expect(again.has_value());
    expect_same(*file, *again);
  }
}

}  // namespace neap::fuzz
