// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// MadeUpSamples: a data set of numbers, tokens and labels that nobody wrote
// down, the same ones each time.
#pragma once

#include <cstring>
#include <span>
#include <utility>

#include "neap/base/philox.hpp"
#include "neap/data/dataset.hpp"

namespace neap::tests {

/// Inputs are f32 in [-0.5, 0.5), or i64 tokens; targets i64; tokens and
/// targets are below `classes`.
class MadeUpSamples {
 public:
  MadeUpSamples(data::SampleSpec spec, std::int64_t size, std::int64_t classes)
      : spec_(std::move(spec)), size_(size), classes_(classes) {}
  std::int64_t size() const { return size_; }
  data::SampleSpec spec() const { return spec_; }
  void load(std::int64_t index, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    const base::DrawKey key{11, static_cast<std::uint64_t>(index)};
    const auto class_of = [&](std::size_t i) {
      return static_cast<std::int64_t>(key.word(i)) % classes_;
    };
    if (spec_.input_dtype == f32) {
      fill<float>(input, [&](std::size_t i) {
        return base::uniform_f32(key.word(i)) - 0.5F;
      });
    } else {
      fill<std::int64_t>(input, class_of);
    }
    fill<std::int64_t>(target, [&](std::size_t i) { return class_of(i + 1); });
  }

 private:
  template <class T, class Value>
  static void fill(std::span<std::byte> out, const Value& value) noexcept {
    for (std::size_t i = 0; (i + 1) * sizeof(T) <= out.size(); ++i) {
      const T each = value(i);
      std::memcpy(&out[i * sizeof(T)], &each, sizeof(T));
    }
  }

  data::SampleSpec spec_;
  std::int64_t size_;
  std::int64_t classes_;
};

}  // namespace neap::tests
