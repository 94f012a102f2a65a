// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sequence/attention.hpp"

#include "neap/ops/sequence/attention_test.hpp"

namespace neap::testing {
namespace {

AttentionOptions options_of(const AttentionCase& of, const Tensor& mask) {
  return {.mask = mask,
          .is_causal = of.is_causal,
          .dropout = of.dropout,
          .scale = of.scale,
          .enable_gqa = true};
}

OpRow row(const char* name, const AttentionCase& of, const Shape& q,
          const Shape& k, const Shape& v) {
  return {.name = name,
          .fn =
              [of](Inputs x) {
                return scaled_dot_product_attention(
                    x[0], x[1], x[2],
                    options_of(of, of.is_masked ? x[3] : Tensor()));
              },
          .inputs = {uniform(q, -1, 1), uniform(k, -1, 1), uniform(v, -1, 1)},
          .reference =
              [of](std::span<const HostArray> x) {
                return PlainAttention(of, x[0], x[1],
                                      of.is_masked ? &x[3] : nullptr)
                    .result(x[2]);
              }};
}

OpRow masked_row(const char* name, AttentionCase of, const Shape& q,
                 const Shape& k, const InputSpec& mask) {
  of.is_masked = true;
  OpRow masked = row(name, of, q, k, k);
  masked.inputs.push_back(of.is_bool ? mask.as(boolean) : mask);
  return masked;
}

std::vector<OpRow> plain_rows() {
  std::vector<OpRow> rows = {
      row("plain", {}, {2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}),
      row("causal", {.is_causal = true}, {2, 4, 3}, {2, 4, 3}, {2, 4, 3}),
      row("more rows than keys", {.is_causal = true}, {4, 2}, {2, 2}, {2, 3}),
      row("scaled", {.scale = -1.5}, {3, 2}, {4, 2}, {4, 2}),
      row("shared heads", {.is_causal = true}, {1, 4, 3, 2}, {1, 2, 3, 2},
          {1, 2, 3, 2}),
      row("shared heads without a batch", {.is_causal = true}, {4, 3, 2},
          {2, 3, 2}, {2, 3, 2}),
      row("many leading axes", {}, {2, 1, 2, 2, 3}, {2, 1, 2, 3, 3},
          {2, 1, 2, 3, 2}),
      row("blocks", {.is_causal = true}, {2, 130, 9}, {2, 140, 9},
          {2, 140, 5})};
  rows[0].zero_size = {{{0, 2, 3, 4}, {0, 2, 5, 4}, {0, 2, 5, 3}},
                       {{2, 2, 0, 4}, {2, 2, 5, 4}, {2, 2, 5, 3}},
                       {{2, 2, 3, 4}, {2, 2, 0, 4}, {2, 2, 0, 3}},
                       {{2, 2, 3, 0}, {2, 2, 5, 0}, {2, 2, 5, 3}},
                       {{2, 2, 3, 4}, {2, 2, 5, 4}, {2, 2, 5, 0}}};
  rows.back().second_derivative = false;
  return rows;
}

std::vector<OpRow> masked_rows() {
  return {
      masked_row("bool mask", {.is_bool = true}, {2, 3, 2}, {2, 4, 2},
                 integers({2, 3, 4}, 0, 2)),
      masked_row("bool mask of all heads", {.is_bool = true}, {1, 2, 3, 2},
                 {1, 2, 4, 2}, integers({3, 4}, 0, 2)),
      masked_row("a row that sees nothing", {.is_bool = true}, {2, 2}, {3, 2},
                 literal({2, 3}, {0, 0, 0, 1, 0, 1})),
      masked_row("causal under a mask", {.is_causal = true, .is_bool = true},
                 {3, 2}, {3, 2}, literal({3, 3}, {0, 1, 1, 1, 1, 0, 1, 0, 1})),
      masked_row("added mask", {}, {2, 3, 2}, {2, 4, 2},
                 uniform({3, 4}, -2, 2)),
      masked_row("added mask of each head", {}, {1, 2, 3, 2}, {1, 2, 4, 2},
                 uniform({1, 2, 3, 4}, -2, 2))};
}

std::vector<ErrorRow> errors() {
  const char* const says = "scaled_dot_product_attention:";
  const auto plain = [](Inputs x) {
    return scaled_dot_product_attention(x[0], x[1], x[2]);
  };
  const auto with_mask = [](Inputs x) {
    return scaled_dot_product_attention(x[0], x[0], x[0], {.mask = x[1]});
  };
  const InputSpec x = uniform({2, 3, 4}, 0, 1);
  return {{.name = "rank",
           .fn = plain,
           .inputs = {uniform({3}, 0, 1), x, x},
           .error = typeid(ShapeError),
           .says = says},
          {.name = "widths",
           .fn = plain,
           .inputs = {uniform({2, 3, 5}, 0, 1), x, x},
           .error = typeid(ShapeError),
           .says = says},
          {.name = "lengths of k and v",
           .fn = plain,
           .inputs = {x, x, uniform({2, 2, 4}, 0, 1)},
           .error = typeid(ShapeError),
           .says = says},
          {.name = "heads",
           .fn = plain,
           .inputs = {uniform({4, 3, 4}, 0, 1), x, x},
           .error = typeid(ShapeError),
           .says = says},
          {.name = "shape of the mask",
           .fn = with_mask,
           .inputs = {x, uniform({2, 2}, 0, 1)},
           .error = typeid(ShapeError),
           .says = says},
          {.name = "dtype of the mask",
           .fn = with_mask,
           .inputs = {x, uniform({3, 3}, 0, 1).as(f64)},
           .error = typeid(DTypeError),
           .says = says},
          {.name = "dropout of all",
           .fn =
               [](Inputs in) {
                 return scaled_dot_product_attention(in[0], in[0], in[0],
                                                     {.dropout = 1.0});
               },
           .inputs = {x},
           .error = typeid(ValueError),
           .says = says},
          {.name = "integers",
           .fn = plain,
           .inputs = {integers({2, 3}, 0, 5).as(i64),
                      integers({2, 3}, 0, 5).as(i64),
                      integers({2, 3}, 0, 5).as(i64)},
           .error = typeid(DTypeError),
           .says = says}};
}

OpTable table() {
  OpTable table{.name = "attention", .op = &ops::kAttention};
  table.rows = plain_rows();
  for (OpRow& row : masked_rows()) {
    table.rows.push_back(std::move(row));
  }
  table.errors = errors();
  return table;
}

const Listed kListed(table);

OpTable dropout_table() {
  OpTable table{.name = "attention_dropout", .op = &ops::kAttentionDropout};
  table.rows = {
      row("plain", {.dropout = 0.4}, {3, 2, 3, 2}, {3, 2, 4, 2}, {3, 2, 4, 3}),
      row("causal", {.is_causal = true, .dropout = 0.3}, {5, 2}, {5, 2},
          {5, 2}),
      masked_row("added mask", {.dropout = 0.3}, {3, 2}, {4, 2},
                 uniform({3, 4}, -2, 2))};
  table.rows[0].zero_size = {{{0, 2, 3, 2}, {0, 2, 4, 2}, {0, 2, 4, 3}}};
  return table;
}

const Listed kDropoutListed(dropout_table);

}  // namespace
}  // namespace neap::testing
