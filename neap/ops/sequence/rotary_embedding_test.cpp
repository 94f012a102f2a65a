// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/rotary_embedding.hpp"

#include <cmath>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The rates of Hugging Face's modeling_rope_utils, in their form there.
double scaled(double rate, std::int64_t pair, const RotaryOptions& s) {
  const double wavelength = 2.0 * std::acos(-1.0) / rate;
  if (s.scaling == RotaryScaling::kLinear) {
    return rate / s.factor;
  }
  if (s.scaling == RotaryScaling::kRamp) {
    const double ramp = std::min(
        1.0,
        std::max(0.0, (static_cast<double>(pair) - s.low) / (s.high - s.low)));
    return rate / s.factor * ramp + rate * (1.0 - ramp);
  }
  if (s.scaling == RotaryScaling::kWavelengths) {
    if (wavelength < s.high || wavelength > s.low) {
      return wavelength < s.high ? rate : rate / s.factor;
    }
    const double original = 8192.0;  // any: it cancels
    const double low_factor = original / s.low;
    const double smooth =
        (original / wavelength - low_factor) / (original / s.high - low_factor);
    return (1.0 - smooth) * rate / s.factor + smooth * rate;
  }
  return rate;
}

Reference turned(double base, RotaryPairs pairs, std::int64_t first,
                 const RotaryOptions& scaling = {}) {
  return [=](std::span<const HostArray> in) {
    std::vector<double> y = in[0].values;
    const std::int64_t rows = in[0].shape.back(2);
    const std::int64_t width = in[0].shape.back(1);
    const bool is_halves = pairs == RotaryPairs::kHalves;
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(y.size()); ++i) {
      const std::int64_t column = i % width;
      const std::int64_t row = i / width % rows;
      const double position = in.size() > 1
                                  ? in[1].values[static_cast<std::size_t>(row)]
                                  : static_cast<double>(first + row);
      const std::int64_t pair = is_halves ? column % (width / 2) : column / 2;
      const bool is_second = is_halves ? column >= width / 2 : column % 2 == 1;
      const std::int64_t apart = is_halves ? width / 2 : 1;
      const double rate = std::pow(
          base, -2.0 * static_cast<double>(pair) / static_cast<double>(width));
      const double angle = position * scaled(rate, pair, scaling);
      const auto at = [&](std::int64_t j) {
        return in[0].values[static_cast<std::size_t>(j)];
      };
      y[static_cast<std::size_t>(i)] =
          is_second ? at(i) * std::cos(angle) + at(i - apart) * std::sin(angle)
                    : at(i) * std::cos(angle) - at(i + apart) * std::sin(angle);
    }
    return y;
  };
}

OpRow row(const char* name, const Shape& shape, const RotaryOptions& options) {
  return {
      .name = name,
      .fn = [=](Inputs x) { return rotary_embedding(x[0], options); },
      .inputs = {uniform(shape, -2, 2)},
      .reference = turned(options.base, options.pairs, options.first, options)};
}

void add_bad_scalings(OpTable& table) {
  using enum RotaryScaling;
  for (const RotaryOptions& options :
       {RotaryOptions{.scaling = kLinear, .factor = 0.0},
        RotaryOptions{.scaling = kRamp, .factor = 2.0, .low = 1.0, .high = 1.0},
        RotaryOptions{
            .scaling = kWavelengths, .factor = 2.0, .low = 1.0, .high = 4.0}}) {
    table.errors.push_back(
        {.name = "scaling",
         .fn = [options](Inputs x) { return rotary_embedding(x[0], options); },
         .inputs = {uniform({4, 2}, 0, 1)},
         .error = typeid(ValueError)});
  }
}

OpTable table() {
  using enum RotaryScaling;
  OpTable table{.name = "rotary_embedding", .op = &ops::kRotaryEmbedding};
  table.rows = {
      row("halves", {2, 3, 4}, {}),
      row("interleaved", {2, 2, 3, 6}, {.pairs = RotaryPairs::kInterleaved}),
      row("after a past", {5, 8}, {.base = 100.0, .first = 1000}),
      row("large", {2, 70, 40}, {}),
      row("linear", {2, 3, 4}, {.scaling = kLinear, .factor = 4.0}),
      row("ramp", {3, 24},
          {.scaling = kRamp, .factor = 4.0, .low = 2.5, .high = 9.0}),
      row("wavelengths", {3, 24},
          {.scaling = kWavelengths,
           .factor = 8.0,
           .low = 600.0,
           .high = 20.0})};
  table.rows[0].zero_size = {{{0, 3, 4}}, {{2, 0, 4}}, {{2, 3, 0}}};
  table.rows[3].second_derivative = false;
  table.rows.push_back(
      {.name = "given positions",
       .fn =
           [](Inputs x) { return rotary_embedding(x[0], {.positions = x[1]}); },
       .inputs = {uniform({2, 3, 4}, -2, 2), literal({3}, {5, -1, 7}).as(i64)},
       .reference = turned(10000.0, RotaryPairs::kHalves, 0)});
  const auto plain = [](Inputs x) { return rotary_embedding(x[0]); };
  const auto placed = [](Inputs x) {
    return rotary_embedding(x[0], {.positions = x[1]});
  };
  table.errors = {
      {.name = "rank",
       .fn = plain,
       .inputs = {uniform({4}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "odd width",
       .fn = plain,
       .inputs = {uniform({4, 3}, 0, 1)},
       .error = typeid(ShapeError)},
      {.name = "positions",
       .fn = placed,
       .inputs = {uniform({4, 2}, 0, 1), integers({3}, 0, 4).as(i64)},
       .error = typeid(ShapeError)},
      {.name = "dtype of positions",
       .fn = placed,
       .inputs = {uniform({4, 2}, 0, 1), uniform({4}, 0, 4)},
       .error = typeid(DTypeError)},
      {.name = "base",
       .fn = [](Inputs x) { return rotary_embedding(x[0], {.base = 0.0}); },
       .inputs = {uniform({4, 2}, 0, 1)},
       .error = typeid(ValueError)}};
  add_bad_scalings(table);
  return table;
}

const Listed kListed(table);

}  // namespace
}  // namespace neap::testing
