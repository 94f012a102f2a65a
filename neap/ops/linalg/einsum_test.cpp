// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/einsum.hpp"

#include <map>
#include <string>

#include "neap/testing/op_table.hpp"

namespace neap::testing {
namespace {

// The definition: the result's labels outside, all others inside, one product
// for every choice of them. Labels are letters, and digits for axes of "...".
class Definition {
 public:
  Definition(std::vector<std::string> terms, std::string output)
      : terms_(std::move(terms)), output_(std::move(output)) {}

  std::vector<double> operator()(std::span<const HostArray> x) {
    extents_.clear();
    std::string all = output_;
    for (std::size_t i = 0; i < x.size(); ++i) {
      for (std::size_t axis = 0; axis < terms_[i].size(); ++axis) {
        const char label = terms_[i][axis];
        const std::int64_t extent = x[i].shape[static_cast<int>(axis)];
        if (!extents_.contains(label) || extents_[label] == 1) {
          extents_[label] = extent;
        }
        if (all.find(label) == std::string::npos) {
          all += label;
        }
      }
    }
    out_.clear();
    walk(x, all, 0);
    return out_;
  }

 private:
  void walk(std::span<const HostArray> x, const std::string& all,
            std::size_t depth) {
    if (depth == output_.size()) {
      out_.push_back(0.0);
    }
    if (depth == all.size()) {
      double product = 1.0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        product *= x[i].values[offset(x[i].shape, terms_[i])];
      }
      out_.back() += product;
      return;
    }
    for (std::int64_t at = 0; at < extents_[all[depth]]; ++at) {
      index_[all[depth]] = at;
      walk(x, all, depth + 1);
    }
  }

  std::size_t offset(const Shape& shape, const std::string& term) {
    std::int64_t at = 0;
    for (int axis = 0; axis < shape.rank(); ++axis) {
      const char label = term[static_cast<std::size_t>(axis)];
      at = at * shape[axis] + (shape[axis] == 1 ? 0 : index_[label]);
    }
    return static_cast<std::size_t>(at);
  }

