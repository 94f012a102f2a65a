// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/outside.hpp"

#include <utility>

#include "neap/base/raise.hpp"

namespace neap::base {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables): a guard's
constinit thread_local OutsideListener* outside_listener = nullptr;

}  // namespace

OutsideListener::~OutsideListener() = default;

OutsideListener* OutsideListener::current() noexcept {
  return outside_listener;
}

void tell_of_refusal(std::string_view message) noexcept {
  if (outside_listener != nullptr) {
    outside_listener->on_refusal(message);
  }
}

HearOutside::HearOutside(OutsideListener* listener) noexcept
    : outer_(std::exchange(outside_listener, listener)) {}

HearOutside::~HearOutside() {
  outside_listener = outer_;
}

}  // namespace neap::base
