// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/optim/lbfgs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "neap/base/raise.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/optim/sgd.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/check.hpp"
#include "neap/optim/elements.hpp"
#include "neap/optim/flat.hpp"
#include "neap/optim/launch.hpp"
#include "neap/optim/line_search.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/host_access.hpp"

namespace neap::optim {

using base::raise;

namespace {

constexpr double kLeastCurvature = 1e-10;  // of a pair that counts

// Vectors that live during a step: gradients of the line search, and these.
constexpr int kDirection = kTrialBuffers;
constexpr int kPlace = kTrialBuffers + 1;  // the parameters, before a step
constexpr int kVectors = kTrialBuffers + 2;

// The rows of state tensors 0 and 1.
constexpr std::size_t kSteps = 0;
constexpr std::size_t kChanges = 1;

void check_count(const char* setting, int value) {
  if (value < 1) {
    raise<ValueError>("LBFGS: {} is {}, expected 1 or more", setting, value);
  }
}

Piece row_of(const Tensor& rows, std::int64_t row) {
  const std::int64_t count = rows.size(1);
  return {bytes_of(rows).data() + row * count * size_of(rows.dtype()), count,
          rows.dtype()};
}

}  // namespace

void LBFGSOptions::check() const {
  check_not_negative("LBFGS", "lr", lr);
  check_not_negative("LBFGS", "tolerance_grad", tolerance_grad);
  check_not_negative("LBFGS", "tolerance_change", tolerance_change);
  check_count("max_iter", max_iter);
  check_count("history_size", history_size);
  if (max_eval != 0) {
    check_count("max_eval", max_eval);
  }
}

LBFGS::LBFGS(const ParameterList& parameters, const LBFGSOptions& options)
    : options_(options) {
  options.check();
  add_parameters(parameters);
  for (const Parameter& parameter : parameters) {
    const std::string_view name = parameter.name;
    if (parameter.tensor.space() != memory::kHost) {
      raise<DeviceError>(
          "LBFGS: \"{}\" lies in memory space {}, expected the "
          "host",
          name, parameter.tensor.space().value);
    }
    if (!parameter.tensor.is_contiguous()) {
      raise<ShapeError>("LBFGS: \"{}\" is a view with gaps", name);
    }
  }
}

std::string LBFGS::describe(int group) const {
  check_not_read("describe");
  check_group(group);
  const LBFGSOptions& s = options_;
  return fmt::format(
      "LBFGS(max_iter={}, max_eval={}, tolerance_grad={}, "
      "tolerance_change={}, history_size={}, line_search={})",
      s.max_iter, s.max_eval, s.tolerance_grad, s.tolerance_change,
      s.history_size, s.line_search);
}

void LBFGS::check_plain_step() const {
  raise<ValueError>(
      "LBFGS: step() needs the closure that computes the loss: step(closure), "
      "in a loop of one's own");
}

// check_plain_step() is before all that would ask for these two.
const kernels::KernelList& LBFGS::update_kernels(int /*group*/) const noexcept {
  return kernels::sgd_kernels;
}

void LBFGS::update_attrs(const Update& /*update*/,
                         AttrBytes& /*attrs*/) const noexcept {}

std::size_t LBFGS::state_count(int /*group*/) const noexcept {
  return 2;
}

Shape LBFGS::shape_of_state(const Shape& parameter,
                            std::size_t /*k*/) const noexcept {
  return {options_.history_size + 1, parameter.element_count()};
}

std::string_view LBFGS::state_name(std::size_t k) const noexcept {
  return k == kSteps ? "steps" : "gradient_changes";
}

double LBFGS::get_lr(int /*group*/) const noexcept {
  return options_.lr;
}

void LBFGS::put_lr(int /*group*/, double lr) noexcept {
  options_.lr = lr;
}

// The iterations of a step.
class LBFGS::Iterations {
 public:
  Iterations(LBFGS& self, Closure closure, double lr, base::SiteId site)
      : self_(self),
        options_(self.options_),
        closure_(closure),
        lr_(lr),
        site_(site),
        most_evaluations_(options_.max_eval != 0 ? options_.max_eval
                                                 : options_.max_iter * 5 / 4),
        before_(self.own_updates()) {
    make_vectors();
  }

  double run() {
    if (is_rehearsed(self_.parameters()[0].tensor)) {
      static_cast<void>(closure_());
      return 0.0;
    }
    refer();
    const double first = evaluate(gradient_);
    loss_ = first;
    if (is_optimal()) {
      return first;
    }
    read_history();
    while (iterate()) {
    }
    return first;
  }
  std::int64_t done() const noexcept { return done_; }
  // After a throw in the middle of an iteration. RETURNS: as done().
  std::int64_t take_back() noexcept {
    if (is_moved_) {
      copy(work_[kPlace], places_);
      bump();
    }
    return done_;
  }

