// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/dot.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/append.hpp"
#include "neap/base/bytes.hpp"
#include "neap/graph/dot_text.hpp"
#include "neap/program/print.hpp"

namespace neap::compiler {
namespace {

using graph::quoted;

class Drawer {
 public:
  Drawer(const Program& program, const DotOptions& options)
      : program_(program),
        shown_(static_cast<std::uint32_t>(
            std::min(static_cast<std::int64_t>(program.calls.size()),
                     options.max_calls))) {}

  memory::String text() {
    out_ = "digraph program {\n  node [shape=box];\n";
    for (std::uint32_t i = 0; i < shown_; ++i) {
      add_call(i, program_.calls[i]);
    }
    add_given();
    if (shown_ != program_.calls.size()) {
      add("  more [label=\"... and {} more calls\", shape=plaintext];\n",
          format_grouped(static_cast<std::int64_t>(program_.calls.size()) -
                         shown_));
    }
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    base::append(out_, text, std::forward<Args>(args)...);
  }

  void add_call(std::uint32_t i, const Call& call) {
    add("  c{} [label=\"{} {}", i, i, quoted(call.name));
    const std::string_view owner = owner_path(program_, call.owner);
    if (!owner.empty()) {
      add("\\nin {}", quoted(owner));
    }
    for (const Operand& out : program_.out(call)) {
      add("\\n%{} {} B", out.value.value,
          format_grouped(program_[out.value].size));
    }
    add("\\n{}\"];\n", quoted(base::format_site(call.site)));
    for (const Operand& in : program_.in(call)) {
      add("  {} -> c{} [label=\"%{} {}\"];\n", source_of(in.value), i,
          in.value.value, format_shape(in.layout->shape));
    }
    for (const Operand& out : program_.out(call)) {
      const ValueId over = program_[out.value].over;
      if (over != kNoValue) {
        add("  {} -> c{} [style=dotted];\n", source_of(over), i);
      }
    }
  }

  // Adds the values from outside that calls which are shown use.
  void add_given() {
    memory::Vector<std::uint8_t> is_named(program_.values.size(), 0);
    for (std::uint32_t i = 0; i < shown_; ++i) {
      const Call& call = program_.calls[i];
      for (const Operand& in : program_.in(call)) {
        is_named[in.value.value] = 1;
      }
      for (const Operand& out : program_.out(call)) {
        const ValueId over = program_[out.value].over;
        if (over != kNoValue) {
          is_named[over.value] = 1;
        }
      }
    }
    for (std::uint32_t v = 0; v < is_named.size(); ++v) {
      const Value& value = program_.values[v];
      if (is_named[v] == 0 || value.origin == Origin::kCall) {
        continue;
      }
      add("  v{} [label=\"%{} {}\\n{} B\", shape=ellipse];\n", v, v,
          quoted(name_of(value)), format_grouped(value.size));
    }
  }

  std::string name_of(const Value& value) const {
    if (value.origin == Origin::kArgument) {
      return fmt::format("argument {}", value.index);
    }
    const Counted what = counted(program_, value);
    return std::string(what.owner.empty() ? memory::name_of(what.category)
                                          : what.owner);
  }

  std::string source_of(ValueId id) const {
    const Value& value = program_[id];
    return value.origin == Origin::kCall ? fmt::format("c{}", value.index)
                                         : fmt::format("v{}", id.value);
  }

  const Program& program_;
  std::uint32_t shown_;
  memory::String out_;
};

}  // namespace

memory::String to_dot(const Program& program, const DotOptions& options) {
  return Drawer(program, options).text();
}

}  // namespace neap::compiler
