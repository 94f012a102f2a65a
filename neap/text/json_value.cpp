// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/json_value.hpp"

#include "neap/base/shown.hpp"
#include "neap/base/utf8.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {
namespace {

using formats::JsonCursor;

void check(bool is_good, const JsonCursor& cursor, std::string_view where) {
  if (!is_good) {
    refuse(FailureKind::kCorrupt, "{}: {}", base::shown(where),
           cursor.fault().empty() ? "not JSON" : cursor.fault());
  }
}

// The bytes of the next value, without white space in front.
std::string_view next_value(JsonCursor& cursor, std::string_view json,
                            std::string_view where) {
  const std::size_t before = cursor.position();
  check(cursor.skip(), cursor, where);
  std::string_view value = json.substr(before, cursor.position() - before);
  value.remove_prefix(
      std::min(value.find_first_not_of(" \t\n\r"), value.size()));
  return value;
}

}  // namespace

memory::String JsonValue::string() const {
  JsonCursor cursor(json_);
  memory::String text;
  check(cursor.string(text) && cursor.finish(), cursor, where_);
  return text;
}

bool JsonValue::boolean() const {
  JsonCursor cursor(json_);
  bool truth = false;
  check(cursor.boolean(truth) && cursor.finish(), cursor, where_);
  return truth;
}

std::int64_t JsonValue::number(std::int64_t most) const {
  JsonCursor cursor(json_);
  std::int64_t number = 0;
  check(cursor.number(number) && cursor.finish(), cursor, where_);
  if (number > most) {
    refuse(FailureKind::kTooLarge, "{}: {}, at most {} is taken",
           base::shown(where_), number, most);
  }
  return number;
}

char32_t JsonValue::character() const {
  const memory::String text = string();
  const base::Utf8Character first =
      text.empty() ? base::Utf8Character{} : base::first_utf8(text);
  if (text.empty() || first.length != text.size()) {
    refuse(FailureKind::kCorrupt, "{}: '{}' is not one character",
           base::shown(where_), base::shown(text));
  }
  return first.code;
}

void JsonValue::members(Member each) const {
  JsonCursor cursor(json_);
  check(cursor.expect('{'), cursor, where_);
  if (!cursor.accept('}')) {
    memory::String key;
    do {
      check(cursor.string(key) && cursor.expect(':'), cursor, where_);
      each(key, JsonValue(next_value(cursor, json_, where_), key));
    } while (cursor.accept(','));
    check(cursor.expect('}'), cursor, where_);
  }
  check(cursor.finish(), cursor, where_);
}

void JsonValue::elements(Element each) const {
  JsonCursor cursor(json_);
  check(cursor.expect('['), cursor, where_);
  if (!cursor.accept(']')) {
    do {
      each(JsonValue(next_value(cursor, json_, where_), where_));
    } while (cursor.accept(','));
    check(cursor.expect(']'), cursor, where_);
  }
  check(cursor.finish(), cursor, where_);
}

memory::String JsonValue::type() const {
  memory::String type;
  members([&](std::string_view key, JsonValue value) {
    if (key == "type" && !value.is_null()) {
      type = value.string();
    }
  });
  return type;
}

void JsonValue::refuse_member(std::string_view key) const {
  refuse(FailureKind::kUnsupported, "{}: '{}' of type '{}' is not read here",
         base::shown(where_), base::shown(key), base::shown(type()));
}

}  // namespace neap::text
