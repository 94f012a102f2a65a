// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Foreign texts in the reports' formats: names of layers and files, which
// whoever wrote the program chose. Escaped, they are what they were and nothing
// more: no markup, no new line of a table, no command to a terminal. Bytes that
// are not UTF-8 become U+FFFD where the format asks for UTF-8.
#pragma once

#include <cstddef>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::report {

/// The text as UTF-8.
void append_utf8(memory::String& out, std::string_view text);
/// A JSON string, in quotes.
void append_json(memory::String& out, std::string_view text);
/// Characters of an XML text or attribute; controls are blanks.
void append_xml(memory::String& out, std::string_view text);
/// Part of a line or cell of a Markdown page: nothing in it is markup.
void append_markdown(memory::String& out, std::string_view text);
/// A frame of a folded stack: it has no semicolon and no line end, and an empty
/// text has a name.
void append_frame(memory::String& out, std::string_view text);

/// The text for a terminal, at most `width` bytes: long ones lose their middle,
/// since the ends tell layers apart. REQUIRES: width > 3.
memory::String fit_name(std::string_view text, std::size_t width);

/// "+2 097 152", "-64" or "0"; without the plus where it is no change.
memory::String signed_grouped(Bytes bytes, bool is_change = true);
/// "+2.0 MiB", "-64 B" or "0 B".
memory::String signed_short(Bytes bytes, bool is_change = true);

}  // namespace neap::report
