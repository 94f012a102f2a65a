// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The same requests take the same bytes on every start and in every build: a
// digest of what a domain counts after each of many random requests, beside
// what it was when the row was written. Whether the counts are true is for the
// other tests; where a change of them is wanted, the row takes the digest that
// the failure prints. (Of blocks below the pages of 4 KiB only.)
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "neap/base/digest_for_test.hpp"
#include "neap/base/external.hpp"
#include "neap/memory/domain.hpp"
#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

using base::Digest;

// Not the calls of the system: how many it takes to map aligned pages hangs on
// the addresses that the system gives.
void add(Digest& digest, const Stats& s) {
  for (const Bytes bytes :
       {s.live, s.held, s.idle, s.books, s.lent, s.peak, s.live_peak,
        s.live_blocks, s.allocations, s.releases}) {
    digest.add(bytes);
  }
}

void add(Digest& digest, const Tag& tag) {
  digest.add(static_cast<std::int64_t>(tag.category));
  digest.add(tag.owner.value);
  digest.add(tag.site.value);
}

// A program that asks for blocks of all sizes under ever more tags, gives them
// back, and now and then looks at all there is to see.
class RandomUse {
 public:
  RandomUse(Digest& digest, const Domain::Options& options)
      : digest_(digest), domain_(Domain::create(options)) {}
  ~RandomUse() {
    for (const Held& held : held_) {
      domain_->release(held.block, held.alignment);
    }
  }
  RandomUse(const RandomUse&) = delete;
  RandomUse& operator=(const RandomUse&) = delete;

  Domain& domain() noexcept { return *domain_; }

  void run(int steps) {
    for (int step = 0; step < steps; ++step) {
      const std::uint32_t draw = random_() % 32;
      try {
        if (draw < 17) {
          ask();
        } else if (draw < 29) {
          give_back();
        } else if (draw < 31) {
          retag();
        } else {
          look();
        }
      } catch (const OutOfMemory& error) {
        digest_.add(static_cast<std::int64_t>(error.details().reason));
        digest_.add(error.details().requested);
        digest_.add(error.details().held);
      }
      add(digest_, domain_->stats());
    }
  }

 private:
  struct Held {
    Block block;
    Bytes alignment;
  };

  Bytes size() {
    constexpr Bytes kMost[] = {1, 64, 700, 5000, 40'000, 300'000, 3'000'000};
    const Bytes most = kMost[random_() % std::size(kMost)];
    return random_() % (most + 1);
  }
  Tag tag() {
    Tag tag;
    tag.category = static_cast<Category>(random_() % kCategoryCount);
    tag.owner = OwnerId{random_() % 5 == 0 ? owners_ : 0};
    tag.site = base::SiteId{random_() % 40};
    return tag;
  }
  void ask() {
    constexpr Bytes kAlignments[] = {64, 64, 64, 1, 512, 4096};
    const Bytes alignment = kAlignments[random_() % std::size(kAlignments)];
    const Bytes bytes = size();
    if (random_() % 2 == 0) {
      held_.push_back({domain_->allocate(bytes, tag(), alignment), alignment});
    } else {
      held_.push_back({domain_->allocate_elements(bytes, tag()), kAlignment});
    }
  }
  void give_back() {
    if (!held_.empty()) {
      const std::size_t at = random_() % held_.size();
      domain_->release(held_[at].block, held_[at].alignment);
      held_[at] = held_.back();
      held_.pop_back();
    }
  }
  void retag() {
    const std::string path = "layer" + std::to_string(random_() % 300);
    const OwnerId owner = domain_->owner(path);
    owners_ = owner.value;
    digest_.add(owner.value);
    digest_.add(domain_->path_of(owner));
    if (!held_.empty()) {
      Block& block = held_[random_() % held_.size()].block;
      domain_->retag(block, Category::kParameters, owner);
      digest_.add(block.bucket.value);
    }
  }
  void look() {
    std::array<Row, 20> rows;
    add_rows(rows, domain_->live_rows(rows));
    add_rows(rows, domain_->peak_rows(rows));
    switch (random_() % 8) {
      case 0:
        digest_.add(domain_->trim());
        break;
      case 1:
        domain_->reset_peak();
        break;
      case 2:
        look_at_events();
        break;
      default:
        digest_.add(domain_->is_consistent() ? 1 : 0);
    }
  }
  // The rows that found a place, of `count` that there were.
  void add_rows(std::span<const Row> rows, int count) {
    digest_.add(count);
    rows = rows.first(std::min(rows.size(), static_cast<std::size_t>(count)));
    for (const Row& row : rows) {
      add(digest_, row.tag);
      digest_.add(row.bytes);
      digest_.add(row.blocks);
    }
  }
  void look_at_events() {
    std::array<Event, 64> events;
    const int count = domain_->events(events);
    for (int i = 0; i < count; ++i) {
      const Event& event = events[static_cast<std::size_t>(i)];
      digest_.add(static_cast<std::int64_t>(event.time));
      digest_.add(static_cast<std::int64_t>(event.kind));
      add(digest_, event.tag);
      digest_.add(event.bytes);
      digest_.add(event.live_after);
    }
  }

  Digest& digest_;
  Domain::Handle domain_;
  TestRandom random_{7};
  std::uint32_t owners_ = 0;  // the latest owner
  std::vector<Held> held_;
};

const base::DigestRow kRows[] = {
    {"Pooled",
     [](Digest& digest) {
       RandomUse(digest, {.host = HostAllocator::kPooled}).run(20'000);
     },
     0x5E59DA393283DDBC},
    {"WithIdleLimit",
     [](Digest& digest) {
       RandomUse(digest,
                 {.idle_limit = 2 * kMiB, .host = HostAllocator::kPooled})
           .run(10'000);
     },
     0xDB20F5E4F4779E0F},
    {"WithEvents",
     [](Digest& digest) {
       RandomUse(digest, {.host = HostAllocator::kPooled, .event_capacity = 50})
           .run(5000);
     },
     0xAE608AB73C3128E1},
    {"UnderABudget",
     [](Digest& digest) {
       RandomUse use(digest, {.host = HostAllocator::kPooled});
       use.domain().set_budget(base::external_bytes() + 20 * kMiB);
       use.run(10'000);
     },
     0xC6447AACD37730A4},
    {"WithFaults",
     [](Digest& digest) {
       RandomUse use(digest, {.host = HostAllocator::kPooled});
       for (std::int64_t n = 1; n < 200; ++n) {
         use.domain().fail_at(n);
         use.run(40);
         digest.add(use.domain().requests());
       }
     },
     0x952A7B85E33982C8},
    {"Rehearsed",
     [](Digest& digest) {
       RandomUse(digest, {.is_rehearsal = true}).run(10'000);
     },
     0x37653F5B0A9BF572},
    {"OfTheSystem",
     [](Digest& digest) {
       RandomUse(digest, {.host = HostAllocator::kSystem}).run(5000);
     },
     0x225B221D423D2D6D},
};

class SameBytesTest : public testing::TestWithParam<base::DigestRow> {};

TEST_P(SameBytesTest, AsWhenTheRowWasWritten) {
  base::expect_as_written(GetParam());
}

INSTANTIATE_TEST_SUITE_P(Uses, SameBytesTest, testing::ValuesIn(kRows),
                         base::name_of_row);

}  // namespace
}  // namespace neap::memory
