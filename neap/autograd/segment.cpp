// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/segment.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "neap/autograd/segment_recorders.hpp"
#include "neap/autograd/walk.hpp"
#include "neap/base/raise.hpp"
#include "neap/graph/rules.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::autograd {

using base::raise;
using graph::Op;
using graph::OpCall;
using memory::Category;

namespace {

// The result of the function that each output of the segment's node is.
using Outputs = std::array<std::uint16_t, graph::kMaxOutputs>;

/// The tensors that a call keeps beside its operands, the node's inputs: the
/// inputs, the captured tensors, the kept results, in this order.
struct Recall final : memory::Counted<Recall> {
  struct Parts {
    base::Ref<SegmentFunction> function;
    base::DrawKey draws;    // of the generator, where the function began
    Precision precision{};  // of products there
    Category category{};
    base::SiteId site{};
    Fingerprint fingerprint;
    tensor::MadeBetween made;  // by the forward, in its thread
    std::size_t inputs = 0;
    memory::Vector<Place> places;
    memory::Vector<std::uint32_t> kept_calls;
    std::size_t results = 0;
    std::size_t output_count = 0;
    Outputs outputs{};
  };
  explicit Recall(Parts made) noexcept : parts(std::move(made)) {}
  Parts parts;
};

struct SegmentAttrs {
  Recall* recall;  // counted by the hooks below
};

void copy_attrs(void* to, const void* from) noexcept {
  const auto& attrs = *static_cast<const SegmentAttrs*>(from);
  attrs.recall->acquire();
  ::new (to) SegmentAttrs(attrs);
}

void drop_attrs(void* attrs) noexcept {
  static_cast<SegmentAttrs*>(attrs)->recall->release();
}

void segment_vjp(graph::VjpContext& context);

constexpr Op segment_op(int outputs) {
  Op op{.name = "rematerialised",
        .formula = "what its function returns, recomputed in the backward",
        .outputs = outputs,
        .vjp = segment_vjp,
        .copy_attrs = copy_attrs,
        .drop_attrs = drop_attrs};
  op.facts.vjp_reads.fill({.inputs = ~0U});
  return op;
}

const std::array<Op, graph::kMaxOutputs> kSegments = {
    segment_op(1), segment_op(2), segment_op(3), segment_op(4)};

// A value once more, so that a graph of the backward can be told from the one
// that it hangs on.
const Op kStandIn{
    .name = "stand_in",
    .formula = "y = x",
    .vjp = [](graph::VjpContext& c) { c.set(0, c.take_cotangent()); },
    .facts = {}};

// The recorder that ops of this thread go to is a replayer that nothing but
// the eager one or a trace's follows, or it is one of those.
bool may_watch(Replayer** outer) {
  graph::Recorder* recorder = tensor::thread_execution().recorder;
  *outer = dynamic_cast<Replayer*>(recorder);
  return recorder == nullptr || recorder == &graph::base_recorder() ||
         (*outer != nullptr && (*outer)->is_at_base());
}

base::SiteId current_or(base::SiteId site) noexcept {
  const base::SiteId outer = memory::thread_context().site;
  return outer.value != 0 ? outer : site;
}

// The place of what a function makes in its forward; nothing can be
// differentiated there.
base::Ref<tensor::GraphLink> make_marker(base::SiteId site) {
  const Op& op = graph::kInsideSegment;
  auto node = graph::Node::create_retired(
      op, site, graph::State::kConsumed,
      {.op = &op, .recorded = site, .at = site}, memory::domain());
  return base::Ref<tensor::GraphLink>::adopt(node.leak());
}

}  // namespace

void refuse_moved_segment() {
  raise<UseAfterRelease>("rematerialise: segment used after it was moved from");
}

// --- forward ---------------------------------------------------------------

struct SegmentRun::Impl {
  Impl(SegmentFunction& called, std::span<const Tensor> given, Keep keep,
       base::SiteId where, Replayer* outer)
      : function(base::Ref<SegmentFunction>::share(&called)),
        generator(&tensor::generator()),
        draws(generator->key()),
        site(current_or(where)),
        watcher(make_marker(site), outer, keep),
        inputs(given.size()) {
    for (const Tensor& input : given) {
      const Tensor& known = outer != nullptr ? outer->translated(input) : input;
      watcher.add_operand(known, Place::of(input));
    }
    recorder.emplace(&watcher);
  }

