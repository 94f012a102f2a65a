// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/model.hpp"

#include "neap/base/shown.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {
namespace {

// The type of a model that does not say it, as the oldest files do.
memory::String type_of(JsonValue json) {
  memory::String type = json.type();
  bool has_merges = false;
  bool has_longest = false;
  if (type.empty()) {
    json.members([&](std::string_view key, JsonValue) {
      has_merges = has_merges || key == "merges";
      has_longest = has_longest || key == "max_input_chars_per_word";
    });
    type = has_merges ? "BPE" : has_longest ? "WordPiece" : "";
  }
  return type;
}

}  // namespace

memory::Owned<Model> Model::read(JsonValue json) {
  const memory::String type = type_of(json);
  if (type == "BPE") {
    return Bpe::read(json);
  }
  if (type == "WordPiece") {
    return WordPiece::read(json);
  }
  refuse(FailureKind::kUnsupported,
         "model '{}' is not read here: BPE and WordPiece are",
         base::shown(type));
}

void read_vocabulary(JsonValue json, TokenTable& into) {
  std::int64_t count = 0;
  std::int64_t largest = -1;
  json.members([&](std::string_view key, JsonValue value) {
    if (key.size() > kLongestToken) {
      refuse(FailureKind::kTooLarge, "vocab: a token of {} bytes, at most {}",
             key.size(), kLongestToken);
    }
    ++count;
    largest = std::max(largest, value.number(kMostId));
  });
  constexpr std::int64_t kGaps = 65'536;
  if (largest > 4 * count + kGaps) {
    refuse(FailureKind::kCorrupt, "vocab: id {} among {} tokens", largest,
           count);
  }
  json.members([&](std::string_view key, JsonValue value) {
    const auto id = static_cast<std::uint32_t>(value.number(kMostId));
    if (!into.add(key, id)) {
      refuse(FailureKind::kCorrupt, "vocab: token '{}' or its id {} is twice",
             base::shown(key), id);
    }
  });
}

}  // namespace neap::text
