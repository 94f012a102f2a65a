// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/create.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "neap/base/draws.hpp"
#include "neap/base/permutation.hpp"
#include "neap/base/raise.hpp"
#include "neap/tensor/creator.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/number_check.hpp"

namespace neap {

using base::raise;

namespace {

using tensor::Creation;

// The tensor that the context's creator has instead of a new one, if it has.
Tensor asked(const Creation& what) {
  tensor::Creator* creator = tensor::thread_execution().creator;
  return creator != nullptr ? creator->create(what) : Tensor();
}

// A new dense tensor. The creator hears of it.
Tensor allocate(const Shape& shape, DType dtype, const CallSite& site) {
  const memory::Tag tag =
      memory::current_tag(memory::Category::kOther, base::intern(site));
  Tensor out(tensor::Array::allocate({dtype, shape, memory::kHost}, tag,
                                     memory::domain()));
  if (tensor::Creator* creator = tensor::thread_execution().creator) {
    creator->made(out);
  }
  return out;
}

// Fills a new dense tensor with value_of(index), a double or an integer.
template <class ValueOf>
Tensor generate(const Shape& shape, DType dtype, const CallSite& site,
                ValueOf&& value_of) {
  Tensor out = allocate(shape, dtype, site);
  if (!out.array()->storage()->has_elements()) {
    return out;
  }
  const std::int64_t count = out.element_count();
  const tensor::Strided view = out.array()->strided();
  tensor::with_type(dtype, [&]<class T>(T*) {
    for (std::int64_t i = 0; i < count; ++i) {
      view.as<T>()[i] = tensor::to_element<T>(value_of(i));
    }
  });
  return out;
}

// A new dense tensor of a random draw of an allowed dtype; uses the draw up
// last. fill(range, y) makes the elements of a range of it.
template <class... Allowed, class Fill>
Tensor draw(const char* op, bool is_allowed, const Creation& what,
            const Fill& fill) {
  const DType dtype = what.spec.dtype;
  if (!is_allowed) {
    raise<DTypeError>("{}: {} is not a dtype it draws", op, name_of(dtype));
  }
  if (Tensor stand_in = asked(what); stand_in.defined()) {
    return stand_in;
  }
  Generator& source = tensor::generator();
  const base::DrawKey key = source.next();
  Tensor out = allocate(what.spec.shape, dtype, what.site);
  if (out.array()->storage()->has_elements()) {
    const tensor::Strided view = out.array()->strided();
    tensor::with_type(dtype, [&]<class T>(T*) {
      if constexpr ((std::is_same_v<T, Allowed> || ...)) {
        fill(base::DrawnRange{key, 0, out.element_count()}, view.as<T>());
      }
    });
  }
  source.advance();
  return out;
}

void check_finite(const char* op, std::initializer_list<double> numbers) {
  for (const double number : numbers) {
    if (!std::isfinite(number)) {
      raise<ValueError>("{}: {} given, expected a finite number", op, number);
    }
  }
}

// The numbers of a range; its end is not among them.
std::int64_t range_length(double begin, double end, double step) {
  check_finite("arange", {begin, end, step});
  if (step == 0.0) {
    raise<ValueError>("arange: the step is 0");
  }
  if (begin != end && (begin < end) != (step > 0.0)) {
    raise<ValueError>("arange: steps of {} lead from {} away from {}", step,
                      begin, end);
  }
  const double length = std::ceil((end - begin) / step);
  if (!(length < 0x1p63)) {
    raise<ShapeError>("arange: {} numbers from {} to {}", length, begin, end);
  }
  return static_cast<std::int64_t>(length);
}

bool is_drawn_float(DType dtype) noexcept {
  return dtype == f32 || dtype == f64;
}

}  // namespace

Tensor empty(const Shape& shape, DType dtype, CallSite site) {
  return allocate(shape, dtype, site);
}

Tensor full(const Shape& shape, Number value, DType dtype, CallSite site) {
  tensor::check_range("full", value.value(), dtype);
  Tensor stand_in = asked({.kind = Creation::Kind::kFilled,
                           .spec = {dtype, shape, memory::kHost},
                           .value = value.value(),
                           .site = site});
  return stand_in.defined() ? stand_in
                            : generate(shape, dtype, site, [&](std::int64_t) {
                                return value.value();
                              });
}

Tensor zeros(const Shape& shape, DType dtype, CallSite site) {
  return full(shape, 0.0, dtype, site);
}

Tensor ones(const Shape& shape, DType dtype, CallSite site) {
  return full(shape, 1.0, dtype, site);
}

Tensor zeros_like(const Tensor& like, CallSite site) {
  return zeros(like.shape(), like.dtype(), site);
}

Tensor ones_like(const Tensor& like, CallSite site) {
  return ones(like.shape(), like.dtype(), site);
}

Tensor scalar(Number value, DType dtype, CallSite site) {
  return full({}, value, dtype, site);
}

Tensor arange(std::int64_t count, DType dtype, CallSite site) {
  tensor::check_range("arange",
                      static_cast<double>(std::max<std::int64_t>(count, 1) - 1),
                      dtype);
  return generate({count}, dtype, site, [](std::int64_t i) { return i; });
}

Tensor arange(Number begin, Number end, Number step, DType dtype,
              CallSite site) {
  const double first = begin.value();
  const double apart = step.value();
  const std::int64_t count = range_length(first, end.value(), apart);
  if (count > 0) {
    tensor::check_ends("arange", first,
                       first + static_cast<double>(count - 1) * apart, dtype);
  }
  return generate({count}, dtype, site, [=](std::int64_t i) {
    return first + static_cast<double>(i) * apart;
  });
}

Tensor linspace(Number begin, Number end, std::int64_t count, DType dtype,
                CallSite site) {
  const double first = begin.value();
  const double last = end.value();
  check_finite("linspace", {first, last});
  tensor::check_ends("linspace", first, last, dtype);
  const std::int64_t gaps = std::max<std::int64_t>(count - 1, 1);
  const auto parts = static_cast<double>(gaps);
  const double length = last - first;
  // No double is the distance of ends that are too far apart; shares of it are.
  const double apart =
      std::isfinite(length) ? length / parts : last / parts - first / parts;
  return generate({count}, dtype, site, [=](std::int64_t i) {
    return i < count / 2 || count == 1
               ? first + static_cast<double>(i) * apart
               : last - static_cast<double>(gaps - i) * apart;
  });
}

Tensor eye(std::int64_t n, DType dtype, CallSite site) {
  return generate({n, n}, dtype, site,
                  [n](std::int64_t i) { return i / n == i % n ? 1.0 : 0.0; });
}

Tensor from_values(std::span<const double> values, const Shape& shape,
                   DType dtype, CallSite site) {
  if (shape.element_count() != static_cast<std::int64_t>(values.size())) {
    raise<ShapeError>("from_values: {} numbers given for shape {}",
                      values.size(), format_shape(shape));
  }
  for (const double value : values) {
    tensor::check_range("from_values", value, dtype);
  }
  return generate(shape, dtype, site, [&](std::int64_t i) {
    return values[static_cast<std::size_t>(i)];
  });
}

Tensor from_values(std::initializer_list<double> values, const Shape& shape,
                   DType dtype, CallSite site) {
  return from_values(std::span<const double>(values.begin(), values.size()),
                     shape, dtype, site);
}

Tensor rand(const Shape& shape, DType dtype, CallSite site) {
  return draw<float, double>("rand", is_drawn_float(dtype),
                             {.kind = Creation::Kind::kRand,
                              .spec = {dtype, shape, memory::kHost},
                              .site = site},
                             [](const base::DrawnRange& range, auto* y) {
                               base::draw_uniform(range, y);
                             });
}

Tensor randn(const Shape& shape, DType dtype, CallSite site) {
  return draw<float, double>("randn", is_drawn_float(dtype),
                             {.kind = Creation::Kind::kRandn,
                              .spec = {dtype, shape, memory::kHost},
                              .site = site},
                             [](const base::DrawnRange& range, auto* y) {
                               base::draw_normal(range, {}, y);
                             });
}

Tensor randint(std::int64_t low, std::int64_t high, const Shape& shape,
               DType dtype, CallSite site) {
  if (low >= high) {
    raise<ValueError>("randint: the range [{}, {}) is empty", low, high);
  }
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  if (dtype == i32 && (low < kLeast || high - 1 > kMost)) {
    raise<ValueError>("randint: the range [{}, {}) does not fit {}", low, high,
                      name_of(dtype));
  }
  return draw<std::int32_t, std::int64_t>(
      "randint", dtype == i32 || dtype == i64,
      {.kind = Creation::Kind::kRandint,
       .spec = {dtype, shape, memory::kHost},
       .low = low,
       .high = high,
       .site = site},
      [low, high](const base::DrawnRange& range, auto* y) {
        base::draw_integers(range, low, high, y);
      });
}

Tensor randperm(std::int64_t n, DType dtype, CallSite site) {
  if (dtype == i32 && n - 1 > std::numeric_limits<std::int32_t>::max()) {
    raise<ValueError>("randperm: {} numbers do not fit {}", n, name_of(dtype));
  }
  return draw<std::int32_t, std::int64_t>(
      "randperm", dtype == i32 || dtype == i64,
      {.kind = Creation::Kind::kRandperm,
       .spec = {dtype, {n}, memory::kHost},
       .site = site},
      [](const base::DrawnRange& range, auto* y) {
        base::draw_permutation(range.key, range.count, 1, y);
      });
}

}  // namespace neap
