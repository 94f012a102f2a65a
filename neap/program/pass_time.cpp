// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Recurrent layers (time_layers.hpp) for some of their steps at a time. The
// bits stay: a piece begins with the state, or with the cotangents of it, that
// the piece before has left, as a step does; and every sum over steps goes on
// in the order of the whole.
//
//   for each piece, in the order of the steps:
//     y.p, h.p, gates.p, c.p = lstm(x steps, w_ih, w_hh, bias, h.(p-1), s)
//     s = copy(c.p last step)
//     y = copy(y.p)                              over steps of y, if it is read
//   for each piece, from the last step on:
//     dgates.p, dh, dc = lstm_grad(gates.p, w_hh, c.p, .., dh, dc)
//   for each piece, from time 0 on:
//     dw_hh = matmul_add(dw_hh, dgates.p', y.p)              over dw_hh
//     dw_ih = matmul_add(dw_ih, dgates.p', copy(x steps))    over dw_ih
//     dx    = matmul(dgates.p, w_ih)                         over steps of dx
//
// So the cotangents of a piece's gates are needed twice, at different times:
// backward goes against the order of the sums. A schedule keeps them, runs the
// piece again, or has them wait in a file.
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "neap/kernels/sequence/recurrent.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/rewrite.hpp"
#include "neap/program/time_sums.hpp"

namespace neap::compiler {
namespace {

using kernels::RecurrentAttrs;
using kernels::RecurrentGradAttrs;

class TimeCutter : TimeSums {
 public:
  TimeCutter(Program& program, std::uint32_t pieces)
      : TimeSums(program, pieces),
        layers_(time_layers(program)),
        at_(program.calls.size()) {}

  // RETURNS: how many layers were cut; `most`: the most pieces of one.
  std::size_t run(std::uint32_t& most) {
    note_places();
    const auto count = static_cast<std::uint32_t>(program_.calls.size());
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto begin = static_cast<std::uint32_t>(program_.calls.size());
      const Here here = at_[i];
      switch (here.what) {
        case What::kNothing:
          order_.push_back(i);
          break;
        case What::kGone:
          break;
        case What::kForward:
          forward(layers_[here.layer]);
          break;
        case What::kGrad:
          grad(layers_[here.layer], here.grad);
          break;
        case What::kUses:
          uses(layers_[here.layer], here.grad);
          break;
      }
      for (auto k = begin; k < program_.calls.size(); ++k) {
        order_.push_back(k);
      }
      if (here.what == What::kUses) {
        const auto& after = layers_[here.layer].grads[here.grad].after;
        order_.insert(order_.end(), after.begin(), after.end());
      }
    }
    keep_calls(program_, order_);
    tidy(program_);
    for (const TimeLayer& layer : layers_) {
      most = std::max(most, static_cast<std::uint32_t>(count_of(layer)));
    }
    return layers_.size();
  }

 private:
  enum class What : std::uint8_t { kNothing, kGone, kForward, kGrad, kUses };
  struct Here {
    What what = What::kNothing;
    std::uint32_t layer = 0;
    std::uint32_t grad = 0;  // of the layer
  };

  void note_places() {
    for (std::uint32_t l = 0; l < layers_.size(); ++l) {
      at_[layers_[l].call] = {What::kForward, l};
      for (std::uint32_t g = 0; g < layers_[l].grads.size(); ++g) {
        note_places(l, g);
      }
    }
  }
  void note_places(std::uint32_t l, std::uint32_t g) {
    const TimeGrad& grad = layers_[l].grads[g];
    at_[grad.call] = {grad.is_late ? What::kGone : What::kGrad, l, g};
    for (const TimeUse& use : grad.uses) {
      at_[use.call] = {What::kGone};
      if (use.copy != kNoCall) {
        at_[use.copy] = {What::kGone};
      }
    }
    for (const std::uint32_t i : grad.after) {
      at_[i] = {What::kGone};
    }
    at_[grad.place] = {What::kUses, l, g};
  }

  // The pieces in the order of the steps, or against it.
  template <class Visit>
  void for_each_piece(const TimeLayer& layer, bool is_backward,
                      const Visit& visit) {
    const std::int64_t count = count_of(layer);
    const bool is_down = is_backward != layer.is_reverse;
    for (std::int64_t k = 0; k < count; ++k) {
      visit(is_down ? count - 1 - k : k);
    }
  }
  bool is_first(const TimeLayer& layer, std::int64_t piece) const {
    return piece == (layer.is_reverse ? count_of(layer) - 1 : 0);
  }
  bool is_last(const TimeLayer& layer, std::int64_t piece) const {
    return piece == (layer.is_reverse ? 0 : count_of(layer) - 1);
  }
  // The piece that runs right before.
  static std::int64_t before(const TimeLayer& layer, std::int64_t piece) {
    return layer.is_reverse ? piece + 1 : piece - 1;
  }

