// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/joined.hpp"

#include <algorithm>
#include <bit>

#include "neap/base/raise.hpp"
#include "neap/program/rank_cut.hpp"
#include "neap/program/ranks.hpp"
#include "neap/tensor/generator.hpp"

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
  if (options.max_batch > 0 || options.paged || !options.plan.file.empty()) {
    base::raise<ValueError>(
        "compile: .ranks goes neither with .max_batch nor with .paged nor with "
        ".plan; leave {} out",
        options.max_batch > 0 ? ".max_batch"
        : options.paged       ? ".paged"
                              : ".plan");
  }
}

Joined::Joined(const CompileOptions& options) noexcept
    : ranks_(has_other_ranks(options) ? options.ranks.get() : nullptr),
      shards_(options.shards) {}

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
  const std::int64_t rows = ranks_->rows_of_batch(own_rows(own), shards_);
  is_told_ = false;
  return rows;
}

void Joined::expect_equal(const Executor& executor, bool is_new) {
  if (ranks_ == nullptr) {
    return;
  }
  const Program& program = executor.program();
  std::uint64_t mine = executor.exchanges();
  const auto add = [&](std::uint64_t what) {
    mine = (std::rotl(mine, 23) ^ what) * 0x9e3779b97f4a7c15U;
  };
  if (program.draws != 0) {
    add(tensor::generator().key().seed);
    add(tensor::generator().key().draw);
  }
  if (is_new && !memory::domain().is_rehearsal()) {
    add(state_digest(program));
  }
  is_told_ = true;
  ranks_->expect_equal(mine, is_new ? "a step, its random numbers and what it "
                                      "reads from before"
                                    : "a step and its random numbers");
}

}  // namespace neap::compiler
