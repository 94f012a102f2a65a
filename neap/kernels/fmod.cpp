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
constexpr std::array kFmod{scalar_entry<Fmod, float, 2>("fmod.f32"),
                           scalar_entry<Fmod, double, 2>("fmod.f64")};
constexpr std::array kRemainder{
    scalar_entry<Remainder, float, 2>("remainder.f32"),
    scalar_entry<Remainder, double, 2>("remainder.f64")};

}  // namespace

constinit const KernelList fmod_kernels{"fmod", kFmod};
constinit const KernelList remainder_kernels{"remainder", kRemainder};

}  // namespace neap::kernels
