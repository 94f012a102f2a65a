// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// How wide the terminal is that a stream goes to.
#pragma once

namespace neap::app {

/// Columns; 0 where the stream (a descriptor: 1, 2) goes to no terminal, or to
/// one that does not say.
int terminal_width(int stream) noexcept;

}  // namespace neap::app
