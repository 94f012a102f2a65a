// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For the tests of lstm, gru and rnn: calls of a network and of its gradient on
// made-up operands.
#pragma once

#include "neap/kernels/engine/kernel_testing.hpp"
#include "neap/kernels/sequence/gru.hpp"
#include "neap/kernels/sequence/lstm.hpp"
#include "neap/kernels/sequence/recurrent.hpp"
#include "neap/kernels/sequence/rnn.hpp"

namespace neap::kernels::testing {

enum class Net { kLstm, kGru, kTanh, kRelu };
inline constexpr Net kNets[] = {Net::kLstm, Net::kGru, Net::kTanh, Net::kRelu};

struct Case {
  Net net = Net::kLstm;
  std::int64_t steps = 3;
  std::int64_t batch = 2;
  std::int64_t features = 3;
  std::int64_t hidden = 4;
  bool has_state = true;
  bool is_reverse = false;
  bool keeps = true;
  Lay lay = Lay::kDense;
  int threads = 1;
  Precision precision = Precision::kF32;

  bool is_gated() const { return net == Net::kLstm || net == Net::kGru; }
  std::int64_t gates() const {
    return net == Net::kLstm ? 4 : net == Net::kGru ? 3 : 1;
  }
  std::int64_t columns() const { return is_gated() ? 4 : 1; }
  const KernelList& list() const {
    return net == Net::kLstm  ? lstm_kernels
           : net == Net::kGru ? gru_kernels
                              : rnn_kernels;
  }
  const KernelList& grad_list() const {
    return net == Net::kLstm  ? lstm_grad_kernels
           : net == Net::kGru ? gru_grad_kernels
                              : rnn_grad_kernels;
  }
};

template <class T>
Array made(const Shape& shape, int salt, Lay lay = Lay::kDense) {
  return Array::of<T>(shape, lay, [salt](std::int64_t i) {
    return static_cast<T>(0.15 * noise(7 * i + salt));
  });
}

struct Results {
  std::vector<Array> forward;
  std::vector<Array> backward;
};

inline std::vector<Strided> views_of(std::vector<Array>& arrays) {
  std::vector<Strided> views;
  for (Array& array : arrays) {
    views.push_back(array.view());
  }
  return views;
}

template <class T>
const Kernel& pick(const KernelList& list, bool by_reference) {
  return by_reference ? reference_of(list, dtype_of<T>)
                      : first_of(list, dtype_of<T>);
}

template <class T>
std::vector<Array> forward(const Case& c, bool by_reference) {
  std::vector<Array> in;
  in.push_back(made<T>({c.steps, c.batch, c.features}, 0, c.lay));
  in.push_back(made<T>({c.gates() * c.hidden, c.features}, 1, c.lay));
  in.push_back(made<T>({c.gates() * c.hidden, c.hidden}, 2, c.lay));
  in.push_back(made<T>({c.columns() * c.hidden}, 3));
  for (int k = 0; c.has_state && k < (c.net == Net::kLstm ? 2 : 1); ++k) {
    in.push_back(made<T>({c.batch, c.hidden}, 4 + k));
  }
  const DType dtype = dtype_of<T>;
  std::vector<Array> out;
  out.emplace_back(Shape{c.steps, c.batch, c.hidden}, dtype);
  out.emplace_back(Shape{c.batch, c.hidden}, dtype);
  if (c.is_gated()) {
    out.emplace_back(c.keeps ? Shape{c.steps, c.batch, 4 * c.hidden} : Shape{0},
                     dtype);
  }
  if (c.net == Net::kLstm) {
    out.emplace_back(Shape{c.keeps ? c.steps : 1, c.batch, c.hidden}, dtype);
  }
  const RecurrentAttrs attrs{.has_state = c.has_state,
                             .is_reverse = c.is_reverse,
                             .keeps = c.keeps,
                             .is_relu = c.net == Net::kRelu,
                             .precision = c.precision};
  call(pick<T>(c.list(), by_reference), views_of(in), views_of(out), &attrs,
       c.threads);
  return out;
}

/// The gradient of what a forward call gave, for some cotangents.
template <class T>
std::vector<Array> backward(const Case& c, std::vector<Array>& y,
                            bool by_reference) {
  std::vector<Array> in;
  in.push_back(c.is_gated() ? y[2] : y[0]);
  in.push_back(made<T>({c.gates() * c.hidden, c.hidden}, 2, c.lay));
  if (c.is_gated()) {
    in.push_back(c.net == Net::kLstm ? y[3] : y[0]);
    if (c.has_state) {
      in.push_back(made<T>({c.batch, c.hidden}, c.net == Net::kLstm ? 5 : 4));
    }
  }
  in.push_back(made<T>({c.steps, c.batch, c.hidden}, 6));
  in.push_back(made<T>({c.batch, c.hidden}, 7));
  const bool has_dc = c.net == Net::kLstm;
  if (has_dc) {
    in.push_back(made<T>({c.steps, c.batch, c.hidden}, 8));
  }
  const DType dtype = dtype_of<T>;
  std::vector<Array> out;
  out.emplace_back(Shape{c.steps, c.batch, c.columns() * c.hidden}, dtype);
  for (int k = 0; k < (has_dc ? 2 : 1); ++k) {
    out.emplace_back(c.has_state ? Shape{c.batch, c.hidden} : Shape{0}, dtype);
  }
  const RecurrentGradAttrs attrs{.has_state = c.has_state && c.is_gated(),
                                 .is_reverse = c.is_reverse,
                                 .is_relu = c.net == Net::kRelu,
                                 .has_dy = true,
                                 .has_dh = true,
                                 .has_dc = has_dc,
                                 .wants_state = c.has_state,
                                 .precision = c.precision};
  call(pick<T>(c.grad_list(), by_reference), views_of(in), views_of(out),
       &attrs, c.threads);
  return out;
}

template <class T>
Results run(const Case& c, bool by_reference = false) {
  Results results;
  results.forward = forward<T>(c, by_reference);
  if (c.keeps) {
    results.backward = backward<T>(c, results.forward, by_reference);
  }
  for (std::vector<Array>* arrays : {&results.forward, &results.backward}) {
    for (Array& array : *arrays) {
      EXPECT_TRUE(array.has_intact_guards());
    }
  }
  return results;
}

template <class T>
void expect_near(std::vector<Array>& got, std::vector<Array>& want,
                 double tolerance, const std::string& what) {
  for (std::size_t k = 0; k < want.size(); ++k) {
    for (std::int64_t i = 0; i < want[k].count(); ++i) {
      ASSERT_NEAR(static_cast<double>(got[k].at<T>(i)),
                  static_cast<double>(want[k].at<T>(i)), tolerance)
          << what << ": output " << k << " element " << i;
    }
  }
}

/// The precisions that can be tested here.
inline std::vector<Precision> precisions() {
  isa();
  return has_bf16_dot()
             ? std::vector<Precision>{Precision::kF32, Precision::kBf16}
             : std::vector<Precision>{Precision::kF32};
}

inline void expect_same(Results& a, Results& b, const std::string& what) {
  const auto compare = [&](std::vector<Array>& x, std::vector<Array>& y) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_EQ(x[k].elements(), y[k].elements()) << what << ": output " << k;
    }
  };
  compare(a.forward, b.forward);
  compare(a.backward, b.backward);
}

}  // namespace neap::kernels::testing
