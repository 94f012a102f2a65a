// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Plain numbers that become integers or bools. Beside a tensor of such they
// take its dtype, which must have them: 0.5 would be 0, NaN too. Where a dtype
// is named they are cast, and must be in its range: 300 would be 255 in u8.
#pragma once

#include <string_view>

#include "neap/base/dtype.hpp"

namespace neap::tensor {

/// THROWS: DTypeError that names `op` where `dtype` lacks the number. Floating
/// dtypes lack none: they round.
void check_number(std::string_view op, double number, DType dtype);
/// THROWS: ValueError that names `op` where the number, rounded toward zero, is
/// beyond the integers of `dtype`, or NaN. Bools take all.
void check_range(std::string_view op, double number, DType dtype);
/// The same of the ends of a range that is computed in double, which has no
/// integers one by one beyond 2^53.
void check_ends(std::string_view op, double first, double last, DType dtype);

}  // namespace neap::tensor
