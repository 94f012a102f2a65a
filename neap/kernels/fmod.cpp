// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/fmod.hpp"

#include <array>
#include <cmath>

#include "neap/kernels/scalar.hpp"

namespace neap::kernels {
namespace {

struct Fmod {
  template <class T>
  T operator()(T a, T b) const {
    return std::fmod(a, b);
  }
};

struct Remainder {
  template <class T>
  T operator()(T a, T b) const {
    const T rest = std::fmod(a, b);
    return rest != T(0) && (b < T(0)) != (rest < T(0)) ? rest + b : rest;
  }
};

// The exact remainder of any quotient takes the standard library's long
// division; these loops are their own reference.
constexpr std::array kFmod{
    Kernel{
        .name = "fmod.f32", .dtype = f32, .run = scalar_kernel<Fmod, float, 2>},
    Kernel{.name = "fmod.f64",
           .dtype = f64,
           .run = scalar_kernel<Fmod, double, 2>}};
constexpr std::array kRemainder{
    Kernel{.name = "remainder.f32",
           .dtype = f32,
           .run = scalar_kernel<Remainder, float, 2>},
    Kernel{.name = "remainder.f64",
           .dtype = f64,
           .run = scalar_kernel<Remainder, double, 2>}};

}  // namespace

constinit const KernelList fmod_kernels{"fmod", kFmod};
constinit const KernelList remainder_kernels{"remainder", kRemainder};

}  // namespace neap::kernels
