// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Joined: a call of a step that several ranks make together. For sources of
// this room.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "neap/compile/executor.hpp"
#include "neap/compile/options.hpp"

namespace neap::compiler {

/// The other ranks are told where this one does not get to its run. Nothing is
/// done where there are none.
class Joined {
 public:
  /// `what`: "call" or "prepare()".
  Joined(const CompileOptions& options, std::string_view what) noexcept;
  ~Joined();
  Joined(const Joined&) = delete;
  Joined& operator=(const Joined&) = delete;

  /// The rows of all ranks' batch; 0: there are no others. THROWS: as
  /// Ranks::rows_of_batch(); ShapeError for an argument that has the rows of
  /// all ranks.
  std::int64_t rows_of_all(std::span<const tensor::Spec> own);
  /// All ranks are about to run the step of that number in the same way, with
  /// the same random numbers, rates and arguments but for their rows, and from
  /// the same states, where these were changed from outside. THROWS: as
  /// Ranks::expect_equal().
  void expect_equal(Executor& executor, std::uint64_t step,
                    std::span<const Tensor> arguments);

 private:
  Ranks* ranks_;
  int shards_;
  std::string_view what_;
  bool is_told_ = false;
};

/// THROWS: ValueError where options do not go with ranks.
void check_ranks(const CompileOptions& options);
bool has_other_ranks(const CompileOptions& options) noexcept;
/// The rows that this rank has.
std::int64_t own_rows(std::span<const tensor::Spec> specs) noexcept;

}  // namespace neap::compiler
