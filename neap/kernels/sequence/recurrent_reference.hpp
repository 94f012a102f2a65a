// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The readable form of the recurrent kernels, and their lists. A network says
// what its cell does with one unit of one sample:
//
//   struct Rnn {
//     static constexpr RecurrentForm kForm{};
//     static RecurrentParts<float> parts(float);   // vectors, by the factors
//     static RecurrentParts<double> parts(double);
//     static RecurrentParts<float, Bf16Pair> parts(Bf16Pair);
//     template <class T>
//     static void forward(const ReferenceForward<T>& x, row, unit);
//     template <class T>
//     static void backward(const ReferenceBackward<T>& x, row, unit);
//   };
#pragma once

#include <cmath>
#include <type_traits>

#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/sequence/recurrent.hpp"

namespace neap::kernels {

template <class T>
T sigmoid(T x) noexcept {
  return T(1) / (T(1) + std::exp(-x));
}

/// sum + a(0) b(0) + a(1) b(1) + ..., in the precision of a call.
template <class T, class A, class B>
T add_products(T sum, std::int64_t count, Precision precision, const A& a,
               const B& b) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (precision == Precision::kBf16) {
      for (std::int64_t k = 0; k < count; k += 2) {
        const bool has_odd = k + 1 < count;
        sum = bf16_dot(a(k), b(k), has_odd ? a(k + 1) : 0.0F,
                       has_odd ? b(k + 1) : 0.0F, sum);
      }
      return sum;
    }
  }
  for (std::int64_t k = 0; k < count; ++k) {
    sum += a(k) * b(k);
  }
  return sum;
}

/// A sequence, and the step that is being made.
class ReferenceSteps {
 public:
  ReferenceSteps(const RecurrentSizes& sizes, bool is_reverse) noexcept
      : sizes_(sizes), is_reverse_(is_reverse) {}

  const RecurrentSizes& sizes() const noexcept { return sizes_; }
  void go_to(std::int64_t s) noexcept { s_ = s; }

 protected:
  bool is_first() const noexcept { return s_ == 0; }
  bool is_last() const noexcept { return s_ + 1 == sizes_.steps; }
  /// The time of the step that is made `later` steps later.
  std::int64_t time(std::int64_t later = 0) const noexcept {
    const std::int64_t s = s_ + later;
    return is_reverse_ ? sizes_.steps - 1 - s : s;
  }
  /// Where unit `unit` of a row stands in (T, b, columns h).
  std::int64_t at(std::int64_t time, std::int64_t row, std::int64_t unit,
                  std::int64_t columns = 1) const noexcept {
    return (time * sizes_.batch + row) * columns * sizes_.hidden + unit;
  }

  RecurrentSizes sizes_;
  bool is_reverse_;
  std::int64_t s_ = 0;
};

template <class T>
class ReferenceForward : public ReferenceSteps {
 public:
  ReferenceForward(const Args& args, const RecurrentForm& form) noexcept
      : ReferenceSteps(
            {args.in[0].shape[0], args.in[0].shape[1], args.in[2].shape[1]},
            args.attrs_as<RecurrentAttrs>().is_reverse),
        args_(args),
        form_(form),
        attrs_(args.attrs_as<RecurrentAttrs>()) {}

  bool is_relu() const noexcept { return attrs_.is_relu; }

