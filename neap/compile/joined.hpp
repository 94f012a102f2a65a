// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Joined: a call of a step that several ranks make together. For sources of
// this room.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "neap/compile/executor.hpp"
#include "neap/compile/options.hpp"

namespace neap::compiler {

/// The other ranks are told where this one does not get to its run. Nothing is
/// done where there are none.
class Joined {
 public:
  explicit Joined(const CompileOptions& options) noexcept;
  ~Joined();
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  /// The rows of all ranks' batch; 0: there are no others. THROWS: as
  /// Ranks::rows_of_batch().
  std::int64_t rows_of_all(std::span<const tensor::Spec> own);
  /// All ranks are about to run the same, of the same random numbers, and,
  /// where `is_new`, from the same states. THROWS: as Ranks::expect_equal();
  /// OutOfMemory.
  void expect_equal(const Executor& executor, bool is_new);

 private:
  Ranks* ranks_;
  int shards_;
  bool is_told_ = false;
};

/// THROWS: ValueError where options do not go with ranks.
void check_ranks(const CompileOptions& options);
bool has_other_ranks(const CompileOptions& options) noexcept;
/// The rows that this rank has.
std::int64_t own_rows(std::span<const tensor::Spec> specs) noexcept;

}  // namespace neap::compiler
