// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "neap/base/text_table.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "support/machine.hpp"
#include "support/measure.hpp"

namespace neap::bench {
namespace {

using Line = std::vector<std::string>;

// Four significant digits, and no exponent where people read.
std::string number(double value) {
  if (std::isnan(value)) {
    return "-";
  }
  const double size = std::fabs(value);
  const int decimals = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 10 ? 2 : 3;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string ratio_text(double ratio) {
  return std::isnan(ratio) ? "-" : fmt::format("{:.2f}", ratio);
}

std::vector<base::TextColumn> columns_of(const Row& row) {
  std::vector<base::TextColumn> columns{
      {"name"},       {"t", true},     {"unit", true}, {"ours", true},
      {"peer", true}, {"ratio", true}, {"reps", true}};
  for (const Figure& figure : row.figures) {
    columns.push_back({figure.name, true});
  }
  columns.push_back({"beside"});
  return columns;
}

// A row that was not measured has no figures.
Line line_of(const Row& row, std::size_t columns) {
  Line line{row.name,
            std::to_string(row.threads),
            row.unit,
            number(row.ours),
            number(row.peer),
            ratio_text(row.ratio()),
            std::to_string(row.reps)};
  for (const Figure& figure : row.figures) {
    line.push_back(number(figure.value));
  }
  line.resize(columns - 1);
  line.push_back(row.peer_name);
  return line;
}

void print_means(const std::vector<Row>& rows) {
  std::map<int, std::vector<double>> ratios;
  for (const Row& row : rows) {
    if (std::isfinite(row.ratio())) {
      ratios[row.threads].push_back(row.ratio());
    }
  }
  for (const auto& [threads, values] : ratios) {
    fmt::print("geometric mean at t{}: {:.2f} (least {:.2f}, {} rows)\n",
               threads, geometric_mean(values),
               *std::ranges::min_element(values), values.size());
  }
}

// JSON has no NaN.
nlohmann::json value_of(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace

Report::Report(std::string section, const Arguments& arguments)
    : section_(std::move(section)),
      json_(arguments.json),
      results_(arguments.results) {
  open_results();  // before anything is measured
  note(fmt::format("{}: {}, {}, load {:.1f}", section_, machine_line(),
                   kernels::isa(), load_average()));
}

void Report::table(std::string_view title, const std::vector<Row>& rows,
                   bool with_mean) {
  if (rows.empty()) {
    return;
  }
  write_json(rows);
  if (json_) {
    return;
  }
  const auto columns = columns_of(*std::ranges::max_element(
      rows, {}, [](const Row& row) { return row.figures.size(); }));
  base::TextTable<> lines(columns);
  for (const Row& row : rows) {
    lines.add(line_of(row, columns.size()));
  }
  std::string text;
  lines.append_to(text);
  fmt::print("\n{}\n{}", title, text);
  if (with_mean) {
    print_means(rows);
  }
  std::fflush(stdout);
}

void Report::note(std::string_view text) {
  if (!json_) {
    fmt::print("{}\n", text);
    std::fflush(stdout);
  }
}

std::string Report::json_line(const Row& row) const {
  nlohmann::ordered_json json{{"section", section_},
                              {"name", row.name},
                              {"threads", row.threads},
                              {"unit", row.unit},
                              {"ours", value_of(row.ours)},
                              {"peer", value_of(row.peer)},
                              {"peer_name", row.peer_name},
                              {"ratio", value_of(row.ratio())},
                              {"reps", row.reps}};
  for (const Figure& figure : row.figures) {
    json[figure.name] = value_of(figure.value);
  }
  json["machine"] = machine_line();
  json["isa"] = kernels::isa();
  return json.dump();
}

std::ofstream Report::open_results() const {
  std::ofstream file;
  if (!results_.empty()) {
    file.open(results_, std::ios::app);
    if (!file) {
      throw std::runtime_error("cannot write " + results_);
    }
  }
  return file;
}

void Report::write_json(const std::vector<Row>& rows) const {
  std::ofstream file = open_results();
  for (const Row& row : rows) {
    const std::string line = json_line(row);
    if (json_) {
      fmt::print("{}\n", line);
    }
    if (file.is_open()) {
      file << line << '\n';
    }
  }
}

}  // namespace neap::bench
