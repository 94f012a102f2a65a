// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of what a row does besides computing: what the tape keeps for it, and
// that a call which throws leaves everything as it was.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <typeinfo>

#include "neap/autograd/backward.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/node.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/element.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "neap/testing/op_run.hpp"

namespace neap::testing {
namespace {

using graph::Node;
using graph::Residual;

// Counts calls of one op, on their way to the eager recorder.
class CallCounter final : public graph::Recorder {
 public:
  explicit CallCounter(const graph::Op* op) noexcept : op_(op) {}
  int calls() const noexcept { return calls_; }
  void record(const graph::OpCall& call, std::span<Tensor> outputs) override {
    calls_ += &call.op == op_ ? 1 : 0;
    graph::eager().record(call, outputs);
  }

 private:
  const graph::Op* op_;
  int calls_ = 0;
};

// The recorded calls of `op` that `result` was made by.
std::vector<const Node*> nodes_of(const Tensor& result, const graph::Op& op) {
  std::vector<const tensor::GraphLink*> seen{result.link().get()};
  std::vector<const Node*> found;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    if (seen[i] == nullptr || seen[i]->is_leaf()) {
      continue;
    }
    const auto* node = static_cast<const Node*>(seen[i]);
    if (&node->op() == &op) {
      found.push_back(node);
    }
    for (const graph::Edge& edge : node->edges()) {
      if (std::find(seen.begin(), seen.end(), edge.source.get()) ==
          seen.end()) {
        seen.push_back(edge.source.get());
      }
    }
  }
  return found;
}

void append_bits(std::uint32_t mask, std::uint16_t flag,
                 std::vector<std::uint16_t>& positions) {
  for (std::uint16_t bit = 0; bit < 31; ++bit) {
    if ((mask >> bit & 1U) != 0) {
      positions.push_back(static_cast<std::uint16_t>(bit | flag));
    }
  }
}

// Positions that the facts declare for a node, given its edges.
std::vector<std::uint16_t> declared(const Node& node) {
  const auto& rules = node.op().facts.vjp_reads;
  graph::Reads all;
  for (std::size_t i = 0; i < node.edges().size(); ++i) {
    if (node.edges()[i].source) {
      const graph::Reads& one = rules[std::min(i, rules.size() - 1)];
      all.inputs |= one.inputs;
      all.outputs |= one.outputs;
    }
  }
  std::vector<std::uint16_t> positions;
  const auto inputs = static_cast<std::uint32_t>(node.edges().size());
  const std::uint32_t exist = inputs < 31 ? (1U << inputs) - 1 : ~0U;
  append_bits(all.inputs & exist, 0, positions);
  append_bits(all.outputs, Residual::kOutputBit, positions);
  return positions;
}

void check_positions(const OpRun& run, const Node& node) {
  std::vector<std::uint16_t> kept;
  for (const Residual& residual : node.residuals()) {
    kept.push_back(residual.position);
  }
  std::sort(kept.begin(), kept.end());
  if (kept != declared(node)) {
    run.fail(fmt::format("'{}' keeps {} residuals, its facts declare {}",
                         node.op().name, kept.size(), declared(node).size()));
  }
}

// Floats as NaN, bits and masks inverted.
template <class T>
T poisoned(T x) {
  if constexpr (std::is_same_v<T, bool>) {
    return !x;
  } else if constexpr (std::is_same_v<T, std::uint8_t>) {
    return static_cast<std::uint8_t>(~x);
  } else {
    return tensor::to_element<T>(std::numeric_limits<double>::quiet_NaN());
  }
}

// A residual with other elements for a while, behind the tape's back.
class Poison {
 public:
  explicit Poison(const Residual& residual)
      : bytes_(residual.array->storage()->data()),
        saved_(bytes_, bytes_ + residual.array->storage()->size()) {
    const tensor::Strided view = residual.array->strided();
    tensor::with_type(view.dtype, [&]<class T>(T*) {
      tensor::for_each_offset(view.shape, view.strides, [&](std::int64_t at) {
        view.as<T>()[at] = poisoned(view.as<T>()[at]);
      });
    });
  }
  ~Poison() { std::memcpy(bytes_, saved_.data(), saved_.size()); }
  Poison(const Poison&) = delete;
  Poison& operator=(const Poison&) = delete;

