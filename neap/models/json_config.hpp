// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// JsonConfig: the members of a config.json, read one by one. All that cannot be
// done is collected, so that it is said at once: bad values, what Neap lacks,
// and members that nobody has asked for and that might mean something. Of this
// room alone.
// LIFETIME: the text outlives it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neap/base/function_ref.hpp"
#include "neap/base/result.hpp"
#include "neap/memory/containers.hpp"

namespace neap::models {

/// A list of faults of a file of settings: "a; b; c".
class Complaints {
 public:
  void add(std::string_view text);
  bool empty() const noexcept { return text_.empty(); }
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
  int count_ = 0;
};

/// The failure kUnsupported of a file that asks for what is not implemented.
Failure cannot_be_done(const std::string& path, std::string_view what);

class JsonConfig {
 public:
  /// Failure kCorrupt for what is not JSON, no object, or has a member twice.
  static Result<JsonConfig> parse(std::string_view json, std::string_view path);

  /// Neither absent nor null.
  bool has(std::string_view key) const noexcept;
  /// There, and null: the writer wanted none, and no default.
  bool is_null(std::string_view key) const noexcept;
  // Each takes note of the key. A value of another kind is a complaint, and
  // gives the fallback.
  std::int64_t number(std::string_view key, std::int64_t fallback,
                      std::int64_t least = 1);
  double real(std::string_view key, double fallback);
  bool boolean(std::string_view key, bool fallback);
  std::string text(std::string_view key, std::string_view fallback);
  /// An object within; without members where there is none.
  JsonConfig object(std::string_view key);
  /// Calls each(text) for the strings of an array.
  void strings(std::string_view key,
               base::FunctionRef<void(std::string_view)> each);
  /// Calls each(value) for a whole number from 0 on, or those of an array.
  void numbers(std::string_view key,
               base::FunctionRef<void(std::int64_t)> each);
  /// Calls each(value) for a number, or those of an array.
  void reals(std::string_view key, base::FunctionRef<void(double)> each);
  bool is_text(std::string_view key) const noexcept;
  bool is_object(std::string_view key) const noexcept;
  /// How many members there are.
  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(members_.size());
  }
  /// The key may be there, whatever it says.
  void pass(std::string_view key);

  /// Complains of members that nobody took note of, unless they ask for
  /// nothing: null, false, 0, "", [] or {}.
  void complain_of_rest();
  void complain(std::string_view text) { complaints_.add(text); }
  /// The complaints of an object within become those of this one.
  void take_complaints(const JsonConfig& within);
  /// After all members: complains of the rest. Failure: kUnsupported with all
  /// complaints, where there are any; `path` is of the file.
  Result<void> finish(const std::string& path);
  /// The same without those of the rest.
  Result<void> said(const std::string& path) const;

 private:
  struct Member {
    memory::String key;
    std::string_view raw;
    bool is_used = false;
  };

  const Member* find(std::string_view key) const noexcept;
  std::string_view use(std::string_view key) noexcept;
  void refuse(std::string_view key, std::string_view raw,
              std::string_view expected);

  memory::Vector<Member> members_{
      memory::Allocator<Member>(memory::Category::kData)};
  std::string within_;  // "rope_scaling.", for messages
  Complaints complaints_;
};

}  // namespace neap::models
