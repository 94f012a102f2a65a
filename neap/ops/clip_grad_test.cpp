// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/clip_grad.hpp"

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

OpTable clip_grad_table() {
  const OpFunction fn = [](Inputs x) {
    return clip_grad(x[0], x[1], {.low = -0.5, .high = 0.75});
  };
  OpRow plain{.name = "plain",
              .fn = fn,
              .inputs = {uniform({3, 5}, -1, 1),
                         away_from({3, 5}, {-0.5, 0.75}).constant()},
              .reference = each_pair([](double g, double x) {
                return x >= -0.5 && x <= 0.75 ? g : 0.0;
              }),
              .zero_size = {{{0, 4}, {0, 4}}}};
  return {
      .name = "clip_grad",
      .op = &ops::kClipGrad,
      .rows = {plain, kink_row(fn,
                               {literal({3}, {1, 2, 3}),
                                literal({3}, {-0.5, 0.75, 0.8})},
                               {0, 0, 0}, {{0, 0, 0}, {0, 0, 0}}, {0, 0, 0})},
      .errors = {{.name = "shapes",
                  .fn = fn,
                  .inputs = {uniform({3}, -1, 1), uniform({4}, -1, 1)},
                  .error = typeid(ShapeError)}}};
}

const Listed kListed(clip_grad_table);

}  // namespace
}  // namespace neap::testing
