// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/labels.hpp"

#include "neap/ops/support.hpp"
#include "neap/tensor/element.hpp"

namespace neap::ops {

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
  if (labels.space() != memory::kHost) {
    return;
  }
  const tensor::Strided view = labels.array()->strided();
  std::int64_t row = 0;
  tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t offset) {
    const std::int64_t label = view.as<std::int64_t>()[offset];
    if ((label < 0 || label >= classes) && label != ignored) {
      raise<ValueError>("{}: label {} of sample {}, expected 0 to {}", op,
                        label, row, classes - 1);
    }
    ++row;
  });
}

}  // namespace neap::ops
