// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by tests of traces: a step is run eagerly and as a program, and both
// must leave the same bits.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "neap/compile/trace.hpp"
#include "neap/program/interpret.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {

using Many = memory::Vector<Tensor>;
using In = std::span<const Tensor>;

/// The bytes of a tensor's elements in row-major order.
inline std::vector<std::byte> bits_of(const Tensor& t) {
  std::vector<std::byte> bits;
  const tensor::Strided view = t.array()->strided();
  const auto width = static_cast<std::int64_t>(size_of(t.dtype()));
  tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t at) {
    const std::byte* element = view.data + at * width;
    bits.insert(bits.end(), element, element + width);
  });
  return bits;
}

inline std::vector<tensor::Spec> specs_of(In tensors) {
  std::vector<tensor::Spec> specs;
  for (const Tensor& t : tensors) {
    specs.push_back(t.spec());
  }
  return specs;
}

inline Many run_eagerly(Step step, In arguments) {
  Many results;
  step(arguments, results);
  return results;
}

inline void expect_same(In a, In b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].spec(), b[i].spec()) << "result " << i;
    EXPECT_EQ(bits_of(a[i]), bits_of(b[i])) << "result " << i;
  }
}

/// Traces a step that keeps no state and expects eager's bits, draws included.
inline Program expect_traced(Step step, const Many& arguments) {
  Generator generator(11);
  const UseGenerator guard(generator);
  Program program = trace(step, specs_of(arguments));
  EXPECT_EQ(generator.state().draw, 0U);
  for (int run = 0; run < 2; ++run) {
    const base::DrawKey before = generator.state();
    const Many traced = interpret(program, arguments);
    const base::DrawKey after = generator.state();
    generator.set_state(before);
    expect_same(run_eagerly(step, arguments), traced);
    EXPECT_EQ(generator.state().draw, after.draw);
  }
  return program;
}

}  // namespace neap::compiler
