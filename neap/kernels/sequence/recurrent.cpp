// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/sequence/recurrent.hpp"

#include <type_traits>

#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/sequence/recurrent_grid.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kRowsAtOnce = 512;  // of the inputs' product

template <class T>
T* at(T* matrices, std::int64_t index, std::int64_t elements) noexcept {
  return matrices == nullptr ? nullptr : matrices + index * elements;
}

/// Steps of k that so many elements are.
template <class T, class Factor>
constexpr std::int64_t factors_of(std::int64_t elements) noexcept {
  return std::is_same_v<T, Factor> ? elements : ceil_div(elements, 2);
}

template <class T, class Factor>
class Forward {
 public:
  Forward(const Args& args, const RecurrentForm& form, std::int64_t panel,
          std::byte* base) noexcept
      : args_(args),
        form_(form),
        attrs_(args.attrs_as<RecurrentAttrs>()),
        sizes_{args.in[0].shape[0], args.in[0].shape[1], args.in[2].shape[1]},
        features_(args.in[0].shape[2]),
        cells_(sizes_.batch * sizes_.hidden),
        depth_(factors_of<T, Factor>(sizes_.hidden)),
        panels_(ceil_div(sizes_.hidden, panel)),
        room_(base) {
    choose_chunk();
    packed_ = room_.take<Factor>(form.gates * panels_ * panel * depth_);
    h_step_ = spread_step<Factor>(depth_);
    h_[0] = room_.take<Factor>(sizes_.batch * h_step_);
    h_[1] = room_.take<Factor>(sizes_.batch * h_step_);
    if (!has_even_rows_) {
      x_ = room_.take<T>(chunk_ * sizes_.batch * features_);
    }
    if (!form.is_made_in_place) {
      pre_ = room_.take<T>(chunk_ * cells_ * form.gates);
      gates_ = attrs_.keeps ? nullptr : room_.take<T>(cells_ * form.kept);
    } else if (form.kept != 0 && !attrs_.keeps) {
      gates_ = room_.take<T>(chunk_ * cells_ * form.kept);
    }
    const std::int64_t rest = sizes_.steps % chunk_;
    gemm_bytes_ = std::max(product_bytes(chunk_), product_bytes(rest));
    gemm_room_ = room_.take<std::byte>(gemm_bytes_);
  }

  Bytes scratch() const noexcept { return room_.used(); }

