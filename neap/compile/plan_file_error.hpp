// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PlanFileError: a plan file that is damaged, or not of this step, these
// options or these limits; the message names it and says what to do.
#pragma once

#include "neap/base/error.hpp"

namespace neap {

/// A plan file (CompileOptions::plan) that is damaged or was written for
/// something else.
class NEAP_API PlanFileError : public PlanError {
  using PlanError::PlanError;
};

}  // namespace neap