  /// The term of a gate that comes from x, with the bias.
  T x_part(std::int64_t row, std::int64_t gate,
           std::int64_t unit) const noexcept {
    const Strided& x = args_.in[0];
    const Strided& w = args_.in[1];
    const T* const of_row =
        x.as<const T>() + time() * x.strides[0] + row * x.strides[1];
    const T* const of_unit =
        w.as<const T>() + (gate * sizes_.hidden + unit) * w.strides[0];
    return add_products(
        bias(form_.bias_start + gate, unit), x.shape[2], attrs_.precision,
        [&](std::int64_t k) { return of_row[k * x.strides[2]]; },
        [&](std::int64_t k) { return of_unit[k * w.strides[1]]; });
  }
  /// `sum`, and what h gives to a gate.
  T h_part(T sum, std::int64_t row, std::int64_t gate,
           std::int64_t unit) const noexcept {
    if (is_first() && !attrs_.has_state) {
      return sum;
    }
    const Strided& w = args_.in[2];
    const T* const of_unit =
        w.as<const T>() + (gate * sizes_.hidden + unit) * w.strides[0];
    return add_products(
        sum, sizes_.hidden, attrs_.precision,
        [&](std::int64_t k) { return h_before(row, k); },
        [&](std::int64_t k) { return of_unit[k * w.strides[1]]; });
  }
  T gate(std::int64_t row, std::int64_t gate,
         std::int64_t unit) const noexcept {
    return h_part(x_part(row, gate, unit), row, gate, unit);
  }
  T bias(std::int64_t column, std::int64_t unit) const noexcept {
    return args_.in[3].as<const T>()[column * sizes_.hidden + unit];
  }
  T h_before(std::int64_t row, std::int64_t unit) const noexcept {
    if (is_first()) {
      return attrs_.has_state ? args_.in[4].as<const T>()[at(0, row, unit)]
                              : T{0};
    }
    return args_.out[0].as<const T>()[at(time(-1), row, unit)];
  }
  T c_before(std::int64_t row, std::int64_t unit) const noexcept {
    if (is_first()) {
      return attrs_.has_state ? args_.in[5].as<const T>()[at(0, row, unit)]
                              : T{0};
    }
    return args_.out[3]
        .as<const T>()[at(attrs_.keeps ? time(-1) : 0, row, unit)];
  }

  void keep(std::int64_t row, std::int64_t column, std::int64_t unit,
            T value) const noexcept {
    if (attrs_.keeps) {
      args_.out[2]
          .as<T>()[at(time(), row, column * sizes_.hidden + unit, form_.kept)] =
          value;
    }
  }
  void set_c(std::int64_t row, std::int64_t unit, T value) const noexcept {
    args_.out[3].as<T>()[at(attrs_.keeps ? time() : 0, row, unit)] = value;
  }
  void set_h(std::int64_t row, std::int64_t unit, T value) const noexcept {
    args_.out[0].as<T>()[at(time(), row, unit)] = value;
    if (is_last()) {
      args_.out[1].as<T>()[at(0, row, unit)] = value;
    }
  }

 private:
  const Args& args_;
  const RecurrentForm& form_;
  const RecurrentAttrs& attrs_;
};

/// Its scratch holds what is carried of dh and dc.
template <class T>
class ReferenceBackward : public ReferenceSteps {
 public:
  ReferenceBackward(const Args& args, const RecurrentForm& form) noexcept
      : ReferenceSteps(
            {args.in[0].shape[0], args.in[0].shape[1], args.in[1].shape[1]},
            args.attrs_as<RecurrentGradAttrs>().is_reverse),
        args_(args),
        form_(form),
        attrs_(args.attrs_as<RecurrentGradAttrs>()),
        dh_(reinterpret_cast<T*>(args.scratch.data())),
        dc_(dh_ + sizes_.batch * sizes_.hidden) {
    std::size_t next = 2;
    const auto take = [&](bool is_there) noexcept {
      return is_there ? &args.in[next++] : nullptr;
    };
    values_ = take(form.kept != 0);
    state_ = take(attrs_.has_state && form.kept != 0);
    dy_ = take(attrs_.has_dy);
    const Strided* const last_dh = take(attrs_.has_dh);
    given_dc_ = take(attrs_.has_dc);
    const Strided* const last_dc = take(attrs_.has_last_dc);
    begin_with(last_dh, dh_);
    begin_with(last_dc, dc_);
  }

  bool is_relu() const noexcept { return attrs_.is_relu; }
  T gate(std::int64_t row, std::int64_t column,
         std::int64_t unit) const noexcept {
    return args_.in[0].as<const T>()[gate_at(time(), row, column, unit)];
  }
  T c(std::int64_t row, std::int64_t unit) const noexcept {
    return values_->as<const T>()[at(time(), row, unit)];
  }
  /// c or h of the step before.
  T before(std::int64_t row, std::int64_t unit) const noexcept {
    if (!is_first()) {
      return values_->as<const T>()[at(time(-1), row, unit)];
    }
    return state_ != nullptr ? state_->as<const T>()[at(0, row, unit)] : T{0};
  }
  T dh(std::int64_t row, std::int64_t unit) const noexcept {
    T sum = dh_[at(0, row, unit)];
    if (!is_last()) {
      sum = product(sum, time(1), row, unit);
    }
    return dy_ == nullptr
               ? sum
               : sum + dy_->as<const T>()[time() * dy_->strides[0] +
                                          row * dy_->strides[1] + unit];
  }
  T dc(std::int64_t row, std::int64_t unit) const noexcept {
    const T given = given_dc_ != nullptr
                        ? given_dc_->as<const T>()[at(time(), row, unit)]
                        : T{0};
    return dc_[at(0, row, unit)] + given;
  }

