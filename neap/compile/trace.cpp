// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/trace.hpp"

#include "neap/base/raise.hpp"
#include "neap/compile/tracer.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {

namespace {

void check_leaves(std::span<const Tensor> arguments, base::SiteId where) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].defined() && arguments[i].link()) {
      base::raise<TraceError>(
          "requires_grad_: the step traced at {} makes argument {} a leaf, "
          "which a run would not repeat; let it use detach() of the argument",
          base::format_site(where), i);
    }
  }
}

// A stand-in moves in place of the argument.
void check_scopes(std::span<const Tensor> arguments,
                  std::span<const ArgumentPlace> places, base::SiteId where) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const bool is_there = arguments[i].defined();
    const memory::Scope* scope = places[i] != ArgumentPlace::kInside
                                     ? nullptr
                                     : memory::Scope::innermost();
    if (!is_there || memory::Scope::of(arguments[i].scope_member()) != scope ||
        (scope != nullptr && scope->keeps(arguments[i].scope_member()))) {
      base::raise<TraceError>(
          "scope: the step traced at {} {} argument {}, which a run would not "
          "do; do it outside",
          base::format_site(where), is_there ? "moves" : "releases", i);
    }
  }
}

}  // namespace

ArgumentPlace place_of(const GivenArguments& given, std::size_t i) {
  if (i >= given.tensors.size() || given.is_number(i)) {
    return ArgumentPlace::kInside;
  }
  const memory::Scope* scope =
      memory::Scope::of(given.tensors[i].scope_member());
  if (scope == memory::Scope::innermost()) {
    return ArgumentPlace::kInside;
  }
  return scope == nullptr ? ArgumentPlace::kNowhere : ArgumentPlace::kElsewhere;
}

Program trace(Step step, std::span<const tensor::Spec> arguments,
              CallSite site) {
  return trace(step, GivenArguments{arguments}, site);
}

Program trace(Step step, const GivenArguments& given, CallSite site) {
  const base::SiteId outer = memory::thread_context().site;
  const base::SiteId where = outer.value != 0 ? outer : base::intern(site);
  const tensor::Execution& execution = tensor::thread_execution();
  if (execution.trace != nullptr || execution.recorder != nullptr) {
    base::raise<TraceError>(
        "trace: at {} a trace would begin inside {}, where none can; call the "
        "plain function there",
        base::format_site(where),
        execution.trace != nullptr ? "a step that is being traced"
                                   : "jvp or a rematerialised segment");
  }
  Tracer tracer(where, given.is_state_late);
  const Tracer::Hearing hear(tracer);
  {
    const memory::Vector<Tensor> in = tracer.add_arguments(given);
    memory::Vector<Tensor> results;
    try {
      tracer.run([&] { step(in, results); });
    } catch (const UseAfterRelease&) {
      check_scopes(in, tracer.places(), where);  // an argument's may be why
      tracer.rethrow_failure();
      throw;
    }
    check_scopes(in, tracer.places(), where);
    check_leaves(in, where);
    tracer.finish(results);
  }
  tracer.settle();
  return tracer.take();
}

}  // namespace neap::compiler