 private:
  // --- what the vectors lie in -----------------------------------------------

  void make_vectors() {
    for (const Parameter& parameter : self_.parameters()) {
      const memory::Tag tag{.category = memory::Category::kWorkspace,
                            .space = parameter.tensor.space(),
                            .owner = graph::leaf_of(parameter.tensor)->owner(),
                            .site = site_};
      tensors_.push_back(zeros_for(parameter.tensor,
                                   {kVectors, parameter.tensor.element_count()},
                                   tag, tensor::executor()));
    }
  }
  void refer() {
    const auto rows = static_cast<std::size_t>(options_.history_size) + 1;
    work_.resize(kVectors);
    steps_.resize(rows);
    changes_.resize(rows);
    alphas_.resize(rows);
    inverse_.resize(rows);
    for (std::size_t i = 0; i < self_.parameters().size(); ++i) {
      const Tensor& parameter = self_.parameters()[i].tensor;
      places_.push_back({bytes_of(parameter).data(), parameter.element_count(),
                         parameter.dtype()});
      for (std::size_t row = 0; row < work_.size(); ++row) {
        work_[row].push_back(
            row_of(tensors_[i], static_cast<std::int64_t>(row)));
      }
      for (std::size_t row = 0; row < rows; ++row) {
        const auto at = static_cast<std::int64_t>(row);
        steps_[row].push_back(row_of(self_.own_state(i, kSteps), at));
        changes_[row].push_back(row_of(self_.own_state(i, kChanges), at));
      }
    }
  }
  const Flat& gradient() const { return work_[at(gradient_)]; }
  const Flat& direction() const { return work_[kDirection]; }
  const Flat& last_step() const { return steps_.back(); }
  const Flat& last_gradient() const { return changes_.back(); }
  static std::size_t at(int index) { return static_cast<std::size_t>(index); }

  // --- the loss --------------------------------------------------------------

  // The gradients go to that buffer.
  double evaluate(int buffer) {
    ++evaluations_;
    double loss = 0.0;
    {
      const Tensor value = closure_();
      loss = value.item();
    }
    const NoGrad no_grad;
    const ParameterList& parameters = self_.parameters();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const Piece& to = work_[at(buffer)][i];
      Tensor grad = parameters[i].tensor.grad();
      if (!grad.is_given() || !parameters[i].tensor.requires_grad()) {
        std::memset(to.data, 0,
                    static_cast<std::size_t>(to.count * size_of(to.dtype)));
        continue;
      }
      check_gradient(parameters[i].name, parameters[i].tensor, grad);
      grad = contiguous(grad);
      std::ranges::copy(bytes_of(grad), to.data);
    }
    return loss;
  }
  void move(double t) {
    add(work_[kPlace], t, direction(), places_);
    bump();
  }
  void bump() noexcept {
    for (const Parameter& parameter : self_.parameters()) {
      parameter.tensor.array()->storage()->bump_version(site_);
    }
  }
  bool is_optimal() const {
    return max_abs(gradient()) <= options_.tolerance_grad;
  }

  // --- the pairs -------------------------------------------------------------

  // The pairs that there are stand first; rows without one are zeros.
  void read_history() {
    for (pairs_ = 0; pairs_ + 1 < steps_.size(); ++pairs_) {
      const double curvature = dot(steps_[pairs_], changes_[pairs_]);
      if (!(curvature > kLeastCurvature)) {
        break;
      }
      inverse_[pairs_] = 1.0 / curvature;
    }
  }
  // The change of the gradient since the latest step, beside that step. It lies
  // in the place of the direction, which is to be computed.
  void add_pair() {
    const Flat& change = direction();
    add(gradient(), -1.0, last_gradient(), change);
    const double curvature = dot(change, last_step());
    if (!(curvature > kLeastCurvature)) {
      return;
    }
    for (std::size_t row = steps_.size() - 2; row > 0; --row) {
      copy(steps_[row - 1], steps_[row]);
      copy(changes_[row - 1], changes_[row]);
      inverse_[row] = inverse_[row - 1];
    }
    copy(last_step(), steps_[0]);
    copy(change, changes_[0]);
    inverse_[0] = 1.0 / curvature;
    pairs_ = std::min(pairs_ + 1, steps_.size() - 1);
  }
  // Algorithm 7.4.
  void find_direction() {
    const Flat& d = direction();
    scale(-1.0, gradient(), d);
    for (std::size_t i = 0; i < pairs_; ++i) {
      alphas_[i] = dot(steps_[i], d) * inverse_[i];
      add(d, -alphas_[i], changes_[i], d);
    }
    if (pairs_ > 0) {
      scale(1.0 / (inverse_[0] * dot(changes_[0], changes_[0])), d, d);
    }
    for (std::size_t i = pairs_; i-- > 0;) {
      const double beta = dot(changes_[i], d) * inverse_[i];
      add(d, alphas_[i] - beta, steps_[i], d);
    }
  }