  base::Ref<SegmentFunction> function;
  Generator* generator;
  base::DrawKey draws;
  base::SiteId site;
  Watcher watcher;
  std::size_t inputs;
  bool is_finished = false;
  std::optional<graph::UseRecorder> recorder;
};

SegmentRun::SegmentRun(SegmentFunction& function,
                       std::span<const Tensor> inputs, Keep keep,
                       base::SiteId site) {
  Replayer* outer = nullptr;
  if (tensor::thread_execution().grad_enabled && may_watch(&outer)) {
    impl_ = memory::make_owned<Impl>(Category::kGraph, function, inputs, keep,
                                     site, outer);
  }
}

SegmentRun::~SegmentRun() {
  if (impl_ && !impl_->is_finished) {
    impl_->recorder.reset();
    impl_->generator->set_key(impl_->draws);
  }
}

// The outputs of the node are the results that the function made, each once;
// an input or a captured tensor that it gives back stays what it is.
void SegmentRun::finish(std::span<Tensor> results) {
  Impl& run = *impl_;
  run.recorder.reset();
  Watcher& seen = run.watcher;
  std::array<Tensor, graph::kMaxOutputs> made;
  std::size_t count = 0;
  Recall::Parts parts{.function = run.function,
                      .draws = run.draws,
                      .precision = current_precision(),
                      .category = memory::thread_context().category,
                      .site = memory::thread_context().site,
                      .fingerprint = seen.fingerprint,
                      .made = seen.fingerprint.made(),
                      .inputs = run.inputs,
                      .places = std::move(seen.places),
                      .kept_calls = std::move(seen.kept_calls),
                      .results = results.size()};
  for (std::size_t i = 0; i < results.size(); ++i) {
    const auto is_same = [&](const Tensor& other) {
      return other.shared().get() == results[i].shared().get();
    };
    if (!seen.is_marked(results[i]) ||
        std::any_of(made.begin(), made.begin() + count, is_same)) {
      continue;
    }
    if (count == made.size()) {
      raise<ValueError>(
          "rematerialise: the function gives more than {} results that depend "
          "on what requires grad",
          made.size());
    }
    parts.outputs[count] = static_cast<std::uint16_t>(i);
    made[count++] = results[i];
  }
  parts.output_count = count;
  if (count != 0) {
    const memory::Tag tag = memory::current_tag(Category::kGraph, run.site);
    const auto recall =
        Recall::create(memory::domain(), tag, 0, std::move(parts));
    const SegmentAttrs attrs{recall.get()};
    const memory::ContextGuard guard(
        [](memory::Context& c) { c.scope = nullptr; });
    const memory::Vector<Tensor> kept(seen.kept.begin(), seen.kept.end());
    memory::Vector<Operand> operands(seen.operands.begin(),
                                     seen.operands.end());
    operands.insert(operands.end(), kept.begin(), kept.end());
    graph::record_result({kSegments[count - 1], operands, attrs, run.site},
                         std::span(made).first(count));
  }
  run.is_finished = true;
}

// --- backward --------------------------------------------------------------

namespace {

// The first operand that is the same tensor as operand i: its cotangent is that
// of both. Captured tensors are different from all before them.
std::size_t first_of(const Recall::Parts& recall, std::size_t i) noexcept {
  if (i >= recall.inputs || recall.places[i].link == nullptr) {
    return i;
  }
  const auto found = std::find(
      recall.places.begin(),
      recall.places.begin() + static_cast<std::ptrdiff_t>(i), recall.places[i]);
  return static_cast<std::size_t>(found - recall.places.begin());
}

// The operands of a segment in its second run: leaves, where the walk of the
// graph that it makes ends; or, where the derivative is to be recorded itself,
// the same tensors once more, on the graph.
memory::Vector<Tensor> stand_ins_for(const graph::VjpContext& c,
                                     const Recall::Parts& recall,
                                     bool is_recorded) {
  const std::size_t count = recall.places.size();
  memory::Vector<Tensor> out;
  out.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (const std::size_t first = first_of(recall, i); first != i) {
      out.push_back(out[first]);
      continue;
    }
    const Tensor value = c.input(static_cast<int>(i));
    Tensor own(value.array());
    if (is_recorded) {
      const Operand operand(value);
      graph::record_result({kStandIn, std::span(&operand, 1), {}, {}},
                           std::span(&own, 1));
    } else if (c.needs(static_cast<int>(i))) {
      own = requires_grad_(std::move(own));
    }
    out.push_back(std::move(own));
  }
  return out;
}

