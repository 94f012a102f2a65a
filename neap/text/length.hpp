// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Truncation and Padding: how many ids a text gets, as a tokenizer.json says.
// They are done where EncodeOptions asks for them.
#pragma once

#include <cstdint>

#include "neap/text/json_value.hpp"
#include "neap/text/model.hpp"

namespace neap::text {

class Truncation {
 public:
  /// THROWS: Refused; OutOfMemory.
  static Truncation read(JsonValue json);

  /// THROWS: Refused where so many special tokens leave less than nothing.
  void check(std::size_t special) const;
  /// Cuts ids off, those before `begin` kept, so that with `special` more there
  /// are at most as many as the file says.
  void apply(Ids& ids, std::size_t begin, std::size_t special) const;

 private:
  std::int64_t most_ = -1;  // -1: no end
  bool is_front_cut_ = false;
};

class Padding {
 public:
  /// THROWS: Refused; OutOfMemory.
  static Padding read(JsonValue json);

  /// Adds the id of padding up to the length of the file, then to a multiple.
  void apply(Ids& ids) const;
  /// -1: there is none.
  std::int64_t id() const noexcept { return id_; }

 private:
  std::int64_t id_ = -1;
  std::int64_t least_ = 0;
  std::int64_t multiple_ = 1;
  bool is_in_front_ = false;
};

}  // namespace neap::text
