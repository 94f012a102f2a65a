// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/dot.hpp"

#include <fmt/core.h>

#include <algorithm>

#include "neap/base/append.hpp"
#include "neap/base/bytes.hpp"
#include "neap/graph/dot_text.hpp"
#include "neap/graph/inspect_impl.hpp"

namespace neap::graph {
namespace {

class Drawer {
 public:
  Drawer(const Listing& listing, const ListOptions& options)
      : listing_(listing),
        shown_(std::min(listing.size(),
                        static_cast<std::size_t>(options.max_nodes))),
        shown_leaves_(std::min(listing.leaves().size(),
                               static_cast<std::size_t>(options.max_nodes))) {}

  std::string text() {
    out_ = "digraph neap {\n  rankdir=BT;\n  node [shape=box];\n";
    for (std::size_t i = 0; i < shown_; ++i) {
      add_node(i);
    }
    for (std::size_t i = 0; i < shown_leaves_; ++i) {
      add_leaf(i);
    }
    const std::size_t rest =
        listing_.size() - shown_ + listing_.leaves().size() - shown_leaves_;
    if (rest != 0) {
      add("  more [label=\"... and {} more\", shape=plaintext];\n",
          format_grouped(static_cast<std::int64_t>(rest)));
    }
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    base::append(out_, text, std::forward<Args>(args)...);
  }

  void add_node(std::size_t place) {
    const Node& node = listing_.node(place);
    const VertexInfo info = describe(node);
    add("  n{} [label=\"{}\\n{}\\n{} B", place + 1, quoted(info.op),
        quoted(base::format_site(info.site)), format_grouped(node.footprint()));
    if (!info.owner.empty()) {
      add("\\nin {}", quoted(info.owner));
    }
    if (node.state() != State::kAvailable) {
      add("\\n{}", name_of(standing_of(node)));
    }
    for (const Residual& residual : listing_.residuals(place)) {
      const ResidualInfo kept = describe(residual);
      add("\\nkeeps {}: {}{}", format_position(kept), format_value(kept),
          quoted(format_sharing(kept)));
    }
    out_ += "\"];\n";
    for (const Node::Source& input : listing_.sources(place)) {
      add_edge(input, place);
    }
  }

  void add_edge(const Node::Source& input, std::size_t to) {
    const Vertex* source = input.vertex();
    if (source == nullptr) {
      return;
    }
    const bool is_leaf = source->is_leaf();
    const std::size_t place =
        is_leaf ? listing_.place_of(static_cast<const Leaf&>(*source))
                : listing_.place_of(static_cast<const Node&>(*source));
    if (place >= (is_leaf ? shown_leaves_ : shown_)) {
      add("  more -> n{}", to + 1);
    } else {
      add("  {}{} -> n{}", is_leaf ? 'l' : 'n', place + 1, to + 1);
    }
    if (!is_leaf && static_cast<const Node&>(*source).outputs() > 1) {
      add(" [label=\"output {}\"]", input.output);
    }
    out_ += ";\n";
  }

  void add_leaf(std::size_t place) {
    const VertexInfo info = describe(*listing_.leaves()[place]);
    add("  l{} [label=\"{}\", shape=ellipse];\n", place + 1,
        quoted(info.owner.empty() ? base::format_site(info.site) : info.owner));
  }

  const Listing& listing_;
  std::size_t shown_;
  std::size_t shown_leaves_;
  std::string out_;
};

}  // namespace

std::string to_dot(const Tensor& t, const ListOptions& options) {
  check_look("to_dot", t);
  return Drawer(Listing(t), options).text();
}

}  // namespace neap::graph
