// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/length.hpp"

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {
namespace {

bool is_left(JsonValue json) {
  const memory::String side = json.string();
  if (side != "Left" && side != "Right") {
    refuse(FailureKind::kCorrupt, "{}: '{}', Left or Right is known",
           base::shown(json.where()), base::shown(side));
  }
  return side == "Left";
}

// "BatchLongest", or {"Fixed": 128}.
std::int64_t least_of(JsonValue json) {
  if (json.is_string()) {
    if (const memory::String name = json.string(); name != "BatchLongest") {
      refuse(FailureKind::kUnsupported, "padding: strategy '{}' is not known",
             base::shown(name));
    }
    return 0;
  }
  std::int64_t least = 0;
  json.members([&](std::string_view key, JsonValue value) {
    if (key != "Fixed") {
      refuse(FailureKind::kUnsupported, "padding: strategy '{}' is not known",
             base::shown(key));
    }
    least = value.number(kMostPadded);
  });
  return least;
}

}  // namespace

Truncation Truncation::read(JsonValue json) {
  Truncation made;
  if (json.is_null()) {
    return made;
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "max_length") {
      made.most_ = value.number(kMostIds);
    } else if (key == "direction") {
      made.is_front_cut_ = is_left(value);
    } else if (key == "strategy") {
      // With one text, the longest is the first.
      const memory::String name = value.string();
      if (name != "LongestFirst" && name != "OnlyFirst") {
        refuse(FailureKind::kUnsupported,
               "truncation: strategy '{}' is of pairs of texts",
               base::shown(name));
      }
    } else if (key != "stride") {  // of the ids that are cut off
      json.refuse_member(key);
    }
  });
  if (made.most_ < 0) {
    refuse(FailureKind::kCorrupt, "truncation: there is no max_length");
  }
  return made;
}

void Truncation::check(std::size_t special) const {
  if (most_ >= 0 && most_ < static_cast<std::int64_t>(special)) {
    refuse(FailureKind::kCorrupt,
           "truncation: max_length is {}, and each text gets {} special tokens",
           most_, special);
  }
}

void Truncation::apply(Ids& ids, std::size_t begin, std::size_t special) const {
  const std::size_t count = ids.size() - begin;
  if (most_ < 0 || count + special <= static_cast<std::size_t>(most_)) {
    return;
  }
  const std::size_t left = static_cast<std::size_t>(most_) - special;
  const auto from = ids.begin() + static_cast<std::ptrdiff_t>(begin);
  if (is_front_cut_) {
    ids.erase(from, from + static_cast<std::ptrdiff_t>(count - left));
  } else {
    ids.resize(begin + left);
  }
}

Padding Padding::read(JsonValue json) {
  Padding made;
  if (json.is_null()) {
    return made;
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "strategy") {
      made.least_ = least_of(value);
    } else if (key == "direction") {
      made.is_in_front_ = is_left(value);
    } else if (key == "pad_to_multiple_of") {
      made.multiple_ = value.is_null() ? 1
                                       : std::max<std::int64_t>(
                                             value.number(kMostPadded), 1);
    } else if (key == "pad_id") {
      made.id_ = value.number(kMostId);
    } else if (key != "pad_type_id" && key != "pad_token") {
      json.refuse_member(key);
    }
  });
  if (made.id_ < 0) {
    refuse(FailureKind::kCorrupt, "padding: there is no pad_id");
  }
  return made;
}

void Padding::apply(Ids& ids) const {
  if (id_ < 0) {
    return;
  }
  const auto now = static_cast<std::int64_t>(ids.size());
  const std::int64_t least = std::max(now, least_);
  const std::int64_t parts = (least + multiple_ - 1) / multiple_;
  const auto more = static_cast<std::size_t>(parts * multiple_ - now);
  ids.insert(is_in_front_ ? ids.begin() : ids.end(), more, id_);
}

}  // namespace neap::text
