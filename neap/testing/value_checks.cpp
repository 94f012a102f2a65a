// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of what a row computes: against its reference, and that nothing but
// the values changes the bits (layout, threads, donation, space).
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "neap/graph/recorder.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/testing/op_run.hpp"

namespace neap::testing {
namespace {

const Tolerance& value_tolerance(const OpRow& row, DType dtype) {
  return dtype == f32   ? row.f32_value
         : dtype == f64 ? row.f64_value
                        : row.other_value;
}

constexpr std::array<LayoutKind, 3> kSameValues = {
    LayoutKind::kTransposed, LayoutKind::kSliced, LayoutKind::kMixed};

std::vector<HostArray> expandable(const std::vector<HostArray>& values) {
  std::vector<HostArray> out;
  for (const HostArray& array : values) {
    out.push_back(constant_along_longest(array));
  }
  return out;
}

// False for a zero-size variant.
bool has_rows_shapes(const OpRun& run) {
  const std::vector<InputSpec>& specs = run.row().inputs;
  return std::equal(specs.begin(), specs.end(), run.values().begin(),
                    [](const InputSpec& spec, const HostArray& array) {
                      return spec.shape == array.shape;
                    });
}

// Passes calls on to the eager recorder, and counts in how many each input of
// the row is an operand. With `donates`, an input used once goes as an rvalue.
class UseRecorderOfInputs final : public graph::Recorder {
 public:
  explicit UseRecorderOfInputs(std::span<Tensor> inputs)
      : inputs_(inputs), uses_(inputs.size()) {}

  void donate(std::vector<int> uses) {
    donates_ = true;
    allowed_ = std::move(uses);
  }
  const std::vector<int>& uses() const noexcept { return uses_; }
  int calls() const noexcept { return calls_; }
  /// An input was offered that the facts say output 0 may take over ...
  bool is_expected() const noexcept { return !candidates_.empty(); }
  /// ... and it was.
  bool is_taken() const noexcept { return taken_; }

  void record(const graph::OpCall& call, std::span<Tensor> outputs) override {
    ++calls_;
    std::vector<Operand> operands;
    std::vector<std::pair<tensor::Spec, const void*>> offered;
    bool has_rival = false;  // a temporary of the function's own
    for (std::size_t j = 0; j < call.inputs.size(); ++j) {
      const Operand& operand = call.inputs[j];
      const std::size_t i = index_of(operand.tensor());
      if (i == inputs_.size()) {
        has_rival = has_rival || operand.temporary() != nullptr;
        operands.push_back(operand);
        continue;
      }
      ++uses_[i];
      if (!donates_ || allowed_[i] != 1) {
        operands.push_back(operand);
        continue;
      }
      if (j < 32 && (call.op.facts.donates >> j & 1U) != 0) {
        offered.emplace_back(inputs_[i].spec(),
                             inputs_[i].array()->storage()->data());
      }
      operands.emplace_back(std::move(inputs_[i]), operand.site());
    }
    graph::eager().record({call.op, operands, call.attrs, call.site}, outputs);
    for (const auto& [spec, data] : offered) {
      if (!has_rival && data != nullptr && spec == outputs[0].spec()) {
        candidates_.push_back(data);
        taken_ = taken_ || data == outputs[0].array()->storage()->data();
      }
    }
  }

 private:
  std::size_t index_of(const Tensor& tensor) const noexcept {
    std::size_t i = 0;
    while (i < inputs_.size() && &inputs_[i] != &tensor) {
      ++i;
    }
    return i;
  }

  std::span<Tensor> inputs_;
  std::vector<int> uses_;
  std::vector<int> allowed_;
  std::vector<const void*> candidates_;
  int calls_ = 0;
  bool donates_ = false;
  bool taken_ = false;
};

}  // namespace

void check_value(const OpRun& run) {
  run.stage("value", [&] {
    const OpRow& row = run.row();
    const Tensor out = run.call(run.make_inputs());
    if (row.shape.has_value() && has_rows_shapes(run) &&
        out.shape() != *row.shape) {
      run.fail(fmt::format("result has shape {}, expected {}",
                           format_shape(out.shape()),
                           format_shape(*row.shape)));
    }
    const std::vector<double> wanted =
        row.reference ? row.reference(run.values()) : row.expected;
    run.expect_close(run.fetch(out).values, wanted,
                     value_tolerance(row, out.dtype()), "result");
  });
}

void check_layouts(const OpRun& run) {
  if (!run.row().any_layout) {
    return;
  }
  for (const LayoutKind layout : kSameValues) {
    run.stage("layouts", [&] {
      run.expect_same_bits(run.evaluate(layout), run.evaluate(),
                           name_of(layout));
    });
  }
  const OpRun repeated(run.fixture(), run.row(), run.dtype(),
                       expandable(run.values()), "stride 0");
  repeated.stage("layouts", [&] {
    repeated.expect_same_bits(repeated.evaluate(LayoutKind::kExpanded),
                              repeated.evaluate(),
                              name_of(LayoutKind::kExpanded));
  });
}

void check_threads(const OpRun& run) {
  run.stage("threads", [&] {
    std::vector<Outcome> outcomes;
    for (threads::Executor* executor : run.fixture().executors) {
      const tensor::ExecutionGuard guard(
          [executor](tensor::Execution& c) { c.executor = executor; });
      outcomes.push_back(run.evaluate());
    }
    run.expect_same_bits(outcomes[1], outcomes[0], "2 threads against 1");
    run.expect_same_bits(outcomes[2], outcomes[0], "3 threads against 1");
  });
}

void check_donation(const OpRun& run) {
  run.stage("donation", [&] {
    std::vector<Tensor> kept = run.make_inputs();
    UseRecorderOfInputs counting(kept);
    HostArray wanted;
    {
      const graph::UseRecorder guard(&counting);
      wanted = run.fetch(run.call(kept));
    }
    std::vector<Tensor> given = run.make_inputs();
    UseRecorderOfInputs donating(given);
    donating.donate(counting.uses());
    const graph::UseRecorder guard(&donating);
    run.expect_same_bits(run.fetch(run.call(given)), wanted, "donated input");
    if (donating.is_expected() && !donating.is_taken()) {
      run.fail(
          "the facts say that an input's memory may be taken over, but "
          "it was not");
    }
  });
}

void check_second_space(const OpRun& run) {
  if (!run.row().second_space) {
    return;
  }
  run.stage("second space", [&] {
    const ShadowSpace& shadow = run.fixture().shadow;
    run.expect_same_bits(run.evaluate(LayoutKind::kContiguous, shadow.space()),
                         run.evaluate(), "in the second space");
    if (run.row().any_layout) {
      run.expect_same_bits(
          run.evaluate(LayoutKind::kTransposed, shadow.space()), run.evaluate(),
          "transposed in the second space");
    }
    if (shadow.foreign_views() != 0) {
      run.fail("a kernel of the second space was given host memory");
    }
  });
}

}  // namespace neap::testing
