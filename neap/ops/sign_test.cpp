// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sign.hpp"

#include "neap/testing/elementwise.hpp"

namespace neap::testing {
namespace {

OpTable sign_table() {
  OpTable table =
      unary_table({.name = "sign",
                   .op = &ops::kSign,
                   .fn = sign,
                   .reference =
                       [](double x) {
                         return (x > 0.0 ? 1.0 : 0.0) - (x < 0.0 ? 1.0 : 0.0);
                       },
                   .domain = away_from({}, {0.0}),
                   .takes_integers = true});
  table.rows.push_back(kink_row([](Inputs x) { return sign(x[0]); },
                                {literal({3}, {-3, 0, 2})}, {-1, 0, 1},
                                {{0, 0, 0}}, {0, 0, 0}));
  return table;
}

const Listed kListed(sign_table);

}  // namespace
}  // namespace neap::testing
