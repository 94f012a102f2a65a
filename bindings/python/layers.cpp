// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The layers of neap/nn: the C++ classes themselves, so that their parameters
// begin with the same bits.
#include "neap/nn/layers.hpp"
#include <nanobind/stl/pair.h>

#include "binding.hpp"
#include "modules.hpp"
#include "neap/nn/attention.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/conv.hpp"
#include "neap/nn/embedding.hpp"
#include "neap/nn/group_norm.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/norm.hpp"
#include "neap/nn/pool.hpp"
#include "neap/nn/recurrent.hpp"
#include "values.hpp"

namespace neap::python {
namespace {

template <class T>
nb::class_<T, nn::Layer> layer(nb::module_& m, const char* name) {
  return nb::class_<T, nn::Layer>(m, name, nb::dynamic_attr());
}

void bind_activations(nb::module_& m) {
  layer<nn::ReLU>(m, "ReLU").def(nb::init<>());
  layer<nn::Tanh>(m, "Tanh").def(nb::init<>());
  layer<nn::Sigmoid>(m, "Sigmoid").def(nb::init<>());
  layer<nn::SiLU>(m, "SiLU").def(nb::init<>());
  layer<nn::Mish>(m, "Mish").def(nb::init<>());
  layer<nn::Flatten>(m, "Flatten").def(nb::init<>());
  layer<nn::GELU>(m, "GELU").def(nb::init<GeluForm>(),
                                 nb::arg("form") = "exact");
  layer<nn::LeakyReLU>(m, "LeakyReLU")
      .def(nb::init<double>(), nb::arg("negative_slope") = 0.01);
  layer<nn::ELU>(m, "ELU").def(nb::init<double>(), nb::arg("alpha") = 1.0);
  layer<nn::Softplus>(m, "Softplus")
      .def(nb::init<double, double>(), nb::arg("beta") = 1.0,
           nb::arg("threshold") = 20.0);
  layer<nn::Dropout>(m, "Dropout").def(nb::init<double>(), nb::arg("p") = 0.5);
}

void bind_linear(nb::module_& m) {
  layer<nn::Linear>(m, "Linear")
      .def(
          "__init__",
          [](nn::Linear* self, std::int64_t in, std::int64_t out, bool bias,
             DType dtype) {
            new (self) nn::Linear(in, out, bias, dtype, here());
          },
          nb::arg("in_features"), nb::arg("out_features"),
          nb::arg("bias") = true, nb::arg("dtype") = f32);
  layer<nn::Embedding>(m, "Embedding")
      .def(
          "__init__",
          [](nn::Embedding* self, std::int64_t rows, std::int64_t width,
             std::optional<std::int64_t> padding, DType dtype) {
            new (self) nn::Embedding(rows, width, padding, dtype, here());
          },
          nb::arg("rows"), nb::arg("width"),
          nb::arg("padding").none() = nb::none(), nb::arg("dtype") = f32);
  layer<nn::MultiheadAttention>(m, "MultiheadAttention")
      .def(
          "__init__",
          [](nn::MultiheadAttention* self, std::int64_t dim, std::int64_t heads,
             double dropout, bool bias, DType dtype) {
            new (self) nn::MultiheadAttention(
                dim, heads, {.dropout = dropout, .bias = bias, .dtype = dtype},
                here());
          },
          nb::arg("dim"), nb::arg("heads"), nb::arg("dropout") = 0.0,
          nb::arg("bias") = true, nb::arg("dtype") = f32);
}

template <class Conv, int kAxes>
void bind_conv_layer(nb::module_& m, const char* name) {
  using Sizes = PerAxis<kAxes>;
  layer<Conv>(m, name).def(
      "__init__",
      [](Conv* self, std::int64_t in, std::int64_t out, const Sizes& kernel,
         const Sizes& stride, const Sizes& padding, const Sizes& dilation,
         std::int64_t groups, bool bias, DType dtype) {
        new (self) Conv(in, out, kernel,
                        {.stride = stride,
                         .padding = padding,
                         .dilation = dilation,
                         .groups = groups},
                        bias, dtype, here());
      },
      nb::arg("in_channels"), nb::arg("out_channels"), nb::arg("kernel_size"),
      nb::arg("stride") = 1, nb::arg("padding") = 0, nb::arg("dilation") = 1,
      nb::arg("groups") = 1, nb::arg("bias") = true, nb::arg("dtype") = f32);
}

template <class Conv, int kAxes>
void bind_conv_transpose_layer(nb::module_& m, const char* name) {
  using Sizes = PerAxis<kAxes>;
  layer<Conv>(m, name).def(
      "__init__",
      [](Conv* self, std::int64_t in, std::int64_t out, const Sizes& kernel,
         const Sizes& stride, const Sizes& padding, const Sizes& output_padding,
         const Sizes& dilation, std::int64_t groups, bool bias, DType dtype) {
        new (self) Conv(in, out, kernel,
                        {.stride = stride,
                         .padding = padding,
                         .output_padding = output_padding,
                         .dilation = dilation,
                         .groups = groups},
                        bias, dtype, here());
      },
      nb::arg("in_channels"), nb::arg("out_channels"), nb::arg("kernel_size"),
      nb::arg("stride") = 1, nb::arg("padding") = 0,
      nb::arg("output_padding") = 0, nb::arg("dilation") = 1,
      nb::arg("groups") = 1, nb::arg("bias") = true, nb::arg("dtype") = f32);
}

template <class Norm>
void bind_batch_norm(nb::module_& m, const char* name) {
  layer<Norm>(m, name).def(
      "__init__",
      [](Norm* self, std::int64_t features, double eps,
         std::optional<double> momentum, bool affine, bool track, DType dtype) {
        new (self) Norm(features,
                        {.eps = eps,
                         .momentum = momentum,
                         .affine = affine,
                         .track_running_stats = track},
                        dtype, here());
      },
      nb::arg("features"), nb::arg("eps") = 1e-5,
      nb::arg("momentum").none() = 0.1, nb::arg("affine") = true,
      nb::arg("track_running_stats") = true, nb::arg("dtype") = f32);
}

void bind_norms(nb::module_& m) {
  bind_batch_norm<nn::BatchNorm1d>(m, "BatchNorm1d");
  bind_batch_norm<nn::BatchNorm2d>(m, "BatchNorm2d");
  layer<nn::LayerNorm>(m, "LayerNorm")
      .def(
          "__init__",
          [](nn::LayerNorm* self, const Shape& shape, double eps, bool affine,
             bool bias, DType dtype) {
            new (self) nn::LayerNorm(shape, eps, affine, bias, dtype, here());
          },
          nb::arg("normalized_shape"), nb::arg("eps") = 1e-5,
          nb::arg("affine") = true, nb::arg("bias") = true,
          nb::arg("dtype") = f32);
  layer<nn::RMSNorm>(m, "RMSNorm")
      .def(
          "__init__",
          [](nn::RMSNorm* self, const Shape& shape, std::optional<double> eps,
             bool affine, DType dtype) {
            new (self) nn::RMSNorm(shape, eps, affine, dtype, here());
          },
          nb::arg("normalized_shape"), nb::arg("eps").none() = nb::none(),
          nb::arg("affine") = true, nb::arg("dtype") = f32);
  layer<nn::GroupNorm>(m, "GroupNorm")
      .def(
          "__init__",
          [](nn::GroupNorm* self, std::int64_t groups, std::int64_t channels,
             double eps, bool affine, DType dtype) {
            new (self)
                nn::GroupNorm(groups, channels, eps, affine, dtype, here());
          },
          nb::arg("groups"), nb::arg("channels"), nb::arg("eps") = 1e-5,
          nb::arg("affine") = true, nb::arg("dtype") = f32);
}

void bind_pools(nb::module_& m) {
  using Sizes = PerAxis<2>;
  layer<nn::MaxPool2d>(m, "MaxPool2d")
      .def(
          "__init__",
          [](nn::MaxPool2d* self, const Sizes& kernel, const Sizes& stride,
             const Sizes& padding, const Sizes& dilation, bool ceil_mode) {
            new (self) nn::MaxPool2d(MaxPoolOptions<2>{kernel, stride, padding,
                                                       dilation, ceil_mode});
          },
          nb::arg("kernel_size"), nb::arg("stride") = 0, nb::arg("padding") = 0,
          nb::arg("dilation") = 1, nb::arg("ceil_mode") = false);
  layer<nn::AvgPool2d>(m, "AvgPool2d")
      .def(
          "__init__",
          [](nn::AvgPool2d* self, const Sizes& kernel, const Sizes& stride,
             const Sizes& padding) {
            new (self) nn::AvgPool2d(AvgPoolOptions<2>{
                .kernel = kernel, .stride = stride, .padding = padding});
          },
          nb::arg("kernel_size"), nb::arg("stride") = 0,
          nb::arg("padding") = 0);
  layer<nn::AdaptiveAvgPool2d>(m, "AdaptiveAvgPool2d")
      .def(
          "__init__",
          [](nn::AdaptiveAvgPool2d* self, const Sizes& size) {
            new (self) nn::AdaptiveAvgPool2d(size);
          },
          nb::arg("output_size"));
}

// Recurrent layers are called as PyTorch's: with a state or without, and give
// the output and the last state.
template <class T>
nb::class_<T, nn::Layer> recurrent(nb::module_& m, const char* name) {
  nb::class_<T, nn::Layer> cls = layer<T>(m, name);
  cls.def(
      "__init__",
      [](T* self, std::int64_t input, std::int64_t hidden, std::int64_t layers,
         bool bias, bool batch_first, double dropout, bool bidirectional) {
        new (self) T(input, hidden,
                     nn::RecurrentOptions{layers, bias, batch_first, dropout,
                                          bidirectional});
      },
      nb::arg("input_size"), nb::arg("hidden_size"), nb::arg("num_layers") = 1,
      nb::arg("bias") = true, nb::arg("batch_first") = false,
      nb::arg("dropout") = 0.0, nb::arg("bidirectional") = false);
  return cls;
}

template <class T>
TupleOf<Tensor, Tensor> run_recurrent(const T& self, const Tensor& x,
                                      const MaybeTensor& h) {
  const CallSite site = here();
  return to_python(run_op([&] { return self.run(x, h.get(), site); }, x));
}

TupleOf<Tensor, TupleOf<Tensor, Tensor>> run_lstm(
    const nn::LSTM& self, const Tensor& x,
    std::optional<std::pair<Tensor, Tensor>> state) {
  const CallSite site = here();
  LstmState given;
  if (state) {
    given = {state->first, state->second};
  }
  return to_python(run_op([&] { return self.run(x, given, site); }, x));
}

void bind_recurrent(nb::module_& m) {
  recurrent<nn::RNN>(m, "RNN").def("__call__", &run_recurrent<nn::RNN>,
                                   nb::arg("x"),
                                   nb::arg("h").none() = nb::none());
  recurrent<nn::GRU>(m, "GRU").def("__call__", &run_recurrent<nn::GRU>,
                                   nb::arg("x"),
                                   nb::arg("h").none() = nb::none());
  recurrent<nn::LSTM>(m, "LSTM").def("__call__", &run_lstm, nb::arg("x"),
                                     nb::arg("state").none() = nb::none());
}

}  // namespace

void bind_layers(nb::module_& m) {
  nb::class_<nn::Layer, nn::Module>(m, "Layer", nb::dynamic_attr())
      .def("__call__",
           [](const nn::Layer& self, const Tensor& x) {
             const CallSite site = here();
             return run_op([&] { return self(x, site); }, x);
           })
      .def("forward", [](const nn::Layer& self, const Tensor& x) {
        return self.forward(x);
      });
  bind_activations(m);
  bind_linear(m);
  bind_conv_layer<nn::Conv1d, 1>(m, "Conv1d");
  bind_conv_layer<nn::Conv2d, 2>(m, "Conv2d");
  bind_conv_transpose_layer<nn::ConvTranspose1d, 1>(m, "ConvTranspose1d");
  bind_conv_transpose_layer<nn::ConvTranspose2d, 2>(m, "ConvTranspose2d");
  bind_norms(m);
  bind_pools(m);
  bind_recurrent(m);
}

}  // namespace neap::python
