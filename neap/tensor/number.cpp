// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/number.hpp"

#include "neap/base/raise.hpp"

namespace neap::tensor {
namespace {

template <class Integer>
[[noreturn]] void refuse(Integer number, const CallSite& site) {
  base::raise<ValueError>(
      "number: at {} numbers are taken as doubles, and no double is {}; make a "
      "tensor of it with from_span()",
      base::format_site(base::intern(site)), number);
}

}  // namespace

void refuse_number(std::int64_t number, const CallSite& site) {
  refuse(number, site);
}

void refuse_number(std::uint64_t number, const CallSite& site) {
  refuse(number, site);
}

}  // namespace neap::tensor
