// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/init.hpp"

#include <array>
#include <cmath>

#include "neap/base/draws.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/trace.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/element_sink.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::nn {

using base::raise;

namespace {

void check_writable(const char* what, const Tensor& tensor) {
  if (!is_floating(tensor.dtype())) {
    raise<DTypeError>("{}: the tensor is {}, expected f32, f64 or bf16", what,
                      name_of(tensor.dtype()));
  }
  if (tensor.space() != memory::kHost) {
    raise<DeviceError>("{}: the tensor lies in memory space {}, not the host's",
                       what, tensor.space().value);
  }
  if (graph::trace() != nullptr) {
    raise<TraceError>(
        "{}: the host fills the tensor, which a step that is traced cannot "
        "repeat; make layers and fill tensors outside of it",
        what);
  }
  if (!tensor.is_leaf()) {
    raise<GraphError>("{}: a graph records the tensor, fill a leaf instead",
                      what);
  }
}

// A rehearsal: it is home for as long, too.
void fill_nothing(const Tensor& tensor) {
  tensor.array()->storage()->bring_home();
  tensor::offer_elements(tensor.array()->storage());
}

// Writes value_of(i) to every element, i counting in row-major order.
template <class ValueOf>
void fill(const Tensor& tensor, const CallSite& site, ValueOf&& value_of) {
  tensor::Storage& storage = *tensor.array()->storage();
  if (!storage.fetch_elements() &&
      storage.absence() == tensor::Absence::kRehearsed) {
    fill_nothing(tensor);
    return;
  }
  const tensor::Strided view = tensor.array()->strided();
  tensor::with_type(view.dtype, [&]<class T>(T*) {
    std::uint64_t i = 0;
    tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t at) {
      view.as<T>()[at] = tensor::to_element<T>(value_of(i++));
    });
  });
  tensor.array()->storage()->bump_version(base::intern(site));
  tensor::offer_elements(tensor.array()->storage());
}

// The numbers of one draw, in order, drawn many at a time. `Draw` is called as
// draw(range, y), with elements of T.
template <class T, class Draw>
class Ahead {
 public:
  Ahead(const base::DrawKey& key, const Draw& draw) : key_(key), draw_(draw) {}

  double operator()(std::uint64_t i) {
    const std::uint64_t at = i % kCount;
    if (at == 0) {
      draw_(base::DrawnRange{key_, i, kCount}, numbers_.data());
    }
    return static_cast<double>(numbers_[at]);
  }

 private:
  static constexpr std::uint64_t kCount = 256;

  base::DrawKey key_;
  Draw draw_;
  std::array<T, kCount> numbers_;
};

template <class T, class Draw>
Ahead<T, Draw> ahead(const base::DrawKey& key, const Draw& draw) {
  return {key, draw};
}

double xavier_deviation(const Shape& weight, double gain) {
  const Fans fans = fans_of(weight);
  return gain * std::sqrt(2.0 / static_cast<double>(fans.in + fans.out));
}

double kaiming_deviation(const Shape& weight, const KaimingOptions& options) {
  const Fans fans = fans_of(weight);
  const auto fan = static_cast<double>(
      options.fan == KaimingOptions::Fan::kIn ? fans.in : fans.out);
  const double slope = options.negative_slope;
  return std::sqrt(2.0 / ((1.0 + slope * slope) * fan));
}

}  // namespace

Tensor constant_(Tensor tensor, double value, CallSite site) {
  check_writable("constant_", tensor);
  fill(tensor, site, [value](std::uint64_t) { return value; });
  return tensor;
}

Tensor uniform_(Tensor tensor, double low, double high, CallSite site) {
  check_writable("uniform_", tensor);
  if (!(low <= high) || !std::isfinite(low) || !std::isfinite(high)) {
    raise<ValueError>("uniform_: the range [{}, {}) is empty or not finite",
                      low, high);
  }
  Generator& source = tensor::generator();
  const base::DrawKey key = source.next();
  const auto draw = [](const base::DrawnRange& range, auto* y) {
    base::draw_uniform(range, y);
  };
  const auto fill_from = [&](auto numbers) {
    fill(tensor, site,
         [&](std::uint64_t i) { return low + (high - low) * numbers(i); });
  };
  if (tensor.dtype() == f64) {
    fill_from(ahead<double>(key, draw));
  } else {
    fill_from(ahead<float>(key, draw));
  }
  source.advance();
  return tensor;
}

Tensor normal_(Tensor tensor, double mean, double stddev, CallSite site) {
  check_writable("normal_", tensor);
  if (!std::isfinite(mean) || !std::isfinite(stddev) || stddev < 0.0) {
    raise<ValueError>("normal_: mean {} and deviation {}, expected finite ones",
                      mean, stddev);
  }
  Generator& source = tensor::generator();
  const base::DrawKey key = source.next();
  const auto draw = [&](const base::DrawnRange& range, auto* y) {
    base::draw_normal(range, {mean, stddev}, y);
  };
  // bf16 is rounded by way of f32.
  if (tensor.dtype() == f32 || tensor.dtype() == bf16) {
    fill(tensor, site, ahead<float>(key, draw));
  } else {
    fill(tensor, site, ahead<double>(key, draw));
  }
  source.advance();
  return tensor;
}

Fans fans_of(const Shape& weight) {
  if (weight.rank() < 2 || weight.element_count() == 0) {
    raise<ShapeError>(
        "init: fans of shape {}, expected (out, in, ...) without zeros",
        format_shape(weight));
  }
  const std::int64_t field = weight.element_count() / (weight[0] * weight[1]);
  return {.in = weight[1] * field, .out = weight[0] * field};
}

Tensor xavier_uniform_(Tensor weight, double gain, CallSite site) {
  const double bound = std::sqrt(3.0) * xavier_deviation(weight.shape(), gain);
  return uniform_(std::move(weight), -bound, bound, site);
}

Tensor xavier_normal_(Tensor weight, double gain, CallSite site) {
  const double deviation = xavier_deviation(weight.shape(), gain);
  return normal_(std::move(weight), 0.0, deviation, site);
}

Tensor kaiming_uniform_(Tensor weight, const KaimingOptions& options,
                        CallSite site) {
  const double bound =
      std::sqrt(3.0) * kaiming_deviation(weight.shape(), options);
  return uniform_(std::move(weight), -bound, bound, site);
}

Tensor kaiming_normal_(Tensor weight, const KaimingOptions& options,
                       CallSite site) {
  const double deviation = kaiming_deviation(weight.shape(), options);
  return normal_(std::move(weight), 0.0, deviation, site);
}

}  // namespace neap::nn
