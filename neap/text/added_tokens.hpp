// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// AddedTokens: tokens that are found in a text before anything else is done to
// it (the special ones among them), or, where they say so, after it was
// normalized.
#pragma once

#include <string_view>

#include "neap/base/function_ref.hpp"
#include "neap/memory/containers.hpp"
#include "neap/text/json_value.hpp"
#include "neap/text/normalizer.hpp"
#include "neap/text/pair_table.hpp"
#include "neap/text/token_table.hpp"

namespace neap::text {

struct AddedToken {
  memory::String content;
  std::uint32_t id = 0;
  bool is_special = false;
  bool is_single_word = false;  // found between other characters than letters
  bool strips_left = false;     // takes the white space in front
  bool strips_right = false;
  bool is_normalized = false;  // looked for in the normalized text
};

/// The longest of some texts at each place of another, from left to right.
class Finder {
 public:
  /// THROWS: OutOfMemory.
  void add(std::string_view text, std::uint32_t value);
  bool is_empty() const noexcept { return nodes_ == 1; }
  /// The value of the longest text that `text` begins with at `at`, and its
  /// length; length 0: none does.
  struct Found {
    std::uint32_t value = 0;
    std::size_t length = 0;
  };
  Found at(std::string_view text, std::size_t at) const noexcept;

 private:
  PairTable<std::uint32_t> children_;  // by node and byte; node 0 is the root
  PairTable<std::uint32_t> values_;    // by node
  std::uint32_t nodes_ = 1;
};

class AddedTokens {
 public:
  /// The member "added_tokens". What `model` does not have is added to `extra`.
  /// THROWS: Refused for a token that is there with another id, or whose id is
  /// another's; OutOfMemory.
  void read(JsonValue json, const TokenTable& model);
  /// Adds one. THROWS: the same.
  void add(AddedToken token, const TokenTable& model);
  /// Before anything is split. THROWS: Refused for a normalized token of which
  /// nothing is left; OutOfMemory.
  void build(const Normalizer& normalizer);

  /// A part of a text between added tokens, or an added token.
  struct Part {
    std::string_view text;
    const AddedToken* token = nullptr;
  };
  using Each = base::FunctionRef<void(const Part&)>;
  void split(std::string_view text, Each each) const;
  /// The same, by the tokens that are looked for in normalized text.
  void split_normalized(std::string_view text, Each each) const;

  /// Tokens that the model does not have.
  const TokenTable& extra() const noexcept { return extra_; }
  const memory::Vector<AddedToken>& list() const noexcept { return list_; }
  bool is_special(std::string_view token) const noexcept;

 private:
  void split(const Finder& finder, std::string_view text, Each each) const;

  memory::Vector<AddedToken> list_;
  TokenTable extra_;
  TokenTable places_;  // contents, by their place in the list
  Finder plain_;
  Finder normalized_;
};

}  // namespace neap::text
