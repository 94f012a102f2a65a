// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/precision.hpp"

#include "neap/base/raise.hpp"
#include "neap/kernels/kernel.hpp"

namespace neap {
namespace {

Precision& current() noexcept {
  static constinit thread_local Precision precision = Precision::kF32;
  return precision;
}

}  // namespace

Precision current_precision() noexcept {
  return current();
}

UsePrecision::UsePrecision(Precision precision) : outer_(current()) {
  if (precision == Precision::kBf16) {
    const char* level = kernels::isa();  // as NEAP_ISA says, before the look
    if (!kernels::has_bf16_dot()) {
      base::raise<DeviceError>(
          "bf16: this processor has no dot products of bf16 (AVX512_BF16) at "
          "the instruction set '{}', compute in f32",
          level);
    }
  }
  current() = precision;
}

UsePrecision::~UsePrecision() {
  current() = outer_;
}

}  // namespace neap
