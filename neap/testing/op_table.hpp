// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// OpTable: all that a test knows about one op, as data. Rows say how to call it
// and what comes out; check() (op_check.hpp) does the rest. For our ops and for
// those of users alike.
//
//   OpTable tanh_table() {
//     return {.name = "tanh",
//             .op = &ops::kTanh,
//             .rows = {{.name = "plain",
//                       .fn = [](Inputs x) { return tanh(x[0]); },
//                       .inputs = {uniform({3, 4}, -2, 2)},
//                       .reference = each([](double x) { return std::tanh(x);
//                       }), .zero_size = {{{0, 4}}}}},
//             .errors = {{.name = "integers",
//                         .fn = [](Inputs x) { return tanh(x[0]); },
//                         .inputs = {integers({2}, 0, 5).as(i32)},
//                         .error = typeid(DTypeError)}}};
//   }
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <typeindex>
#include <vector>

#include "neap/base/error.hpp"
#include "neap/graph/op.hpp"

namespace neap::testing {

using Inputs = std::span<const Tensor>;
using OpFunction = std::function<Tensor(Inputs)>;

/// The elements of a tensor in row-major order, as the reference sees them.
struct HostArray {
  Shape shape;
  std::vector<double> values;
};

/// The op in double precision, written as plainly as possible. RETURNS: the
/// elements of the result in row-major order.
using Reference =
    std::function<std::vector<double>(std::span<const HostArray>)>;

/// How one input is made. The values are the same in every run, and exact in
/// f32.
struct InputSpec {
  Shape shape{};
  double low = -1.0;
  double high = 1.0;
  bool is_integral = false;       // whole numbers in [low, high)
  std::vector<double> avoided{};  // kinks, kept away from by `margin`
  double margin = 0.05;
  std::vector<double> literal{};  // not empty: these values
  std::optional<DType> dtype{};   // nothing: the dtype under test
  bool differentiable = true;

  /// An input of this dtype in every run; without derivative unless floating.
  InputSpec as(DType fixed) const;
  /// Without derivative: a mask, a target.
  InputSpec constant() const;
};

NEAP_API InputSpec uniform(const Shape& shape, double low, double high);
/// In [0.2, 2).
NEAP_API InputSpec positive(const Shape& shape);
/// Whole numbers in [low, high), with a derivative all the same.
NEAP_API InputSpec integers(const Shape& shape, std::int64_t low,
                            std::int64_t high);
/// In [-1, 1), at least 0.05 away from every kink.
NEAP_API InputSpec away_from(const Shape& shape, std::vector<double> kinks);
NEAP_API InputSpec literal(const Shape& shape, std::vector<double> values);

/// Reference of an op of one input, element by element.
NEAP_API Reference each(double (*f)(double));
/// Reference of an op of two inputs with broadcasting.
NEAP_API Reference each_pair(double (*f)(double, double));

/// |got - wanted| <= absolute + relative * |wanted|.
struct Tolerance {
  double relative = 0.0;
  double absolute = 0.0;
};

struct OpRow {
  std::string name{};
  OpFunction fn{};
  std::vector<InputSpec> inputs{};

  // The value: a reference or the numbers themselves.
  Reference reference{};
  std::vector<double> expected{};
  std::optional<Shape> shape{};  // of the result, where it is worth saying

  // At a kink, where differences say nothing: cotangents of the inputs that
  // are differentiable for a cotangent of ones, tangent for tangents of ones.
  std::vector<std::vector<double>> expected_vjp{};
  std::vector<double> expected_jvp{};

  /// Shapes of the inputs (one list a variant) with no element somewhere. Only
  /// the reference, the layouts and the derivatives' shapes are checked.
  std::vector<std::vector<Shape>> zero_size{};

  std::vector<DType> dtypes{f32, f64};
  Tolerance f32_value{1e-5, 1e-6};
  Tolerance f64_value{1e-12, 1e-13};
  Tolerance other_value{};  // bf16 results; whole numbers are exact
  Tolerance f32_derivative{1e-4, 1e-5};
  double difference = 1e-7;  // of an f64 derivative from differences, relative

  std::uint64_t seed = 7;  // of the generator, started anew for every call
  bool differentiable = true;
  bool smooth = true;             // false: no differences (a kink row)
  bool second_derivative = true;  // false: neither second nor third
  bool third_derivative = true;
  bool any_layout =
      true;  // false: contiguous inputs alone (an op that says so)
  bool second_space = true;
};

/// A call that must throw, and leave everything as it was.
struct ErrorRow {
  std::string name{};
  OpFunction fn{};
  std::vector<InputSpec> inputs{};        // in f32 unless they say otherwise
  std::type_index error = typeid(Error);  // exactly this type
  std::string says{};  // part of the message; empty: "<name of the table>:"
};

struct OpTable {
  std::string name{};
  /// Not nullptr: every row must call this primitive, and its facts are
  /// checked. nullptr: a composite.
  const graph::Op* op = nullptr;
  std::vector<OpRow> rows{};
  std::vector<ErrorRow> errors{};
  /// Why no row has a zero-size variant; empty: one must have.
  std::string no_zero_size{};
};

/// Puts a table, or those of a family, on the list of this program, as a static
/// object of a test:
///   const Listed kListed(tanh_table);
class NEAP_API Listed {
 public:
  using Maker = OpTable (*)();
  using FamilyMaker = std::vector<OpTable> (*)();
  explicit Listed(Maker maker);
  explicit Listed(FamilyMaker maker);
};

/// Every listed table, by name.
NEAP_API std::vector<OpTable> listed_tables();

}  // namespace neap::testing
