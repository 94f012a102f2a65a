// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tensors that a traced step makes from nothing, from numbers and from chance,
// and the host's looks at elements.
#include "neap/base/raise.hpp"
#include "neap/compile/tracer.hpp"
#include "neap/ops/elementwise/draw.hpp"
#include "neap/ops/elementwise/fill.hpp"

namespace neap::compiler {

using base::raise;
using tensor::Creation;

namespace {

ops::Draw kind_of(Creation::Kind kind) noexcept {
  switch (kind) {
    case Creation::Kind::kRandn:
      return ops::Draw::kNormal;
    case Creation::Kind::kRandint:
      return ops::Draw::kInteger;
    case Creation::Kind::kRandperm:
      return ops::Draw::kPermutation;
    default:
      return ops::Draw::kUniform;
  }
}

}  // namespace

// Counted as what is created eagerly is.
Tensor Tracer::create(const Creation& what) {
  const Inside inside(*this);
  const memory::Context& context = memory::thread_context();
  const base::SiteId site =
      context.site.value != 0 ? context.site : base::intern(what.site);
  Tensor out;
  if (what.kind == Creation::Kind::kFilled) {
    const ops::FilledAttrs attrs = ops::filled_attrs(what.spec, what.value);
    emit({ops::kFill, {}, attrs, site}, memory::Category::kOther,
         std::span(&out, 1));
  } else if (what.kind != Creation::Kind::kElements) {
    Generator& source = tensor::generator();
    const ops::DrawAttrs attrs = ops::draw_attrs(
        kind_of(what.kind), what.spec, what.low, what.high, source.next());
    emit({ops::kDraw, {}, attrs, site}, memory::Category::kOther,
         std::span(&out, 1));
    source.advance();
  }
  return out;
}

void Tracer::made(const Tensor& tensor) {
  const Inside inside(*this);
  const base::SiteId made = tensor.array()->storage()->tag().site;
  check_context("create", made);
  if (tensor.array()->storage()->is_lent()) {
    raise<TraceError>(
        "borrow: at {} the step being traced borrows memory, which its runs "
        "would read later; borrow it outside, or give the tensor as an "
        "argument",
        base::format_site(made));
  }
  values_.add_made(tensor);
}

void Tracer::on_host_access(const Tensor& tensor, const char* what,
                            bool is_write, const CallSite& site) {
  const Inside inside(*this);
  const std::string where = base::format_site(base::intern(site));
  if (!values_.is_made(tensor)) {
    raise<TraceError>(
        "{}: at {} the step being traced {} a tensor that existed before it, "
        "whose elements may differ from run to run; {}",
        what, where, is_write ? "writes into" : "reads elements of",
        is_write ? "write by copy_ or fill_, or outside of the step"
                 : "read it outside of the step");
  }
  if (values_.is_written(tensor)) {
    raise<TraceError>(
        "{}: at {} the step being traced reads elements that an earlier line "
        "of it writes when it runs",
        what, where);
  }
  if (is_write && values_.is_used(tensor)) {
    raise<TraceError>(
        "{}: at {} the step being traced writes on the host into a tensor that "
        "an earlier line of it reads when it runs; make another tensor",
        what, where);
  }
}

}  // namespace neap::compiler
