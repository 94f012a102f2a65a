// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LabelledLines: the texts of a file in JSON Lines, as tokens, each with the
// number of its class:
//
//   {"text": "the tide was low", "label": "calm"}
//   {"text": "a gale at night", "label": "rough"}
//
// A label is a text or a whole number. The classes are the labels that there
// are, in ascending order: of numbers, or of texts byte by byte.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "class_head.hpp"
#include "neap/base/result.hpp"
#include "neap/memory/containers.hpp"
#include "neap/text/tokenizer.hpp"

namespace neap::app {

class LabelledLines {
 public:
  /// `block`: the most tokens of a line, special ones included; what is longer
  /// loses tokens at its end, before the special ones there. `known`: the
  /// classes, where they are known already. Failures: those of the file;
  /// kCorrupt for a line that is not of this form, by its number; kMismatch for
  /// a label that is not known, for a block without room, and for fewer than
  /// two classes. THROWS: as text::Tokenizer::encode.
  static Result<LabelledLines> read(const std::string& path,
                                    const text::Tokenizer& tokenizer,
                                    std::int64_t block,
                                    const std::optional<ClassNames>& known);

  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(labels_.size());
  }
  std::span<const std::int32_t> tokens(std::int64_t index) const noexcept;
  std::int64_t label(std::int64_t index) const noexcept {
    return labels_[static_cast<std::size_t>(index)];
  }
  const ClassNames& classes() const noexcept { return classes_; }
  /// Tokens of the longest line.
  std::int64_t longest() const noexcept { return longest_; }
  /// Lines that lost tokens.
  std::int64_t cut() const noexcept { return cut_; }
  Bytes bytes() const noexcept;
  std::uint64_t fingerprint() const;

 private:
  class Reader;
  template <class T>
  using Data = memory::Vector<T>;

  Data<std::int32_t> tokens_{
      memory::Allocator<std::int32_t>(memory::Category::kData)};
  Data<std::int64_t> ends_{
      // in tokens_, of each line
      memory::Allocator<std::int64_t>(memory::Category::kData)};
  Data<std::int32_t> labels_{
      memory::Allocator<std::int32_t>(memory::Category::kData)};
  ClassNames classes_;
  std::int64_t longest_ = 0;
  std::int64_t cut_ = 0;
};

}  // namespace neap::app