  // --- an iteration ----------------------------------------------------------

  bool iterate() {
    const bool is_first = before_ + done_ == 0;
    if (!is_first) {
      add_pair();
    }
    find_direction();
    copy(gradient(), last_gradient());
    fill_zero(last_step());  // until there is one
    const double first =
        is_first ? std::min(1.0, 1.0 / sum_abs(gradient())) * lr_ : lr_;
    const double slope = dot(gradient(), direction());
    if (!(slope <= -options_.tolerance_change)) {
      ++done_;
      return false;
    }
    const double before = loss_;
    copy(places_, work_[kPlace]);
    const bool is_last = done_ + 1 == options_.max_iter;
    const double t = search(first, slope, is_last);
    scale(t, direction(), last_step());
    is_moved_ = false;
    ++done_;
    return !is_last && evaluations_ < most_evaluations_ && !is_optimal() &&
           max_abs(last_step()) > options_.tolerance_change &&
           std::fabs(loss_ - before) >= options_.tolerance_change;
  }

  // RETURNS: the step length; the parameters are there.
  double search(double first, double slope, bool is_last) {
    is_moved_ = true;
    if (!options_.line_search) {
      move(first);
      if (!is_last) {  // nobody would read it
        loss_ = evaluate(gradient_);
      }
      return first;
    }
    const auto trial = [&](double t, int buffer) {
      move(t);
      Trial found{.t = t, .loss = evaluate(buffer), .gradient = buffer};
      found.slope = dot(work_[at(buffer)], direction());
      if (!std::isfinite(found.loss) || !std::isfinite(found.slope)) {
        found.loss = std::numeric_limits<double>::infinity();
      }
      return found;
    };
    const Found found =
        strong_wolfe({.start = {.t = 0.0,
                                .loss = loss_,
                                .slope = slope,
                                .gradient = gradient_},
                      .first = first,
                      .direction = max_abs(direction()),
                      .least = 1e-9,  // torch's, whatever the options
                      .most = most_evaluations_ - evaluations_,
                      .evaluate = trial});
    loss_ = found.at.loss;
    gradient_ = found.at.gradient;
    move(found.at.t);
    return found.at.t;
  }

  LBFGS& self_;
  const LBFGSOptions& options_;
  Closure closure_;
  double lr_;
  base::SiteId site_;
  int most_evaluations_;
  std::int64_t before_;  // iterations of earlier steps
  int done_ = 0;
  int evaluations_ = 0;
  double loss_ = 0.0;
  int gradient_ = 0;       // its buffer
  bool is_moved_ = false;  // the parameters are on their way
  memory::Vector<Tensor> tensors_;
  Flat places_;  // the parameters
  memory::Vector<Flat> work_;
  memory::Vector<Flat> steps_;    // the rows of state
  memory::Vector<Flat> changes_;  // likewise
  memory::Vector<double> alphas_;
  memory::Vector<double> inverse_;  // 1 / (s y) of the pairs
  std::size_t pairs_ = 0;
};

double LBFGS::step(Closure closure, CallSite site) {
  check_not_traced("LBFGS.step");
  const base::SiteId where = site_or_context(site);
  const double lr = begin_own_step();
  for (const Parameter& parameter : parameters()) {
    if (!is_rehearsed(parameter.tensor)) {
      tensor::check_host_access(parameter.tensor, "LBFGS.step", site);
    }
    parameter.tensor.array()->storage()->fetch_elements();
  }
  const bool is_new = acquire_state(where);
  std::optional<Iterations> iterations;
  double loss = 0.0;
  try {
    iterations.emplace(*this, closure, lr, where);
    loss = iterations->run();
  } catch (...) {
    const std::int64_t done = iterations ? iterations->take_back() : 0;
    end_own_step(done, false, where);
    if (is_new && done == 0) {
      forget_state();
    }
    throw;
  }
  end_own_step(iterations->done(), true, where);
  return loss;
}

}  // namespace neap::optim