 private:
  std::byte* bytes_;
  std::vector<std::byte> saved_;
};

// Not positions (labels, indices), which a kernel takes on trust.
bool may_poison(const Residual& residual) {
  const DType dtype = residual.array->dtype();
  return (is_floating(dtype) || dtype == u8 || dtype == boolean) &&
         residual.array->shape().element_count() > 0;
}

bool has_same_bits(const HostArray& a, const HostArray& b) {
  return std::ranges::equal(std::as_bytes(std::span<const double>(a.values)),
                            std::as_bytes(std::span<const double>(b.values)));
}

// For the cotangent of one input: positions kept are those declared, and notes
// which of them the cotangent depends on.
void check_reads_for(const OpRun& run, std::size_t i) {
  std::vector<Tensor> inputs = run.make_inputs();
  requires_grad_(inputs[i]);
  const Tensor out = run.call(inputs);
  const Tensor w = run.direction_like(out, kCotangent);
  const auto cotangent = [&] {
    const auto result = grad(std::span(&out, 1), std::span(&inputs[i], 1),
                             {.cotangents = std::span(&w, 1),
                              .retain_graph = true,
                              .unused = GradOptions::Unused::kZeros});
    return run.fetch(result[0]);
  };
  const HostArray undisturbed = cotangent();
  for (const Node* node : nodes_of(out, *run.table().op)) {
    check_positions(run, *node);
    for (const Residual& residual : node->residuals()) {
      if (may_poison(residual)) {
        const Poison poison(residual);
        bool& mattered = run.fixture().reads[{i, residual.position}];
        mattered = mattered || !has_same_bits(cotangent(), undisturbed);
      }
    }
  }
}

// State that a call which throws must not touch.
struct State {
  memory::Stats stats;
  base::DrawKey draw;
  std::vector<std::vector<std::byte>> bytes;
  std::vector<std::uint32_t> versions;

  State(const memory::Domain& domain, const tensor::Generator& generator,
        Inputs inputs)
      : stats(domain.stats()), draw(generator.key()) {
    for (const Tensor& input : inputs) {
      const tensor::Storage& storage = *input.array()->storage();
      bytes.emplace_back(storage.data(), storage.data() + storage.size());
      versions.push_back(storage.writes());
    }
  }
  bool operator==(const State& other) const {
    return stats.live == other.stats.live &&
           stats.live_blocks == other.stats.live_blocks &&
           stats.lent == other.stats.lent && draw.seed == other.draw.seed &&
           draw.draw == other.draw.draw && bytes == other.bytes &&
           versions == other.versions;
  }
};

// The fault in how a row throws; empty: none.
std::string wrong_error(const ErrorRow& row, const std::string& says,
                        Inputs inputs) {
  try {
    row.fn(inputs);
  } catch (const std::exception& error) {
    if (std::type_index(typeid(error)) != row.error) {
      return fmt::format("threw {} ({}), expected {}", typeid(error).name(),
                         error.what(), row.error.name());
    }
    if (std::string_view(error.what()).find(says) == std::string_view::npos) {
      return fmt::format("says \"{}\", expected \"{}\" in it", error.what(),
                         says);
    }
    return {};
  }
  return fmt::format("did not throw, expected {}", row.error.name());
}

}  // namespace

void check_calls(const OpRun& run) {
  if (run.table().op == nullptr) {
    return;
  }
  run.stage("call", [&] {
    CallCounter counter(run.table().op);
    const graph::UseRecorder guard(&counter);
    run.call(run.make_inputs());
    if (counter.calls() == 0) {
      run.fail(fmt::format("the row never calls '{}'", run.table().op->name));
    }
  });
}

void check_residuals(const OpRun& run) {
  if (run.table().op == nullptr || run.differentiable().empty()) {
    return;
  }
  for (const std::size_t i : run.differentiable()) {
    run.stage("facts", [&] { check_reads_for(run, i); });
  }
}

void check_faults(const OpRun& run) {
  run.stage("faults", [&] {
    const std::vector<Tensor> originals = run.make_inputs();
    const SweepResult forward = sweep_allocation_failures(
        run.fixture().domain, [&] { run.call(originals); });
    for (const std::string& problem : forward.problems) {
      run.fail(problem);
    }
    if (run.differentiable().empty()) {
      return;
    }
    const HostArray wanted = run.evaluate().value;
    std::vector<Tensor> inputs = run.make_inputs();
    requires_grad_(inputs[run.differentiable()[0]]);
    const Tensor w = run.direction_like(run.call(inputs), kCotangent);
    const SweepResult both = sweep_allocation_failures(
        run.fixture().domain,
        [&] { run.vjp(inputs, std::span(run.differentiable()).first(1), w); });
    for (const std::string& problem : both.problems) {
      run.fail(fmt::format("with vjp: {}", problem));
    }
    run.expect_same_bits(run.fetch(run.call(inputs)), wanted,
                         "after all failures: value");
  });
}

void check_error(Fixture& fixture, const ErrorRow& row) {
  ++fixture.report.checks["errors"];
  const std::string& table = fixture.table.name;
  const auto fail = [&](std::string_view what) {
    fixture.report.failures.push_back(
        fmt::format("{}/{} errors: {}", table, row.name, what));
  };
  try {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < row.inputs.size(); ++i) {
      inputs.push_back(make_tensor(make_values(row.inputs[i], 7, i),
                                   row.inputs[i].dtype.value_or(f32)));
    }
    tensor::Generator generator(7);
    const tensor::UseGenerator guard(generator);
    const State before(fixture.domain, generator, inputs);
    const std::string says = row.says.empty() ? table + ":" : row.says;
    const std::string wrong = wrong_error(row, says, inputs);
    if (!wrong.empty()) {
      fail(wrong);
    } else if (!(State(fixture.domain, generator, inputs) == before)) {
      fail(
          "the call that threw left a trace (live bytes, inputs or the "
          "generator)");
    }
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

}  // namespace neap::testing
