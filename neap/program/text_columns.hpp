// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TextColumns: a text table as long as a program; its memory comes from the
// allocator.
#pragma once

#include "neap/base/text_table.hpp"
#include "neap/memory/containers.hpp"

namespace neap::compiler {

struct DomainText {
  using String = memory::String;
  template <class T>
  using Vector = memory::Vector<T>;
};

using TextColumns = base::TextTable<DomainText>;

}  // namespace neap::compiler
