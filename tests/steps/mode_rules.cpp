// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rules about modes: what the step sets, what it asks, what is set around it.
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/execution.hpp"
#include "scene.hpp"

namespace neap::steps {
namespace {

const Tensor& leaf_of(Scene& scene, const Action& action, std::size_t i) {
  const auto& leaves = scene.world().leaves;
  return leaves[static_cast<std::size_t>(scene.number(action, i)) %
                leaves.size()];
}

// Undoes a setting at the end of a block of the step, however it ends.
template <class Undo>
class Undone {
 public:
  explicit Undone(Undo undo) : undo_(std::move(undo)) {}
  ~Undone() { undo_(); }
  Undone(const Undone&) = delete;
  Undone& operator=(const Undone&) = delete;

 private:
  Undo undo_;
};

constexpr Rule kModes[] = {
    {"net", "r rahsv", Theme::kModes, 5, 0,
     [](Scene& s, const Action& a) {
       const Tensor value = s.get(a, 1);
       const Tensor rows =
           value.rank() == 2 && value.size(1) != kWidth ? mean(value) : value;
       const Tensor matrix = as_matrix(rows);
       s.put(a, 0,
             s.world().net(matrix.size(0) == 1 ? expand(matrix, {kRows, kWidth})
                                               : matrix));
     }},
    {"train", "#2", Theme::kModes, 1, 5,
     [](Scene& s, const Action& a) {
       s.world().net.train(s.number(a, 0) != 0);
     }},
    {"freeze", "", Theme::kModes, 1, 3,
     [](Scene& s, const Action& /*a*/) { s.world().net.freeze(); }},
    {"unfreeze", "", Theme::kModes, 1, 3,
     [](Scene& s, const Action& /*a*/) { s.world().net.unfreeze(); }},
    {"requires_grad", "l #2", Theme::kModes, 1, 4,
     [](Scene& s, const Action& a) {
       requires_grad_(leaf_of(s, a, 0), s.number(a, 1) != 0);
     }},
    {"track", "hs #2", Theme::kModes, 0, 2,
     [](Scene& s, const Action& a) {
       const Tensor tensor = s.get(a, 0);
       if (tensor.is_leaf()) {
         requires_grad_(tensor, s.number(a, 1) != 0);
       }
     }},
    {"track_result", "o #2", Theme::kModes, 0, 2,
     [](Scene& s, const Action& a) {
       requires_grad_(s.get(a, 0), s.number(a, 1) != 0);
     }},
    {"grad_off", "", Theme::kModes, 0, 1,
     [](Scene& s, const Action& /*a*/) { s.world().is_no_grad = true; }},
    {"grad_on", "", Theme::kModes, 0, 2,
     [](Scene& s, const Action& /*a*/) { s.world().is_no_grad = false; }},
    {"in_eval", "#4", Theme::kModes, 3, 0, nullptr,
     [](Scene& s, const Action& /*a*/, const Body& body) {
       const Undone undone([&] { s.world().net.train(); });
       s.world().net.eval();
       body();
     }},
    {"frozen", "#4", Theme::kModes, 3, 0, nullptr,
     [](Scene& s, const Action& /*a*/, const Body& body) {
       const Undone undone([&] { s.world().net.unfreeze(); });
       s.world().net.freeze();
       body();
     }},
    {"leaf_frozen", "#4 l", Theme::kModes, 2, 0, nullptr,
     [](Scene& s, const Action& a, const Body& body) {
       const Tensor leaf = leaf_of(s, a, 1);
       const Undone undone([&] { requires_grad_(leaf, true); });
       requires_grad_(leaf, false);
       body();
     }},
    {"no_grad", "#4", Theme::kModes, 2, 0, nullptr,
     [](Scene& /*s*/, const Action& /*a*/, const Body& body) {
       const NoGrad guard;
       body();
     }},
    {"with_grad", "#4", Theme::kModes, 1, 0, nullptr,
     [](Scene& /*s*/, const Action& /*a*/, const Body& body) {
       const EnableGrad guard;
       body();
     }},
};

constexpr Rule kQuestions[] = {
    {"if_requires_grad", "r rahsv l", Theme::kQuestions, 4, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, leaf_of(s, a, 2).requires_grad());
     }},
    {"if_has_grad", "r rahsv l", Theme::kQuestions, 3, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, leaf_of(s, a, 2).grad().defined());
     }},
    {"if_tracked", "r rahsv h", Theme::kQuestions, 2, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, s.get(a, 2).requires_grad());
     }},
    {"if_leaf", "r rahsv h", Theme::kQuestions, 2, 0,
     [](Scene& s, const Action& a) { take_turn(s, a, s.get(a, 2).is_leaf()); }},
    {"if_training", "r rahsv", Theme::kQuestions, 3, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, s.world().net.is_training());
     }},
    {"if_contiguous", "r rahsv rahv", Theme::kQuestions, 3, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, s.get(a, 2).is_contiguous());
     }},
    {"if_same", "r a hs", Theme::kQuestions, 2, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, s.get(a, 1).is_alias_of(s.get(a, 2)));
     }},
    {"if_bf16", "r rahsv", Theme::kQuestions, 2, 0,
     [](Scene& s, const Action& a) {
       take_turn(s, a, current_precision() == Precision::kBf16);
     }},
    {"if_grad_mode", "r rahsv", Theme::kQuestions, 2, 0,
     [](Scene& s, const Action& a) { take_turn(s, a, is_grad_enabled()); }},
    {"if_rows", "r rahsv rahsv", Theme::kQuestions, 3, 0,
     [](Scene& s, const Action& a) {
       const Tensor asked = s.get(a, 2);
       take_turn(s, a, asked.rank() > 0 && asked.size(0) == kRows);
     }},
};

constexpr Rule kPrecision[] = {
    {"bf16", "#4", Theme::kPrecision, 3, 0, nullptr,
     [](Scene& /*s*/, const Action& /*a*/, const Body& body) {
       const UsePrecision guard(Precision::kBf16);
       body();
     }},
    {"f32", "#4", Theme::kPrecision, 1, 0, nullptr,
     [](Scene& /*s*/, const Action& /*a*/, const Body& body) {
       const UsePrecision guard(Precision::kF32);
       body();
     }},
    {"product", "r rahsv", Theme::kPrecision, 5, 0,
     [](Scene& s, const Action& a) {
       const Tensor value = s.get(a, 1);
       const Tensor rows =
           value.rank() == 2 && value.size(1) != kWidth ? mean(value) : value;
       s.put(a, 0, matmul(as_matrix(rows), s.world().leaves[0]));
     }},
    {"precision", "#2", Theme::kPrecision, 0, 8,
     [](Scene& s, const Action& a) {
       s.world().is_bf16 = s.number(a, 0) != 0 && kernels::has_bf16_dot();
     }},
};

std::vector<Rule> joined() {
  std::vector<Rule> all(std::begin(kModes), std::end(kModes));
  all.insert(all.end(), std::begin(kQuestions), std::end(kQuestions));
  all.insert(all.end(), std::begin(kPrecision), std::end(kPrecision));
  return all;
}

}  // namespace

std::span<const Rule> mode_rules() {
  static const std::vector<Rule> all = joined();
  return all;
}

}  // namespace neap::steps
