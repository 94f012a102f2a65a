// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Results: aligned tables for people, or one JSON object a line for programs.
#pragma once

#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/arguments.hpp"

namespace neap::bench {

inline constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

/// Whether less (a time) or more (a rate) is better. Either way a ratio above
/// 1 says that ours is the better.
enum class Better { kLess, kMore };

/// A further column of a row, such as page faults a step.
struct Figure {
  std::string name;
  double value = kNone;
};

struct Row {
  std::string name{};
  int threads = 1;
  std::string unit{};       // of ours and peer
  double ours = kNone;      // kNone: not measured
  double peer = kNone;      // or the limit; kNone: there is none
  std::string peer_name{};  // what was compared with, or why nothing was
  int reps = 0;
  Better better = Better::kLess;
  std::vector<Figure> figures{};  // the same names in every row of a table

  double ratio() const {
    return better == Better::kLess ? peer / ours : ours / peer;
  }
};

class Report {
 public:
  /// Prints the heading: the machine, the instruction set, how busy it is.
  Report(std::string section, const Arguments& arguments);

  /// Prints a table, and for each thread count the geometric mean of the
  /// ratios that are there where `with_mean` says so. JSON lines go out now.
  void table(std::string_view title, const std::vector<Row>& rows,
             bool with_mean = false);
  /// A sentence among the tables; not in JSON.
  void note(std::string_view text);

 private:
  std::string json_line(const Row& row) const;
  std::ofstream open_results() const;
  void write_json(const std::vector<Row>& rows) const;

  std::string section_;
  bool json_;
  std::string results_;
};

}  // namespace neap::bench
