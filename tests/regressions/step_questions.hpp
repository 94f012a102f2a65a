// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps that ask about the world outside them, for tests: such a step is
// refused at the line of its question, and the same one works without it.
#pragma once

#include <gmock/gmock.h>

#include <type_traits>

#include "neap/compile/compile_for_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {

/// Asserts that a step which takes one of two turns by `ask` throws a
/// TraceError with these words. `ask` is given the argument and a result, or
/// nothing. `line` is a part of the question's place.
template <class Ask>
void expect_question_refused(const Ask& ask, const char* words,
                             const char* line = "ask",
                             const Tensor& argument = full({2}, 1.0)) {
  using ::testing::AllOf;
  using ::testing::HasSubstr;
  const auto answer = [&](const Tensor& x, const Tensor& y) {
    if constexpr (std::is_invocable_v<const Ask&, const Tensor&,
                                      const Tensor&>) {
      return ask(x, y);
    } else {
      return ask();
    }
  };
  bool does_ask = true;
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor y = x * 1.0;
    return does_ask && answer(x, y) ? y * 2.0 : y * 3.0;
  });
  EXPECT_THAT([&] { step(argument); },
              ::testing::ThrowsMessage<TraceError>(
                  AllOf(HasSubstr(words), HasSubstr("ask"), HasSubstr(line))));
  EXPECT_EQ(step.programs(), 0);
  does_ask = false;
  EXPECT_THAT(floats(step(argument)), ::testing::Each(3.0F));
}

}  // namespace neap::compiler
