// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/text_set.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "neap/base/drawn.hpp"
#include "neap/base/outside.hpp"
#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/draw_key.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::data {

using base::raise;

Text::Text(Tensor tokens, Vocabulary vocabulary) : Text(std::move(tokens)) {
  vocabulary_ = std::move(vocabulary);
}

Text::Text(Tensor tokens) : tokens_(std::move(tokens)), size_(0), width_(0) {
  if (tokens_.rank() != 2 || tokens_.size(1) < 1 || tokens_.size(1) > 4) {
    raise<ShapeError>(
        "text: tokens {}, expected (n, 1), (n, 2) or up to (n, 4)",
        format_shape(tokens_.shape()));
  }
  if (tokens_.array()->storage()->has_elements()) {
    tokens_.values<std::uint8_t>();  // throws unless u8, dense, on the host
  }
  size_ = tokens_.size(0);
  width_ = tokens_.size(1);
  memory::detach_from_scope(tokens_);
}

std::uint64_t Text::fingerprint() const {
  const memory::String characters = vocabulary_.characters();
  const bool is_here = tokens_.array()->storage()->has_elements();
  const auto tokens = is_here ? tokens_.values<std::uint8_t>()
                              : std::span<const std::uint8_t>();  // a rehearsal
  return data::fingerprint(std::as_bytes(std::span(characters)),
                           data::fingerprint(std::as_bytes(tokens)));
}

Bytes Text::bytes() const {
  return tokens_.array()->storage()->size();
}

void Text::copy(std::int64_t first,
                std::span<std::int64_t> tokens) const noexcept {
  base::tell_of_question("copy", "for tokens of a text", {});
  const auto* from =
      tokens_.array()->strided().as<const std::uint8_t>() + first * width_;
  if (width_ == 1) {
    std::copy_n(from, tokens.size(), tokens.begin());
    return;
  }
  for (std::int64_t& token : tokens) {
    token = 0;
    for (int i = 0; i < width_; ++i, ++from) {
      token |= std::int64_t{*from} << (8 * i);
    }
  }
}

Text text_of_ids(std::span<const std::int64_t> ids, std::int64_t limit) {
  if (limit < 1 || limit > std::int64_t{1} << 32) {
    raise<ValueError>("text: ids below {}, expected a limit from 1 to 2^32",
                      limit);
  }
  for (const std::int64_t id : ids) {
    if (id < 0 || id >= limit) {
      raise<ValueError>("text: the id {}, expected one below {}", id, limit);
    }
  }
  std::int64_t width = 1;
  while (limit > std::int64_t{1} << (8 * width)) {
    ++width;
  }
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kData; });
  Tensor tokens = empty({static_cast<std::int64_t>(ids.size()), width}, u8);
  if (tokens.array()->storage()->has_elements()) {  // not in a rehearsal
    auto* into = tokens.mutable_values<std::uint8_t>().data();
    for (const std::int64_t id : ids) {
      for (std::int64_t i = 0; i < width; ++i) {
        *into++ = static_cast<std::uint8_t>(id >> (8 * i));
      }
    }
  }
  return Text(std::move(tokens));
}

TextSet::TextSet(Text text, const BlockOptions& options)
    : text_(std::move(text)), options_(options), starts_(0), size_(0) {
  BlockOptions& o = options_;
  o.end = o.end == -1 ? text_.size() : o.end;
  o.stride = o.stride == 0 ? o.block : o.stride;
  if (o.block < 1 || o.stride < 1 || o.samples < 0) {
    raise<ValueError>(
        "text set: block {}, stride {} and samples {}, expected block at least "
        "1, the others not negative",
        options.block, options.stride, options.samples);
  }
  if (o.begin < 0 || o.begin > o.end || o.end > text_.size()) {
    raise<ValueError>("text set: tokens {} to {}, expected a part of {}",
                      o.begin, o.end, text_.size());
  }
  // A block needs one token more than it has: its last target.
  starts_ = std::max<std::int64_t>(0, tokens() - o.block);
  size_ = starts_ == 0 ? 0 : (starts_ - 1) / o.stride + 1;
  if (o.random && o.samples > 0 && starts_ > 0) {
    size_ = o.samples;
  }
}

std::uint64_t TextSet::fingerprint() const {
  const BlockOptions& o = options_;
  return data::fingerprint({o.block, o.begin, o.end, o.stride, o.random ? 1 : 0,
                            static_cast<std::int64_t>(o.seed), o.samples},
                           text_.fingerprint());
}

SampleSpec TextSet::spec() const {
  static_cast<void>(text_.bytes());  // throws where the text was moved from
  return {{options_.block}, i64, {options_.block}, i64};
}

std::int64_t TextSet::start_of(SampleId id) const noexcept {
  if (!options_.random) {
    return options_.begin + id.index * options_.stride;
  }
  const auto words = draw_key(options_.seed, Purpose::kText, id.epoch)
                         .block(static_cast<std::uint64_t>(id.index));
  return options_.begin + base::DrawnInteger(0, starts_)(words);
}

void TextSet::load(SampleId id, std::span<std::byte> input,
                   std::span<std::byte> target) const noexcept {
  base::tell_of_question("load", "for a sample of a data set", {});
  const std::int64_t start = start_of(id);
  const auto count = static_cast<std::size_t>(options_.block);
  const auto row = [&](std::span<std::byte> bytes) {
    return std::span(reinterpret_cast<std::int64_t*>(bytes.data()), count);
  };
  text_.copy(start, row(input));
  text_.copy(start + 1, row(target));
}

Result<TextParts> split_text(const Text& text, const TextOptions& options) {
  if (!(options.validation >= 0.0 && options.validation < 1.0)) {
    raise<ValueError>(
        "text: {} of it for validation, expected 0 up to, not "
        "including, 1",
        options.validation);
  }
  const auto kept = static_cast<std::int64_t>(static_cast<double>(text.size()) *
                                              (1.0 - options.validation));
  const TextParts parts{TextSet(text, {.block = options.block,
                                       .end = kept,
                                       .random = true,
                                       .seed = options.seed,
                                       .samples = options.samples}),
                        TextSet(text, {.block = options.block, .begin = kept})};
  if (parts.train.size() == 0 ||
      (options.validation > 0.0 && parts.validation.size() == 0)) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("text: {} tokens to train and {} to validate with do not "
                    "make a block of {} and its next token each; give a longer "
                    "text or a smaller block",
                    parts.train.tokens(), parts.validation.tokens(),
                    options.block));
  }
  return parts;
}

Result<TextParts> read_text(files::Door& door, const std::string& path,
                            const TextOptions& options) {
  return tokenise_file(door, path, options.symbols)
      .and_then([&](Text&& text) { return split_text(text, options); })
      .map_error([&](Failure&& failed) {
        const std::string name = base::shown_path(path);
        if (failed.message.find(name) == std::string::npos) {
          failed.message = name + ": " + failed.message;
        }
        return std::move(failed);
      });
}

}  // namespace neap::data
