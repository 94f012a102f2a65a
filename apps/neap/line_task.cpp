// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "line_task.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "class_split.hpp"
#include "labelled_lines.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/fingerprint.hpp"
#include "pretrained_task.hpp"

namespace neap::app {
namespace {

// Lines as a Bert takes them: tokens, padded to the longest of all, and below
// them 1 for a token and 0 for padding.
class LineSet {
 public:
  LineSet(const LabelledLines& lines, std::int64_t padding, Indices indices)
      : lines_(&lines), padding_(padding), indices_(std::move(indices)) {}

  std::int64_t size() const noexcept {
    return static_cast<std::int64_t>(indices_.size());
  }
  data::SampleSpec spec() const {
    return {{2, lines_->longest()}, i64, {}, i64};
  }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const std::int64_t line = indices_[static_cast<std::size_t>(index)];
    const auto tokens = lines_->tokens(line);
    auto* const out = reinterpret_cast<std::int64_t*>(input.data());
    const std::int64_t length = lines_->longest();
    std::int64_t* const padded = std::ranges::copy(tokens, out).out;
    std::fill(padded, out + length, padding_);
    std::int64_t* const mask = out + length;
    std::fill_n(mask, length, 0);
    std::fill_n(mask, tokens.size(), 1);
    const std::int64_t label = lines_->label(line);
    std::memcpy(target.data(), &label, sizeof(label));
  }
  std::uint64_t fingerprint() const {
    return data::fingerprint(std::as_bytes(std::span(indices_)),
                             lines_->fingerprint());
  }
  Bytes bytes() const noexcept {
    return static_cast<Bytes>(indices_.capacity() * sizeof(indices_[0]));
  }

 private:
  const LabelledLines* lines_;
  std::int64_t padding_;  // token
  Indices indices_;
};

struct Found {
  LabelledLines lines;
  std::int64_t padding = 0;
  ClassHead head;
};

class LineTask final : public Task {
 public:
  LineTask(const TrainSettings& settings, Found found, ClassParts parts)
      : settings_(settings),
        found_(std::move(found)),
        train_(found_.lines, found_.padding, std::move(parts.train)),
        test_(found_.lines, found_.padding, std::move(parts.test)) {}

  data::AnyDataset train() const override { return train_; }
  data::AnyDataset test() const override { return test_; }
  std::unique_ptr<nn::Layer> make_model() const override {
    return make_pretrained_model(settings_, classes());
  }
  Bytes data_bytes() const override {
    return found_.lines.bytes() + train_.bytes() + test_.bytes();
  }
  std::string describe_data() const override {
    return fmt::format("{} + {} lines, {} classes, {}",
                       format_grouped(train_.size()),
                       format_grouped(test_.size()), format_grouped(classes()),
                       format_bytes(data_bytes()));
  }
  std::string remarks() const override {
    const LabelledLines& lines = found_.lines;
    const std::string cut =
        lines.cut() == 0 ? std::string()
                         : fmt::format(", where {} lines were cut (--block)",
                                       format_grouped(lines.cut()));
    return fmt::format("lines    padded to {} tokens{}\n", lines.longest(),
                       cut) +
           describe_head(found_.head, classes(), settings_);
  }
  std::string class_names() const override {
    return joined(found_.lines.classes());
  }

 private:
  std::int64_t classes() const noexcept {
    return std::ssize(found_.lines.classes());
  }

  const TrainSettings& settings_;
  Found found_;
  LineSet train_;
  LineSet test_;
};

Result<LabelledLines> read_lines(const TrainSettings& s,
                                 const models::PretrainedConfig& config) {
  const auto tokenizer = open_tokenizer(s, models::vocab_of(config));
  if (!tokenizer) {
    return tl::unexpected(tokenizer.error());
  }
  return classes_of_file(s.load).and_then(
      [&](const std::optional<ClassNames>& known) {
        return LabelledLines::read(s.path, *tokenizer, s.block, known);
      });
}

Result<Found> find(const TrainSettings& s) {
  const auto config = look_at_config(s);
  if (!config) {
    return tl::unexpected(config.error());
  }
  auto lines = read_lines(s, *config);
  if (!lines) {
    return tl::unexpected(lines.error());
  }
  return look_at_pretrained(s, std::ssize(lines->classes()))
      .and_then([&](const models::PretrainedConfig&) {
        return look_at_head(s, *config);
      })
      .map([&](const ClassHead& head) {
        return Found{std::move(*lines),
                     std::get<models::BertOptions>(*config).padding.value_or(0),
                     head};
      });
}

}  // namespace

Result<std::unique_ptr<Task>> make_line_task(const TrainSettings& s,
                                             ClassTest test) {
  auto found = find(s);
  if (!found) {
    return tl::unexpected(found.error());
  }
  const LabelledLines& lines = found->lines;
  const bool is_all = test == ClassTest::kAll;
  ClassParts parts = split_classes(
      lines.size(), [&](std::int64_t index) { return lines.label(index); },
      is_all ? 0.0 : s.validation);
  if (auto good = is_all ? check_head(found->head, lines.classes(), s)
                         : check_share(parts.test.size(), s);
      !good) {
    return tl::unexpected(good.error());
  }
  if (is_all) {
    std::swap(parts.train, parts.test);
  }
  return std::make_unique<LineTask>(s, std::move(*found), std::move(parts));
}

}  // namespace neap::app
