// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A plan file that is read is written the same, byte for byte. Damaged ones
// are mostly refused for their checksum, so that every input is tried with a
// checksum that is right, too, and as a record by itself.
#include <xxhash.h>

#include <algorithm>
#include <cstring>

#include "neap/compile/plan_file.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

using Content = memory::Vector<std::byte>;

void read_record(std::span<const std::byte> bytes) {
  const auto record = compiler::parse_plan_record(bytes);
  if (!record) {
    expect(record.error().message.size() < 2000);
    return;
  }
  expect(std::ranges::equal(compiler::plan_record_bytes(*record), bytes));
}

void read_file(const Content& bytes) {
  const auto table = compiler::parse_plan_file(bytes);
  if (!table) {
    expect(table.error().message.size() < 2000);
    return;
  }
  expect(compiler::plan_file_bytes(table->facts, table->entries) == bytes);
  for (const compiler::PlanEntry& entry : table->entries) {
    expect(table->find(entry.program) == &entry);
    read_record(entry.record);
  }
}

}  // namespace

void one_input(std::string_view text) {
  const auto given = std::as_bytes(std::span(text));
  read_record(given);
  Content bytes(given.begin(), given.end());
  read_file(bytes);
  constexpr std::size_t kHashBytes = sizeof(XXH64_hash_t);
  if (bytes.size() < kHashBytes) {
    return;
  }
  const std::size_t end = bytes.size() - kHashBytes;
  const XXH64_hash_t hash = XXH3_64bits(bytes.data(), end);
  std::memcpy(bytes.data() + end, &hash, kHashBytes);
  read_file(bytes);
}

}  // namespace neap::fuzz
