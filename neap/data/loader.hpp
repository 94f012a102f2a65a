// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Loader: batches from a data set, through a fixed ring of buffers that are
// made once and reused for ever.
//
//   data::Loader loader(dataset, {.batch = 128, .shuffle = true, .seed = 7});
//   loader.start(epoch);
//   while (const data::Batch* batch = loader.next()) { ... }
#pragma once

#include <array>

#include "neap/data/dataset.hpp"
#include "neap/data/sampler.hpp"

namespace neap::data {

struct Batch {
  Tensor input;   // (n, sample shape...)
  Tensor target;  // (n, target shape...)
  std::int64_t size() const { return input.size(0); }
};

struct LoaderOptions {
  std::int64_t batch = 64;
  bool shuffle = false;
  std::uint64_t seed = 0;
  bool drop_last = false;  // leave a last, smaller batch out
};

/// LIFETIME: the data set outlives the loader. A batch's tensors keep their
/// values until kRing further batches were asked for; a graph that still needs
/// them after that refuses its backward rather than compute with others.
class NEAP_API Loader {
 public:
  static constexpr int kRing = 2;

  /// THROWS: OutOfMemory; ValueError unless batch > 0.
  Loader(AnyDataset dataset, const LoaderOptions& options,
         CallSite site = CallSite::here());

  /// Begins an epoch; `first_batch` skips ahead (for resuming), at most to the
  /// epoch's end.
  void start(std::int64_t epoch, std::int64_t first_batch = 0) noexcept;
  /// The next batch of the epoch, or nullptr at its end. THROWS: TraceError
  /// inside a step that is traced, which takes a batch as its arguments.
  const Batch* next();

  std::int64_t batches_per_epoch() const noexcept;
  std::int64_t samples() const noexcept { return dataset_.size(); }
  /// As asked for; an epoch of fewer samples is one smaller batch.
  std::int64_t batch_size() const noexcept { return options_.batch; }

 private:
  void fill(const Batch& slot, std::int64_t count) noexcept;

  AnyDataset dataset_;
  LoaderOptions options_;
  base::SiteId site_;
  Sampler sampler_;
  std::array<Batch, kRing> ring_;
  std::array<Batch, kRing> partial_;  // views of the ring's first rows
  std::int64_t position_ = 0;
  std::size_t slot_ = 0;
};

}  // namespace neap::data
