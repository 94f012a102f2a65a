// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "class_split.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "neap/base/philox.hpp"

namespace neap::app {
namespace {

struct Drawn {
  std::int64_t label;
  std::uint32_t place;  // in the order in which its class is drawn
  std::int64_t index;
};

Drawn draw(std::int64_t index, std::int64_t label) noexcept {
  constexpr std::uint64_t kSeed = 0x70686f746f73;
  const base::DrawKey key{kSeed, static_cast<std::uint64_t>(index)};
  return {label, key.word(0), index};
}

}  // namespace

ClassParts split_classes(std::int64_t size,
                         base::FunctionRef<std::int64_t(std::int64_t)> label_of,
                         double share) {
  memory::Vector<Drawn> all{memory::Allocator<Drawn>(memory::Category::kData)};
  all.reserve(static_cast<std::size_t>(size));
  for (std::int64_t index = 0; index < size; ++index) {
    all.push_back(draw(index, label_of(index)));
  }
  std::ranges::sort(all, {}, [](const Drawn& one) {
    return std::tuple(one.label, one.place, one.index);
  });
  ClassParts parts;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::find_if(begin, all.end(), [&](const Drawn& one) {
      return one.label != begin->label;
    });
    const auto count = static_cast<std::int64_t>(
        std::floor(share * static_cast<double>(end - begin) + 0.5));
    const auto middle = begin + std::min(count, end - begin - 1);
    for (; begin != end; ++begin) {
      (begin < middle ? parts.test : parts.train).push_back(begin->index);
    }
  }
  std::ranges::sort(parts.train);
  std::ranges::sort(parts.test);
  return parts;
}

}  // namespace neap::app
