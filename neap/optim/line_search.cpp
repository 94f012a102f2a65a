// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/line_search.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>

namespace neap::optim {
namespace {

constexpr double kArmijo = 1e-4;    // c1: of the decrease that the slope says
constexpr double kCurvature = 0.9;  // c2: of the slope that may be left

// The least of the cubic through both points, within bounds. Their middle where
// there is none, or a loss is infinite.
double interpolate(const Trial& a, const Trial& b, double low, double high) {
  const double middle = (low + high) / 2.0;
  const double d1 = a.slope + b.slope - 3.0 * (a.loss - b.loss) / (a.t - b.t);
  const double square = d1 * d1 - a.slope * b.slope;
  if (!(square >= 0.0)) {
    return middle;
  }
  const double d2 = std::sqrt(square);
  const double least =
      a.t <= b.t
          ? b.t - (b.t - a.t) *
                      ((b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2))
          : a.t - (a.t - b.t) *
                      ((a.slope + d2 - d1) / (a.slope - b.slope + 2.0 * d2));
  return std::isnan(least) ? middle : std::clamp(least, low, high);
}

class Search {
 public:
  explicit Search(const LineSearch& search) : search_(search) {}

  Found run() {
    bracket();
    order();
    while (!is_done_ && rounds_ < search_.most && is_wide()) {
      zoom();
    }
    return {.at = low(), .evaluations = evaluations_};
  }

 private:
  // A buffer that none of these points has.
  static int spare(std::initializer_list<int> used) {
    int buffer = 0;
    while (std::ranges::find(used, buffer) != used.end()) {
      ++buffer;
    }
    return buffer;
  }
  Trial evaluate(double t, int gradient) {
    ++evaluations_;
    return search_.evaluate(t, gradient);
  }
  bool is_too_high(const Trial& now) const {
    const Trial& start = search_.start;
    return now.loss > start.loss + kArmijo * now.t * start.slope;
  }
  bool is_flat(const Trial& now) const {
    return std::fabs(now.slope) <= -kCurvature * search_.start.slope;
  }
  const Trial& low() const { return ends_[low_]; }
  Trial& high() { return ends_[1 - low_]; }
  void order() { low_ = ends_[0].loss <= ends_[1].loss ? 0 : 1; }

  // Goes further along the line until two points have a good one between them.
  void bracket() {
    const Trial& start = search_.start;
    Trial before = start;
    Trial now = evaluate(search_.first, spare({start.gradient}));
    for (; rounds_ < search_.most; ++rounds_) {
      if (is_too_high(now) || (rounds_ > 1 && now.loss >= before.loss)) {
        ends_ = {before, now};
        return;
      }
      if (is_flat(now)) {
        ends_ = {now, now};
        is_done_ = true;
        return;
      }
      if (now.slope >= 0.0) {
        ends_ = {before, now};
        return;
      }
      const double t = interpolate(
          before, now, now.t + 0.01 * (now.t - before.t), now.t * 10.0);
      before = now;
      now = evaluate(t, spare({start.gradient, before.gradient}));
    }
    ends_ = {start, now};
  }

  bool is_wide() const {
    return std::fabs(ends_[1].t - ends_[0].t) * search_.direction >=
           search_.least;
  }

  // A point between the ends, away from both if the one before was not.
  double next() {
    const auto [least, most] = std::minmax(ends_[0].t, ends_[1].t);
    double t = interpolate(ends_[0], ends_[1], least, most);
    const double margin = 0.1 * (most - least);
    if (std::min(most - t, t - least) >= margin) {
      is_slow_ = false;
    } else if (is_slow_ || t >= most || t <= least) {
      t = std::fabs(t - most) < std::fabs(t - least) ? most - margin
                                                     : least + margin;
      is_slow_ = false;
    } else {
      is_slow_ = true;
    }
    return t;
  }

  void zoom() {
    const Trial now =
        evaluate(next(), spare({ends_[0].gradient, ends_[1].gradient}));
    ++rounds_;
    if (is_too_high(now) || now.loss >= low().loss) {
      high() = now;
      order();
      return;
    }
    if (is_flat(now)) {
      is_done_ = true;
    } else if (now.slope * (high().t - low().t) >= 0.0) {
      high() = low();
    }
    ends_[low_] = now;
  }

  const LineSearch& search_;
  std::array<Trial, 2> ends_;
  std::size_t low_ = 0;  // the end with the lower loss
  int rounds_ = 0;
  int evaluations_ = 0;
  bool is_done_ = false;
  bool is_slow_ = false;  // the last point was near an end
};

}  // namespace

Found strong_wolfe(const LineSearch& search) {
  return Search(search).run();
}

}  // namespace neap::optim
