// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every row of every table, compiled with its inputs as a batch that is cut
// into shards or micro-batches: values and derivatives are those of the whole
// batch, whatever an op's rule for rows says; of micro-batches to the bit.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <set>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/compile/lower.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/op_list.hpp"
#include "neap/ops/ops.hpp"
#include "neap/program/shard_roles.hpp"
#include "neap/testing/inputs.hpp"

namespace neap::testing {
namespace {

using Seen = std::vector<std::vector<double>>;

// A call of a row, and the gradients of what may have one, for a loss in which
// each element counts otherwise.
memory::Vector<Tensor> run_row(const OpRow& row,
                               const std::vector<Tensor>& inputs) {
  memory::Vector<Tensor> out;
  const Tensor y = row.fn(inputs);
  if (row.differentiable && y.requires_grad()) {
    const Tensor loss = sum(sin(y) * 0.5 + y * y);
    memory::Vector<Tensor> wanted;
    for (const Tensor& input : inputs) {
      if (input.requires_grad()) {
        wanted.push_back(input);
      }
    }
    for (const Tensor& gradient :
         grad(std::span(&loss, 1), wanted,
              {.unused = GradOptions::Unused::kZeros})) {
      out.push_back(gradient.detach());
    }
  }
  out.push_back(y.detach());
  return out;
}

DType dtype_of(const OpRow& row) {
  const bool has_f64 = std::ranges::find(row.dtypes, f64) != row.dtypes.end();
  return has_f64 || row.dtypes.empty() ? f64 : row.dtypes[0];
}

// A row whose input 0 is the batch, in f64 where it may be; the others are
// captured, and leaves where `captures`.
class RowStep {
 public:
  RowStep(const OpRow& row, bool captures) : row_(row) {
    for (std::size_t i = 0; i < row.inputs.size(); ++i) {
      const InputSpec& spec = row.inputs[i];
      Tensor tensor = make_tensor(make_values(spec, row.seed, i),
                                  spec.dtype.value_or(dtype_of(row)));
      const bool is_leaf = captures && spec.differentiable &&
                           is_floating(tensor.dtype()) && i != 0;
      inputs_.push_back(is_leaf ? requires_grad_(tensor) : tensor);
    }
  }

  bool has_batch() const {
    return !inputs_.empty() && inputs_[0].rank() > 0 && inputs_[0].size(0) > 1;
  }

  bool is_compiled() const {
    try {
      run({});
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  Seen run(const CompileOptions& options) const {
    Generator generator(row_.seed);
    const UseGenerator use(generator);
    auto step = compile(*this, options);
    Seen seen;
    for (const Tensor& tensor : step(inputs_[0].detach())) {
      const auto elements = tensor.to_vector();
      seen.emplace_back(elements.begin(), elements.end());
    }
    return seen;
  }

  /// Adds the ops that run for each shard.
  void note_cut(std::set<const graph::Op*>& ops) const {
    Generator generator(row_.seed);
    const UseGenerator use(generator);
    auto lowered =
        lower(*this, {inputs_[0].spec()}, {.passes = compiler::Passes::none()});
    compiler::split_losses(lowered.program);
    const auto roles = compiler::roles_of(lowered.program, inputs_[0].size(0));
    for (std::uint32_t i = 0; i < lowered.program.calls.size(); ++i) {
      if (roles.calls[i].is_each) {
        ops.insert(lowered.program.calls[i].op);
      }
    }
  }

  memory::Vector<Tensor> operator()(const Tensor& x) const {
    std::vector<Tensor> inputs = inputs_;
    inputs[0] = x;
    return run_row(row_, inputs);
  }

 private:
  const OpRow& row_;
  std::vector<Tensor> inputs_;
};

bool is_near(double a, double b, double share) {
  return (std::isnan(a) && std::isnan(b)) || a == b ||
         std::abs(a - b) <= share * std::max(1.0, std::abs(a));
}

std::string difference(const OpRow& row, const Seen& whole, const Seen& cut) {
  const double share = dtype_of(row) == f32 ? 1e-4 : 1e-9;
  if (whole.size() != cut.size()) {
    return "another number of results";
  }
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (std::size_t k = 0; k < whole[i].size(); ++k) {
      if (cut[i].size() != whole[i].size() ||
          !is_near(whole[i][k], cut[i][k], share)) {
        return "result " + std::to_string(i) + " differs";
      }
    }
  }
  return "";
}

std::vector<std::uint64_t> bits_of(const Seen& seen) {
  std::vector<std::uint64_t> bits;
  for (const std::vector<double>& values : seen) {
    for (const double value : values) {
      bits.push_back(std::isnan(value) ? ~std::uint64_t{0}
                                       : std::bit_cast<std::uint64_t>(value));
    }
  }
  return bits;
}

// Calls visit(step) for each row that can be compiled, with its other inputs
// as constants and as leaves.
template <class Visit>
void each_step(const OpTable& table, const Visit& visit) {
  for (const OpRow& row : table.rows) {
    for (const bool captures : {false, true}) {
      const RowStep step(row, captures);
      if (step.has_batch() && step.is_compiled()) {
        visit(row, step);
      }
    }
  }
}

class OpShardsTest : public ::testing::TestWithParam<OpTable> {};

TEST_P(OpShardsTest, GiveWhatTheWholeBatchGives) {
  each_step(GetParam(), [](const OpRow& row, const RowStep& step) {
    const Seen whole = step.run({});
    for (const int shards : {2, 3}) {
      EXPECT_EQ(difference(row, whole, step.run({.shards = shards})), "")
          << row.name << ", " << shards << " shards";
    }
  });
}

TEST_P(OpShardsTest, MicroBatchesGiveTheBitsOfTheWholeBatch) {
  each_step(GetParam(), [](const OpRow& row, const RowStep& step) {
    const auto whole = bits_of(step.run({}));
    for (const std::uint32_t count : {2U, 3U}) {
      EXPECT_EQ(bits_of(step.run({.passes = {.micro_batches = count}})), whole)
          << row.name << ", " << count << " parts";
    }
  });
}

std::string name_of_case(const ::testing::TestParamInfo<OpTable>& info) {
  std::string name = info.param.name;
  std::replace_if(
      name.begin(), name.end(),
      [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Ops, OpShardsTest,
                         ::testing::ValuesIn(listed_tables()), name_of_case);

TEST(OpShardsTest, EveryRuleIsUsed) {
  // All rows of the batch are needed at once.
  std::set<const graph::Op*> cut{&ops::kBatchNorm, &ops::kBatchNormGrad};
  for (const OpTable& table : listed_tables()) {
    each_step(table,
              [&](const OpRow&, const RowStep& step) { step.note_cut(cut); });
  }
  for (const graph::Op* op : ops::all_ops()) {
    EXPECT_TRUE(op->facts.rows == nullptr || cut.contains(op))
        << op->name << " has a rule for rows that no row uses";
  }
}

}  // namespace
}  // namespace neap::testing
