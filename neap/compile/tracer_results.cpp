// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The end of a trace: what the step gives to its caller, to handle objects and
// to leaves.
#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/compile/tracer.hpp"
#include "neap/graph/node.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::compiler {

using base::raise;

namespace {

// True if the graph that computed a result is not consumed: nothing of it may
// outlive the trace.
bool has_live_graph(const Tensor& tensor) {
  const auto& link = tensor.link();
  return link && !link->is_leaf() &&
         static_cast<const graph::Node&>(*link).state() ==
             graph::State::kAvailable;
}

}  // namespace

void Tracer::finish(std::span<const Tensor> results) {
  ++inside_;  // what happens to handles from here on is the tracer's doing
  rethrow_failure();
  const base::DrawKey& last = generator_.key();
  if (last.seed != kTraceSeed) {
    raise<TraceError>(
        "seed: the step traced at {} sets the generator's seed, which each run "
        "would repeat; call it outside",
        base::format_site(site_));
  }
  program_.draws = last.draw - program_.first_draw.draw;
  program_.handed = static_cast<std::uint32_t>(results.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!results[i].defined()) {
      raise<TraceError>(
          "trace: result {} of the step traced at {} is undefined", i,
          base::format_site(site_));
    }
    add_result(results[i], /*is_kept=*/false);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!has_live_graph(results[i])) {
      link_result(results[i], static_cast<std::uint32_t>(i));
    }
  }
}

void Tracer::settle() {
  handles_.note_exits([this](const Tensor& now) { return exit_of(now); });
  leaves_.finish(program_, values_, site_, [this](const Tensor& gradient) {
    return own_copy(gradient, "grad");
  });
  for (Flag& flag : program_.flags) {
    flag.set_to = *flag.flag;
  }
  rethrow_failure();
  restore();
}

// A dense copy that the program makes in every run.
Operand Tracer::own_copy(const Tensor& tensor, std::string_view what) {
  const neap::Operand operand(tensor);
  Tensor apart;
  emit({ops::kCopy, std::span(&operand, 1), {}, site_},
       memory::Category::kActivations, std::span(&apart, 1));
  return values_.operand(apart, what, site_);
}

// A constant is the program's, and whoever gets a result may write into it. It
// is copied as a whole: results on one storage stay on one.
Operand Tracer::result_of(const Tensor& tensor) {
  const Operand operand = values_.operand(tensor, "trace", site_);
  if (!values_.is_constant(tensor)) {
    return operand;
  }
  copy_constant(tensor, site_);
  return values_.operand(tensor, "trace", site_);
}

// The scope of a handle that the step leaves, beside the one that is open
// around the call.
ResultScope Tracer::scope_of(const Tensor& result) {
  const memory::Scope* current = memory::Scope::innermost();
  const memory::ScopeMember& member = result.scope_member();
  if (current == nullptr) {  // within one, its place would show
    const bool was_moved = std::ranges::find(left_, &member) != left_.end();
    program_.asks_scopes = program_.asks_scopes || was_moved;
    if (!was_moved && member.is_outside_scopes) {
      if (!memory::thread_context().is_outside_scopes) {
        return ResultScope::kNone;
      }
      program_.asks_scopes = true;  // the caller is, and perhaps the step
    }
  }
  const memory::Scope* scope = memory::Scope::of(member);
  if (current == nullptr || scope == current) {
    return current != nullptr && current->keeps(member)
               ? ResultScope::kCallersKept
               : ResultScope::kCallers;
  }
  if (scope != nullptr && result.shared()->is_of_trace()) {
    raise<TraceError>(
        "scope: the step traced at {} moves a tensor to the scope at {}, which "
        "a run would not repeat; return it, and move it outside",
        base::format_site(site_), base::format_site(scope->opened_at()));
  }
  return ResultScope::kNone;
}

// Adds the result that a handle which outlives the step has after a run.
std::uint32_t Tracer::exit_of(const Tensor& now) {
  const Operand operand = result_of(now);
  const base::SiteId made = program_[operand.value].site;
  if (now.array()->has_tangents()) {
    raise<TraceError>(
        "trace: a tensor created at {} outlives the step in a handle, and "
        "forward mode carries a derivative of it; keep the result of detach()",
        base::format_site(made));
  }
  const bool is_leaf_of_step = now.link() && now.link()->is_leaf() &&
                               StandIn::of(*now.array()->storage()) != nullptr;
  if (has_live_graph(now) || is_leaf_of_step) {
    raise<TraceError>(
        "trace: a tensor created at {} outlives the step in a handle, with the "
        "graph that it was recorded on, which no run could continue; keep the "
        "result of detach()",
        base::format_site(made));
  }
  const std::uint32_t at = add_result(now, /*is_kept=*/true);
  link_result(now, at);
  return at;
}

std::uint32_t Tracer::add_result(const Tensor& tensor, bool is_kept) {
  const auto at = static_cast<std::uint32_t>(program_.results.size());
  program_.results.push_back({result_of(tensor), is_kept, scope_of(tensor)});
  given_.note(program_, at, tensor);
  return at;
}

// The place on the graph stays the same in every run: a leaf's, or that of a
// node which is consumed. A gradient that was retained there is a result, too.
void Tracer::link_result(const Tensor& tensor, std::uint32_t result) {
  const auto& link = tensor.link();
  const bool is_of_trace = StandIn::of(*tensor.array()->storage()) != nullptr;
  if (!link || link->is_leaf() == is_of_trace) {
    return;
  }
  ResultLink place{
      .result = result, .link = link, .output = tensor.output_index()};
  auto& places = program_.result_links;
  const auto same = std::ranges::find_if(places, [&](const ResultLink& known) {
    return known.link == link && known.output == place.output;
  });
  if (same != places.end()) {
    place.link = nullptr;
    place.same_as = static_cast<std::uint32_t>(same - places.begin());
  } else if (is_of_trace) {
    const Tensor gradient = link->grad(place.output);
    if (!gradient.defined()) {
      return;
    }
    place.grad = static_cast<std::uint32_t>(program_.results.size());
    program_.results.push_back(
        {own_copy(gradient, "grad"), true, ResultScope::kNone});
    auto& node = static_cast<graph::Node&>(*link);
    node.extras()->set_kept_grad(place.output, {});
  }
  places.push_back(std::move(place));
}

void Tracer::check_kept() const {
  const Tensor* handle = handles_.first_kept();
  const StandIn* kept = values_.first_kept();
  if (handle == nullptr && kept == nullptr && composites_ == 0) {
    return;
  }
  base::SiteId made = site_;
  std::string_view what =
      handle == nullptr ? "a composite" : "a captured tensor";
  if (kept != nullptr) {
    const Value& value = program_[kept->value()];
    made = value.site;
    what = value.origin == Origin::kCall && value.index < program_.calls.size()
               ? program_.calls[value.index].name
               : "an argument";
  }
  raise<TraceError>(
      "trace: at {} the step puts a tensor ({}) where it outlives the step (a "
      "container that grows, a new handle); a run would not repeat that. "
      "Return it, or assign it to a handle that existed before",
      base::format_site(made), what);
}

}  // namespace neap::compiler
