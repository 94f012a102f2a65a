// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/dot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::graph {
namespace {

using testing::HasSubstr;
using testing::SizeIs;

// The nodes and edges that the tests read out of a digraph.
struct Digraph {
  std::map<std::string, std::map<std::string, std::string>> nodes;
  std::multiset<std::pair<std::string, std::string>> edges;
};

// Reads the part of Graphviz's language that has nodes, arrows and attributes;
// throws std::runtime_error at the first character that does not belong there.
class Reader {
 public:
  explicit Reader(std::string text) : text_(std::move(text)) {}

  Digraph read() {
    expect("digraph");
    word();
    expect("{");
    while (!accept("}")) {
      statement();
      expect(";");
    }
    skip();
    check(at_ == text_.size());
    return std::move(graph_);
  }

 private:
  void statement() {
    const std::string name = word();
    if (accept("=")) {
      word();
    } else if (accept("->")) {
      graph_.edges.emplace(name, word());
      attributes();
    } else if (name == "node") {
      attributes();
    } else {
      check(graph_.nodes.emplace(name, attributes()).second);
    }
  }

  std::map<std::string, std::string> attributes() {
    std::map<std::string, std::string> out;
    if (accept("[")) {
      do {
        const std::string name = word();
        expect("=");
        check(out.emplace(name, word()).second);
      } while (accept(","));
      expect("]");
    }
    return out;
  }

  std::string word() {
    skip();
    std::string out;
    if (accept("\"")) {
      for (; at_ < text_.size() && text_[at_] != '"'; ++at_) {
        check(text_[at_] != '\n');
        at_ += text_[at_] == '\\' ? 1U : 0U;
        out +=
            text_.at(at_) == 'n' && text_[at_ - 1] == '\\' ? '\n' : text_[at_];
      }
      expect("\"");
      return out;
    }
    while (at_ < text_.size() &&
           (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0)) {
      out += text_[at_++];
    }
    check(!out.empty());
    return out;
  }

  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) {
      ++at_;
    }
  }
  bool accept(std::string_view token) {
    skip();
    const bool is_there = text_.compare(at_, token.size(), token) == 0;
    at_ += is_there ? token.size() : 0;
    return is_there;
  }
  void expect(std::string_view token) { check(accept(token)); }
  void check(bool is_right) const {
    if (!is_right) {
      throw std::runtime_error("not a digraph at: " + text_.substr(at_, 40));
    }
  }

  std::string text_;
  std::size_t at_ = 0;
  Digraph graph_;
};

Digraph drawn(const Tensor& t, const ListOptions& options = {}) {
  return Reader(to_dot(t, options)).read();
}

Tensor leaf(std::string_view owner) {
  memory::Domain& door = memory::domain();
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.owner = door.owner(owner); });
  return requires_grad_(ones({3, 4}));
}

TEST(DotTest, DrawsNodesLeavesAndWhatFlowsWhere_D1) {
  const Tensor x = leaf("fc1.weight");
  const Digraph graph = drawn(-tanh(x * x));
  ASSERT_THAT(graph.nodes, SizeIs(4));
  EXPECT_THAT(graph.nodes.at("n1").at("label"), HasSubstr("neg\n"));
  EXPECT_THAT(graph.nodes.at("n2").at("label"),
              HasSubstr("keeps output 0: f32 [3, 4], 48 B"));
  EXPECT_THAT(graph.nodes.at("n3").at("label"), HasSubstr("dot_test.cpp:"));
  EXPECT_EQ(graph.nodes.at("l1").at("label"), "fc1.weight");
  EXPECT_EQ(graph.nodes.at("l1").at("shape"), "ellipse");
  EXPECT_EQ(graph.edges,
            (std::multiset<std::pair<std::string, std::string>>{
                {"n2", "n1"}, {"n3", "n2"}, {"l1", "n3"}, {"l1", "n3"}}));
}

TEST(DotTest, KeepsQuotesAndBackslashesOfNamesInTheirPlace) {
  const Digraph graph = drawn(exp(leaf("a \"b\" \\")));
  EXPECT_EQ(graph.nodes.at("l1").at("label"), "a \"b\" \\");
}

TEST(DotTest, TellsTheOutputsOfAnOpApart) {
  const Tensor square_one = requires_grad_(ones({2, 2}) + eye(2));
  const std::string text = to_dot(-slogdet(square_one).logabsdet);
  EXPECT_THAT(text, HasSubstr("n2 -> n1 [label=\"output 1\"];"));
  EXPECT_NO_THROW(Reader(text).read());
}

TEST(DotTest, CountsWhatItLeavesOut) {
  Tensor f = leaf("w");
  for (int i = 0; i < 20'000; ++i) {
    f = -f;
  }
  const Digraph graph = drawn(f, {.max_nodes = 5});
  EXPECT_THAT(graph.nodes, SizeIs(7));
  EXPECT_EQ(graph.nodes.at("more").at("label"), "... and 19 995 more");
  EXPECT_EQ(graph.edges.count({"more", "n5"}), 1U);
  for (const auto& [from, to] : graph.edges) {
    EXPECT_TRUE(graph.nodes.contains(from) && graph.nodes.contains(to));
  }
}

TEST(DotTest, DrawsNothingOfWhatNoGraphRecords) {
  EXPECT_THAT(drawn(ones({2})).nodes, SizeIs(0));
}

}  // namespace
}  // namespace neap::graph
