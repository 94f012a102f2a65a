// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "sample_text.hpp"

#include <algorithm>
#include <cstdio>

namespace neap::app {

memory::String SymbolCodec::decode(std::span<const std::int64_t> tokens) const {
  return vocabulary_.decode(tokens);
}

std::int64_t SymbolCodec::start() const {
  return std::max<std::int64_t>(vocabulary_.token_of(U'\n'), 0);
}

memory::String TokenizerCodec::decode(
    std::span<const std::int64_t> tokens) const {
  // A model may have more rows than its tokenizer has tokens.
  memory::Vector<std::int64_t> known(tokens.begin(), tokens.end());
  std::erase_if(known, [&](std::int64_t token) {
    return token >= tokenizer_.id_limit();
  });
  return tokenizer_.decode(known);
}

std::int64_t TokenizerCodec::start() const {
  const auto line = tokenizer_.encode("\n", {.add_special_tokens = false});
  return line.empty() ? 0 : line.back();
}

void TextOut::begin(std::span<const std::int64_t> tokens) {
  take(tokens, false);
  write(waiting_.size());
}

void TextOut::pass_over(std::size_t count) {
  before_ = now_ = count;
}

bool TextOut::add(std::span<const std::int64_t> tokens) {
  take(tokens, false);
  const std::size_t stop = stop_at();
  is_over_ = stop < waiting_.size();
  write(is_over_ ? stop : waiting_.size() - may_begin_stop());
  return !is_over_ && std::ferror(stdout) == 0;
}

void TextOut::end(std::span<const std::int64_t> tokens) {
  if (!is_over_) {
    take(tokens, true);
    write(stop_at());
  }
  static_cast<void>(std::fputc('\n', stdout));
}

// A token's own text may depend on the one before it (a space), or be a part of
// a character. That waits for the rest of it.
void TextOut::take(std::span<const std::int64_t> tokens, bool is_last) {
  constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
  const auto of = [&](std::size_t end) {
    return codec_.decode(tokens.subspan(before_, end - before_));
  };
  const memory::String old = of(now_);
  const memory::String text = of(tokens.size());
  if (text.size() <= old.size() || (!is_last && text.ends_with(kReplacement))) {
    return;
  }
  waiting_.append(text, old.size());
  before_ = now_;
  now_ = tokens.size();
}

// The place of the first stop, or the end.
std::size_t TextOut::stop_at() const {
  std::size_t first = waiting_.size();
  for (const std::string& stop : stops_) {
    first = std::min(first, waiting_.find(stop));
  }
  return first;
}

// The length of the longest end that a stop begins with.
std::size_t TextOut::may_begin_stop() const {
  std::size_t longest = 0;
  for (const std::string& stop : stops_) {
    std::size_t count = std::min(stop.size() - 1, waiting_.size());
    while (count > longest &&
           !waiting_.ends_with(std::string_view(stop).substr(0, count))) {
      --count;
    }
    longest = std::max(longest, count);
  }
  return longest;
}

void TextOut::write(std::size_t count) {
  static_cast<void>(std::fwrite(waiting_.data(), 1, count, stdout));
  static_cast<void>(std::fflush(stdout));
  waiting_.erase(0, count);
}

}  // namespace neap::app
