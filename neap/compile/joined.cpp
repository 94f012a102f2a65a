// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/joined.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/program/ranks.hpp"

namespace neap::compiler {

bool has_other_ranks(const CompileOptions& options) noexcept {
  return options.ranks != nullptr && options.ranks->count() > 1;
}

std::int64_t own_rows(std::span<const tensor::Spec> specs) noexcept {
  for (const tensor::Spec& spec : specs) {
    if (spec.shape.rank() > 0) {
      return spec.shape[0];
    }
  }
  return 0;
}

void check_ranks(const CompileOptions& options) {
  if (!has_other_ranks(options)) {
    return;
  }
  const auto shards = static_cast<unsigned>(options.shards);
  const int ranks = options.ranks->count();
  if (!std::has_single_bit(shards) || options.shards < ranks) {
    base::raise<ValueError>(
        "compile: .shards is {} for {} .ranks; it must be a power of two, and "
        "at least the number of ranks: take {}",
        options.shards, ranks,
        std::max<unsigned>(std::bit_ceil(shards),
                           static_cast<unsigned>(ranks)));
  }
  for (const auto& [is_there, name] :
       {std::pair(options.max_batch > 0, ".max_batch"),
        std::pair(options.paged, ".paged"),
        std::pair(!options.memory.empty(), ".memory"),
        std::pair(!options.plan.file.empty(), ".plan")}) {
    if (is_there) {
      base::raise<ValueError>(
          "compile: .ranks does not go with {}; leave it out", name);
    }
  }
}

Joined::Joined(const CompileOptions& options, std::string_view what) noexcept
    : ranks_(has_other_ranks(options) ? options.ranks.get() : nullptr),
      shards_(options.shards),
      what_(what) {}

Joined::~Joined() {
  if (ranks_ != nullptr && !is_told_) {
    ranks_->refuse();
  }
}

std::int64_t Joined::rows_of_all(std::span<const tensor::Spec> own) {
  if (ranks_ == nullptr) {
    return 0;
  }
  is_told_ = true;  // the others see what it throws
  const std::int64_t mine = own_rows(own);
  const std::int64_t rows = ranks_->rows_of_batch(mine, shards_, what_);
  is_told_ = false;
  for (std::size_t i = 0; i < own.size(); ++i) {
    const Shape& shape = own[i].shape;
    if (shape.rank() > 0 && shape[0] == rows && rows != mine) {
      base::raise<ShapeError>(
          "compile: argument {} is {}, with the rows of all ranks' batch, and "
          "the first has the {} of this rank; give its part of each",
          i, format_shape(shape), mine);
    }
  }
  return rows;
}

void Joined::expect_equal(Executor& executor, std::uint64_t step,
                          std::span<const Tensor> arguments) {
  if (ranks_ == nullptr) {
    return;
  }
  is_told_ = true;
  ranks_->expect_equal(
      executor.run_digest(step, arguments),
      "a step: its program, rates, random numbers, whole arguments, or the "
      "states that it goes on from");
}

}  // namespace neap::compiler
