// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "labelled_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/data/fingerprint.hpp"
#include "neap/files/door.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/whole_text.hpp"

namespace neap::app {
namespace {

constexpr Bytes kMostText = 4 * kGiB;
constexpr std::size_t kMostClasses = 65'536;

memory::String empty_text() {
  return memory::String(memory::Allocator<char>(memory::Category::kData));
}

// A label as it was written. Numbers are in front of texts, and ascend.
struct Label {
  bool is_text = false;
  std::int64_t number = 0;
  memory::String text = empty_text();

  auto key() const noexcept {
    return std::tuple(is_text, number, std::string_view(text));
  }
  std::string name() const {
    return is_text ? std::string(text) : fmt::format("{}", number);
  }
};

struct Line {
  bool has_text = false;
  bool has_label = false;
  memory::String text = empty_text();
  Label label;
};

// RETURNS: what is wrong with a label that is neither a text nor a number;
// empty where it begins as one.
std::string fault_of_label(formats::JsonCursor ahead) {
  for (const char* word : {"true", "false"}) {
    if (ahead.accept_word(word)) {
      return fmt::format(
          "its label is {}; a label is a text or a whole number: write \"{}\" "
          "in quotes in all lines, or 1 and 0",
          word, word);
    }
  }
  if (ahead.accept_word("null")) {
    return "its label is null; give the line a label, or leave it out";
  }
  const bool is_list = ahead.accept('[');
  return is_list || ahead.accept('{')
             ? fmt::format(
                   "its label is {}; give each line one label, a text "
                   "or a whole number",
                   is_list ? "a list" : "an object")
             : std::string();
}

// `fault`: what is wrong with a label of another kind.
bool read_label(formats::JsonCursor& cursor, Label& label, std::string& fault) {
  fault = fault_of_label(cursor);
  formats::JsonCursor ahead = cursor;
  label.is_text = ahead.accept('"');
  return fault.empty() && (label.is_text ? cursor.string(label.text)
                                         : cursor.integer(label.number));
}

// RETURNS: what is wrong with the line; empty: nothing.
std::string read_line(std::string_view json, Line& line) {
  constexpr const char* kForm =
      R"(; a line is like {"text": "low tide", "label": "calm"})";
  formats::JsonCursor cursor(json);
  memory::String key = empty_text();
  bool is_twice = false;
  std::string fault;
  bool is_good = cursor.expect('{');
  if (is_good && !cursor.accept('}')) {
    do {
      key.clear();
      is_good = cursor.string(key) && cursor.expect(':');
      if (is_good && key == "text") {
        is_twice = is_twice || std::exchange(line.has_text, true);
        is_good = cursor.string(line.text);
      } else if (is_good && key == "label") {
        is_twice = is_twice || std::exchange(line.has_label, true);
        is_good = read_label(cursor, line.label, fault);
      } else {
        is_good = is_good && cursor.skip();
      }
    } while (is_good && cursor.accept(','));
    is_good = is_good && cursor.expect('}');
  }
  if (!fault.empty()) {
    return fault;
  }
  if (!is_good || !cursor.finish()) {
    return fmt::format("{} at byte {}{}", cursor.fault(), cursor.position(),
                       kForm);
  }
  if (is_twice) {
    return fmt::format("a member twice{}", kForm);
  }
  if (!line.has_text || !line.has_label) {
    return fmt::format("has no \"{}\"{}", line.has_text ? "label" : "text",
                       kForm);
  }
  if (std::ranges::any_of(line.label.text, [](char c) {
        return static_cast<unsigned char>(c) < ' ';
      })) {
    return "its label has a control character";
  }
  return {};
}

}  // namespace

class LabelledLines::Reader {
 public:
  Reader(const std::string& path, const text::Tokenizer& tokenizer,
         std::int64_t block)
      : path_(path), tokenizer_(tokenizer), block_(block) {}

