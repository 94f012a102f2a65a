// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random steps against themselves: eager, and compiled in one of several ways.
#pragma once

#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

#include "neap/compile/compile.hpp"

namespace neap::programs {

/// A way to compile and run.
struct Variant {
  const char* name;
  void (*set)(CompileOptions& options);
  int threads = 1;
  int arena_percent = 100;  // less: of the arena that a step takes, if it can
};

inline void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.name;
}

std::vector<Variant> variants();

/// Whether values may wait in a file; nearly all batches are large then.
bool spills(const Variant& variant);
/// It keeps all weights and states there that may be.
bool keeps_away(const Variant& variant);

/// How many of the steps have buffers in views of pages under "paged".
int count_paged(std::uint64_t first, int count);

/// How many of the steps have calls that run again with so much of their arena.
int count_fitted(std::uint64_t first, int count, int arena_percent);

/// How many of the steps, as "spilled" runs them, have values that wait in a
/// file with so much of their arena.
int count_spilled(std::uint64_t first, int count, int arena_percent);

/// How many of the steps, as "away" runs them, have weights in a file.
int count_away(std::uint64_t first, int count);

/// Runs steps `first`, `first` + 1, ... eagerly and compiled; empty, or what
/// the first one that differs did, cut to its shortest form.
std::string run_fuzz(const Variant& variant, std::uint64_t first, int count);

}  // namespace neap::programs
