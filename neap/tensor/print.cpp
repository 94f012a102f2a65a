// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>

#include "neap/base/append.hpp"
#include "neap/base/raise.hpp"
#include "neap/tensor/element.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap {
namespace {

// The positions of an axis that are printed, and where the gap is.
struct Kept {
  std::int64_t extent;
  std::int64_t edge;  // items at each end; extent when all are printed
  bool has_gap() const noexcept { return 2 * edge < extent; }
};

class Printer {
 public:
  Printer(const tensor::Strided& view, const PrintOptions& options)
      : view_(view), options_(options) {
    is_cut_ = view.shape.element_count() > options.threshold;
    choose_style();
    measure();
  }

  std::string text() {
    std::string out;
    if (view_.shape.rank() == 0) {
      write(out, 0, 0);
      return out;
    }
    print_axes(out);
    return out;
  }

 private:
  Kept kept(int axis) const noexcept {
    const std::int64_t extent = view_.shape[axis];
    return {extent, is_cut_ ? std::min(options_.edge_items, extent) : extent};
  }

  // Calls visit(offset) for the printed elements only.
  template <class Visit>
  void for_each_printed(Visit&& visit) const {
    Shape extents = view_.shape;
    for (int axis = 0; axis < extents.rank(); ++axis) {
      const Kept k = kept(axis);
      extents[axis] = k.has_gap() ? 2 * k.edge : k.extent;
    }
    Shape at = Shape::filled(extents.rank(), 0);
    const std::int64_t count = extents.element_count();
    for (std::int64_t i = 0; i < count; ++i) {
      visit(offset_of(at, extents));
      advance(at, extents);
    }
  }

  std::int64_t offset_of(const Shape& at, const Shape& extents) const noexcept {
    std::int64_t offset = 0;
    for (int axis = 0; axis < at.rank(); ++axis) {
      const Kept k = kept(axis);
      const bool is_tail = k.has_gap() && at[axis] >= k.edge;
      const std::int64_t position =
          is_tail ? k.extent - (extents[axis] - at[axis]) : at[axis];
      offset += position * view_.strides[axis];
    }
    return offset;
  }

  static void advance(Shape& at, const Shape& extents) noexcept {
    for (int axis = at.rank() - 1; axis >= 0; --axis) {
      if (++at[axis] < extents[axis]) {
        return;
      }
      at[axis] = 0;
    }
  }

  // NumPy's choice: scientific when the finite magnitudes span too much.
  void choose_style() {
    if (!is_floating(view_.dtype)) {
      return;
    }
    double smallest = 0.0;
    double largest = 0.0;
    for_each_printed([&](std::int64_t offset) {
      const double value = std::abs(tensor::element_as_double(view_, offset));
      if (std::isfinite(value) && value != 0.0) {
        smallest = smallest == 0.0 ? value : std::min(smallest, value);
        largest = std::max(largest, value);
      }
    });
    is_scientific_ =
        largest >= 1e8 || (smallest != 0.0 && smallest < 1e-4) ||
        (smallest != 0.0 && largest / smallest > 1e3 && smallest < 1e-3);
    find_digits();
  }

  // Trailing zeros common to all printed elements are left out.
  void find_digits() {
    for_each_printed([&](std::int64_t offset) {
      const double value = tensor::element_as_double(view_, offset);
      if (!std::isfinite(value) || is_scientific_) {
        return;
      }
      const std::string full =
          fmt::format("{:.{}f}", value, options_.precision);
      const auto last = full.find_last_not_of('0');
      const auto point = full.find('.');
      if (point != std::string::npos && last > point) {
        digits_ = std::max(digits_, static_cast<int>(last - point));
      }
    });
    if (is_scientific_) {
      digits_ = options_.precision;
    }
  }

  void measure() {
    std::string one;
    for_each_printed([&](std::int64_t offset) {
      one.clear();
      write(one, offset, 0);
      width_ = std::max(width_, static_cast<int>(one.size()));
    });
  }

  void write(std::string& out, std::int64_t offset, int width) const {
    tensor::with_type(view_.dtype, [&]<class T>(T*) {
      const T value = view_.as<T>()[offset];
      if constexpr (std::is_same_v<T, bool>) {
        base::append(out, "{:>{}}", value ? "True" : "False", width);
      } else if constexpr (std::is_integral_v<T>) {
        base::append(out, "{:>{}d}", value, width);
      } else {
        base::append(out, "{:>{}}",
                     number(tensor::element_as_double(view_, offset)), width);
      }
    });
  }

  std::string number(double value) const {
    if (!std::isfinite(value)) {
      return fmt::format("{}", value);
    }
    if (is_scientific_) {
      return fmt::format("{:.{}e}", value, digits_);
    }
    std::string text = fmt::format("{:.{}f}", value, digits_);
    if (digits_ == 0) {
      return text + '.';
    }
    // Zeros at the end become blanks, so that the points stay in one column.
    for (auto at = text.rbegin(); *at == '0'; ++at) {
      *at = ' ';
    }
    return text;
  }

  // Prints element after element; brackets open and close where axes do.
  void print_axes(std::string& out) const {
    const int rank = view_.shape.rank();
    if (view_.shape.element_count() == 0) {
      out = "[]";
      return;
    }
    Shape extents = view_.shape;
    for (int axis = 0; axis < rank; ++axis) {
      const Kept k = kept(axis);
      extents[axis] = k.has_gap() ? 2 * k.edge : k.extent;
    }
    Shape at = Shape::filled(rank, 0);
    const std::int64_t count = extents.element_count();
    out.append(static_cast<std::size_t>(rank), '[');
    for (std::int64_t i = 0; i < count; ++i) {
      write(out, offset_of(at, extents), width_);
      advance(at, extents);
      if (i + 1 < count) {
        separate(out, at);
      }
    }
    out.append(static_cast<std::size_t>(rank), ']');
  }

  // Between elements: closes and opens as many brackets as axes turned over.
  void separate(std::string& out, const Shape& at) const {
    const int rank = at.rank();
    int turned = 0;
    while (turned + 1 < rank && at[rank - 1 - turned] == 0) {
      ++turned;
    }
    const int axis = rank - 1 - turned;
    const Kept k = kept(axis);
    const bool gap = k.has_gap() && at[axis] == k.edge;
    out.append(static_cast<std::size_t>(turned), ']');
    if (turned == 0) {
      out += gap ? " ... " : " ";
      return;
    }
    const std::string indent(static_cast<std::size_t>(axis + 1), ' ');
    out.append(static_cast<std::size_t>(turned), '\n');
    out += indent;
    if (gap) {
      out += "...";
      out.append(static_cast<std::size_t>(turned), '\n');
      out += indent;
    }
    out.append(static_cast<std::size_t>(turned), '[');
  }

  tensor::Strided view_;
  PrintOptions options_;
  bool is_cut_ = false;
  bool is_scientific_ = false;
  int digits_ = 0;
  int width_ = 0;
};

}  // namespace

std::string format(const Tensor& tensor, const PrintOptions& options,
                   CallSite site) {
  if (options.precision < 0 || options.edge_items < 0) {
    base::raise<ValueError>(
        "format: precision {} and edge_items {}, expected at least 0",
        options.precision, options.edge_items);
  }
  tensor::check_host_access(tensor, "format", site);
  return Printer(tensor.array()->strided(), options).text();
}

std::ostream& operator<<(std::ostream& out, const Tensor& tensor) {
  return out << (tensor.defined() ? format(tensor) : "undefined");
}

}  // namespace neap
