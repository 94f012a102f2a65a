// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Small tokenizer.json texts for tests.
#pragma once

#include <string>
#include <vector>

#include "neap/text/tokenizer.hpp"

namespace neap::text {

/// A tokenizer.json of a model and other members, such as R"("decoder": null)".
inline std::string json_of(const std::string& model,
                           const std::string& members = {}) {
  return R"({"version": "1.0", "model": )" + model +
         (members.empty() ? "" : ", " + members) + "}";
}

/// Letters a to e are 0 to 4, then the merges' results.
inline std::string bpe(const std::string& more = {},
                       const std::string& merges = R"("a b", "ab c")") {
  return R"({"type": "BPE", "vocab": {"a": 0, "b": 1, "c": 2, "d": 3, "e": 4,)"
         R"( "ab": 5, "abc": 6, "cd": 7, "bc": 8, "u": 9}, "merges": [)" +
         merges + "]" + (more.empty() ? "" : ", " + more) + "}";
}

inline Tokenizer parsed(const std::string& json) {
  return Tokenizer::parse(json).value();
}

using Row = std::vector<std::int64_t>;
inline Row encoded(const Tokenizer& tokenizer, std::string_view text) {
  const auto ids = tokenizer.encode(text);
  return Row(ids.begin(), ids.end());
}

}  // namespace neap::text
