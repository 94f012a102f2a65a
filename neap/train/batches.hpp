// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The sizes of a loader's batches, for plans. Of this room alone.
#pragma once

#include <algorithm>

#include "neap/compile/options.hpp"
#include "neap/data/loader.hpp"

namespace neap::train {

inline bool has_other_ranks(const data::Loader& loader) {
  return loader.options().shards.ranks > 1;
}

/// The rows of an epoch's smaller last batch that this rank has, of several; 0:
/// there is none.
inline std::int64_t own_rest_of(const data::Loader& loader) {
  const data::LoaderOptions& options = loader.options();
  const std::int64_t rest = loader.samples() % options.batch;
  return has_other_ranks(loader) && !options.drop_last &&
                 loader.samples() > options.batch
             ? base::RowsOfRanks{rest, options.shards.count,
                                 options.shards.ranks}
                   .rows_of_rank(options.shards.rank)
             : 0;
}

/// The options that the loader's batches ask of a plan.
inline CompileOptions options_for(const data::Loader& loader,
                                  CompileOptions options) {
  options.warm.clear();
  if (has_other_ranks(loader)) {  // the first batch is the largest
    return options;
  }
  options.max_batch = std::min(loader.batch_size(), loader.samples());
  const std::int64_t rest = loader.samples() % options.max_batch;
  const bool has_smaller = rest > 0 && loader.batches_per_epoch() >
                                           loader.samples() / options.max_batch;
  if (has_smaller) {
    options.warm.push_back(rest);
  }
  return options;
}

}  // namespace neap::train
