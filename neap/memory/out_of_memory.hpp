// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The error of a request that cannot be met. It carries all numbers inline (no
// heap: there may be none left). The request changed nothing.
#pragma once

#include <array>

#include "neap/base/bytes.hpp"
#include "neap/base/error.hpp"
#include "neap/memory/tag.hpp"

namespace neap {

class NEAP_API OutOfMemory : public Error {
 public:
  enum class Reason {
    kBudget,    // it would exceed the domain's budget
    kSystem,    // the system refuses
    kInjected,  // the fault switch (Domain::fail_at)
    kArena,     // it does not fit its arena; live, held: of the arena
  };

  struct Holder {
    std::array<char, 64> owner{};  // path, cut to fit, NUL-terminated
    memory::Category category{};
    Bytes bytes = 0;  // live
  };

  struct Details {
    Reason reason{};
    std::array<char, 64> owner{};  // path of the request, as in Holder
    memory::Tag tag{};             // tag of the request
    Bytes requested = 0;           // bytes asked for, before rounding
    Bytes live = 0;
    Bytes held = 0;
    Bytes external = 0;
    Bytes peak = 0;                   // highest held
    Bytes budget = kUnlimited;        // bounds held + external
    std::array<Holder, 5> holders{};  // largest live owners first; 0 B: none
  };

  explicit OutOfMemory(const Details& details) noexcept;
  const Details& details() const noexcept { return details_; }

 private:
  Details details_;
};

}  // namespace neap
