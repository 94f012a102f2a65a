// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "tokenizer_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <span>

#include "neap/base/append.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/source.hpp"
#include "neap/text/tokenizer.hpp"
#include "neap/text/trainer.hpp"
#include "output_files.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

using Ids = memory::Vector<std::int64_t>;

Result<memory::String> read_all(files::Door& door, const std::string& path) {
  constexpr std::size_t kPart = 64 * 1024;
  auto source = formats::open_source(door, path);
  if (!source) {
    return tl::make_unexpected(std::move(source.error()));
  }
  memory::String text{memory::Allocator<char>(memory::Category::kData)};
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + std::max(kPart, before));
    const auto count = files::read_full(
        **source, std::as_writable_bytes(std::span(text)).subspan(before));
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    const bool is_last =
        static_cast<std::size_t>(*count) < text.size() - before;
    text.resize(before + static_cast<std::size_t>(*count));
    if (is_last) {
      return text;
    }
  }
}

// Numbers between white space, commas and brackets.
Result<Ids> read_ids(std::string_view text, std::string_view name) {
  constexpr std::string_view kBetween = " \t\r\n,[]";
  Ids ids{memory::Allocator<std::int64_t>(memory::Category::kData)};
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBetween), text.size()));
    if (text.empty()) {
      return ids;
    }
    std::int64_t id = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, id);
    const bool is_whole =
        end == last || kBetween.find(*end) != std::string_view::npos;
    if (error != std::errc() || !is_whole) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}: '{}' is no id", name,
                                 base::shown(text.substr(
                                     0, text.find_first_of(kBetween)))));
    }
    ids.push_back(id);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  }
}

void print(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
}

void print_ids(const text::Tokenizer& tokenizer, bool is_plain,
               std::string_view text) {
  const Ids ids = tokenizer.encode(text, {.add_special_tokens = !is_plain});
  memory::String line{memory::Allocator<char>(memory::Category::kData)};
  for (const std::int64_t id : ids) {
    base::append(line, "{}{}", line.empty() ? "" : " ", id);
  }
  line.push_back('\n');
  print(line);
}

// A line of ids for each text.
Result<void> put_text(const text::Tokenizer& tokenizer,
                      const TokenizerSettings& settings, std::string_view text,
                      std::string_view name) {
  if (settings.action == "encode") {
    if (!settings.is_by_lines) {
      print_ids(tokenizer, settings.is_plain, text);
      return {};
    }
    while (!text.empty()) {
      const std::string_view line = text.substr(0, text.find('\n'));
      print_ids(tokenizer, settings.is_plain, line);
      text.remove_prefix(std::min(line.size() + 1, text.size()));
    }
    return {};
  }
  const auto ids = read_ids(text, name);
  if (!ids) {
    return tl::make_unexpected(ids.error());
  }
  for (const std::int64_t id : *ids) {
    if (id < 0 || id >= tokenizer.id_limit()) {
      return failure(FailureKind::kMismatch,
                     fmt::format("{}: there is no token {}, ids are below {}",
                                 name, id, tokenizer.id_limit()));
    }
  }
  print(tokenizer.decode(*ids, {.skip_special_tokens = !settings.is_plain}));
  return {};
}

ExitCode apply(files::Door& door, const TokenizerSettings& settings) {
  const auto tokenizer = text::Tokenizer::open(settings.load, door);
  if (!tokenizer) {
    return fail(ExitCode::kData, tokenizer.error().message);
  }
  if (!settings.text.empty()) {
    const auto done = put_text(*tokenizer, settings, settings.text, "--text");
    return done ? ExitCode::kOk : fail(ExitCode::kData, done.error().message);
  }
  for (const std::string& path : settings.files) {
    const auto done = read_all(door, path).and_then([&](const auto& text) {
      return put_text(*tokenizer, settings, text, base::shown_path(path));
    });
    if (!done) {
      return fail(ExitCode::kData, done.error().message);
    }
  }
  return ExitCode::kOk;
}

ExitCode train(files::Door& door, const TokenizerSettings& settings) {
  text::BpeTrainer trainer({.vocab_size = settings.vocab,
                            .min_frequency = settings.min_frequency,
                            .special_tokens = settings.special});
  for (const std::string& path : settings.files) {
    if (auto added = trainer.add_file(path, door); !added) {
      return fail(ExitCode::kData, added.error().message);
    }
  }
  if (!settings.text.empty()) {
    if (auto added = trainer.add(settings.text); !added) {
      return fail(ExitCode::kData, added.error().message);
    }
  }
  const memory::String json = trainer.train();
  if (settings.out.empty()) {
    print(json);
    return ExitCode::kOk;
  }
  const auto written = write_text(door, settings.out, json);
  return written ? ExitCode::kOk
                 : fail(ExitCode::kOutput, written.error().message);
}

// Says what the action needs and lacks, or has and has no use for; nullptr: it
// may run.
const char* refusal_of(const TokenizerSettings& s) {
  const bool is_training = s.action == "train";
  if (s.files.empty() == s.text.empty()) {
    return "tokenizer: give files, or --text in their place";
  }
  if (is_training && s.vocab == 0) {
    return "tokenizer train needs --vocab N: the number of tokens";
  }
  if (is_training && (!s.load.empty() || s.is_plain)) {
    return "tokenizer train has no use for --load and --plain";
  }
  if (s.action != "encode" && s.is_by_lines) {
    return "tokenizer: --lines is for encode";
  }
  if (!is_training && s.load.empty()) {
    return "tokenizer: encode and decode need --load FILE: a tokenizer.json";
  }
  const bool has_training = s.vocab != 0 || s.min_frequency != 0 ||
                            !s.special.empty() || !s.out.empty();
  return !is_training && has_training
             ? "tokenizer: --vocab, --min-frequency, --special and --out are "
               "for train"
             : nullptr;
}

}  // namespace

ExitCode run_tokenizer(const TokenizerSettings& settings) {
  if (const char* refusal = refusal_of(settings)) {
    return fail(ExitCode::kUsage, refusal);
  }
  files::Door& door = files::system_door();
  if (settings.action != "train") {
    return apply(door, settings);
  }
  const NamedFile out{"--out", settings.out};
  std::vector<NamedFile> inputs;
  for (const std::string& path : settings.files) {
    inputs.push_back({"a text", path});
  }
  if (auto good = check_distinct(door, std::span(&out, 1), inputs); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  return train(door, settings);
}

}  // namespace neap::app
