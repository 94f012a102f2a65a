// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Errors between processes.
#pragma once

#include "neap/base/error.hpp"

namespace neap {

/// An engine, or the launcher that it comes from, does not do what it should.
class NEAP_API DistError : public Error {
  using Error::Error;
};

/// A rank has not answered within the deadline: it ended, stopped or hangs. The
/// group is of no use from then on; a run goes on from its last checkpoint.
class NEAP_API RankLost : public DistError {
  using DistError::DistError;
};

/// Ranks were started with different programs, shapes or options. Nothing has
/// been exchanged.
class NEAP_API RankMismatch : public DistError {
  using DistError::DistError;
};

}  // namespace neap