  void run(const RecurrentParts<T, Factor>& parts) noexcept {
    if (sizes_.batch == 0) {
      return;
    }
    const std::int64_t panel = parts.panel * depth_;
    threads::parallel_for(*args_.executor, form_.gates * panels_, 1,
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            for (std::int64_t i = begin; i < end; ++i) {
                              parts.pack(args_.in[2], i, packed_ + i * panel);
                            }
                          });
    if (attrs_.has_state) {
      parts.pack_rows(args_.in[4].as<const T>(), sizes_.batch, sizes_.hidden,
                      h_[0], h_step_);
    }
    const RecurrentGrid grid(sizes_, cells_ * depth_ * form_.gates, parts.panel,
                             args_.executor->threads());
    for (std::int64_t first = 0; first < sizes_.steps; first += chunk_) {
      const std::int64_t last = std::min(first + chunk_, sizes_.steps);
      const std::int64_t lowest =
          attrs_.is_reverse ? sizes_.steps - last : first;
      make_pre(lowest, last - first);
      for (std::int64_t s = first; s < last; ++s) {
        const ForwardStep<T, Factor> step = step_of(s, lowest);
        grid.run(*args_.executor, [&](const RecurrentBlock& block) noexcept {
          parts.forward(step, block);
        });
      }
    }
    std::copy_n(y_at(time_of(sizes_.steps - 1)), cells_, args_.out[1].as<T>());
  }

 private:
  std::int64_t time_of(std::int64_t s) const noexcept {
    return attrs_.is_reverse ? sizes_.steps - 1 - s : s;
  }
  T* y_at(std::int64_t time) const noexcept {
    return args_.out[0].as<T>() + time * cells_;
  }

  // As many steps at once as make a good product, where they take room.
  void choose_chunk() noexcept {
    const Strided& x = args_.in[0];
    has_even_rows_ = sizes_.steps == 1 || sizes_.batch == 1 ||
                     x.strides[0] == sizes_.batch * x.strides[1];
    const bool is_free = has_even_rows_ && form_.is_made_in_place &&
                         (form_.kept == 0 || attrs_.keeps);
    const std::int64_t some =
        kRowsAtOnce / std::max<std::int64_t>(sizes_.batch, 1);
    chunk_ = is_free ? sizes_.steps
                     : std::clamp<std::int64_t>(some, 1, sizes_.steps);
  }

  // For `steps` of them from time `lowest` on.
  Gemm<T> product_of(std::int64_t lowest, std::int64_t steps) const noexcept {
    const Strided& x = args_.in[0];
    const Strided& w = args_.in[1];
    const Strided& bias = args_.in[3];
    Gemm<T> product;
    product.m = steps * sizes_.batch;
    product.n = form_.gates * sizes_.hidden;
    product.k = features_;
    if (has_even_rows_) {
      product.a = {at(x.as<const T>(), lowest, x.strides[0]),
                   x.strides[sizes_.batch == 1 ? 0 : 1], x.strides[2]};
    } else {
      product.a = {x_, features_, 1};
    }
    product.b = {w.as<const T>(), w.strides[1], w.strides[0]};
    product.precision = attrs_.precision;
    product.start = GemmStart::kBias;
    product.bias = at(bias.as<const T>(), form_.bias_start * sizes_.hidden,
                      bias.strides[0]);
    product.bias_stride = bias.strides[0];
    return product;
  }

  Bytes product_bytes(std::int64_t steps) const noexcept {
    return gemm_scratch_bytes(product_of(0, steps), args_.executor->threads());
  }

  // The gates at `time`, in a chunk that begins at time `lowest`.
  T* gates_at(std::int64_t time, std::int64_t lowest) const noexcept {
    const std::int64_t columns = cells_ * form_.kept;
    if (form_.kept == 0) {
      return y_at(time);
    }
    if (attrs_.keeps) {
      return args_.out[2].as<T>() + time * columns;
    }
    return form_.is_made_in_place ? gates_ + (time - lowest) * columns : gates_;
  }

  void make_pre(std::int64_t lowest, std::int64_t steps) noexcept {
    if (!has_even_rows_) {
      Strided from = args_.in[0];
      from.data = reinterpret_cast<std::byte*>(
          at(args_.in[0].as<T>(), lowest, args_.in[0].strides[0]));
      from.shape[0] = steps;
      const Strided to{reinterpret_cast<std::byte*>(x_), from.dtype, from.shape,
                       base::row_major_strides(from.shape)};
      copy_elements(from, to, *args_.executor);
    }
    Gemm<T> product = product_of(lowest, steps);
    product.c = form_.is_made_in_place ? gates_at(lowest, lowest) : pre_;
    gemm(product, std::span(gemm_room_, static_cast<std::size_t>(gemm_bytes_)),
         *args_.executor);
  }

  ForwardStep<T, Factor> step_of(std::int64_t s,
                                 std::int64_t lowest) const noexcept {
    const std::int64_t time = time_of(s);
    ForwardStep<T, Factor> step;
    step.sizes = sizes_;
    step.weights = packed_;
    step.gates = gates_at(time, lowest);
    step.pre = form_.is_made_in_place
                   ? step.gates
                   : pre_ + (time - lowest) * cells_ * form_.gates;
    step.bias = args_.in[3].as<const T>();
    step.h = h_[s % 2];
    step.next_h = h_[(s + 1) % 2];
    step.h_step = h_step_;
    if constexpr (std::is_same_v<T, Factor>) {
      step.copy = step.next_h;
      step.copy_step = h_step_;
    }
    const bool is_first = s == 0;
    if (!is_first) {
      step.h_before = y_at(time_of(s - 1));
    } else if (attrs_.has_state) {
      step.h_before = args_.in[4].as<const T>();
    }
    step.depth = step.h_before == nullptr ? 0 : depth_;
    step.y = y_at(time);
    step.is_relu = attrs_.is_relu;
    if (form_.has_c) {
      T* const c = args_.out[3].as<T>();
      step.c = attrs_.keeps ? c + time * cells_ : c;
      if (!is_first) {
        step.c_before = attrs_.keeps ? c + time_of(s - 1) * cells_ : c;
      } else if (attrs_.has_state) {
        step.c_before = args_.in[5].as<const T>();
      }
    }
    return step;
  }

  const Args& args_;
  const RecurrentForm& form_;
  const RecurrentAttrs& attrs_;
  RecurrentSizes sizes_;
  std::int64_t features_;
  std::int64_t cells_;   // elements of a step's h
  std::int64_t depth_;   // of a product with h, in factors
  std::int64_t panels_;  // of a gate
  bool has_even_rows_ = false;
  std::int64_t chunk_ = 1;  // steps
  RecurrentRoom room_;
  Factor* packed_ = nullptr;
  Factor* h_[2] = {nullptr, nullptr};
  std::int64_t h_step_ = 0;
  T* x_ = nullptr;
  T* pre_ = nullptr;
  T* gates_ = nullptr;
  Bytes gemm_bytes_ = 0;
  std::byte* gemm_room_ = nullptr;
};

