// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/einsum.hpp"

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/linalg/einsum_equation.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/linalg/triangle.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

// A tensor with a label, of none twice, for each axis.
struct Term {
  Tensor value;
  Labels labels;
};

using Terms = memory::Vector<Term>;

// Takes the diagonal of two axes; it becomes the last axis.
void take_diagonal(Term& term, int a, int b) {
  Shape order;
  for (int axis = 0; axis < term.labels.rank(); ++axis) {
    if (axis != a && axis != b) {
      order.push_back(axis);
    }
  }
  order.push_back(a);
  order.push_back(b);
  // Elements off the diagonal become 0, whatever they are, and are summed away.
  term.value = sum(tril(triu(permute(term.value, order))), {-1});
  const Label label = term.labels[a];
  term.labels.erase(b);
  term.labels.erase(a);
  term.labels.push_back(label);
}

void take_diagonals(Term& term) {
  for (int b = term.labels.rank() - 1; b > 0; --b) {
    const int a = term.labels.find(term.labels[b]);
    if (a < b) {
      take_diagonal(term, a, b);
      b = term.labels.rank();  // the axes have moved
    }
  }
}

// Removes the axes that broadcast: of extent 1, where the label's is another.
void drop_ones(Term& term, const EinsumEquation& equation) {
  for (int axis = term.labels.rank() - 1; axis >= 0; --axis) {
    const auto label = static_cast<std::size_t>(term.labels[axis]);
    if (term.value.shape()[axis] == 1 && equation.extents[label] != 1) {
      term.value = squeeze(term.value, axis);
      term.labels.erase(axis);
    }
  }
}

// Sums over the labels that are not in `needed`.
void sum_alone(Term& term, LabelSet needed) {
  Shape axes;
  for (int axis = term.labels.rank() - 1; axis >= 0; --axis) {
    if ((needed & bit_of(term.labels[axis])) == 0) {
      axes.push_back(axis);
    }
  }
  if (axes.rank() > 0) {
    term.value = sum(term.value, axes);
    for (const std::int64_t axis : axes) {
      term.labels.erase(static_cast<int>(axis));
    }
  }
}

// The labels of the result and of all terms but two.
LabelSet needed_beside(const Terms& terms, const Labels& output, std::size_t a,
                       std::size_t b) {
  LabelSet needed = output.set();
  for (std::size_t i = 0; i < terms.size(); ++i) {
    needed |= i == a || i == b ? 0 : terms[i].labels.set();
  }
  return needed;
}

// Some labels of a term, in its order, with their extents.
struct Group {
  Labels labels;
  Shape extents;
  std::int64_t count = 1;

  Group(const Term& term, LabelSet wanted) {
    for (int axis = 0; axis < term.labels.rank(); ++axis) {
      if ((wanted & bit_of(term.labels[axis])) != 0) {
        labels.push_back(term.labels[axis]);
        extents.push_back(term.value.shape()[axis]);
      }
    }
    count = extents.element_count();
  }
};

// The term's axes in the order of the groups, each group given a shape.
Tensor arranged(const Term& term,
                std::initializer_list<std::pair<const Group*, Shape>> groups) {
  Shape order;
  Shape shape;
  for (const auto& [group, extents] : groups) {
    for (int i = 0; group != nullptr && i < group->labels.rank(); ++i) {
      order.push_back(term.labels.find(group->labels[i]));
    }
    for (const std::int64_t extent : extents) {
      shape.push_back(extent);
    }
  }
  return reshape(permute(term.value, order), shape);
}

Shape ones(const Group& group) {
  return Shape::filled(group.labels.rank(), 1);
}

