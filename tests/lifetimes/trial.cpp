// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "trial.hpp"

#include "neap/graph/hooks.hpp"
#include "neap/ops/reduction/var.hpp"
#include "neap/tensor/create.hpp"
#include "trial_note.hpp"

namespace neap::lifetimes {

constexpr std::size_t kMostHandles = 20;

void Mix::add(const Mix& other) noexcept {
  programs += other.programs;
  for (std::size_t i = 0; i < kKinds; ++i) {
    actions[i] += other.actions[i];
  }
  for (std::size_t i = 0; i < freed.size(); ++i) {
    freed[i] += other.freed[i];
  }
  hops += other.hops;
  idle += other.idle;
  nodes += other.nodes;
  donated += other.donated;
  refused += other.refused;
  revoked += other.revoked;
}

std::int64_t Mix::performed() const noexcept {
  std::int64_t sum = 0;
  for (const std::int64_t count : actions) {
    sum += count;
  }
  return sum;
}

std::string Mix::text() const {
  std::string out = fmt::format(
      "{} programs, {} actions ({} in another thread, {} with nothing to act "
      "on)\n{} nodes, {} results in donated memory, {} refusals, {} handles "
      "revoked\nnodes freed:",
      programs, performed(), hops, idle, nodes, donated, refused, revoked);
  for (std::size_t i = 0; i < freed.size(); ++i) {
    out += fmt::format(" {} {}", freed[i],
                       graph::name_of(static_cast<graph::Why>(i)));
  }
  out += '\n';
  for (std::size_t i = 0; i < kKinds; ++i) {
    out += fmt::format("{:>12} {}\n", actions[i],
                       info_of(static_cast<Kind>(i)).name);
  }
  return out;
}

HeaderBytes measure_headers(Domain& domain) {
  const UseDomain use(domain);
  const auto live = [&domain] { return domain.stats().live; };
  const Bytes start = live();
  const Tensor fresh = from_values({1.0, 2.0}, {2}, f64);
  const Bytes with_fresh = live();
  const Tensor view = fresh.alias();
  const Bytes with_view = live();
  requires_grad_(fresh);
  const Bytes with_leaf = live();
  const VarMean both = var_mean(fresh, {0}, true);
  const Bytes with_node = live();
  retain_grad(both.mean);
  const Bytes with_one = live();
  retain_grad(both.var);
  return {.fresh = with_fresh - start - 2 * size_of(f64),
          .view = with_view - with_fresh,
          .leaf = with_leaf - with_view,
          .kept_grads = {0, with_one - with_node, live() - with_node}};
}

void Witness::freed(const graph::FreedNode& node) noexcept {
  if (count_ < seen_.size()) {
    seen_[count_++] = {base::site_of(node.site).line, node.why};
  }
}

std::string Trial::run(const Program& program, Mix& mix, std::string* log) {
  mix_ = &mix;
  log_ = log;
  model_.clear();
  names_ = 0;
  ++mix.programs;
  const UseDomain use(domain_);
  const graph::UseObserver observe(witness_);
  try {
    for (std::size_t i = 0; i < program.actions.size(); ++i) {
      action_ = static_cast<int>(i) + 1;
      perform(program.actions[i]);
    }
    finish();
  } catch (const std::exception& error) {
    end_all();
    return fmt::format("after action {}: {}", action_, error.what());
  }
  return {};
}

void Trial::perform(const Action& action) {
  bytes_before_ = domain_.stats().live;
  ++mix_->actions[static_cast<std::size_t>(action.kind)];
  const bool hops = action.hops && !info_of(action.kind).is_of_scopes;
  const int depth = static_cast<int>(model_.scopes.size());
  model_.current_scope = hops ? kNone : model_.innermost_open(depth);
  if (!hops) {
    perform_here(action);
    return;
  }
  ++mix_->hops;
  note("(in the other thread)");
  companion_.run([&] {
    const UseDomain use(domain_);
    const graph::UseObserver observe(witness_);
    perform_here(action);
  });
}

void Trial::perform_here(const Action& action) {
  witness_.forget();
  if (!act(action)) {
    ++mix_->idle;
  }
  check_all();
}

bool Trial::act(const Action& action) {
  switch (action.kind) {
    case Kind::kLeaf:
    case Kind::kPlain:
      make_tensor(action, action.kind == Kind::kLeaf);
      return true;
    case Kind::kOpenScope:
      return open_scope();
    case Kind::kCloseScope:
      return close_scope(action);
    default:
      break;
  }
  if (handles_.empty()) {
    make_tensor(action, true);
    return true;
  }
  if (handles_.size() > kMostHandles) {
    drop(action.picks[3] % handles_.size());
    return true;
  }
  switch (action.kind) {
    case Kind::kBuild:
    case Kind::kBuildMoved:
    case Kind::kBuildNoGrad:
      return build(action, action.kind == Kind::kBuildMoved,
                   action.kind != Kind::kBuildNoGrad);
    case Kind::kGrad:
    case Kind::kGradRetain:
      return run_grad(action, action.kind == Kind::kGradRetain);
    case Kind::kDrop:
      drop(action.picks[0] % handles_.size());
      return true;
    case Kind::kDropRevoked:
      return drop_revoked(action);
    default:
      return act_on_handle(action, pick(action.picks[0]));
  }
}

bool Trial::act_on_handle(const Action& action, Handle& handle) {
  switch (action.kind) {
    case Kind::kBackward:
    case Kind::kBackwardRetain:
      return run_backward(action, handle, action.kind == Kind::kBackwardRetain);
    case Kind::kRelease:
      release(handle);
      return true;
    case Kind::kCopy:
      return copy_handle(handle);
    case Kind::kAlias:
    case Kind::kDetach:
      return make_alias(handle, action.kind == Kind::kDetach);
    case Kind::kRetainGrad:
      return retain_grad(handle);
    case Kind::kFreeze:
    case Kind::kRequireGrad:
      return require_grad(handle, action.kind == Kind::kRequireGrad);
    case Kind::kWrite:
      return write(action, handle);
    case Kind::kZeroGrad:
      return zero_grad(handle);
    case Kind::kTakeGrad:
      return take_grad(handle);
    default:
      return act_on_scope(action, handle);
  }
}

// However far a program came.
void Trial::end_all() {
  for (std::size_t i = scopes_.size(); i-- > 0;) {
    scopes_[i].reset();
  }
  handles_.clear();
  revoked_.clear();
}

// Scopes end, then all handles go, the latest first and the earliest first in
// turn.
void Trial::finish() {
  ++action_;
  while (!model_.scopes.empty()) {
    perform({.kind = Kind::kCloseScope, .hops = false, .picks = {1}});
  }
  for (const Handle& handle : revoked_) {
    model_.drop(handle.body);
  }
  revoked_.clear();
  while (!handles_.empty()) {
    witness_.forget();
    drop(handles_.size() % 2 == 0 ? 0 : handles_.size() - 1);
    check_all();
  }
  if (domain_.stats().live != 0) {
    throw Mismatch(fmt::format("{} bytes live when no handle is left",
                               domain_.stats().live));
  }
}

Trial::Handle& Trial::keep(Tensor real, int body) {
  model_.hold(body);
  handles_.push_back({std::move(real), body, names_++});
  return handles_.back();
}

bool Trial::drop_revoked(const Action& action) {
  if (revoked_.empty()) {
    return false;
  }
  const std::size_t place = action.picks[0] % revoked_.size();
  note("drop t{}, which was revoked", revoked_[place].name);
  model_.drop(revoked_[place].body);
  revoked_.erase(revoked_.begin() + static_cast<std::ptrdiff_t>(place));
  return true;
}

void Trial::drop(std::size_t place) {
  note("drop t{}", handles_[place].name);
  model_.drop(handles_[place].body);
  handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(place));
}

}  // namespace neap::lifetimes
