// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>

#include "json_object.hpp"
#include "neap/base/shown.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/whole_text.hpp"

namespace neap::app {
namespace {

constexpr double kNanosecond = 1e-9;
constexpr Bytes kMostText = 64 * kKiB;

struct Preset {
  std::string_view name;
  dist::Network network;
};

// Ethernet carries 1448 bytes of a TCP stream in 1538 on the wire, InfiniBand
// 4096 in 4122. Latencies and overheads are round: of the kernel's TCP, and of
// messages that pass it by.
constexpr double kTcp = 1448.0 / 1538.0;
constexpr double kDirect = 4096.0 / 4122.0;
constexpr Preset kPresets[] = {
    {"1Gb", {40e-6, 5e-6, 0.125e9 * kTcp}},
    {"10Gb", {20e-6, 5e-6, 1.25e9 * kTcp}},
    {"25Gb", {15e-6, 5e-6, 3.125e9 * kTcp}},
    {"100Gb", {2e-6, 0.5e-6, 12.5e9 * kDirect}},
    {"400Gb", {2e-6, 0.5e-6, 50e9 * kDirect}},
};

// A whole number of the file, and its range.
struct Figure {
  std::string_view key;
  std::int64_t least;
  std::int64_t most;
  std::int64_t value = -1;  // below all: it is not there
};

struct Figures {
  Figure version{"neap_network", 1, 1};
  Figure latency{"latency_nanoseconds", 0, 10'000'000'000};
  Figure overhead{"overhead_nanoseconds", 0, 10'000'000'000};
  Figure rate{"bytes_a_second", 1, 1'000'000'000'000'000};

  std::array<Figure*, 4> all() {
    return {&version, &latency, &overhead, &rate};
  }
};

std::string read_member(formats::JsonCursor& cursor, Figures& figures) {
  memory::String key;
  if (!cursor.string(key) || !cursor.expect(':')) {
    return std::string(cursor.fault());
  }
  if (std::string_view(key) == "engine") {
    memory::String name;
    return cursor.string(name) ? "" : std::string(cursor.fault());
  }
  for (Figure* figure : figures.all()) {
    if (figure->key != std::string_view(key)) {
      continue;
    }
    if (figure->value >= 0) {
      return fmt::format("'{}' is there twice", figure->key);
    }
    if (!cursor.number(figure->value) || figure->value < figure->least ||
        figure->value > figure->most) {
      return fmt::format("'{}' is not a whole number from {} to {}",
                         figure->key, figure->least, figure->most);
    }
    return "";
  }
  return fmt::format("'{}' is none of a network's", base::shown(key));
}

// Why the text is no network; empty: it is one.
std::string read_figures(std::string_view text, Figures& figures) {
  formats::JsonCursor cursor(text);
  if (!cursor.expect('{')) {
    return std::string(cursor.fault());
  }
  do {
    if (std::string why = read_member(cursor, figures); !why.empty()) {
      return why;
    }
  } while (cursor.accept(','));
  if (!cursor.expect('}') || !cursor.finish()) {
    return std::string(cursor.fault());
  }
  for (const Figure* figure : figures.all()) {
    if (figure->value < 0) {
      return fmt::format("'{}' is missing", figure->key);
    }
  }
  return "";
}

Result<dist::Network> read_file(files::Door& door, const std::string& path) {
  const auto text = formats::read_whole_text(door, path, kMostText);
  if (!text) {
    return tl::unexpected(text.error());
  }
  Figures figures;
  if (const std::string why = read_figures(*text, figures); !why.empty()) {
    return failure(FailureKind::kCorrupt,
                   fmt::format("{} is no file of neap network: {}",
                               base::shown_path(path), why));
  }
  return dist::Network{
      .latency = kNanosecond * static_cast<double>(figures.latency.value),
      .overhead = kNanosecond * static_cast<double>(figures.overhead.value),
      .rate = static_cast<double>(figures.rate.value)};
}

// A figure that a file of ours may have.
std::int64_t whole(double x, double unit, const Figure& figure) {
  return std::clamp(static_cast<std::int64_t>(std::llround(
                        std::min(x / unit, static_cast<double>(figure.most)))),
                    figure.least, figure.most);
}

}  // namespace

Result<dist::Network> read_network(files::Door& door, const std::string& name) {
  const auto* const preset =
      std::ranges::find(kPresets, std::string_view(name), &Preset::name);
  return preset != std::end(kPresets) ? Result<dist::Network>(preset->network)
                                      : read_file(door, name);
}

std::string to_json(const dist::Network& network, std::string_view engine) {
  const Figures figures;
  JsonObject json;
  json.add("neap_network", figures.version.least)
      .add("latency_nanoseconds",
           whole(network.latency, kNanosecond, figures.latency))
      .add("overhead_nanoseconds",
           whole(network.overhead, kNanosecond, figures.overhead))
      .add("bytes_a_second", whole(network.rate, 1.0, figures.rate))
      .add("engine", engine);
  return json.text();
}

}  // namespace neap::app
