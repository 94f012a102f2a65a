// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// KvCache: the keys and values of the tokens that a decoder-only transformer
// has seen, so that a further token costs one row of each layer instead of all
// of them again (Shazeer, arXiv 1911.02150, section 2.3). KvPass: one pass of
// tokens through a model that reads and writes them.
//
//   slot      0   1   2   3   4   5 ..length
//   sample 0  I   am  not .   .   .            a prompt, then slot 3 is next
//   sample 1  To  be  or  not to  .            each sample has its own length
//
// A token's slot is its position. What lies behind a sample's last token is
// never seen: it is the padding of a prompt, and the next tokens replace it.
#pragma once

#include <optional>

#include "neap/memory/containers.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/sequence/rotary_embedding.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::models {

/// The part of a model that a cache is made for.
struct KvSizes {
  std::int64_t layers = 0;
  std::int64_t heads = 0;  // of keys and values
  std::int64_t width = 0;  // of a head
};

class NEAP_API KvCache {
 public:
  /// Two tensors (samples, length, heads, width) a layer, of zeros, among the
  /// buffers of memory. THROWS: ValueError for a size below 1; DTypeError
  /// unless f32 or f64; OutOfMemory.
  KvCache(const KvSizes& sizes, std::int64_t samples, std::int64_t length,
          DType dtype = f32, CallSite site = CallSite::here());

  const KvSizes& sizes() const noexcept { return sizes_; }
  std::int64_t samples() const noexcept { return samples_; }
  std::int64_t length() const noexcept { return length_; }  // tokens, at most
  /// The bytes of its tensors.
  Bytes bytes() const noexcept;

  const Tensor& keys(std::int64_t layer) const { return at(keys_, layer); }
  const Tensor& values(std::int64_t layer) const { return at(values_, layer); }

 private:
  static const Tensor& at(const memory::Vector<Tensor>& tensors,
                          std::int64_t layer) {
    return tensors.at(static_cast<std::size_t>(layer));
  }

  KvSizes sizes_;
  std::int64_t samples_;
  std::int64_t length_;
  DType dtype_;
  memory::Vector<Tensor> keys_;
  memory::Vector<Tensor> values_;
};

/// One pass. A model's attention calls attend() once for each layer, in order.
/// It is made for one pass under NoGrad, and writes the cache.
class NEAP_API KvPass {
 public:
  /// The first tokens of all samples, (b, t): `last` (b), i64, is the position
  /// of the last one that is no padding.
  static KvPass first(const KvCache& cache, const Tensor& last);
  /// One token of each sample, (b, 1), at `positions` (b), i64. Attention looks
  /// at the first slots of the cache, as many as `slots` (n), i64, which are 0,
  /// 1, .. n - 1; no position may be n or more.
  static KvPass next(const KvCache& cache, const Tensor& positions,
                     const Tensor& slots);

  const KvCache& cache() const noexcept { return *cache_; }

  /// x (b, heads, t, d), rotated by its tokens' positions. THROWS: as
  /// rotary_embedding.
  Tensor turned(const Tensor& x, RotaryOptions options) const;
  /// Rows of a table (positions, dim) for t tokens: (t, dim) or (b, 1, dim).
  Tensor rows_of(const Tensor& table, std::int64_t t) const;
  /// Stores k and v (b, heads, t, d) in the next layer's slots, and gives the
  /// attention (b, q's heads, t, d) of q over that layer's, each token seeing
  /// itself and those before it; with `window` > 0, so many of them. The
  /// options' mask and dropout are not used. THROWS: ShapeError for other sizes
  /// than the cache's; ValueError for more layers, or an occupied pass.
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v,
                AttentionOptions options, std::int64_t window = 0);
  /// The last token's row of each sample of x (b, t, dim): (b, dim).
  Tensor last_of(const Tensor& x) const;

 private:
  KvPass(const KvCache& cache, const Tensor& positions, const Tensor& slots)
      : cache_(&cache), positions_(positions), slots_(slots) {}
  bool is_first() const { return !slots_.is_given(); }
  void store(const Tensor& cached, const Tensor& x) const;
  Tensor visible(std::int64_t window);

  const KvCache* cache_;
  Tensor positions_;
  Tensor slots_;  // of next() alone
  std::int64_t layer_ = 0;
  Tensor mask_;  // of the layers so far, where their window was mask_window_
  std::int64_t mask_window_ = -1;
};

/// True (t, t) where a row's key is in its window, itself and those before it;
/// undefined where all are. The keys behind it are another mask's.
Tensor window_mask(std::int64_t t, std::int64_t window);

}  // namespace neap::models
