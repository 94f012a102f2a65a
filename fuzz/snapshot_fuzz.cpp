// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A snapshot that is read makes sense, and is written as JSON that reads back
// as the same JSON.
#include "neap/report/snapshot_json.hpp"
#include "target.hpp"

namespace neap::fuzz {
namespace {

class Text final : public files::ByteSink {
 public:
  Result<void> write(std::span<const std::byte> from) override {
    all.append(reinterpret_cast<const char*>(from.data()), from.size());
    return {};
  }
  memory::String all;
};

memory::String json_of(const report::Snapshot& snapshot) {
  Text text;
  report::Sink out(text);
  report::put_snapshot(out, snapshot);
  expect(out.finish().has_value());
  return std::move(text.all);
}

}  // namespace

void one_input(std::string_view text) {
  const auto snapshot = report::parse_snapshot(text);
  if (!snapshot) {
    expect(snapshot.error().message.size() < 2000);
    return;
  }
  expect(report::check_snapshot(*snapshot).has_value());
  const memory::String json = json_of(*snapshot);
  const auto again = report::parse_snapshot(json);
  expect(again.has_value() && json_of(*again) == json);
}

}  // namespace neap::fuzz
