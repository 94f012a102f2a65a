// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/trace.hpp"

#include "neap/base/raise.hpp"
#include "neap/compile/tracer.hpp"

namespace neap::compiler {

namespace {

void check_leaves(std::span<const Tensor> arguments, base::SiteId where) {
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].defined() && arguments[i].link()) {
      base::raise<TraceError>(
          "requires_grad_: the step traced at {} makes argument {} a leaf, "
          "which "
          "a run would not do again; let it use detach() of the argument",
          base::format_site(where), i);
    }
  }
}

}  // namespace

Program trace(Step step, std::span<const tensor::Spec> arguments,
              CallSite site) {
  return trace(step, arguments, {}, site);
}

Program trace(Step step, std::span<const tensor::Spec> arguments,
              std::span<const Tensor> given, CallSite site) {
  const memory::Context& context = memory::context();
  const base::SiteId where =
      context.site.value != 0 ? context.site : base::intern(site);
  if (context.trace != nullptr || context.recorder != nullptr) {
    base::raise<TraceError>(
        "trace: at {} inside {}, where no other can begin; call the plain "
        "function there",
        base::format_site(where),
        context.trace != nullptr ? "a step that is being traced"
                                 : "jvp or a rematerialised segment");
  }
  Tracer tracer(where);
  const Tracer::Hearing hear(tracer);
  {
    const memory::Vector<Tensor> in = tracer.add_arguments(arguments, given);
    memory::Vector<Tensor> results;
    tracer.run([&] { step(in, results); });
    check_leaves(in, where);
    tracer.finish(results);
  }
  tracer.settle();
  return tracer.take();
}

}  // namespace neap::compiler
