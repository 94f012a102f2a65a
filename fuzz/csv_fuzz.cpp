// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Records that are read are written with every field in quotes, and read again.
#include <vector>

#include "memory_door.hpp"
#include "neap/data/csv_set.hpp"
#include "neap/formats/csv.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

using Records = std::vector<std::vector<std::string>>;

bool read(files::Door& door, const std::string& path, Records& records) {
  auto reader = formats::CsvReader::open(door, path);
  while (reader) {
    const auto more = reader->next();
    if (!more) {
      return false;
    }
    if (!*more) {
      return true;
    }
    auto& record = records.emplace_back();
    for (std::int64_t i = 0; i < reader->size(); ++i) {
      record.emplace_back((*reader)[i]);
    }
  }
  return false;
}

std::string text_of(const Records& records) {
  std::string text;
  for (const auto& record : records) {
    const char* separator = "";
    for (const std::string& field : record) {
      text += separator;
      separator = ",";
      text += '"';
      for (const char c : field) {
        text += c == '"' ? "\"\"" : std::string(1, c);
      }
      text += '"';
    }
    text += "\r\n";
  }
  return text;
}

}  // namespace

void one_input(std::string_view bytes) {
  MemoryDoor door(bytes);
  Records records;
  if (read(door, "in", records)) {
    MemoryDoor quoted(text_of(records));
    Records again;
    expect(read(quoted, "in", again));
    expect(again == records);
  }
  for (const bool header : {false, true}) {
    const auto table = data::read_csv(door, "in", {.header = header});
    expect(!table || table->size() > 0);
  }
}

}  // namespace neap::fuzz
