// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tokens are read whatever their order, to the first fault; each string that is
// read is written and read again.
#include "neap/base/json_string.hpp"
#include "neap/formats/json_cursor.hpp"

#include "target.hpp"

namespace neap::fuzz {

void one_input(std::string_view bytes) {
  formats::JsonCursor whole(bytes);
  expect(whole.skip() == whole.is_good());
  formats::JsonCursor cursor(bytes);
  memory::String text;
  std::size_t before = 0;
  while (cursor.is_good() && cursor.position() < bytes.size()) {
    std::int64_t number = 0;
    bool is_token = false;
    for (const char token : {'{', '}', '[', ']', ':', ','}) {
      is_token = is_token || cursor.accept(token);
    }
    const std::string_view rest = bytes.substr(cursor.position());
    if (!is_token && rest.starts_with('"')) {
      if (!cursor.string(text)) {
        break;
      }
      expect(formats::is_utf8(text));
      memory::String written;
      base::append_json_string(written, text);
      formats::JsonCursor again(written);
      memory::String same;
      expect(again.string(same) && again.finish() && same == text);
    } else if (!is_token && cursor.integer(number)) {
      expect(number >= 0 || rest.find('-') != std::string_view::npos);
    }
    expect(!cursor.is_good() || cursor.position() > before);
    before = cursor.position();
  }
  expect(cursor.position() <= bytes.size());
  if (!cursor.is_good()) {
    const std::size_t at = cursor.position();
    expect(!cursor.finish() && !cursor.accept('{') && !cursor.string(text));
    expect(cursor.position() == at && !cursor.fault().empty());
  }
}

}  // namespace neap::fuzz
