// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// NEAP_ASSERT states what only a bug in Neap can break. It is on in debug and
// in all sanitizer presets (NEAP_CHECKED), where it throws InternalError.
#pragma once

#include "neap/base/error.hpp"

#ifdef NEAP_CHECKED
#define NEAP_ASSERT(condition, message)     \
  do {                                      \
    if (!(condition)) {                     \
      throw ::neap::InternalError(message); \
    }                                       \
  } while (false)
#else
#define NEAP_ASSERT(condition, message) static_cast<void>(0)
#endif
