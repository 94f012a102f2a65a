// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/print.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "neap/base/append.hpp"
#include "neap/base/bytes.hpp"
#include "neap/graph/inspect_impl.hpp"

namespace neap::graph {
namespace {

constexpr std::size_t kMaxInputs = 8;     // written out for one node
constexpr std::size_t kMaxResiduals = 8;  // the same

std::string count_of(std::int64_t count, std::string_view word) {
  std::string_view ending = count == 1 ? "" : "s";
  if (word == "leaf" && count != 1) {
    word = "leave";
  }
  return fmt::format("{} {}{}", format_grouped(count), word, ending);
}

class Printer {
 public:
  Printer(const Listing& listing, const ListOptions& options)
      : listing_(listing),
        shown_(std::min(listing.size(),
                        static_cast<std::size_t>(options.max_nodes))),
        shown_leaves_(std::min(listing.leaves().size(),
                               static_cast<std::size_t>(options.max_nodes))) {}

  std::string text() {
    out_ = format(measure(listing_)) + '\n';
    for (std::size_t i = 0; i < shown_; ++i) {
      add_node(i);
    }
    add_rest(listing_.size() - shown_, "node");
    for (std::size_t i = 0; i < shown_leaves_; ++i) {
      add_leaf(i);
    }
    add_rest(listing_.leaves().size() - shown_leaves_, "leaf");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void add(fmt::format_string<Args...> text, Args&&... args) {
    base::append(out_, text, std::forward<Args>(args)...);
  }

  void add_rest(std::size_t count, std::string_view word) {
    if (count != 0) {
      add("... and {} more\n",
          count_of(static_cast<std::int64_t>(count), word));
    }
  }

  void add_node(std::size_t place) {
    const Node& node = listing_.node(place);
    const VertexInfo info = describe(node);
    add("#{} {} <-", place + 1, info.op);
    add_inputs(listing_.sources(place));
    if (!info.owner.empty()) {
      add("  in '{}'", info.owner);
    }
    add("  {}  {} B", base::format_site(info.site),
        format_grouped(node.footprint()));
    if (node.state() != State::kAvailable) {
      const Cause cause = node.cause();
      add("  {} by the {} at {}", name_of(standing_of(node)),
          cause.is_release ? "release" : "backward",
          base::format_site(cause.at));
    }
    out_ += '\n';
    add_residuals(place);
  }

  void add_inputs(std::span<const Node::Source> sources) {
    for (const Node::Source& source :
         sources.first(std::min(sources.size(), kMaxInputs))) {
      add_input(source);
    }
    if (sources.size() > kMaxInputs) {
      add(" ({} more)", sources.size() - kMaxInputs);
    }
  }

  void add_input(const Node::Source& source) {
    const Vertex* vertex = source.vertex();
    if (vertex == nullptr) {
      out_ += " -";
      return;
    }
    if (vertex->is_leaf()) {
      add(" L{}", 1 + listing_.place_of(static_cast<const Leaf&>(*vertex)));
      return;
    }
    const auto& made_by = static_cast<const Node&>(*vertex);
    const std::size_t place = listing_.place_of(made_by);
    if (place == listing_.size()) {
      out_ += " (retired)";
      return;
    }
    add(" #{}", 1 + place);
    if (made_by.outputs() > 1) {
      add(".{}", source.output);
    }
  }

  void add_residuals(std::size_t place) {
    const std::span<const Residual> all = listing_.residuals(place);
    for (const Residual& residual :
         all.first(std::min(all.size(), kMaxResiduals))) {
      const ResidualInfo info = describe(residual);
      add("     keeps {}: {}", format_position(info), format_value(info));
      const auto [first, is_new] =
          first_kept_.try_emplace(residual.array->storage().get(), place + 1);
      if (is_new) {
        out_ += format_sharing(info);
      } else {
        add(", the bytes kept by #{}", first->second);
      }
      out_ += info.is_stale ? ", overwritten since\n" : "\n";
    }
    if (all.size() > kMaxResiduals) {
      add("     keeps {} more\n", all.size() - kMaxResiduals);
    }
  }

  void add_leaf(std::size_t place) {
    const Leaf& leaf = *listing_.leaves()[place];
    const VertexInfo info = describe(leaf);
    add("L{} '{}'  {}  {} B{}\n", place + 1, info.owner,
        base::format_site(info.site),
        format_grouped(static_cast<Bytes>(sizeof(Leaf))),
        leaf.grad().defined() ? "  has a gradient" : "");
  }

  const Listing& listing_;
  std::size_t shown_;
  std::size_t shown_leaves_;
  std::string out_;
  // The number of the node that was the first to keep a storage.
  std::unordered_map<
      const tensor::Storage*, std::size_t, std::hash<const void*>,
      std::equal_to<>,
      memory::Allocator<std::pair<const tensor::Storage* const, std::size_t>>>
      first_kept_;
};

}  // namespace

std::string format_position(const ResidualInfo& residual) {
  return fmt::format("{} {}", residual.is_output ? "output" : "input",
                     residual.index);
}

std::string format_value(const ResidualInfo& residual) {
  return fmt::format("{} {}, {} B", name_of(residual.dtype),
                     format_shape(residual.shape),
                     format_grouped(residual.bytes));
}

std::string format_sharing(const ResidualInfo& residual) {
  if (residual.sharing == Sharing::kAlone) {
    return {};
  }
  std::string out = residual.sharing == Sharing::kLent ? ", lent" : ", shared";
  if (!residual.owner.empty()) {
    out += fmt::format(", {} '{}'", memory::name_of(residual.category),
                       residual.owner);
  }
  return out;
}

std::string format(const GraphSize& size) {
  return fmt::format(
      "{} and {} of {} B, {} of {} B, nothing else holds {} B",
      count_of(size.nodes, "node"), count_of(size.leaves, "leaf"),
      format_grouped(size.node_bytes), count_of(size.residuals, "residual"),
      format_grouped(size.residual_bytes), format_grouped(size.alone_bytes));
}

std::string print(const Tensor& t, const ListOptions& options) {
  check_look("print", t);
  return Printer(Listing(t), options).text();
}

}  // namespace neap::graph
