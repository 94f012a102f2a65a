// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sizes of memory as people write them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "neap/base/bytes.hpp"

namespace neap::app {

/// Bytes above 0 of a number and a unit, in capitals or not: KiB, MiB, GiB, TiB
/// and K, M, G, T are powers of 1024, KB, MB, GB, TB powers of 1000, B is
/// bytes. With a unit above B the number may have a fraction (1.5GiB). Without
/// a unit it is bytes. Nothing where the text is something else, or 64 bits do
/// not hold it.
std::optional<Bytes> parse_bytes(std::string_view text) noexcept;

/// The same for the budget of a process: a small number without a unit is asked
/// about. RETURNS: empty, or what is expected in the text's place.
std::string read_budget(std::string_view text, Bytes& budget);

}  // namespace neap::app
