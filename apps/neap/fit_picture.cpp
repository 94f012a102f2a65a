// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "fit_picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace neap::app {
namespace {

constexpr double kLeft = 64;
constexpr double kTop = 48;
constexpr double kWidth = 640;  // of the diagram
constexpr double kHeight = 300;

// 1, 2 or 5 times a power of ten: at most about six steps up to `most`.
double step_for(double most) {
  const double rough = most / 6.0;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (power * times >= rough) {
      return power * times;
    }
  }
  return power * 10.0;
}

class Picture {
 public:
  Picture(const std::vector<FitRow>& rows, Bytes asked)
      : rows_(rows), asked_(asked) {
    most_bytes_ = static_cast<double>(rows.front().budget) * 1.05;
    if (asked != kUnlimited) {
      most_bytes_ = std::max(most_bytes_, static_cast<double>(asked) * 1.05);
    }
    for (const FitRow& row : rows) {
      most_time_ = std::max(most_time_, extra(row));
    }
    most_time_ *= 1.1;
  }

  std::string draw(std::string_view title) {
    fmt::format_to(
        std::back_inserter(out_),
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {} {}\" "
        "font-family=\"sans-serif\" font-size=\"11\" fill=\"#333\">\n"
        "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n",
        kLeft + kWidth + 24, kTop + kHeight + 52);
    text(kLeft, 24, "start", fmt::format("{}: what each budget costs", title),
         14);
    axes();
    staircase("#c9cdd3", [](const FitRow& row) {
      return row.plan.fitting.percent(row.plan.fitting.bound);
    });
    staircase("#3a6ea5", extra);
    marks();
    out_ += "</svg>\n";
    return std::move(out_);
  }

 private:
  static double extra(const FitRow& row) {
    return row.plan.fitting.percent(row.plan.fitting.extra);
  }
  double x(double bytes) const { return kLeft + kWidth * bytes / most_bytes_; }
  double y(double percent) const {
    return kTop + kHeight * (1.0 - percent / most_time_);
  }

  void text(double x, double y, const char* anchor, const std::string& words,
            int size = 11) {
    fmt::format_to(std::back_inserter(out_),
                   "<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" "
                   "font-size=\"{}\">{}</text>\n",
                   x, y, anchor, size, words);
  }
  void line(double x1, double y1, double x2, double y2, const char* look) {
    fmt::format_to(std::back_inserter(out_),
                   "<path d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\" {}/>\n", x1, y1,
                   x2, y2, look);
  }

  void axes() {
    const double time = step_for(most_time_);
    for (int i = 0; i * time <= most_time_; ++i) {
      const double at = i * time;
      line(kLeft, y(at), kLeft + kWidth, y(at), "stroke=\"#ddd\"");
      text(kLeft - 8, y(at) + 4, "end", fmt::format("+{:g} %", at));
    }
    const double bytes = step_for(most_bytes_ / kMiB) * kMiB;
    for (int i = 0; i * bytes <= most_bytes_; ++i) {
      const double at = i * bytes;
      text(x(at), kTop + kHeight + 18, "middle",
           fmt::format("{:g}", at / kMiB));
    }
    text(kLeft + kWidth / 2, kTop + kHeight + 38, "middle",
         "budget of the process, MiB; grey: no plan costs less");
  }

  // The cost of a budget: the price of the largest plan within it.
  template <class Height>
  void staircase(const char* colour, const Height& height) {
    out_ += "<path fill=\"none\" stroke-width=\"2\" stroke=\"";
    out_ += colour;
    out_ += "\" d=\"";
    double right = kLeft + kWidth;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const double at = x(static_cast<double>(rows_[i].budget));
      fmt::format_to(std::back_inserter(out_), "{}{:.1f} {:.1f}L{:.1f} {:.1f}",
                     i == 0 ? "M" : "L", right, y(height(rows_[i])), at,
                     y(height(rows_[i])));
      right = at;
    }
    fmt::format_to(std::back_inserter(out_), "L{:.1f} {:.1f}\"/>\n", right,
                   kTop);
  }

  void marks() {
    for (const FitRow& row : rows_) {
      fmt::format_to(
          std::back_inserter(out_),
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"#3a6ea5\">"
          "<title>{}: +{:.1f} %, {} calls again</title></circle>\n",
          x(static_cast<double>(row.budget)), y(extra(row)),
          format_bytes(row.budget), extra(row), row.plan.fitting.again);
    }
    if (asked_ != kUnlimited) {
      const double at = x(static_cast<double>(asked_));
      line(at, kTop, at, kTop + kHeight,
           "stroke=\"#c0392b\" stroke-dasharray=\"4 3\"");
      text(at, kTop - 6, "middle", format_bytes_short(asked_));
    }
  }

  const std::vector<FitRow>& rows_;
  Bytes asked_;
  double most_bytes_ = 1.0;
  double most_time_ = 1.0;  // per cent
  std::string out_;
};

}  // namespace

std::string fit_picture(std::string_view title, const std::vector<FitRow>& rows,
                        Bytes asked) {
  return Picture(rows, asked).draw(title);
}

}  // namespace neap::app
