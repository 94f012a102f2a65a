// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/number_check.hpp"

#include <cmath>
#include <limits>
#include <type_traits>

#include "neap/base/raise.hpp"
#include "neap/tensor/element.hpp"

namespace neap::tensor {
namespace {

bool is_in_range(DType dtype, double whole) {
  return with_type(dtype, [&]<class T>(T*) {
    if constexpr (std::is_integral_v<T>) {
      using Limits = std::numeric_limits<T>;
      return whole >= static_cast<double>(Limits::min()) &&
             whole < std::ldexp(1.0, Limits::digits);
    } else {
      return true;
    }
  });
}

}  // namespace

void check_number(std::string_view op, double number, DType dtype) {
  const bool is_whole = is_floating(dtype) || number == std::trunc(number);
  if (!is_whole || !is_in_range(dtype, number)) {
    base::raise<DTypeError>("{}: {} is no number of {}; cast the tensor first",
                            op, number, name_of(dtype));
  }
}

void check_range(std::string_view op, double number, DType dtype) {
  if (dtype != boolean && !is_in_range(dtype, std::trunc(number))) {
    base::raise<ValueError>("{}: {} is beyond the numbers of {}", op, number,
                            name_of(dtype));
  }
}

void check_ends(std::string_view op, double first, double last, DType dtype) {
  constexpr double kDense = 0x1p53;
  for (const double end : {first, last}) {
    check_range(op, end, dtype);
    if (!is_floating(dtype) && std::abs(end) > kDense) {
      base::raise<ValueError>(
          "{}: {} is beyond 2^53, where integers are not counted one by one",
          op, end);
    }
  }
}

}  // namespace neap::tensor
