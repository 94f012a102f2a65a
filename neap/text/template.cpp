// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/template.hpp"

#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {
namespace {

// The id of ["[SEP]", 102].
std::int64_t id_of_pair(JsonValue json) {
  std::int64_t id = 0;
  int count = 0;
  json.elements([&](JsonValue value) {
    if (count == 0) {
      static_cast<void>(value.string());
    } else {
      id = value.number(kMostId);
    }
    ++count;
  });
  if (count != 2) {
    refuse(FailureKind::kCorrupt, "{}: not a token and its id",
           base::shown(json.where()));
  }
  return id;
}

void read_surrounding(JsonValue json, Template& into) {
  std::int64_t front = -1;
  std::int64_t back = -1;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "cls") {
      front = id_of_pair(value);
    } else if (key == "sep") {
      back = id_of_pair(value);
    } else if (key != "type" && key != "trim_offsets" &&
               key != "add_prefix_space") {
      json.refuse_member(key);
    }
  });
  if (front < 0 || back < 0) {
    refuse(FailureKind::kCorrupt, "post_processor: it has no cls or no sep");
  }
  into.front.insert(into.front.begin(), front);
  into.back.push_back(back);
}

using Named = memory::Vector<std::pair<memory::String, Ids>>;

Ids read_special(JsonValue json) {
  Ids ids;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "ids") {
      value.elements([&](JsonValue id) { ids.push_back(id.number(kMostId)); });
    } else if (key != "id" && key != "tokens") {
      json.refuse_member(key);
    }
  });
  return ids;
}

// {"SpecialToken": {"id": "[CLS]", "type_id": 0}}, or of a Sequence.
memory::String id_of(JsonValue json) {
  memory::String id;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "id") {
      id = value.string();
    } else if (key != "type_id") {
      json.refuse_member(key);
    }
  });
  return id;
}

}  // namespace

Template Template::read(JsonValue json) {
  Template made;
  if (!json.is_null()) {
    read_parts(json, 0, made);
  }
  check_steps(made.front.size(), "post_processor");
  check_steps(made.back.size(), "post_processor");
  return made;
}

void Template::read_parts(JsonValue json, int level, Template& into) {
  const memory::String type = json.type();
  if (type == "TemplateProcessing") {
    return read_template(json, into);
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return read_surrounding(json, into);
  }
  if (type == "ByteLevel") {
    return;  // which is about places in the text
  }
  if (type != "Sequence" || level == kMostLevels) {
    refuse(FailureKind::kUnsupported, "post_processor '{}' is not read here",
           base::shown(type));
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "processors") {
      value.elements(
          [&](JsonValue part) { read_parts(part, level + 1, into); });
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
}

void Template::read_template(JsonValue json, Template& into) {
  Named specials;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "special_tokens") {
      value.members([&](std::string_view name, JsonValue special) {
        specials.emplace_back(memory::String(name), read_special(special));
      });
      check_steps(specials.size(), "post_processor");
    } else if (key != "type" && key != "single" && key != "pair") {
      json.refuse_member(key);
    }
  });
  Ids front;
  Ids back;
  int texts = 0;
  const auto read_piece = [&](std::string_view kind, JsonValue value) {
    const memory::String id = id_of(value);
    if (kind == "Sequence" && id == "A") {
      ++texts;
      return;
    }
    const auto found =
        std::find_if(specials.begin(), specials.end(),
                     [&](const auto& special) { return special.first == id; });
    if (kind != "SpecialToken" || found == specials.end()) {
      refuse(FailureKind::kUnsupported,
             "post_processor: '{}' of its template is not known",
             base::shown(id));
    }
    Ids& side = texts == 0 ? front : back;
    side.insert(side.end(), found->second.begin(), found->second.end());
    check_steps(side.size(), "post_processor");
  };
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "single") {
      value.elements([&](JsonValue piece) { piece.members(read_piece); });
    }
  });
  if (texts != 1) {
    refuse(FailureKind::kUnsupported,
           "post_processor: a template with {} places for the text, 1 is taken",
           texts);
  }
  into.front.insert(into.front.begin(), front.begin(), front.end());
  into.back.insert(into.back.end(), back.begin(), back.end());
}

}  // namespace neap::text
