// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The vocabulary of a text encodes it, and decodes it to the same; its own
// characters give the same vocabulary.
#include "neap/data/vocabulary.hpp"

#include "target.hpp"

namespace neap::fuzz {

void one_input(std::string_view bytes) {
  const data::Vocabulary all_bytes;
  const auto plain = all_bytes.encode(bytes);
  expect(plain.has_value() && all_bytes.decode(*plain) == bytes);
  const auto vocabulary = data::Vocabulary::of_characters(bytes);
  if (!vocabulary) {
    return;
  }
  const auto tokens = vocabulary->encode(bytes);
  expect(tokens.has_value() && vocabulary->decode(*tokens) == bytes);
  const auto again = data::Vocabulary::of_characters(vocabulary->characters());
  expect(again.has_value() && *again == *vocabulary);
}

}  // namespace neap::fuzz
