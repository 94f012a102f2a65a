// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ranks that share out the optimizer's state: checkpoints, what is refused, and
// ranks that fail.
#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/compile/compile.hpp"
#include "neap/dist/step_ranks.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/lbfgs.hpp"
#include "neap/tensor/create.hpp"
#include "neap/train/checkpoint.hpp"
#include "neap/train/state_hash.hpp"
#include "ranks_zero.hpp"

namespace neap::tests {
namespace {

using testing::HasSubstr;

constexpr int kShards = 4;
constexpr std::int64_t kRows = 8;

// A training of a few weights.
class Fit {
 public:
  Fit(const dist::Group& group, bool is_shared)
      : group_(group),
        domain_(Domain::create({})),
        use_(*domain_),
        generator_(3),
        random_(generator_) {
    net_ = std::make_unique<Pair>();
    adam_ = std::make_unique<optim::Adam>(net_->parameters(),
                                          optim::AdamOptions{.lr = 0.01});
    options_.shards = kShards;
    options_.ranks = group.for_steps();
    if (is_shared) {
      adam_->share_out(options_.ranks);
    }
  }

  void steps(int count) {
    auto step =
        neap::compile([this](const Tensor& x) { return plain(x); }, options_);
    for (int i = 0; i < count; ++i) {
      step(own_rows(randn({kRows, 5}), kShards, group_));
    }
  }
  Tensor plain(const Tensor& x) {
    const Tensor loss = mean(square((*net_)(x)));
    backward(loss);
    adam_->step({.release_gradients = true});
    return loss.detach();
  }

  // All ranks call it, and rank 0 writes.
  void save(const std::string& path) {
    adam_->read_state("a checkpoint", [&]() -> std::uint64_t {
      return group_.rank() != 0 || checkpoint().save(path) ? 1 : 0;
    });
  }
  bool load(const std::string& path) {
    return checkpoint().load(path).has_value();
  }
  std::uint64_t hash() const {
    return train::state_hash(*net_, *adam_, generator_);
  }

  Pair& net() { return *net_; }
  optim::Adam& adam() { return *adam_; }
  CompileOptions& options() { return options_; }

 private:
  train::Checkpoint checkpoint() {
    return {.model = *net_, .optimizer = *adam_, .generator = generator_};
  }