  void set(std::int64_t row, std::int64_t column, std::int64_t unit,
           T value) const noexcept {
    args_.out[0].as<T>()[gate_at(time(), row, column, unit)] = value;
  }
  void carry(std::int64_t row, std::int64_t unit, T dh, T dc) const noexcept {
    dh_[at(0, row, unit)] = dh;
    dc_[at(0, row, unit)] = dc;
  }
  /// The cotangents of the state, when all steps are made.
  void finish(std::int64_t row, std::int64_t unit) noexcept {
    go_to(0);
    args_.out[1].as<T>()[at(0, row, unit)] =
        product(dh_[at(0, row, unit)], time(), row, unit);
    if (form_.has_c) {
      args_.out[2].as<T>()[at(0, row, unit)] = dc_[at(0, row, unit)];
    }
  }

 private:
  // Zeros where nothing is given.
  void begin_with(const Strided* given, T* carried) const noexcept {
    const std::int64_t cells = sizes_.batch * sizes_.hidden;
    if (given != nullptr) {
      std::copy_n(given->as<const T>(), cells, carried);
    } else {
      std::fill_n(carried, cells, T{0});
    }
  }
  std::int64_t gate_at(std::int64_t time, std::int64_t row, std::int64_t column,
                       std::int64_t unit) const noexcept {
    return at(time, row, column * sizes_.hidden + unit, form_.columns());
  }
  // `sum` + d gates w_hh, gate after gate.
  T product(T sum, std::int64_t time, std::int64_t row,
            std::int64_t unit) const noexcept {
    const Strided& w = args_.in[1];
    for (std::int64_t gate = 0; gate < form_.gates; ++gate) {
      const T* const dgates =
          args_.out[0].as<const T>() + gate_at(time, row, gate, 0);
      const T* const weights =
          w.as<const T>() + unit * w.strides[1] +
          form_.weights_of(gate) * sizes_.hidden * w.strides[0];
      sum = add_products(
          sum, sizes_.hidden, attrs_.precision,
          [&](std::int64_t k) { return dgates[k]; },
          [&](std::int64_t k) { return weights[k * w.strides[0]]; });
    }
    return sum;
  }

  const Args& args_;
  const RecurrentForm& form_;
  const RecurrentGradAttrs& attrs_;
  T* dh_;
  T* dc_;
  const Strided* values_ = nullptr;
  const Strided* state_ = nullptr;
  const Strided* dy_ = nullptr;
  const Strided* given_dc_ = nullptr;
};

template <class Steps, class Cell>
void for_cells_of(const Steps& steps, const Cell& cell) noexcept {
  for (std::int64_t row = 0; row < steps.sizes().batch; ++row) {
    for (std::int64_t unit = 0; unit < steps.sizes().hidden; ++unit) {
      cell(row, unit);
    }
  }
}

template <class Net, class T>
void recurrent_reference(const Args& args) noexcept {
  ReferenceForward<T> steps(args, Net::kForm);
  for (std::int64_t s = 0; s < steps.sizes().steps; ++s) {
    steps.go_to(s);
    for_cells_of(steps, [&](std::int64_t row, std::int64_t unit) noexcept {
      Net::template forward<T>(steps, row, unit);
    });
  }
}

template <class Net, class T>
void recurrent_grad_reference(const Args& args) noexcept {
  ReferenceBackward<T> steps(args, Net::kForm);
  for (std::int64_t s = steps.sizes().steps - 1; s >= 0; --s) {
    steps.go_to(s);
    for_cells_of(steps, [&](std::int64_t row, std::int64_t unit) noexcept {
      Net::template backward<T>(steps, row, unit);
    });
  }
  if (args.attrs_as<RecurrentGradAttrs>().wants_state) {
    for_cells_of(steps, [&](std::int64_t row, std::int64_t unit) noexcept {
      steps.finish(row, unit);
    });
  }
}

