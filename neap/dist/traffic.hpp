// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The traffic of a rank in a compiled step, and its time by a model of the
// network: LogGP (Alexandrov, Ionescu, Schauser and Scheiman, "LogGP:
// incorporating long messages into the LogP model", 1995). Known from the
// program alone, for any number of ranks and without an engine.
//
// Two ranks that swap a bytes in k messages each way take
//
//   latency + 2 overhead + max(a / rate, 2 (k - 1) overhead)
//
// and an exchange is such swaps one after the other (exchange.hpp). Ranks are
// taken to be one on each link, and to arrive at once.
#pragma once

#include <cstdint>

#include "neap/base/bytes.hpp"
#include "neap/program/program.hpp"

namespace neap::dist {

struct Network {
  double latency = 0.0;   // seconds of a message on its way
  double overhead = 0.0;  // of a processor, for sending or receiving one
  double rate = 0.0;      // bytes a second of a link, each way
};

/// One rank, in one run of a step.
struct Traffic {
  double seconds = 0.0;
  double least_seconds = 0.0;  // of `least` at the link's rate
  Bytes sent = 0;
  Bytes received = 0;
  std::int64_t sends = 0;  // messages
  std::int64_t receives = 0;
  /// The fewest bytes that a rank can send for the same sums and rows: 2 (R -
  /// 1) / R of a sum, (R - 1) / R of rows that all ranks need. What one rank
  /// hands on costs (R - 1) / R of it on the average of all ranks.
  Bytes least = 0;
};

/// Eight-byte comparisons between the ranks with which a run begins
/// (program/ranks.hpp).
inline constexpr int kComparisonsOfRun = 3;

/// The exchanges of a program of several ranks, and `comparisons` beside them;
/// nothing for a program of one. REQUIRES: the network's rate is positive.
NEAP_API Traffic traffic_of(const compiler::Program& program,
                            const Network& network,
                            int comparisons = kComparisonsOfRun);

}  // namespace neap::dist
