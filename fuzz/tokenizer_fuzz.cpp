// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A tokenizer.json is read or refused; what is read encodes a text that is the
// file itself and some of all kinds, to ids that it has, and decodes them.
#include "neap/base/error.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/text/tokenizer.hpp"

#include "target.hpp"

namespace neap::fuzz {
namespace {

void go_there_and_back(const text::Tokenizer& tokenizer,
                       std::string_view text) {
  try {
    const auto ids = tokenizer.encode(text);
    for (const std::int64_t id : ids) {
      expect(tokenizer.id_of(tokenizer.token_of(id)) == id);
    }
    expect(formats::is_utf8(tokenizer.decode(ids)));
  } catch (const ValueError&) {  // a pattern that takes too many steps
  }
}

}  // namespace

void one_input(std::string_view bytes) {
  const auto tokenizer = text::Tokenizer::parse(bytes);
  if (!tokenizer) {
    expect(!tokenizer.error().message.empty());
    return;
  }
  expect(tokenizer->vocab_size() <= tokenizer->id_limit());
  constexpr std::size_t kMost = 256;
  go_there_and_back(*tokenizer, bytes.substr(0, kMost));
  go_there_and_back(*tokenizer,
                    "Hello  w\xC3\xB6rld, it's 42!\n \xE4\xB8\xAD\xE6\x96\x87 "
                    "e\xCC\x81 \xF0\x9F\x91\xA9\xE2\x80\x8D\xF0\x9F\x91\xA7 "
                    "\xFF\xED\xA0\x80 aaaa<s>");
}

}  // namespace neap::fuzz
