// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/recorder.hpp"

#include "neap/base/raise.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::graph {

void dispatch(const Op& op, std::span<const Operand> inputs, const Attrs& attrs,
              const CallSite& site, std::span<Tensor> outputs) {
  for (const Operand& input : inputs) {
    if (input.is_number()) {
      base::raise<DTypeError>("{}: a plain number, expected a tensor", op.name);
    }
  }
  const base::SiteId outer = memory::thread_context().site;
  const base::SiteId where = outer.value != 0 ? outer : base::intern(site);
  Recorder* recorder = tensor::thread_execution().recorder;
  (recorder != nullptr ? *recorder : eager())
      .record({op, inputs, attrs, where}, outputs);
}

Tensor apply(const Op& op, std::initializer_list<Operand> inputs,
             const Attrs& attrs) {
  Tensor output;
  dispatch(op, std::span(inputs.begin(), inputs.size()), attrs,
           inputs.begin()->site(), std::span(&output, 1));
  return output;
}

}  // namespace neap::graph
