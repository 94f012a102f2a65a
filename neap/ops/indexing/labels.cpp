// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/labels.hpp"

#include "neap/graph/trace.hpp"
#include "neap/ops/support.hpp"
#include "neap/tensor/element.hpp"

namespace neap::ops {
namespace {

struct LabelRange {
  std::int64_t classes = 0;
  std::int64_t ignored = 0;
  std::int64_t has_ignored = 0;
};

void look_at_labels(const char* op, std::span<const tensor::Strided> values,
                    const Attrs& attrs) {
  const auto& range = attrs.as<LabelRange>();
  const tensor::Strided& view = values[0];
  std::int64_t row = 0;
  tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t offset) {
    const std::int64_t label = view.as<std::int64_t>()[offset];
    const bool is_ignored = range.has_ignored != 0 && label == range.ignored;
    if ((label < 0 || label >= range.classes) && !is_ignored) {
      raise<ValueError>("{}: label {} of sample {}, expected 0 to {}", op,
                        label, row, range.classes - 1);
    }
    ++row;
  });
}

}  // namespace

void check_classification(const char* op, const Spec& logits,
                          const Spec& labels) {
  check_computes(op, logits.dtype);
  check_dtype(op, labels.dtype, i64);
  if (logits.shape.rank() != 2 || labels.shape != Shape{logits.shape[0]}) {
    raise<ShapeError>("{}: {} and labels {}, expected (N, C) and (N)", op,
                      format_shape(logits.shape), format_shape(labels.shape));
  }
}

void check_labels(const char* op, const Tensor& labels, std::int64_t classes,
                  std::optional<std::int64_t> ignored) {
  check_dtype(op, labels.dtype(), i64);
  if (labels.space() == memory::kHost) {
    const LabelRange range{classes, ignored.value_or(0), ignored.has_value()};
    graph::run_check({.op = op,
                      .look = look_at_labels,
                      .values = std::span(&labels, 1),
                      .attrs = range,
                      .site = memory::thread_context().site});
  }
}

}  // namespace neap::ops
