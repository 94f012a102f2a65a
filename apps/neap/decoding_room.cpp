// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "decoding_room.hpp"

#include "neap/base/ceil_div.hpp"
#include "neap/base/external.hpp"

namespace neap::app {
namespace {

constexpr const char* kName = "decoding of images";
// The domain's own tables, and what is over in its pages.
constexpr Bytes kBooks = kMiB;

}  // namespace

DecodingRoom::DecodingRoom(Bytes most)
    : bytes_(base::round_up(most + kBooks, kMiB)),
      domain_(memory::Domain::create({.name = kName})) {
  base::add_external(kName, bytes_);
}

DecodingRoom::~DecodingRoom() {
  base::add_external(kName, -bytes_);
}

// The bytes are part of what counts as external.
void DecodingRoom::allow() noexcept {
  domain_->set_budget(base::count_external() + bytes_);
}

}  // namespace neap::app
