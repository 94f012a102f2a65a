// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// hunt: many random programs one after another, and what was found.
#pragma once

#include <limits>

#include "generate.hpp"

namespace neap::steps {

struct Hunt {
  std::uint64_t first = 1;  // seed
  std::int64_t programs = std::numeric_limits<std::int64_t>::max();
  double seconds = std::numeric_limits<double>::infinity();
  Themes themes = all_themes();
  /// Goes on after a fault; each class is told once.
  bool all = false;
};

struct Fault {
  std::string name;  // class_of
  std::uint64_t seed = 0;
  std::int64_t programs = 0;  // until it was found
  double seconds = 0.0;
  std::int64_t count = 1;  // how often it was met
  StepProgram shrunk;
  Verdict verdict;  // of the shrunk program
};

struct Findings {
  std::int64_t programs = 0;
  std::int64_t calls = 0;  // of compiled steps
  std::int64_t refused = 0;
  std::int64_t faults = 0;
  double seconds = 0.0;
  std::map<std::string, std::int64_t> refusals;  // by kind
  std::map<std::string, std::int64_t> thrown;    // both threw, by type
  std::vector<Fault> found;                      // one a class
};

Findings hunt(const Hunt& what);
std::string to_text(const Fault& fault);
std::string to_text(const Findings& findings);

/// The seed that runs at the moment, for who handles signals.
std::uint64_t current_seed() noexcept;

}  // namespace neap::steps
