// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/recorder.hpp"

#include "neap/base/raise.hpp"

namespace neap::graph {
namespace {

template <class Integer>
double exact(Integer number, const CallSite& site) {
  const auto converted = static_cast<double>(number);
  constexpr double kEnd = std::is_signed_v<Integer> ? 0x1p63 : 0x1p64;
  if (converted >= kEnd || static_cast<Integer>(converted) != number) {
    base::raise<ValueError>(
        "operand: at {} ops take numbers as doubles, and no double is {}; make "
        "a tensor of it with from_span()",
        base::format_site(base::intern(site)), number);
  }
  return converted;
}

}  // namespace

double exact_number(std::int64_t number, const CallSite& site) {
  return exact(number, site);
}

double exact_number(std::uint64_t number, const CallSite& site) {
  return exact(number, site);
}

void dispatch(const Op& op, std::span<const Operand> inputs, const Attrs& attrs,
              const CallSite& site, std::span<Tensor> outputs) {
  for (const Operand& input : inputs) {
    if (input.is_number()) {
      base::raise<DTypeError>("{}: a plain number, expected a tensor", op.name);
    }
  }
  const memory::Context& context = memory::context();
  const base::SiteId where =
      context.site.value != 0 ? context.site : base::intern(site);
  Recorder& recorder =
      context.recorder != nullptr ? *context.recorder : eager();
  recorder.record({op, inputs, attrs, where}, outputs);
}

Tensor apply(const Op& op, std::initializer_list<Operand> inputs,
             const Attrs& attrs) {
  Tensor output;
  dispatch(op, std::span(inputs.begin(), inputs.size()), attrs,
           inputs.begin()->site(), std::span(&output, 1));
  return output;
}

}  // namespace neap::graph
