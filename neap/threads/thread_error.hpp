// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The error of a thread that the system does not start: the limits of the user
// or of the machine are reached, or there is no memory for its stack.
#pragma once

#include "neap/base/error.hpp"

namespace neap {

class NEAP_API ThreadError : public Error {
  using Error::Error;
};

}  // namespace neap
