// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/op_check.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/graph/node.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/testing/op_run.hpp"

namespace neap::testing {
namespace {

void check_sense(const OpTable& table) {
  for (const OpRow& row : table.rows) {
    if (!row.fn || row.inputs.empty() || row.dtypes.empty() ||
        (!row.reference && row.expected.empty())) {
      base::raise<ValueError>(
          "op_check: row {}/{} needs a function, inputs, dtypes and a "
          "reference or expected values",
          table.name, row.name);
    }
    for (const auto& shapes : row.zero_size) {
      if (shapes.size() != row.inputs.size() || !row.reference) {
        base::raise<ValueError>(
            "op_check: a zero-size variant of {}/{} needs a reference and one "
            "shape an input",
            table.name, row.name);
      }
    }
  }
}

void note(Fixture& fixture, std::string_view what) {
  fixture.report.failures.push_back(
      fmt::format("{}: {}", fixture.table.name, what));
}

// A row that can be checked whatever rules its op lacks (each is a failure).
OpRow checkable(Fixture& fixture, const OpRow& row) {
  OpRow out = row;
  const graph::Op* op = fixture.table.op;
  if (op == nullptr || !row.differentiable) {
    return out;
  }
  if (op->vjp == nullptr) {
    note(fixture, fmt::format("row {}: the op has no vjp", row.name));
    out.differentiable = false;
  }
  if (op->jvp == nullptr) {
    note(fixture, fmt::format("row {}: the op has no jvp", row.name));
    out.differentiable = false;
  }
  return out;
}

bool is_wide(const OpRow& row, DType dtype) {
  return dtype == f64 && std::find(row.dtypes.begin(), row.dtypes.end(), f64) !=
                             row.dtypes.end();
}

void check_values(Fixture& fixture, const OpRow& row,
                  const std::vector<HostArray>& values,
                  std::string_view variant) {
  for (const DType dtype : row.dtypes) {
    const OpRun run(fixture, row, dtype, values, variant);
    check_value(run);
    check_layouts(run);
    check_threads(run);
    check_donation(run);
    check_second_space(run);
    check_kink(run);
    if (is_wide(row, dtype)) {
      check_first_derivative(run);
      check_second_derivative(run);
      check_third_derivative(run);
    } else if (dtype == f32) {
      check_narrow_derivative(run, OpRun(fixture, row, f64, values, variant));
    }
  }
  const OpRun run(fixture, row, row.dtypes[0], values, variant);
  check_calls(run);
  check_faults(run);
  check_residuals(run);
}

void check_row(Fixture& fixture, const OpRow& original) {
  const OpRow row = checkable(fixture, original);
  std::vector<HostArray> values;
  for (std::size_t i = 0; i < row.inputs.size(); ++i) {
    values.push_back(make_values(row.inputs[i], row.seed, i));
  }
  check_values(fixture, row, values, "");
  for (const std::vector<Shape>& shapes : row.zero_size) {
    ++fixture.report.checks["zero size"];
    std::vector<HostArray> empty;
    std::string variant = "zero size";
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      InputSpec spec = row.inputs[i];
      spec.shape = shapes[i];
      spec.literal.clear();
      empty.push_back(make_values(spec, row.seed, i));
      variant = fmt::format("{} {}", variant, format_shape(shapes[i]));
    }
    check_values(fixture, row, empty, variant);
  }
}

std::string describe(const DeclaredRead& read) {
  const bool is_output = (read.position & graph::Residual::kOutputBit) != 0;
  return fmt::format(
      "the facts declare that the vjp reads {} {} for the cotangent of input "
      "{}, but the cotangent never depends on it: a residual kept for nothing",
      is_output ? "output" : "input",
      read.position & ~graph::Residual::kOutputBit, read.input);
}

void check_table(Fixture& fixture) {
  const OpTable& table = fixture.table;
  for (const OpRow& row : table.rows) {
    check_row(fixture, row);
  }
  for (const ErrorRow& row : table.errors) {
    check_error(fixture, row);
  }
  for (const auto& [read, mattered] : fixture.reads) {
    if (!mattered) {
      note(fixture, describe(read));
    }
  }
  if (table.no_zero_size.empty() &&
      std::none_of(table.rows.begin(), table.rows.end(),
                   [](const OpRow& row) { return !row.zero_size.empty(); })) {
    note(fixture,
         "no row has a zero-size variant, and no_zero_size gives no "
         "reason");
  }
}

}  // namespace

std::string Report::text() const {
  std::string out;
  for (const std::string& failure : failures) {
    out += failure + "\n";
  }
  for (const auto& [kind, count] : checks) {
    out += fmt::format("{} x {}; ", count, kind);
  }
  return out;
}

Report check(const OpTable& table) {
  check_sense(table);
  Report report;
  const memory::Domain::Handle domain =
      memory::Domain::create({.name = "op_check"});
  const memory::ContextGuard guard([&](memory::Context& c) {
    c = {};
    c.domain = domain.get();
  });
  const tensor::ExecutionGuard serially([](tensor::Execution& e) {
    e = {};
    e.executor = &threads::serial_executor();
  });
  ShadowSpace shadow(*domain);
  threads::Pool one(1);
  threads::Pool two(2);
  threads::Pool three(3);
  Fixture fixture{table, report, *domain, shadow, {&one, &two, &three}};
  check_table(fixture);
  return report;
}

}  // namespace neap::testing