template <class T, class Factor>
class Backward {
 public:
  Backward(const Args& args, const RecurrentForm& form, std::int64_t panel,
           std::byte* base) noexcept
      : args_(args),
        form_(form),
        attrs_(args.attrs_as<RecurrentGradAttrs>()),
        sizes_{args.in[0].shape[0], args.in[0].shape[1], args.in[1].shape[1]},
        cells_(sizes_.batch * sizes_.hidden),
        gate_depth_(factors_of<T, Factor>(sizes_.hidden)),
        depth_(form.gates * gate_depth_),
        panels_(ceil_div(sizes_.hidden, panel)),
        room_(base) {
    find_operands();
    packed_ = room_.take<Factor>(panels_ * panel * depth_);
    after_step_ = spread_step<Factor>(depth_);
    after_[0] = room_.take<Factor>(sizes_.batch * after_step_);
    after_[1] = room_.take<Factor>(sizes_.batch * after_step_);
    dh_ = attrs_.wants_state ? args.out[1].as<T>() : room_.take<T>(cells_);
    if (form.has_c) {
      dc_ = attrs_.wants_state ? args.out[2].as<T>() : room_.take<T>(cells_);
    }
  }

  Bytes scratch() const noexcept { return room_.used(); }

  void run(const RecurrentParts<T, Factor>& parts) noexcept {
    if (sizes_.batch == 0) {
      return;
    }
    threads::parallel_for(*args_.executor, panels_, 1,
                          [&](std::int64_t begin, std::int64_t end) noexcept {
                            for (std::int64_t i = begin; i < end; ++i) {
                              parts.pack_back(
                                  args_.in[1], form_, i,
                                  packed_ + i * parts.panel * depth_);
                            }
                          });
    begin();
    const RecurrentGrid grid(sizes_, cells_ * depth_, parts.panel,
                             args_.executor->threads());
    for (std::int64_t s = sizes_.steps - 1; s >= 0; --s) {
      const BackwardStep<T, Factor> step = step_of(s);
      grid.run(*args_.executor, [&](const RecurrentBlock& block) noexcept {
        parts.backward(step, block);
      });
    }
    if (attrs_.wants_state) {
      const BackwardStep<T, Factor> step = product_of(-1);
      grid.run(*args_.executor, [&](const RecurrentBlock& block) noexcept {
        parts.product(step, block);
      });
    }
  }

 private:
  void find_operands() noexcept {
    std::size_t next = 2;
    const auto take = [&](bool is_there) noexcept {
      return is_there ? &args_.in[next++] : nullptr;
    };
    values_ = take(form_.kept != 0);
    state_ = take(attrs_.has_state && form_.kept != 0);
    dy_ = take(attrs_.has_dy);
    last_dh_ = take(attrs_.has_dh);
    given_dc_ = take(attrs_.has_dc);
    last_dc_ = take(attrs_.has_last_dc);
  }

  void begin() noexcept {
    begin_with(last_dh_, dh_);
    if (form_.has_c) {
      begin_with(last_dc_, dc_);
    }
  }

  // Zeros where nothing is given.
  void begin_with(const Strided* given, T* carried) const noexcept {
    if (given != nullptr) {
      std::copy_n(given->as<const T>(), cells_, carried);
    } else {
      std::fill_n(carried, cells_, T{0});
    }
  }

  std::int64_t time_of(std::int64_t s) const noexcept {
    return attrs_.is_reverse ? sizes_.steps - 1 - s : s;
  }

