// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/draw.hpp"

#include "neap/tensor/create.hpp"
#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

constexpr base::DrawKey kKey{41, 6};

Tensor draw_as(const Tensor& like, ops::Draw draw, const Shape& shape) {
  return ops::drawn(draw, {like.dtype(), shape, like.space()}, -5, 90, kKey,
                    CallSite::here());
}

// The numbers that creation draws with the same key.
std::vector<double> created(DType dtype, ops::Draw draw, const Shape& shape) {
  Generator generator;
  generator.set_state(kKey);
  const UseGenerator guard(generator);
  const Tensor t = draw == ops::Draw::kUniform  ? neap::rand(shape, dtype)
                   : draw == ops::Draw::kNormal ? randn(shape, dtype)
                   : draw == ops::Draw::kPermutation
                       ? randperm(shape[0], dtype)
                       : randint(-5, 90, shape, dtype);
  const auto values = t.to_vector();
  return {values.begin(), values.end()};
}

OpRow row_of(const char* name, ops::Draw draw, DType dtype,
             const Shape& shape) {
  return {.name = name,
          .fn = [=](Inputs x) { return draw_as(x[0], draw, shape); },
          .inputs = {uniform({1}, -1, 1)},
          .expected = created(dtype, draw, shape),
          .shape = shape,
          .dtypes = {dtype},
          .differentiable = false};
}

OpTable draw_table() {
  using enum ops::Draw;
  return {
      .name = "draw",
      .op = &ops::kDraw,
      .rows = {row_of("uniform", kUniform, f32, {3, 701}),
               row_of("uniform f64", kUniform, f64, {3, 701}),
               row_of("normal", kNormal, f32, {1201}),
               row_of("normal f64", kNormal, f64, {1201}),
               row_of("integers", kInteger, i64, {2, 3, 700}),
               row_of("integers i32", kInteger, i32, {9}),
               row_of("permutation", kPermutation, i64, {2000}),
               row_of("permutation i32", kPermutation, i32, {1})},
      .errors = {{.name = "integers of f32",
                  .fn = [](Inputs x) { return draw_as(x[0], kInteger, {2}); },
                  .inputs = {uniform({1}, -1, 1)},
                  .error = typeid(DTypeError)},
                 {.name = "a permutation of two axes",
                  .fn =
                      [](Inputs) {
                        return ops::drawn(kPermutation,
                                          {i64, {2, 3}, memory::kHost}, 0, 1,
                                          kKey, CallSite::here());
                      },
                  .inputs = {uniform({1}, -1, 1)},
                  .error = typeid(ShapeError)}},
      .no_zero_size = "it has no operands"};
}

const Listed kListed(draw_table);

}  // namespace
}  // namespace neap::testing
