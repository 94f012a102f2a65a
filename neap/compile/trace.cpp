// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/trace.hpp"

#include "neap/base/raise.hpp"
#include "neap/compile/tracer.hpp"

namespace neap::compiler {

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
    tracer.finish(results);
  }
  tracer.settle();
  return tracer.take();
}

}  // namespace neap::compiler
