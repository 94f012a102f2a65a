// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/prediction.hpp"

#include <algorithm>

#include "neap/base/external.hpp"
#include "neap/compile/costs.hpp"
#include "neap/program/print.hpp"

namespace neap::compiler {
namespace {

using memory::Category;

// True where a model's memory has the path of a tensor, not of a layer.
bool is_named(Category category) {
  return category == Category::kParameters || category == Category::kBuffers ||
         category == Category::kGradients ||
         category == Category::kOptimizerState;
}

class Predictor {
 public:
  Predictor(const Program& program, const Plan& plan)
      : program_(program), plan_(plan) {}

  Prediction run() {
    add_persistent();
    add_arena();
    add_peak();
    join_layers();
    for (const tensor::Spec& spec : program_.arguments) {
      out_.arguments += spec.shape.element_count() * size_of(spec.dtype);
    }
    out_.program = program_.bytes() + plan_.bytes();
    out_.external = base::count_external();
    out_.ops = static_cast<std::int64_t>(program_.calls.size());
    out_.seconds = plan_.seconds();
    out_.fitting = program_.fitting;
    out_.sharding = program_.sharding;
    if (program_.shared != nullptr) {
      out_.state = program_.shared->state;
    }
    if (!out_.fitting.is_met()) {
      out_.fitting.price = price_of(program_);
    }
    return std::move(out_);
  }

 private:
  struct Share {
    std::string_view layer;
    Bytes persistent;
    Bytes at_peak;
  };

  void add_persistent() {
    list_persistent(program_, plan_, [&](const Persistent& what) {
      out_.persistent_by_category[static_cast<std::size_t>(what.category)] +=
          what.bytes;
      out_.persistent += what.bytes;
      out_.constants += what.is_constant ? what.bytes : 0;
      shares_.push_back({layer_of(what.owner, what.category), what.bytes, 0});
    });
  }

  void add_arena() {
    out_.arena = plan_.arena_bytes();
    const SpacePlan* highest = plan_.spaces.data();
    for (const SpacePlan& space : plan_.spaces) {
      out_.lower_bound += space.lower_bound;
      out_.live_at_peak += space.live_at_peak;
      out_.is_proven = out_.is_proven && space.is_proven;
      if (space.bytes > highest->bytes) {
        highest = &space;
      }
    }
    for (const Call& call : program_.calls) {
      out_.largest_scratch = std::max(out_.largest_scratch, call.scratch);
    }
    out_.peak_call = highest->peak_call;
    if (out_.peak_call < program_.calls.size()) {
      const Call& call = program_.calls[out_.peak_call];
      out_.peak_op = call.name;
      out_.peak_layer = owner_path(program_, call.owner);
      out_.peak_site = call.site;
    }
  }

  void add_peak() {
    out_.at_peak.reserve(plan_.at_peak.size());
    for (const Live& live : plan_.at_peak) {
      PeakLine& line = out_.at_peak.emplace_back();
      line.bytes = live.bytes;
      line.value = live.value;
      if (live.call < program_.calls.size()) {
        const Call& call = program_.calls[live.call];
        line.op = call.name;
        line.layer = owner_path(program_, call.owner);
      }
      line.category = live.category;
      line.site = live.site;
      out_.arena_by_category[static_cast<std::size_t>(live.category)] +=
          live.bytes;
      out_.workspace += live.value == kNoValue ? live.bytes : 0;
    }
    for (const PeakLine& line : out_.at_peak) {
      shares_.push_back({line.layer, 0, line.bytes});
    }
  }

  void join_layers() {
    std::sort(shares_.begin(), shares_.end(),
              [](const Share& a, const Share& b) { return a.layer < b.layer; });
    for (const Share& share : shares_) {
      if (out_.by_layer.empty() || out_.by_layer.back().layer != share.layer) {
        out_.by_layer.emplace_back().layer = share.layer;
      }
      out_.by_layer.back().persistent += share.persistent;
      out_.by_layer.back().at_peak += share.at_peak;
    }
  }

  const Program& program_;
  const Plan& plan_;
  Prediction out_;
  memory::Vector<Share> shares_;
};

}  // namespace

std::string_view layer_of(std::string_view path, Category category) noexcept {
  if (!is_named(category)) {
    return path;
  }
  const std::size_t dot = path.rfind('.');
  return dot == std::string_view::npos ? std::string_view()
                                       : path.substr(0, dot);
}

Bytes Prediction::peak_of(Category category) const noexcept {
  const auto c = static_cast<std::size_t>(category);
  return persistent_by_category[c] + arena_by_category[c];
}

void list_persistent(const Program& program, const Plan& plan,
                     base::FunctionRef<void(const Persistent&)> tell) {
  for (const Value& value : program.values) {
    if (value.origin == Origin::kExternal) {
      const Counted what = counted(program, value);
      tell({what.category, what.owner, what.bytes,
            program.externals[value.index].is_constant});
    }
  }
  // By the value that is in it in the end: a gradient, a kept result.
  memory::Vector<std::uint8_t> is_told(plan.lifetimes.buffers.size(), 0);
  const auto tell_own = [&](ValueId id, Category category) {
    const BufferId buffer = plan.lifetimes.buffer_of[id.value];
    const Buffer& block = plan.lifetimes.at(buffer);
    if (block.where == Where::kOwn && is_told[buffer.value]++ == 0) {
      tell(
          {category, owner_path(program, program[id].spec->owner), block.size});
    }
  };
  for (const LeafGrad& grad : program.grads) {
    if (grad.is_set && grad.last.value != kNoValue) {
      tell_own(grad.last.value, Category::kGradients);
    }
  }
  for (const Result& result : program.results) {
    tell_own(result.operand.value,
             program[result.operand.value].spec->category);
  }
}

Prediction predict(const Program& program, const Plan& plan) {
  return Predictor(program, plan).run();
}

}  // namespace neap::compiler
