// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "setters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "byte_size.hpp"
#include "nearest.hpp"
#include "numbers.hpp"

namespace neap::app {

std::optional<NewAdapter> parse_lora(std::string_view text) {
  constexpr std::string_view kBegin = "lora:";
  if (!text.starts_with(kBegin)) {
    return std::nullopt;
  }
  text.remove_prefix(kBegin.size());
  const std::size_t colon = std::min(text.find(':'), text.size());
  NewAdapter made;
  if (!parse_number(text.substr(0, colon), made.rank) || made.rank < 1 ||
      made.rank > 65'536) {
    return std::nullopt;
  }
  made.alpha = 2.0 * static_cast<double>(made.rank);
  if (colon < text.size() &&
      (!parse_number(text.substr(colon + 1), made.alpha) ||
       !std::isfinite(made.alpha))) {
    return std::nullopt;
  }
  return made;
}

namespace {

// A word for true or one for false.
Setter either(bool TrainSettings::*field, const char* yes, const char* no) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    if (text != yes && text != no) {
      return fmt::format("{} or {}", yes, no);
    }
    s.*field = text == yes;
    return {};
  };
}

}  // namespace

Setter whole(std::int64_t TrainSettings::*field, std::int64_t least,
             std::int64_t most) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    std::int64_t value = 0;
    if (!parse_number(text, value) || value < least || value > most) {
      return fmt::format("a whole number from {} to {}", least, most);
    }
    s.*field = value;
    return {};
  };
}

namespace {

// Empty where the text is a number of these, or what is expected.
std::string read_real(const std::string& text, double least, double below,
                      double& value) {
  if (parse_number(text, value) && value >= least && value < below) {
    return {};
  }
  return std::isfinite(below)
             ? fmt::format("a number from {} up to, not including, {}", least,
                           below)
             : fmt::format("a finite number of at least {}", least);
}

}  // namespace

Setter real(double TrainSettings::*field, double least, double below) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    double value = 0.0;
    std::string expected = read_real(text, least, below, value);
    s.*field = expected.empty() ? value : s.*field;
    return expected;
  };
}

Setter maybe_real(std::optional<double> TrainSettings::*field, double below) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    double value = 0.0;
    std::string expected = read_real(text, 0.0, below, value);
    if (expected.empty()) {
      s.*field = value;
    }
    return expected;
  };
}

Setter one_of(std::string TrainSettings::*field,
              const std::vector<std::string>& choices) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      return fmt::format("one of {}{}", fmt::join(choices, ", "),
                         did_you_mean(text, choices));
    }
    s.*field = text;
    return {};
  };
}

Setter flag(bool TrainSettings::*field) {
  return either(field, "true", "false");
}

Setter on_or_off(bool TrainSettings::*field) {
  return either(field, "on", "off");
}

Setter any_text(std::string TrainSettings::*field) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    if (text.empty()) {
      return "a text that is not empty";
    }
    s.*field = text;
    return {};
  };
}

Setter set_model(const std::vector<std::string>& choices) {
  return [set = one_of(&TrainSettings::model, choices)](
             TrainSettings& s, const std::string& text) -> std::string {
    std::string expected = set(s, text);
    if (expected.empty()) {
      s.from.clear();
    }
    return expected;
  };
}

std::string set_from(TrainSettings& s, const std::string& text) {
  if (text.empty()) {
    return "a folder";
  }
  s.from = text;
  s.model = kPretrained;
  return {};
}

std::string set_adapter(TrainSettings& s, const std::string& text) {
  if (text.empty() || (text.starts_with("lora:") && !parse_lora(text))) {
    return "lora:RANK, lora:RANK:ALPHA or a folder, like lora:8";
  }
  s.adapter = text;
  return {};
}

std::string set_seed(TrainSettings& s, const std::string& text) {
  return parse_number(text, s.seed) ? "" : "a whole number from 0 to 2^64 - 1";
}

std::string set_hidden(TrainSettings& s, const std::string& text) {
  constexpr std::int64_t kMost = 1 << 20;
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; at <= text.size() && !text.empty();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::int64_t size = 0;
    if (!parse_number(std::string_view(text).substr(at, comma - at), size) ||
        size < 1 || size > kMost) {
      return fmt::format("sizes from 1 to {}, like 512,256", kMost);
    }
    sizes.push_back(size);
    at = comma + 1;
  }
  s.hidden = std::move(sizes);
  return {};
}

std::string set_budget(TrainSettings& s, const std::string& text) {
  return read_budget(text, s.budget);
}

std::string set_spill_rate(TrainSettings& s, const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes < kMiB || *bytes > (Bytes{1} << 50U)) {
    return "bytes a second, 1MiB or more, like 500MiB";
  }
  s.spill_write_rate = *bytes;
  s.spill_fetch_rate = *bytes;
  return {};
}

std::string set_spill_a_day(TrainSettings& s, const std::string& text) {
  const auto bytes = parse_bytes(text);
  if (!bytes || *bytes < kMiB) {
    return "bytes, 1MiB or more, like 500GiB";
  }
  s.spill_a_day = *bytes;
  return {};
}

std::string set_save_every(TrainSettings& s, const std::string& text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr Unit kUnits[] = {{"min", 60.0}, {"h", 3600.0}, {"s", 1.0}};
  std::string_view number(text);
  double seconds = 0.0;
  for (const Unit& unit : kUnits) {
    if (seconds == 0.0 && number.ends_with(unit.name)) {
      number.remove_suffix(unit.name.size());
      seconds = unit.seconds;
    }
  }
  std::int64_t count = 0;
  if (!parse_number(number, count) || count < 1 ||
      count > std::numeric_limits<std::int32_t>::max()) {
    return "steps, like 500, or a time, like 90s, 10min or 1h";
  }
  s.save_steps = seconds == 0.0 ? count : 0;
  s.save_seconds = seconds * static_cast<double>(count);
  return {};
}

}  // namespace neap::app
