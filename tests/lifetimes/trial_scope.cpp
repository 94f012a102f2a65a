// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "trial_note.hpp"

namespace neap::lifetimes {
namespace {

constexpr std::size_t at(int i) {
  return static_cast<std::size_t>(i);
}

}  // namespace

bool Trial::open_scope() {
  const auto depth = model_.scopes.size();
  if (depth == scopes_.size()) {
    return false;
  }
  note("open scope {}", depth);
  scopes_[depth].emplace(site());
  model_.scopes.push_back({.opened_by = action_});
  return true;
}

// Mostly the innermost one; else one that others are still open in.
bool Trial::close_scope(const Action& action) {
  if (model_.scopes.empty()) {
    return false;
  }
  const int last = static_cast<int>(model_.scopes.size()) - 1;
  const int which = action.picks[0] % 4 == 0 ? action.picks[1] % (last + 1)
                                             : model_.innermost_open(last + 1);
  if (!model_.scopes[at(which)].is_open) {
    return false;
  }
  note("close scope {}", which);
  close_model_scope(which);
  scopes_[at(which)]->close();
  pop_closed_scopes();
  retire_revoked();
  return true;
}

void Trial::close_model_scope(int which) {
  for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) {
    if (model_.body(i).scope != which) {
      continue;
    }
    if (model_.body(i).is_kept) {
      model_.move_member(i, model_.innermost_open(which));
    } else {
      model_.revoke(i, which);
    }
  }
  model_.scopes[at(which)].is_open = false;
}

void Trial::pop_closed_scopes() {
  while (!model_.scopes.empty() && !model_.scopes.back().is_open) {
    model_.scopes.pop_back();
    scopes_[model_.scopes.size()].reset();
  }
}

// A revoked handle says so, and stays as a handle that means nothing.
void Trial::retire_revoked() {
  for (std::size_t i = 0; i < handles_.size();) {
    const int body = handles_[i].body;
    if (!model_.is_revoked(body)) {
      ++i;
      continue;
    }
    check_revoked(handles_[i]);
    ++mix_->revoked;
    revoked_.push_back(std::move(handles_[i]));
    handles_.erase(handles_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

void Trial::check_revoked(const Handle& handle) const {
  const std::string where = site_text(model_.body(handle.body).revoked_by);
  if (handle.real.defined()) {
    throw Mismatch(fmt::format("t{} outlives its scope", handle.name));
  }
  try {
    static_cast<void>(handle.real.shape());
  } catch (const UseAfterRelease& error) {
    if (std::string_view(error.what()).find(where) == std::string_view::npos) {
      throw Mismatch(
          fmt::format("\"{}\" does not name {}", error.what(), where));
    }
    return;
  }
  throw Mismatch(fmt::format("t{} has a shape after its scope", handle.name));
}

bool Trial::is_gradient(int body) const {
  return std::any_of(model_.vertices.begin(), model_.vertices.end(),
                     [body](const Vertex& v) {
                       return v.grad[0] == body || v.grad[1] == body;
                     });
}

// Members of the chosen scope or of one inside it may be kept, moved out, or
// released; anything but a gradient may be attached, anything detached.
bool Trial::act_on_scope(const Action& action, Handle& handle) {
  const int depth = static_cast<int>(model_.scopes.size());
  const int which = depth > 0 ? action.picks[1] % depth : kNone;
  if (which == kNone || !model_.scopes[at(which)].is_open) {
    return false;
  }
  Scope& scope = *scopes_[at(which)];
  const bool is_inside = model_.body(handle.body).scope >= which;
  note("{}: t{}, scope {}", info_of(action.kind).name, handle.name, which);
  if (action.kind == Kind::kKeep) {
    scope.keep(handle.real);
    if (is_inside) {
      model_.move_member(handle.body, which, true);
    }
  } else if (action.kind == Kind::kMoveToOuter) {
    scope.move_to_outer(handle.real);
    if (is_inside) {
      model_.move_member(handle.body, model_.innermost_open(which));
    }
  } else if (action.kind == Kind::kDetachFromScope) {
    scope.detach(handle.real);
    model_.move_member(handle.body, kNone);
  } else if (action.kind == Kind::kAttach) {
    return attach(handle, which);
  } else {
    release_from_scope(action, handle, which);
  }
  return true;
}

bool Trial::attach(const Handle& handle, int which) {
  if (is_gradient(handle.body)) {
    return false;
  }
  scopes_[at(which)]->attach(handle.real);
  if (model_.body(handle.body).scope != which) {
    model_.move_member(handle.body, which);
  }
  return true;
}

void Trial::release_from_scope(const Action& action, const Handle& handle,
                               int which) {
  Scope& scope = *scopes_[at(which)];
  const int spared = handle.body;
  if (action.picks[2] % 3 == 0) {
    scope.release(handle.real);
    if (model_.body(spared).scope >= which) {
      model_.revoke(spared, which);
    }
    retire_revoked();
    return;
  }
  const bool is_all = action.picks[2] % 3 == 1;
  note("  all{}", is_all ? "" : " but this");
  is_all ? scope.release_all() : scope.release_all_but(handle.real);
  for (int i = 0; i < static_cast<int>(model_.bodies.size()); ++i) {
    const Body& body = model_.body(i);
    if (body.scope == which && !body.is_kept && (is_all || i != spared)) {
      model_.revoke(i, which);
    }
  }
  retire_revoked();
}

void Trial::check_scopes() const {
  for (std::size_t i = 0; i < model_.scopes.size(); ++i) {
    const int expected = model_.members_of(static_cast<int>(i));
    if (scopes_[i]->size() != expected) {
      throw Mismatch(fmt::format("scope {} has {} members, expected {}", i,
                                 scopes_[i]->size(), expected));
    }
  }
}

}  // namespace neap::lifetimes
