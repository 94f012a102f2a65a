// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/linalg/einsum_equation.hpp"

#include <algorithm>
#include <string>

#include "neap/base/raise.hpp"

namespace neap::ops {
namespace {

using base::raise;

constexpr std::string_view kEllipsis = "...";
constexpr std::string_view kArrow = "->";

bool is_letter(char c) noexcept {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

Label label_of(char c) noexcept {
  return c <= 'Z' ? c - 'A' : c - 'a' + kLetters / 2;
}

std::string name_of(Label label) {
  if (label >= kLetters) {
    return "...";
  }
  constexpr Label kHalf = kLetters / 2;
  return {
      static_cast<char>(label < kHalf ? 'A' + label : 'a' + (label - kHalf))};
}

// A term: letters, spaces, and at most one "...", which stands for `ellipsis`
// axes.
Labels read_term(std::string_view term, int ellipsis) {
  Labels labels;
  bool has_ellipsis = false;
  while (!term.empty()) {
    if (is_letter(term[0])) {
      labels.push_back(label_of(term[0]));
      term.remove_prefix(1);
    } else if (term[0] == ' ') {
      term.remove_prefix(1);
    } else if (term.starts_with(kEllipsis) && !has_ellipsis) {
      has_ellipsis = true;
      for (int axis = ellipsis; axis > 0; --axis) {
        labels.push_back(kLetters + axis - 1);
      }
      term.remove_prefix(kEllipsis.size());
    } else {
      raise<ValueError>(
          "einsum: '{}' in a term, expected letters and at most one '...'",
          term[0]);
    }
  }
  return labels;
}

int letters_in(std::string_view term) noexcept {
  return static_cast<int>(std::count_if(term.begin(), term.end(), is_letter));
}

bool has_ellipsis(std::string_view term) noexcept {
  return term.find(kEllipsis) != std::string_view::npos;
}

// The labels of one operand's axes.
Labels read_operand(std::string_view term, std::size_t operand,
                    const Shape& shape) {
  const int left = shape.rank() - letters_in(term);
  if (left < 0 || (left > 0 && !has_ellipsis(term))) {
    raise<ShapeError>("einsum: operand {} is {}, which '{}' does not fit",
                      operand, format_shape(shape), term);
  }
  return read_term(term, left);
}

// Takes the extents of an operand's axes; 1 gives way to any other.
void take_extents(EinsumEquation& out, std::size_t operand,
                  const Shape& shape) {
  const Labels& labels = out.terms[operand];
  for (int axis = 0; axis < labels.rank(); ++axis) {
    std::int64_t& extent = out.extents[static_cast<std::size_t>(labels[axis])];
    if (extent != 1 && shape[axis] != 1 && extent != shape[axis]) {
      raise<ShapeError>("einsum: '{}' is {} in operand {}, and {} before",
                        name_of(labels[axis]), shape[axis], operand, extent);
    }
    extent = extent == 1 ? shape[axis] : extent;
    // A diagonal has one length.
    const int first = labels.find(labels[axis]);
    if (shape[first] != shape[axis]) {
      raise<ShapeError>("einsum: '{}' is both {} and {} in operand {}",
                        name_of(labels[axis]), shape[first], shape[axis],
                        operand);
    }
  }
}

// Without "->": the axes of "...", then every letter that occurs once, in
// alphabetical order.
Labels implied_output(const memory::Vector<Labels>& terms, int ellipsis) {
  std::array<int, kLetters> times{};
  for (const Labels& labels : terms) {
    for (int axis = 0; axis < labels.rank(); ++axis) {
      if (labels[axis] < kLetters) {
        ++times[static_cast<std::size_t>(labels[axis])];
      }
    }
  }
  Labels output = read_term(kEllipsis, ellipsis);
  for (Label label = 0; label < kLetters; ++label) {
    if (times[static_cast<std::size_t>(label)] == 1) {
      output.push_back(label);
    }
  }
  return output;
}

void check_output(const EinsumEquation& equation) {
  LabelSet known = 0;
  for (const Labels& labels : equation.terms) {
    known |= labels.set();
  }
  const Labels& output = equation.output;
  for (int axis = 0; axis < output.rank(); ++axis) {
    if ((known & bit_of(output[axis])) == 0) {
      raise<ValueError>("einsum: '{}' of the result is in no operand",
                        name_of(output[axis]));
    }
    if (output.find(output[axis]) != axis) {
      raise<ValueError>("einsum: '{}' is twice in the result",
                        name_of(output[axis]));
    }
  }
}

}  // namespace

void Labels::push_back(Label label) {
  if (rank_ == kMaxRank) {
    raise<ShapeError>(
        "einsum: a term or an intermediate result has more than {} axes",
        kMaxRank);
  }
  labels_[static_cast<std::size_t>(rank_++)] = label;
}

void Labels::erase(int axis) noexcept {
  std::copy(labels_.begin() + axis + 1, labels_.begin() + rank_,
            labels_.begin() + axis);
  --rank_;
}

int Labels::find(Label label) const noexcept {
  for (int axis = 0; axis < rank_; ++axis) {
    if ((*this)[axis] == label) {
      return axis;
    }
  }
  return -1;
}

LabelSet Labels::set() const noexcept {
  LabelSet set = 0;
  for (int axis = 0; axis < rank_; ++axis) {
    set |= bit_of((*this)[axis]);
  }
  return set;
}

EinsumEquation read_equation(std::string_view equation,
                             std::span<const Shape> shapes) {
  const std::size_t arrow = equation.find(kArrow);
  std::string_view inputs = equation.substr(0, arrow);
  const auto terms =
      static_cast<std::size_t>(std::count(inputs.begin(), inputs.end(), ',')) +
      1;
  if (terms != shapes.size()) {
    raise<ValueError>("einsum: '{}' names {} operands, {} are given", equation,
                      terms, shapes.size());
  }
  EinsumEquation out;
  out.terms.reserve(terms);
  out.extents.fill(1);
  int ellipsis = 0;  // axes of the longest
  for (std::size_t i = 0; i < terms; ++i) {
    const std::size_t end = std::min(inputs.find(','), inputs.size());
    const std::string_view term = inputs.substr(0, end);
    out.terms.push_back(read_operand(term, i, shapes[i]));
    take_extents(out, i, shapes[i]);
    ellipsis = std::max(ellipsis, shapes[i].rank() - letters_in(term));
    inputs.remove_prefix(std::min(end + 1, inputs.size()));
  }
  out.output =
      arrow == std::string_view::npos
          ? implied_output(out.terms, ellipsis)
          : read_term(equation.substr(arrow + kArrow.size()), ellipsis);
  check_output(out);
  return out;
}

}  // namespace neap::ops