  std::vector<std::string> terms_;
  std::string output_;
  std::map<char, std::int64_t> extents_;
  std::map<char, std::int64_t> index_;
  std::vector<double> out_;
};

OpRow row_of(const char* equation, const std::vector<Shape>& shapes,
             std::vector<std::string> terms, std::string output) {
  std::vector<InputSpec> inputs;
  for (const Shape& shape : shapes) {
    inputs.push_back(uniform(shape, -1, 1));
  }
  return {.name = equation,
          .fn = [equation](Inputs x) { return einsum(equation, x); },
          .inputs = inputs,
          .reference = Definition(std::move(terms), std::move(output))};
}

std::vector<OpRow> rows() {
  std::vector<OpRow> all = {
      row_of("ij,jk->ik", {{3, 4}, {4, 2}}, {"ij", "jk"}, "ik"),
      row_of("ij,jk", {{3, 4}, {4, 2}}, {"ij", "jk"}, "ik"),
      row_of(" b i j , b k j -> b k i ", {{2, 3, 4}, {2, 5, 4}}, {"bij", "bkj"},
             "bki"),
      row_of("bihd,bjhd->bhij", {{2, 3, 2, 4}, {2, 5, 2, 4}}, {"bihd", "bjhd"},
             "bhij"),
      row_of("ijkl,kmlj->mi", {{2, 3, 2, 3}, {2, 4, 3, 3}}, {"ijkl", "kmlj"},
             "mi"),
      row_of("i,j->ji", {{3}, {2}}, {"i", "j"}, "ji"),
      row_of("i,i->", {{4}, {4}}, {"i", "i"}, ""),
      row_of("bi,bi->bi", {{2, 3}, {2, 3}}, {"bi", "bi"}, "bi"),
      row_of("ij->", {{3, 4}}, {"ij"}, ""),
      row_of("ba", {{3, 4}}, {"ba"}, "ab"),
      row_of("zA", {{3, 4}}, {"zA"}, "Az"),
      row_of("ii->i", {{4, 4}}, {"ii"}, "i"),
      row_of("ii", {{4, 4}}, {"ii"}, ""),
      row_of("ijii->ji", {{3, 2, 3, 3}}, {"ijii"}, "ji"),
      row_of("iji,jj->i", {{3, 2, 3}, {2, 2}}, {"iji", "jj"}, "i"),
      row_of("...ij,...jk->...ik", {{2, 1, 3, 4}, {5, 4, 2}}, {"01ij", "1jk"},
             "01ik"),
      row_of("i...,...->i...", {{2, 3, 4}, {4}}, {"i01", "1"}, "i01"),
      row_of("...i", {{2, 3, 4}}, {"01i"}, "01i"),
      row_of("i...->i", {{2, 3, 4}}, {"i01"}, "i"),
      row_of("ij,jk->ik, with an extent of one", {{3, 1}, {4, 2}}, {"ij", "jk"},
             "ik"),
      row_of("a,ab,bc,cd,d->", {{3}, {3, 2}, {2, 4}, {4, 3}, {3}},
             {"a", "ab", "bc", "cd", "d"}, ""),
      row_of("i,i,ij->j", {{3}, {3}, {3, 4}}, {"i", "i", "ij"}, "j"),
  };
  for (OpRow& row : all) {
    if (row.name.ends_with("one")) {
      row.fn = [](Inputs x) { return einsum("ij,jk->ik", {x[0], x[1]}); };
    }
  }
  all[0].zero_size = {{{0, 4}, {4, 2}}, {{3, 0}, {0, 2}}};
  all[7].zero_size = {{{2, 0}, {2, 0}}};
  all[11].zero_size = {{{0, 0}}};
  return all;
}

ErrorRow wrong(const char* equation, std::type_index error, const char* says) {
  return ErrorRow{.name = equation,
                  .fn = [equation](Inputs x) { return einsum(equation, x); },
                  .inputs = {uniform({2, 3}, 0, 1), uniform({3, 4}, 0, 1)},
                  .error = error,
                  .says = says};
}

std::vector<ErrorRow> errors() {
  return {wrong("ij->ij", typeid(ValueError), "names 1 operands, 2 are given"),
          wrong("ij,jk->im", typeid(ValueError), "'m' of the result"),
          wrong("ij,jk->iik", typeid(ValueError), "'i' is twice in the result"),
          wrong("ij,j1->i", typeid(ShapeError), "operand 1 is [3, 4]"),
          wrong("ij,jk1->i", typeid(ValueError), "'1' in a term"),
          wrong("ij,...jk...->i", typeid(ValueError), "at most one '...'"),
          wrong("ij,jk->i->k", typeid(ValueError), "'-' in a term"),
          wrong("ij,ik->jk", typeid(ShapeError), "'i' is 3 in operand 1"),
          wrong("ii,jk->jk", typeid(ShapeError), "'i' is 3 in operand 0"),
          wrong("ijk,jk->i", typeid(ShapeError), "operand 0 is [2, 3]"),
          {.name = "dtypes",
           .fn =
               [](Inputs x) {
                 return einsum("i,i", {x[0], x[1]});
               },
           .inputs = {uniform({3}, 0, 1), uniform({3}, 0, 1).as(f64)},
           .error = typeid(DTypeError)},
          {.name = "nothing",
           .fn = [](Inputs) { return einsum("", std::span<const Tensor>()); },
           .error = typeid(ValueError)},
          {.name = "too many axes",
           .fn =
               [](Inputs x) {
                 return einsum("abcde,fghij", {x[0], x[0]});
               },
           .inputs = {uniform({1, 1, 1, 1, 1}, 0, 1)},
           .error = typeid(ShapeError),
           .says = "more than 8 axes"}};
}

OpTable einsum_table() {
  return {.name = "einsum", .rows = rows(), .errors = errors()};
}

const Listed kListed(einsum_table);

}  // namespace
}  // namespace neap::testing
