// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/snapshot_lines.hpp"

#include <utility>

namespace neap::report {
namespace {

// Calls use(id) for each text that is used, with the place that names it.
template <class Use>
void for_texts(Snapshot& s, const Use& use) {
  for (Snapshot::Call& call : s.calls) {
    use(call.op);
    use(call.layer);
  }
  for (Snapshot::Block& block : s.blocks) {
    use(block.category);
    use(block.dtype);
    use(block.shape);
    use(block.layer);
  }
  for (Snapshot::Stay& stay : s.stays) {
    use(stay.owner);
    use(stay.category);
  }
}

}  // namespace

void drop_lines(Snapshot& s) {
  memory::Vector<TextId> places(s.texts.size(), Snapshot::kNone);
  memory::Vector<memory::String> texts(1);
  texts.reserve(s.texts.size());
  places[0] = 0;
  for_texts(s, [&](TextId& id) {
    if (places[id] == Snapshot::kNone) {
      places[id] = static_cast<TextId>(texts.size());
      texts.push_back(s.texts[id]);
    }
  });
  for_texts(s, [&](TextId& id) { id = places[id]; });
  for (Snapshot::Call& call : s.calls) {
    call.line = 0;
  }
  for (Snapshot::Block& block : s.blocks) {
    block.line = 0;
  }
  s.texts = std::move(texts);
}

}  // namespace neap::report
