// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/tile.hpp"

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

const InputSpec kFour = literal({2, 2}, {1, 2, 3, 4});

OpTable repeat_table() {
  return {
      .name = "repeat",
      .rows = {{.name = "plain",
                .fn =
                    [](Inputs x) {
                      return repeat(x[0], {2, 3});
                    },
                .inputs = {kFour},
                .expected = {1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4,
                             1, 2, 1, 2, 1, 2, 3, 4, 3, 4, 3, 4},
                .shape = Shape{4, 6}},
               {.name = "a new axis",
                .fn =
                    [](Inputs x) {
                      return repeat(x[0], {2, 1, 1});
                    },
                .inputs = {kFour},
                .expected = {1, 2, 3, 4, 1, 2, 3, 4},
                .shape = Shape{2, 2, 2}},
               {.name = "many axes",
                .fn =
                    [](Inputs x) {
                      return repeat(x[0], {1, 1, 1, 1, 2, 2, 1, 2});
                    },
                .inputs = {literal({1, 2}, {1, 2})},
                .expected = {1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2}},
               {.name = "never",
                .fn = [](Inputs x) { return repeat(x[0], {0}); },
                .inputs = {literal({2}, {1, 2})},
                .reference =
                    [](std::span<const HostArray>) {
                      return std::vector<double>();
                    },
                .shape = Shape{0},
                .zero_size = {{{0}}}}},
      .errors = {{.name = "fewer",
                  .fn = [](Inputs x) { return repeat(x[0], {2}); },
                  .inputs = {kFour},
                  .error = typeid(ShapeError)},
                 {.name = "negative",
                  .fn =
                      [](Inputs x) {
                        return repeat(x[0], {2, -1});
                      },
                  .inputs = {kFour},
                  .error = typeid(ShapeError)}}};
}

const Listed kRepeatListed(repeat_table);

OpTable tile_table() {
  return {.name = "tile",
          .rows = {{.name = "fewer",
                    .fn = [](Inputs x) { return tile(x[0], {2}); },
                    .inputs = {kFour},
                    .expected = {1, 2, 1, 2, 3, 4, 3, 4},
                    .shape = Shape{2, 4}}},
          .errors = {{.name = "negative",
                      .fn = [](Inputs x) { return tile(x[0], {-1}); },
                      .inputs = {kFour},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "repeat has them"};
}

const Listed kTileListed(tile_table);

OpTable repeat_interleave_table() {
  const auto along = [](std::int64_t axis) {
    return [axis](Inputs x) { return repeat_interleave(x[0], 2, axis); };
  };
  return {.name = "repeat_interleave",
          .rows = {{.name = "rows",
                    .fn = along(0),
                    .inputs = {kFour},
                    .expected = {1, 2, 1, 2, 3, 4, 3, 4},
                    .shape = Shape{4, 2}},
                   {.name = "columns",
                    .fn = along(-1),
                    .inputs = {kFour},
                    .expected = {1, 1, 2, 2, 3, 3, 4, 4},
                    .shape = Shape{2, 4}}},
          .errors = {{.name = "axis",
                      .fn = along(2),
                      .inputs = {kFour},
                      .error = typeid(ShapeError)}},
          .no_zero_size = "repeat has them"};
}

const Listed kInterleaveListed(repeat_interleave_table);

}  // namespace
}  // namespace neap::testing