  Result<void> read(std::string_view content) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (content.starts_with(kByteOrderMark)) {
      content.remove_prefix(kByteOrderMark.size());
    }
    for (std::int64_t number = 1; !content.empty(); ++number) {
      const std::size_t end = std::min(content.find('\n'), content.size());
      const std::string_view line = content.substr(0, end);
      content.remove_prefix(std::min(end + 1, content.size()));
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) {
        continue;
      }
      if (auto good = take(line, number); !good) {
        return good;
      }
    }
    out_.tokens_.shrink_to_fit();
    return {};
  }

  Result<LabelledLines> finish(const std::optional<ClassNames>& known) {
    if (labels_.empty()) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}: has no line; a line is like "
                                 "{{\"text\": \"low tide\", \"label\": "
                                 "\"calm\"}}",
                                 base::shown_path(path_)));
    }
    return (known ? number_by(*known) : number_by_order()).map([&] {
      return std::move(out_);
    });
  }

 private:
  tl::unexpected<Failure> refuse(FailureKind kind, std::int64_t number,
                                 std::string_view fact) const {
    return failure(kind, fmt::format("{}: line {}: {}", base::shown_path(path_),
                                     number, fact));
  }

  Result<void> take(std::string_view json, std::int64_t number) {
    Line line;
    if (const std::string fault = read_line(json, line); !fault.empty()) {
      return refuse(FailureKind::kCorrupt, number, fault);
    }
    auto ids = tokenizer_.encode(line.text);
    if (ids.empty()) {
      return refuse(FailureKind::kMismatch, number,
                    "its text has no token, nor has the tokenizer any for an "
                    "empty one");
    }
    if (!labels_.empty() && line.label.is_text != labels_[0].is_text) {
      return refuse(FailureKind::kCorrupt, number,
                    "its label is not of the kind of the first: texts and "
                    "numbers do not go together");
    }
    if (static_cast<std::int64_t>(ids.size()) > block_) {
      ++out_.cut_;
      if (!cut(line.text, ids)) {
        return refuse(FailureKind::kMismatch, number,
                      fmt::format("--block {} leaves no token beside the "
                                  "special ones; say a larger one",
                                  block_));
      }
    }
    out_.longest_ =
        std::max(out_.longest_, static_cast<std::int64_t>(ids.size()));
    for (const std::int64_t id : ids) {
      out_.tokens_.push_back(static_cast<std::int32_t>(id));
    }
    out_.ends_.push_back(static_cast<std::int64_t>(out_.tokens_.size()));
    labels_.push_back(std::move(line.label));
    numbers_.push_back(number);
    return {};
  }

  // Takes tokens of the text itself from its end; false where none is left.
  bool cut(std::string_view text, memory::Vector<std::int64_t>& ids) const {
    const auto own = tokenizer_.encode(text, {.add_special_tokens = false});
    const std::size_t excess = ids.size() - static_cast<std::size_t>(block_);
    const auto begin =
        std::search(ids.begin(), ids.end(), own.begin(), own.end());
    if (begin == ids.end() || excess >= own.size()) {
      return false;
    }
    const auto end = begin + static_cast<std::ptrdiff_t>(own.size());
    ids.erase(end - static_cast<std::ptrdiff_t>(excess), end);
    return true;
  }

  Result<void> number_by_order() {
    memory::Vector<const Label*> sorted{
        memory::Allocator<const Label*>(memory::Category::kData)};
    for (const Label& label : labels_) {
      sorted.push_back(&label);
    }
    const auto key = [](const Label* label) { return label->key(); };
    std::ranges::sort(sorted, {}, key);
    sorted.erase(std::unique(sorted.begin(), sorted.end(),
                             [&](const Label* a, const Label* b) {
                               return key(a) == key(b);
                             }),
                 sorted.end());
    if (sorted.size() < 2 || sorted.size() > kMostClasses) {
      return failure(
          FailureKind::kMismatch,
          fmt::format("{}: has {} different labels, expected 2 to "
                      "{}",
                      base::shown_path(path_), sorted.size(), kMostClasses));
    }
    for (const Label* label : sorted) {
      out_.classes_.push_back(label->name());
    }
    for (const Label& label : labels_) {
      const auto at = std::ranges::lower_bound(sorted, label.key(), {}, key);
      out_.labels_.push_back(static_cast<std::int32_t>(at - sorted.begin()));
    }
    return {};
  }

  Result<void> number_by(const ClassNames& known) {
    out_.classes_ = known;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      const std::string name = labels_[i].name();
      const auto at = std::ranges::find(known, name);
      if (at == known.end()) {
        return refuse(FailureKind::kMismatch, numbers_[i],
                      fmt::format("the label {} is none that the model was "
                                  "trained on",
                                  base::shown(name)));
      }
      out_.labels_.push_back(static_cast<std::int32_t>(at - known.begin()));
    }
    return {};
  }

  const std::string& path_;
  const text::Tokenizer& tokenizer_;
  std::int64_t block_;
  LabelledLines out_;
  Data<Label> labels_{memory::Allocator<Label>(memory::Category::kData)};
  Data<std::int64_t> numbers_{
      // of the lines
      memory::Allocator<std::int64_t>(memory::Category::kData)};
};

Result<LabelledLines> LabelledLines::read(
    const std::string& path, const text::Tokenizer& tokenizer,
    std::int64_t block, const std::optional<ClassNames>& known) {
  const auto content =
      formats::read_whole_text(files::system_door(), path, kMostText);
  if (!content) {
    return tl::unexpected(content.error());
  }
  Reader reader(path, tokenizer, block);
  if (auto good = reader.read(*content); !good) {
    return tl::unexpected(good.error());
  }
  return reader.finish(known);
}

std::span<const std::int32_t> LabelledLines::tokens(
    std::int64_t index) const noexcept {
  const auto at = static_cast<std::size_t>(index);
  const std::int64_t begin = at == 0 ? 0 : ends_[at - 1];
  return std::span(tokens_).subspan(
      static_cast<std::size_t>(begin),
      static_cast<std::size_t>(ends_[at] - begin));
}

Bytes LabelledLines::bytes() const noexcept {
  const auto of = [](const auto& vector) {
    return static_cast<Bytes>(vector.capacity() * sizeof(vector[0]));
  };
  return of(tokens_) + of(ends_) + of(labels_);
}

std::uint64_t LabelledLines::fingerprint() const {
  std::uint64_t found = data::fingerprint(std::as_bytes(std::span(tokens_)));
  found = data::fingerprint(std::as_bytes(std::span(ends_)), found);
  return data::fingerprint(std::as_bytes(std::span(labels_)), found);
}

}  // namespace neap::app