template <class T>
Bytes reference_grad_scratch(const Args& args) noexcept {
  return 2 * args.in[0].shape[1] * args.in[1].shape[1] *
         static_cast<Bytes>(sizeof(T));
}

// --- the lists -------------------------------------------------------------

/// Calls body(parts) with those of the call's precision.
template <class Net, class T, class Attrs, class Body>
auto with_parts(const Args& args, const Body& body) noexcept {
  if constexpr (std::is_same_v<T, float>) {
    if (args.attrs_as<Attrs>().precision == Precision::kBf16) {
      return body(Net::parts(Bf16Pair{}));
    }
  }
  return body(Net::parts(T{}));
}

/// Where not, the reference computes in bf16: slow, the same sums.
template <class Attrs>
bool has_dot_of(const Args& args) noexcept {
  return args.attrs == nullptr ||
         args.attrs_as<Attrs>().precision != Precision::kBf16 || has_bf16_dot();
}

template <class Net, class T>
void recurrent_vectors(const Args& args) noexcept {
  with_parts<Net, T, RecurrentAttrs>(args, [&](const auto& parts) noexcept {
    run_recurrent(args, Net::kForm, parts);
  });
}
template <class Net, class T>
Bytes recurrent_bytes(const Args& args) noexcept {
  return with_parts<Net, T, RecurrentAttrs>(
      args, [&](const auto& parts) noexcept {
        return recurrent_scratch(args, Net::kForm, parts);
      });
}
template <class Net, class T>
void recurrent_grad_vectors(const Args& args) noexcept {
  with_parts<Net, T, RecurrentGradAttrs>(args, [&](const auto& parts) noexcept {
    run_recurrent_grad(args, Net::kForm, parts);
  });
}
template <class Net, class T>
Bytes recurrent_grad_bytes(const Args& args) noexcept {
  return with_parts<Net, T, RecurrentGradAttrs>(
      args, [&](const auto& parts) noexcept {
        return recurrent_grad_scratch(args, Net::kForm, parts);
      });
}

namespace detail {

constexpr Kernel with_scratch(Kernel kernel,
                              Bytes (*scratch)(const Args&) noexcept) {
  kernel.scratch = scratch;
  return kernel;
}

constexpr Kernel where(Kernel kernel, bool (*accepts)(const Args&) noexcept) {
  kernel.accepts = accepts;
  return kernel;
}

}  // namespace detail

template <Text kName, class Net>
inline constexpr std::array kRecurrentKernels{
    detail::where(detail::with_scratch(detail::named<kName, ".f32">(
                                           f32, recurrent_vectors<Net, float>),
                                       recurrent_bytes<Net, float>),
                  has_dot_of<RecurrentAttrs>),
    detail::with_scratch(
        detail::named<kName, ".f64">(f64, recurrent_vectors<Net, double>),
        recurrent_bytes<Net, double>),
    detail::named<kName, ".reference.f32">(f32,
                                           recurrent_reference<Net, float>),
    detail::named<kName, ".reference.f64">(f64,
                                           recurrent_reference<Net, double>),
};

template <Text kName, class Net>
inline constexpr std::array kRecurrentGradKernels{
    detail::where(
        detail::with_scratch(detail::named<kName, ".f32">(
                                 f32, recurrent_grad_vectors<Net, float>),
                             recurrent_grad_bytes<Net, float>),
        has_dot_of<RecurrentGradAttrs>),
    detail::with_scratch(
        detail::named<kName, ".f64">(f64, recurrent_grad_vectors<Net, double>),
        recurrent_grad_bytes<Net, double>),
    detail::with_scratch(detail::named<kName, ".reference.f32">(
                             f32, recurrent_grad_reference<Net, float>),
                         reference_grad_scratch<float>),
    detail::with_scratch(detail::named<kName, ".reference.f64">(
                             f64, recurrent_grad_reference<Net, double>),
                         reference_grad_scratch<double>),
};

}  // namespace neap::kernels