  dist::Group group_;
  Domain::Handle domain_;
  UseDomain use_;
  Generator generator_;
  UseGenerator random_;
  std::unique_ptr<Pair> net_;
  std::unique_ptr<optim::Adam> adam_;
  CompileOptions options_;
};

std::string text_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

struct Way {
  int ranks = 1;
  bool is_shared = false;
};

const std::vector<Way> kWays{{1, false}, {1, true},  {2, false},
                             {2, true},  {4, false}, {4, true}};

TEST(ZeroCheckpointTest, IsOneFileAndGoesOnInEveryWay) {
  const files::TemporaryFolder folder;
  Fit whole(dist::Group(), false);
  whole.steps(5);
  std::vector<std::string> paths;
  for (const Way& way : kWays) {
    paths.push_back(folder.path() + "/" + std::to_string(paths.size()));
    on_ranks(way.ranks, [&](const dist::Group& group) {
      Fit run(group, way.is_shared);
      run.steps(3);
      run.save(paths.back());
    });
    EXPECT_EQ(text_of(paths.back()), text_of(paths.front()));
  }
  for (const Way& way : kWays) {
    on_ranks(way.ranks, [&](const dist::Group& group) {
      Fit run(group, way.is_shared);
      ASSERT_TRUE(run.load(paths.back()));
      run.steps(2);
      EXPECT_EQ(run.hash(), whole.hash()) << way.ranks << way.is_shared;
    });
  }
}

TEST(ZeroCheckpointTest, IsLoadedOverTheStateOfARun) {
  const files::TemporaryFolder folder;
  const std::string path = folder.path() + "/one";
  on_ranks(2, [&](const dist::Group& group) {
    Fit run(group, true);
    run.steps(2);
    run.save(path);
    const std::uint64_t then = run.hash();
    const Bytes state = run.adam().state_bytes();
    run.steps(2);
    EXPECT_NE(run.hash(), then);
    ASSERT_TRUE(run.load(path));
    EXPECT_EQ(run.hash(), then);
    EXPECT_EQ(run.adam().state_bytes(), state);
  });
}

TEST(ZeroCheckpointTest, LeavesItsPartOfAStateThatIsSet) {
  Fit alone(dist::Group(), false);
  alone.steps(2);
  on_ranks(2, [&](const dist::Group& group) {
    Fit run(group, true);
    run.steps(2);
    run.adam().set_state(run.adam().zero_state());
    EXPECT_LT(run.adam().state_bytes(), alone.adam().state_bytes());
    EXPECT_EQ(run.adam().step_count(), 0);
  });
}

// --- reading what others have ------------------------------------------------

TEST(ZeroReadingTest, IsRefusedToOneRankAlone) {
  on_ranks(2, [](const dist::Group& group) {
    Fit run(group, true);
    run.steps(1);
    try {
      run.adam().visit_state([](std::string_view, const Tensor& state) {
        static_cast<void>(sum(state).item());
      });
      FAIL() << "read";
    } catch (const ValueError& error) {
      EXPECT_THAT(error.what(), HasSubstr("read_state()"));
    }
  });
}

TEST(ZeroReadingTest, ThatThrowsIsToldToTheOthers) {
  on_ranks(2, [](const dist::Group& group) {
    Fit run(group, true);
    run.steps(1);
    const std::uint64_t before = run.hash();
    const auto read = [&] {
      return run.adam().read_state("a look", []() -> std::uint64_t {
        throw std::runtime_error("not today");
      });
    };
    if (group.rank() == 0) {
      EXPECT_THROW(read(), std::runtime_error);
    } else {
      EXPECT_EQ(read(), std::nullopt);
    }
    EXPECT_EQ(run.hash(), before);
  });
}

// A rank that ends at any of its operations: the others are told so, and never
// wait for longer than the deadline.
TEST(ZeroFaultTest, ARankThatEndsIsLost) {
  if (base::kAddressSanitizer) {
    GTEST_SKIP() << "what a message under way may still write to is never "
                    "given back, which the sanitizer calls a leak";
  }
  int lost = 0;
  for (std::int64_t operation = 1; operation < 400; operation += 9) {
    const dist::FakeOptions how{.fault = {.kind = dist::FakeFault::Kind::kDies,
                                          .rank = 1,
                                          .operation = operation}};
    on_ranks(
        2,
        [&](const dist::Group& group) {
          try {
            Fit run(group, true);
            run.steps(2);
            run.hash();
          } catch (const RankLost&) {
            ++lost;  // by rank 0 alone
          }
        },
        how);
  }
  EXPECT_GT(lost, 5);
}

// --- what is refused ---------------------------------------------------------

// The message of a refusal in rank 0, where two ranks call it.
template <class Call>
std::string refusal_of(const Call& call) {
  std::string out;
  on_ranks(2, [&](const dist::Group& group) {
    try {
      call(group);
    } catch (const Error& error) {
      if (group.rank() == 0) {
        out = error.what();
      }
    }
  });
  return out;
}

TEST(ZeroRefusalTest, OfAnOptimizerThatCouplesParameters) {
  const std::string said = refusal_of([](const dist::Group& group) {
    Pair net;
    optim::LBFGS lbfgs(net.parameters());
    lbfgs.share_out(group.for_steps());
  });
  EXPECT_THAT(said, HasSubstr("LBFGS"));
  EXPECT_THAT(said, HasSubstr("all parameters at once"));
}

TEST(ZeroRefusalTest, OfAStepThatIsNotCompiled) {
  EXPECT_THAT(refusal_of([](const dist::Group& group) {
                Fit(group, true).plain(ones({kRows, 5}));
              }),
              HasSubstr("compile the step with .ranks"));
}

TEST(ZeroRefusalTest, OfAStepOfOtherRanks) {
  EXPECT_THAT(refusal_of([](const dist::Group& group) {
                Fit run(group, true);
                run.options().ranks = nullptr;
                run.steps(1);
              }),
              HasSubstr("among 2 ranks, and the step is of 1"));
}

TEST(ZeroRefusalTest, OfASpillFile) {
  EXPECT_THAT(refusal_of([](const dist::Group& group) {
                Fit run(group, true);
                run.options().spill.folder = "/tmp";
                run.steps(1);
              }),
              HasSubstr(".spill.folder"));
}

TEST(ZeroRefusalTest, OfStateThatTheStepUpdatesTwice) {
  const std::string said = refusal_of([](const dist::Group& group) {
    Fit run(group, true);
    auto step = neap::compile(
        [&](const Tensor& x) {
          run.plain(x);
          return run.plain(x);
        },
        run.options());
    step(own_rows(ones({kRows, 5}), kShards, group));
  });
  EXPECT_THAT(said, HasSubstr("something else with it than one update"));
  EXPECT_THAT(said, HasSubstr("ranks_zero_faults_test.cpp"));
  EXPECT_THAT(said, HasSubstr("first.weight"));
}

TEST(ZeroRefusalTest, OfAnOptimizerThatHasBegun) {
  EXPECT_THAT(refusal_of([](const dist::Group& group) {
                Fit run(group, false);
                run.steps(1);
                run.adam().share_out(group.for_steps());
              }),
              HasSubstr("before the first"));
  EXPECT_THAT(refusal_of([](const dist::Group& group) {
                Fit run(group, true);
                run.steps(1);
                run.adam().share_out(group.for_steps());  // the same
                run.adam().share_out(nullptr);
              }),
              HasSubstr("share out the state already"));
  EXPECT_THAT(refusal_of([](const dist::Group& group) {
                Fit run(group, true);
                Pair more;
                run.adam().add_group(more.parameters(), {});
              }),
              HasSubstr("add groups before share_out()"));
}

// Rates of what another rank updates are compared, too.
TEST(ZeroRefusalTest, OfOtherRates) {
  EXPECT_THAT(refusal_of([](const dist::Group& group) {
                Fit run(group, true);
                run.steps(1);
                run.adam().set_lr(0.01 * (1 + group.rank()));
                run.steps(1);
              }),
              HasSubstr("the ranks differ"));
}

}  // namespace
}  // namespace neap::tests
