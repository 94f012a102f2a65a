// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The files of neap/report/page, joined when the library is built: the frame of
// the page, with marks where the rest comes, its style and its script.
#pragma once

#include <string_view>

namespace neap::report {

extern const std::string_view kPageFrame;
extern const std::string_view kPageStyle;
extern const std::string_view kPageScript;

}  // namespace neap::report
