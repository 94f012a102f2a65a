// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Bytes that are inflated are deflated and inflated again; and what zlib makes
// of the input at once is what a stream of pieces gives.
#include "neap/formats/gzip.hpp"

#include "memory_door.hpp"
#include "neap/formats/gzip_for_test.hpp"
#include "neap/formats/source.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

bool inflate(files::Door& door, std::size_t piece, std::string& out) {
  auto source = formats::open_source(door, "in");
  if (!source) {
    return false;
  }
  const Bytes at_most = (*source)->remaining().at_most;
  std::string buffer(piece, '\0');
  while (true) {
    const auto count =
        (*source)->read(std::as_writable_bytes(std::span(buffer)));
    if (!count) {
      return false;
    }
    if (*count == 0) {
      expect(static_cast<Bytes>(out.size()) <= at_most);
      return true;
    }
    out.append(buffer, 0, static_cast<std::size_t>(*count));
  }
}

}  // namespace

void one_input(std::string_view bytes) {
  MemoryDoor door(bytes);
  std::string whole;
  std::string pieces;
  const bool is_good = inflate(door, std::size_t{1} << 16U, whole);
  expect(inflate(door, 61, pieces) == is_good);
  if (!is_good) {
    return;
  }
  expect(whole == pieces);
  MemoryDoor deflated(formats::gzip(whole));
  std::string again;
  expect(inflate(deflated, 4096, again));
  expect(again == whole);
}

}  // namespace neap::fuzz