// The product of two terms, summed over what only they share.
Term contract(const Term& a, const Term& b, LabelSet needed) {
  const LabelSet both = a.labels.set() & b.labels.set();
  const Group batch(a, both & needed);
  const Group summed(a, both & ~needed);
  const Group left(a, ~both);
  const Group right(b, ~both);
  Term out;
  Shape shape;
  for (const Group* group : {&batch, &left, &right}) {
    for (int i = 0; i < group->labels.rank(); ++i) {
      out.labels.push_back(group->labels[i]);
      shape.push_back(group->extents[i]);
    }
  }
  if (summed.labels.rank() == 0) {
    out.value = mul(arranged(a, {{&batch, batch.extents},
                                 {&left, left.extents},
                                 {nullptr, ones(right)}}),
                    arranged(b, {{&batch, batch.extents},
                                 {nullptr, ones(left)},
                                 {&right, right.extents}}));
    return out;
  }
  // More batch axes than a product of matrices can have become one.
  const Shape axes =
      batch.labels.rank() + 2 > kMaxRank ? Shape{batch.count} : batch.extents;
  const Tensor product = matmul(arranged(a, {{&batch, axes},
                                             {&left, {left.count}},
                                             {&summed, {summed.count}}}),
                                arranged(b, {{&batch, axes},
                                             {&summed, {summed.count}},
                                             {&right, {right.count}}}));
  out.value = reshape(product, shape);
  return out;
}

// Multiplications of a product, as a double: it may be beyond any integer.
double cost_of(const Term& a, const Term& b, const EinsumEquation& equation) {
  const LabelSet all = a.labels.set() | b.labels.set();
  double cost = 1.0;
  for (Label label = 0; label < kLabels; ++label) {
    if ((all & bit_of(label)) != 0) {
      cost *= static_cast<double>(
          equation.extents[static_cast<std::size_t>(label)]);
    }
  }
  return cost;
}

// The cheapest pair takes the place of its first.
void contract_cheapest(Terms& terms, const EinsumEquation& equation) {
  std::size_t best_a = 0;
  std::size_t best_b = 1;
  double best = cost_of(terms[0], terms[1], equation);
  for (std::size_t a = 0; a < terms.size(); ++a) {
    for (std::size_t b = a + 1; b < terms.size(); ++b) {
      const double cost = cost_of(terms[a], terms[b], equation);
      if (cost < best) {
        best = cost;
        best_a = a;
        best_b = b;
      }
    }
  }
  terms[best_a] =
      contract(terms[best_a], terms[best_b],
               needed_beside(terms, equation.output, best_a, best_b));
  terms.erase(terms.begin() + static_cast<std::ptrdiff_t>(best_b));
}

Tensor evaluate(Terms& terms, const EinsumEquation& equation) {
  for (Term& term : terms) {
    take_diagonals(term);
    drop_ones(term, equation);
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    sum_alone(terms[i], needed_beside(terms, equation.output, i, i));
  }
  while (terms.size() > 1) {
    contract_cheapest(terms, equation);
  }
  Shape order;
  for (int axis = 0; axis < equation.output.rank(); ++axis) {
    order.push_back(terms[0].labels.find(equation.output[axis]));
  }
  return permute(terms[0].value, order);
}

}  // namespace
}  // namespace ops

Tensor einsum(std::string_view equation, std::span<const Tensor> operands,
              CallSite site) {
  if (operands.empty()) {
    base::raise<ValueError>("einsum: no operands, expected one or more");
  }
  const ops::AtSite here(Operand(operands[0], site));
  memory::Vector<Shape> shapes;
  for (const Tensor& operand : operands) {
    ops::check_computes("einsum", operand.dtype());
    ops::check_dtype("einsum", operand.dtype(), operands[0].dtype());
    shapes.push_back(operand.shape());
  }
  const ops::EinsumEquation read = ops::read_equation(equation, shapes);
  ops::Terms terms;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    terms.push_back({operands[i], read.terms[i]});
  }
  return ops::evaluate(terms, read);
}

Tensor einsum(std::string_view equation,
              std::initializer_list<Operand> operands) {
  memory::Vector<Tensor> tensors;
  for (const Operand& operand : operands) {
    tensors.push_back(ops::tensor_of("einsum", operand));
  }
  return einsum(
      equation, tensors,
      operands.size() == 0 ? CallSite::here() : operands.begin()->site());
}

}  // namespace neap
