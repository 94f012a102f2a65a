// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/kv_cache.hpp"

#include "neap/base/raise.hpp"
#include "neap/memory/context.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/indexing/index.hpp"
#include "neap/ops/indexing/scatter.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {

using base::raise;

KvCache::KvCache(const KvSizes& sizes, std::int64_t samples,
                 std::int64_t length, DType dtype, CallSite site)
    : sizes_(sizes), samples_(samples), length_(length), dtype_(dtype) {
  if (sizes.layers < 1 || sizes.heads < 1 || sizes.width < 1 || samples < 1 ||
      length < 1) {
    raise<ValueError>(
        "kv cache: {} layers of {} heads of {}, {} samples of {} tokens: "
        "expected sizes of at least 1",
        sizes.layers, sizes.heads, sizes.width, samples, length);
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("kv cache: in {}, expected f32 or f64", name_of(dtype));
  }
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kBuffers; });
  const Shape shape{samples, length, sizes.heads, sizes.width};
  for (std::int64_t layer = 0; layer < sizes.layers; ++layer) {
    keys_.push_back(zeros(shape, dtype, site));
    values_.push_back(zeros(shape, dtype, site));
  }
}

Bytes KvCache::bytes() const noexcept {
  return 2 * sizes_.layers * samples_ * length_ * sizes_.heads * sizes_.width *
         size_of(dtype_);
}

namespace {

// THROWS: ShapeError unless x has a row for each of the tokens of a pass.
void check_rows(const KvCache& cache, const Tensor& x, bool is_first) {
  const KvSizes& sizes = cache.sizes();
  const std::int64_t most = is_first ? cache.length() : 1;
  const Shape& shape = x.shape();
  if (shape.rank() != 4 || shape[0] != cache.samples() ||
      shape[1] != sizes.heads || shape[2] < 1 || shape[2] > most ||
      shape[3] != sizes.width) {
    raise<ShapeError>(
        "kv cache: keys or values {}, expected ({}, {}, 1 to {}, {})",
        format_shape(shape), cache.samples(), sizes.heads, most, sizes.width);
  }
}

}  // namespace

KvPass KvPass::first(const KvCache& cache, const Tensor& last) {
  return {cache, last, {}};
}

KvPass KvPass::next(const KvCache& cache, const Tensor& positions,
                    const Tensor& slots) {
  return {cache, positions, slots};
}

// Rows are rotated together whose positions are the same: those of a prompt's
// tokens, (b, heads, t, d), or those of the samples, (heads, b, d).
Tensor KvPass::turned(const Tensor& x, RotaryOptions options) const {
  if (is_first()) {
    return rotary_embedding(x, options);
  }
  options.positions = positions_;
  const Tensor rows =
      rotary_embedding(transpose(select(x, 2, 0), 0, 1), options);
  return unsqueeze(transpose(rows, 0, 1), 2);
}

Tensor KvPass::rows_of(const Tensor& table, std::int64_t t) const {
  return is_first() ? narrow(table, 0, 0, t)
                    : unsqueeze(index_select(table, 0, positions_), 1);
}

// x (b, heads, t, d) in the slots of its tokens.
void KvPass::store(const Tensor& cached, const Tensor& x) const {
  const Tensor rows = transpose(x, 1, 2);
  const Tensor slots =
      is_first() ? reshape(arange(rows.shape()[1], i64), {1, -1, 1, 1})
                 : reshape(positions_, {-1, 1, 1, 1});
  scatter_(cached, 1, expand(slots, rows.shape()), rows);
}

// (b, 1, 1, n): the slots that a sample's token sees.
Tensor KvPass::visible(std::int64_t window) {
  if (mask_window_ != window) {
    const Tensor slots = reshape(slots_, {1, 1, 1, -1});
    const Tensor at = reshape(positions_, {-1, 1, 1, 1});
    mask_ = le(slots, at);
    if (window > 0) {
      mask_ = logical_and(mask_, gt(slots + window, at));
    }
    mask_window_ = window;
  }
  return mask_;
}

Tensor KvPass::attend(const Tensor& q, const Tensor& k, const Tensor& v,
                      AttentionOptions options, std::int64_t window) {
  const KvSizes& sizes = cache_->sizes();
  if (layer_ == sizes.layers) {
    raise<ValueError>("kv cache: a layer more than its {}", sizes.layers);
  }
  check_rows(*cache_, k, is_first());
  check_rows(*cache_, v, is_first());
  const Tensor& keys = cache_->keys(layer_);
  const Tensor& values = cache_->values(layer_);
  ++layer_;
  store(keys, k);
  store(values, v);
  options.dropout = 0.0;
  if (is_first()) {
    options.mask = window_mask(q.shape()[2], window);
    options.is_causal = true;
    return scaled_dot_product_attention(q, k, v, options);
  }
  options.mask = visible(window);
  options.is_causal = false;
  const auto seen = [this](const Tensor& cached) {
    return transpose(narrow(cached, 1, 0, slots_.shape()[0]), 1, 2);
  };
  return scaled_dot_product_attention(q, seen(keys), seen(values), options);
}

Tensor KvPass::last_of(const Tensor& x) const {
  if (!is_first()) {
    return select(x, 1, 0);
  }
  return index(x, {arange(x.shape()[0], i64), positions_});
}

Tensor window_mask(std::int64_t t, std::int64_t window) {
  if (window == 0 || t <= window) {
    return {};
  }
  const Tensor positions = arange(t, i64);
  return lt(reshape(positions, {t, 1}) - reshape(positions, {1, t}), window);
}

}  // namespace neap::models