  // --- forward ---------------------------------------------------------------

  void forward(const TimeLayer& layer) {
    const TimeForm& form = *time_form_of(call(layer.call));
    for (std::size_t k = 0; k < form.outputs; ++k) {
      if (k != 1) {
        split(layer, out(layer.call, k));
      }
    }
    ValueId y = kNoValue;
    if (layer.has_whole_y) {
      y = zeros_like(layer.call, out(layer.call)).value;
      parts_of(out(layer.call).value)->has_whole = true;
    }
    for_each_piece(layer, false, [&](std::int64_t piece) {
      forward(layer, form, piece);
      if (layer.has_whole_y) {
        y = add_to_whole_y(layer, y, piece);
      }
    });
    if (layer.has_last_c) {
      read_last_c(layer);
    }
  }

  void forward(const TimeLayer& layer, const TimeForm& form,
               std::int64_t piece) {
    const auto at = static_cast<std::size_t>(piece);
    Parts& y = *parts_of(out(layer.call).value);
    Operands read = in(layer.call);
    read[0] = part(read[0], 0, y.first(piece), y.count(piece));
    RecurrentAttrs how = attrs<RecurrentAttrs>(layer.call);
    if (!is_first(layer, piece)) {
      const auto from = static_cast<std::size_t>(before(layer, piece));
      read.resize(4);
      read.push_back(whole(y.ends[from]));
      if (form.has_c()) {
        read.push_back(whole(parts_of(out(layer.call, 3).value)->ends[from]));
      }
      how.has_state = true;
    }
    Operands made;
    for (std::size_t k = 0; k < form.outputs; ++k) {
      const Operand old = out(layer.call, k);
      Shape shape = old.layout->shape;
      if (k == 1) {  // the last piece's is the whole's
        made.push_back(is_last(layer, piece)
                           ? old
                           : fresh(old.value, old.layout->dtype, shape));
        y.ends[at] = made.back().value;
      } else {
        shape[0] = y.count(piece);
        made.push_back(fresh(old.value, old.layout->dtype, shape));
        parts_of(old.value)->pieces[at] = made.back().value;
      }
    }
    Call some = call(layer.call);
    set_attrs(some, how);
    add(some, read, made);
    if (form.has_c() && (layer.has_last_c || !is_last(layer, piece))) {
      copy_end(layer, piece);
    }
  }

  // The last c of a piece, apart from the others, which may go.
  void copy_end(const TimeLayer& layer, std::int64_t piece) {
    const Operand c = out(layer.call, 3);
    Parts& parts = *parts_of(c.value);
    const auto at = static_cast<std::size_t>(piece);
    const Operand h = out(layer.call, 1);
    tensor::Layout layout = h.layout;
    layout.offset = (parts.end(piece) - parts.first(piece)) * parts.step;
    const Operand from = view(parts.pieces[at], layout);
    const Operand to = fresh(c.value, c.layout->dtype, h.layout->shape);
    add(op_like(call(layer.call), ops::kCopy), std::array{from},
        std::array{to});
    parts.ends[at] = to.value;
  }

  ValueId add_to_whole_y(const TimeLayer& layer, ValueId y,
                         std::int64_t piece) {
    const Operand old = out(layer.call);
    const Parts& parts = *parts_of(old.value);
    const ValueId next = next_whole(y, old.value, is_last(layer, piece));
    Call copy = op_like(call(layer.call), ops::kCopy);
    copy.reads_outputs = true;  // other steps
    add(copy, std::array{whole(parts.pieces[static_cast<std::size_t>(piece)])},
        std::array{sliced({next, old.layout}, 0, parts.first(piece),
                          parts.count(piece))});
    return next;
  }

  // Calls that read the last c of all read its copy.
  void read_last_c(const TimeLayer& layer) {
    const ValueId c = out(layer.call, 3).value;
    const Parts& parts = *parts_of(c);
    const std::int64_t piece = layer.is_reverse ? 0 : count_of(layer) - 1;
    for (std::uint32_t i = 0; i < at_.size(); ++i) {
      if (std::ranges::find(layer.grads, i, &TimeGrad::call) !=
          layer.grads.end()) {
        continue;
      }
      const Range read = call(i).inputs;
      for (std::uint32_t k = 0; k < read.count; ++k) {
        Operand& operand = program_.operands[read.first + k];
        if (operand.value == c) {
          tensor::Layout layout = operand.layout;
          layout.offset -= parts.end(piece) * parts.step;
          operand = view(parts.ends[static_cast<std::size_t>(piece)], layout);
        }
      }
    }
  }

  // --- gradients -------------------------------------------------------------

