// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Template: the special tokens that stand in front of a text's ids and behind
// them, as a post-processor of a tokenizer.json says for a single text.
#pragma once

#include "neap/memory/containers.hpp"
#include "neap/text/json_value.hpp"
#include "neap/text/model.hpp"

namespace neap::text {

class Template {
 public:
  /// THROWS: Refused; OutOfMemory.
  static Template read(JsonValue json);

  Ids front;
  Ids back;

 private:
  static void read_parts(JsonValue json, int level, Template& into);
  static void read_template(JsonValue json, Template& into);
};

}  // namespace neap::text