  // Arguments of the product before step s.
  BackwardStep<T, Factor> product_of(std::int64_t s) const noexcept {
    BackwardStep<T, Factor> step;
    step.sizes = sizes_;
    step.form = &form_;
    step.weights = packed_;
    step.after = after_[(s + 2) % 2];
    step.next_after = after_[(s + 1) % 2];
    step.after_step = after_step_;
    if constexpr (std::is_same_v<T, Factor>) {
      step.copy = step.next_after;
      step.copy_step = after_step_;
    }
    step.gate_depth = gate_depth_;
    step.depth = s == sizes_.steps - 1 ? 0 : depth_;
    step.dh = dh_;
    return step;
  }

  BackwardStep<T, Factor> step_of(std::int64_t s) const noexcept {
    const std::int64_t time = time_of(s);
    const std::int64_t columns = cells_ * form_.columns();
    BackwardStep<T, Factor> step = product_of(s);
    if (dy_ != nullptr) {
      step.dy = at(dy_->as<const T>(), time, dy_->strides[0]);
      step.dy_step = dy_->strides[1];
    }
    step.gates = args_.in[0].as<const T>() + time * columns;
    step.dgates = args_.out[0].as<T>() + time * columns;
    if (values_ != nullptr && s > 0) {
      step.before = values_->as<const T>() + time_of(s - 1) * cells_;
    } else if (state_ != nullptr) {
      step.before = state_->as<const T>();
    }
    if (form_.has_c) {
      step.c = values_->as<const T>() + time * cells_;
      step.dc = dc_;
      if (given_dc_ != nullptr) {
        step.given_dc = given_dc_->as<const T>() + time * cells_;
      }
    }
    step.is_relu = attrs_.is_relu;
    return step;
  }

  const Args& args_;
  const RecurrentForm& form_;
  const RecurrentGradAttrs& attrs_;
  RecurrentSizes sizes_;
  std::int64_t cells_;  // elements of a step's h
  std::int64_t gate_depth_;
  std::int64_t depth_;  // of a step's product, in factors
  std::int64_t panels_;
  RecurrentRoom room_;
  const Strided* values_ = nullptr;  // c of lstm, y of gru
  const Strided* state_ = nullptr;   // the first of them
  const Strided* dy_ = nullptr;
  const Strided* last_dh_ = nullptr;
  const Strided* given_dc_ = nullptr;
  const Strided* last_dc_ = nullptr;
  Factor* packed_ = nullptr;
  Factor* after_[2] = {nullptr, nullptr};
  std::int64_t after_step_ = 0;
  T* dh_ = nullptr;
  T* dc_ = nullptr;
};

}  // namespace

template <class T, class Factor>
void run_recurrent(const Args& args, const RecurrentForm& form,
                   const RecurrentParts<T, Factor>& parts) noexcept {
  Forward<T, Factor>(args, form, parts.panel, args.scratch.data()).run(parts);
}

template <class T, class Factor>
Bytes recurrent_scratch(const Args& args, const RecurrentForm& form,
                        const RecurrentParts<T, Factor>& parts) noexcept {
  return Forward<T, Factor>(args, form, parts.panel, nullptr).scratch();
}

template <class T, class Factor>
void run_recurrent_grad(const Args& args, const RecurrentForm& form,
                        const RecurrentParts<T, Factor>& parts) noexcept {
  Backward<T, Factor>(args, form, parts.panel, args.scratch.data()).run(parts);
}

template <class T, class Factor>
Bytes recurrent_grad_scratch(const Args& args, const RecurrentForm& form,
                             const RecurrentParts<T, Factor>& parts) noexcept {
  return Backward<T, Factor>(args, form, parts.panel, nullptr).scratch();
}

#define NEAP_RECURRENT(...)                                                 \
  template void run_recurrent(const Args&, const RecurrentForm&,            \
                              const RecurrentParts<__VA_ARGS__>&) noexcept; \
  template Bytes recurrent_scratch(                                         \
      const Args&, const RecurrentForm&,                                    \
      const RecurrentParts<__VA_ARGS__>&) noexcept;                         \
  template void run_recurrent_grad(                                         \
      const Args&, const RecurrentForm&,                                    \
      const RecurrentParts<__VA_ARGS__>&) noexcept;                         \
  template Bytes recurrent_grad_scratch(                                    \
      const Args&, const RecurrentForm&,                                    \
      const RecurrentParts<__VA_ARGS__>&) noexcept;
NEAP_RECURRENT(float)
NEAP_RECURRENT(double)
NEAP_RECURRENT(float, Bf16Pair)
#undef NEAP_RECURRENT

}  // namespace neap::kernels
