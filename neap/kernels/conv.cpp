// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/conv.hpp"

namespace neap::kernels {
namespace {

template <class T, ConvMakes kMakes>
void reference(const Args& args) noexcept {
  conv_reference<T>(conv_of(args, kMakes), kMakes);
}

constexpr std::array kConv{
    Kernel{.name = "conv2d.reference.f32",
           .dtype = f32,
           .run = reference<float, ConvMakes::kY>},
    Kernel{.name = "conv2d.reference.f64",
           .dtype = f64,
           .run = reference<double, ConvMakes::kY>},
};

constexpr std::array kConvTranspose{
    Kernel{.name = "conv_transpose2d.reference.f32",
           .dtype = f32,
           .run = reference<float, ConvMakes::kX>},
    Kernel{.name = "conv_transpose2d.reference.f64",
           .dtype = f64,
           .run = reference<double, ConvMakes::kX>},
};

constexpr std::array kConvWeight{
    Kernel{.name = "conv2d_weight.reference.f32",
           .dtype = f32,
           .run = reference<float, ConvMakes::kW>},
    Kernel{.name = "conv2d_weight.reference.f64",
           .dtype = f64,
           .run = reference<double, ConvMakes::kW>},
};

}  // namespace

constinit const KernelList conv2d_kernels{"conv2d", kConv};
constinit const KernelList conv_transpose2d_kernels{"conv_transpose2d",
                                                    kConvTranspose};
constinit const KernelList conv2d_weight_kernels{"conv2d_weight", kConvWeight};

}  // namespace neap::kernels
