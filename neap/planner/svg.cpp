// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/append.hpp"

namespace neap::planner {
namespace {

constexpr double kWidth = 1000;
constexpr double kHeight = 600;

// A map from a range of integers to one of the picture.
class Scale {
 public:
  Scale(std::int64_t from, std::int64_t to, double length) noexcept
      : from_(static_cast<double>(from)),
        unit_(length / std::max(1.0, static_cast<double>(to) - from_)) {}
  double operator()(std::int64_t value) const noexcept {
    return (static_cast<double>(value) - from_) * unit_;
  }

 private:
  double from_;
  double unit_;
};

}  // namespace

memory::String to_svg(const Problem& problem, const Solution& solution) {
  std::int64_t begin = kNoLimit;
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
  for (const Buffer& b : problem.buffers) {
    begin = std::min(begin, b.lower);
    end = std::max(end, b.upper);
  }
  const Scale x(begin, end, kWidth);
  const Scale y(0, solution.height, kHeight);
  memory::String out;
  base::append(out,
               "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} "
               "{}\" stroke=\"#333\" stroke-width=\"0.3\">\n",
               kWidth, kHeight);
  for (std::size_t i = 0; i < problem.buffers.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    const std::int64_t offset = solution.offsets[i];
    if (b.size == 0 || b.alias_of >= 0) {
      continue;
    }
    base::append(out,
                 "<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" "
                 "height=\"{:.2f}\" fill=\"hsl({}, 60%, 75%)\"><title>{}: "
                 "[{}, {}), size {}, offset {}</title></rect>\n",
                 x(b.lower), kHeight - y(offset + b.size),
                 x(b.upper) - x(b.lower), y(b.size),
                 i * 47 % 360,  // neighbours look different
                 i, b.lower, b.upper, b.size, offset);
  }
  out += "</svg>\n";
  return out;
}

}  // namespace neap::planner