  // The cotangents that the steps after a piece give to it.
  struct Carried {
    ValueId dh = kNoValue;
    ValueId dc = kNoValue;
  };

  void grad(const TimeLayer& layer, std::uint32_t g) {
    const TimeGrad& some = layer.grads[g];
    split(layer, out(some.call));
    Carried carried;
    for_each_piece(layer, true, [&](std::int64_t piece) {
      grad(layer, some, piece, carried);
    });
  }

  void grad(const TimeLayer& layer, const TimeGrad& some, std::int64_t piece,
            Carried& carried) {
    const TimeForm& form = *time_form_of(call(layer.call));
    const Operands old = in(some.call);
    Parts& dgates = *parts_of(out(some.call).value);
    RecurrentGradAttrs how = attrs<RecurrentGradAttrs>(some.call);
    const auto steps = [&](const Operand& operand) {
      return part(operand, 0, dgates.first(piece), dgates.count(piece));
    };
    std::size_t next = 2;
    Operands read{steps(old[0]), old[1]};
    if (form.values != 0) {
      read.push_back(steps(old[next++]));
      const bool has_state = how.has_state;
      if (!is_first(layer, piece)) {
        const auto from = static_cast<std::size_t>(before(layer, piece));
        read.push_back(whole(parts_of(old[form.values].value)->ends[from]));
      } else if (has_state) {
        read.push_back(old[next]);
      }
      next += has_state ? 1 : 0;
      how.has_state = has_state || !is_first(layer, piece);
    }
    if (how.has_dy) {
      read.push_back(steps(old[next++]));
    }
    if (carried.dh != kNoValue) {
      read.push_back(whole(carried.dh));
    } else if (how.has_dh) {
      read.push_back(old[next]);
    }
    next += how.has_dh ? 1 : 0;
    how.has_dh = how.has_dh || carried.dh != kNoValue;
    if (how.has_dc) {
      read.push_back(steps(old[next]));
    }
    if (carried.dc != kNoValue) {
      read.push_back(whole(carried.dc));
      how.has_last_dc = true;
    }
    how.wants_state = how.wants_state || !is_first(layer, piece);
    add_grad(layer, some, piece, read, how, carried);
  }

  void add_grad(const TimeLayer& layer, const TimeGrad& some,
                std::int64_t piece, const Operands& read,
                const RecurrentGradAttrs& how, Carried& carried) {
    const Operand old = out(some.call);
    Parts& dgates = *parts_of(old.value);
    Shape shape = old.layout->shape;
    shape[0] = dgates.count(piece);
    Operands made{fresh(old.value, old.layout->dtype, shape)};
    dgates.pieces[static_cast<std::size_t>(piece)] = made[0].value;
    const std::uint32_t count = call(some.call).outputs.count;
    for (std::uint32_t k = 1; k < count; ++k) {  // the first's are the whole's
      const Operand state = out(some.call, k);
      made.push_back(is_first(layer, piece)
                         ? state
                         : fresh(state.value, state.layout->dtype,
                                 out(layer.call, 1).layout->shape));
      (k == 1 ? carried.dh : carried.dc) = made.back().value;
    }
    Call grad = call(some.call);
    set_attrs(grad, how);
    add(grad, read, made);
  }

  // --- uses of the cotangents of gates ---------------------------------------

  void uses(const TimeLayer& layer, std::uint32_t g) {
    const TimeGrad& some = layer.grads[g];
    if (some.is_late) {
      split(layer, out(some.call));
    }
    memory::Vector<TimeSum> sums;
    for (const TimeUse& use : some.uses) {
      sums.push_back({.use = use});
      begin(layer, some, sums.back());
    }
    const std::int64_t count = count_of(layer);
    for (TimeSum& sum : sums) {
      for (std::int64_t piece = 0; sum.use.is_first && piece < count; ++piece) {
        go_on(layer, some, sum, piece);
      }
    }
    Carried carried;
    for (std::int64_t piece = 0; piece < count; ++piece) {
      if (some.is_late) {
        grad(layer, some, piece, carried);
      }
      for (TimeSum& sum : sums) {
        if (!sum.use.is_first) {
          go_on(layer, some, sum, piece);
        }
      }
    }
    for (const TimeSum& sum : sums) {
      end(sum);
    }
  }

  memory::Vector<TimeLayer> layers_;
  memory::Vector<Here> at_;  // by call
  memory::Vector<std::uint32_t> order_;
};

}  // namespace

std::size_t cut_time(Program& program, std::uint32_t pieces) {
  // Another library's products have bits of their own.
  if (pieces < 2 || std::string_view(kernels::kernel_set()) != "neap") {
    return 0;
  }
  return TimeCutter(program, pieces).run(program.fitting.time_pieces);
}

}  // namespace neap::compiler
