// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/json_text.hpp"

#include <fmt/core.h>

#include <cmath>

#include "neap/base/append.hpp"
#include "neap/base/json_string.hpp"

namespace neap::compiler {

void JsonText::separate() {
  if (!is_first_) {
    out_ += ',';
  }
  is_first_ = false;
}

JsonText& JsonText::open(char bracket) {
  separate();
  out_ += bracket;
  is_first_ = true;
  return *this;
}

JsonText& JsonText::close(char bracket) {
  out_ += bracket;
  is_first_ = false;
  return *this;
}

JsonText& JsonText::key(std::string_view name) {
  separate();
  base::append_json_string(out_, name);
  out_ += ':';
  is_first_ = true;
  return *this;
}

JsonText& JsonText::text(std::string_view value) {
  separate();
  base::append_json_string(out_, value);
  return *this;
}

JsonText& JsonText::number(std::int64_t value) {
  separate();
  base::append(out_, "{}", value);
  return *this;
}

JsonText& JsonText::number(double value) {
  if (!std::isfinite(value)) {
    return null();
  }
  separate();
  base::append(out_, "{}", value);
  return *this;
}

JsonText& JsonText::boolean(bool value) {
  separate();
  out_ += value ? "true" : "false";
  return *this;
}

JsonText& JsonText::null() {
  separate();
  out_ += "null";
  return *this;
}

}  // namespace neap::compiler