// Runs the function again, recorded, and gives its results.
memory::Vector<Tensor> run_again(
    const Recall::Parts& recall, const memory::Vector<Tensor>& stand_ins,
    std::span<const base::Ref<tensor::Array>> kept) {
  graph::Recorder* outer = tensor::thread_execution().recorder;
  Replayer replayer(outer != nullptr ? *outer : graph::eager(), recall.made,
                    recall.kept_calls, kept);
  for (std::size_t i = 0; i < stand_ins.size(); ++i) {
    replayer.replace(recall.places[i], stand_ins[i]);
  }
  Generator generator;
  generator.set_key(recall.draws);
  memory::Vector<Tensor> results;
  {
    const tensor::ExecutionGuard guard([&](tensor::Execution& c) {
      c.recorder = &replayer;
      c.generator = &generator;
    });
    const graph::AnewSegment anew;
    const UsePrecision precision(recall.precision);
    recall.function->call(std::span(stand_ins).first(recall.inputs), results);
  }
  if (!(replayer.fingerprint == recall.fingerprint) ||
      results.size() != recall.results) {
    raise<GraphError>(
        "rematerialise: the function did other things when it ran again than "
        "in its forward, or a value that it uses was overwritten since, or is "
        "another tensor now (a captured handle that was rebound)");
  }
  return results;
}

// Seeds the results that depend on a stand-in, on the local graph.
void seed_results(Walk& walk, graph::VjpContext& c,
                  const memory::Vector<Tensor>& roots,
                  const memory::Vector<int>& outputs) {
  for (std::size_t r = 0; r < outputs.size(); ++r) {
    walk.seed(roots[r], c.take_cotangent(outputs[r]));
  }
}

void segment_vjp(graph::VjpContext& c) {
  const bool is_recorded = tensor::thread_execution().grad_enabled;
  const Recall::Parts& recall = c.attrs<SegmentAttrs>().recall->parts;
  const std::size_t operands = recall.places.size();
  memory::Vector<Tensor> roots;
  memory::Vector<int> outputs;
  memory::Vector<Tensor> targets;
  memory::Vector<int> wanted;
  {
    const memory::ContextGuard guard([&](memory::Context& context) {
      context.category = recall.category;
      context.site = recall.site;
      context.scope = nullptr;
    });
    const EnableGrad records;
    const auto stand_ins = stand_ins_for(c, recall, is_recorded);
    memory::Vector<base::Ref<tensor::Array>> kept;
    for (int i = static_cast<int>(operands); i < c.inputs(); ++i) {
      kept.push_back(c.input(i).array());
    }
    const auto results = run_again(recall, stand_ins, kept);
    for (int k = 0; k < static_cast<int>(recall.output_count); ++k) {
      const Tensor& result =
          results[recall.outputs[static_cast<std::size_t>(k)]];
      if (c.cotangent(k).defined() && result.requires_grad()) {
        roots.push_back(result);
        outputs.push_back(k);
      }
    }
    for (std::size_t i = 0; i < operands; ++i) {
      if (c.needs(static_cast<int>(i)) && first_of(recall, i) == i) {
        targets.push_back(stand_ins[i]);
        wanted.push_back(static_cast<int>(i));
      }
    }
  }
  if (roots.empty()) {
    return;
  }
  // Sums go on where the outer walk left them, so that they have its order.
  roots.insert(roots.end(), targets.begin(), targets.end());
  Walk walk(roots, targets, {is_recorded, is_recorded},
            memory::thread_context().site);
  for (std::size_t t = 0; t < targets.size(); ++t) {
    if (Tensor sum = c.take_sum(wanted[t]); sum.defined()) {
      walk.seed(targets[t], std::move(sum));
    }
  }
  seed_results(walk, c, roots, outputs);
  roots.clear();
  walk.run();
  for (std::size_t t = 0; t < targets.size(); ++t) {
    c.set(wanted[t], walk.take_target(t));
  }
}

}  // namespace

}  // namespace neap::autograd
