// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "json_object.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

namespace neap::app {

using Json = nlohmann::ordered_json;

struct JsonObject::Impl {
  Json json = Json::object();
};

JsonObject::JsonObject() : impl_(std::make_unique<Impl>()) {}
JsonObject::~JsonObject() = default;
JsonObject::JsonObject(JsonObject&&) noexcept = default;
JsonObject& JsonObject::operator=(JsonObject&&) noexcept = default;

JsonObject& JsonObject::add(const char* key, std::string_view text) {
  impl_->json[key] = text;
  return *this;
}

JsonObject& JsonObject::add(const char* key, double number) {
  impl_->json[key] = std::isfinite(number) ? Json(number) : Json(nullptr);
  return *this;
}

JsonObject& JsonObject::add(
    const char* key, const std::vector<std::pair<std::string, Bytes>>& rows) {
  Json object = Json::object();
  for (const auto& [name, bytes] : rows) {
    object[name] = bytes;
  }
  impl_->json[key] = std::move(object);
  return *this;
}

JsonObject& JsonObject::add(const char* key,
                            const std::vector<JsonObject>& objects) {
  Json list = Json::array();
  for (const JsonObject& object : objects) {
    list.push_back(object.impl_->json);
  }
  impl_->json[key] = std::move(list);
  return *this;
}

JsonObject& JsonObject::add_bool(const char* key, bool value) {
  impl_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::add_signed(const char* key, std::int64_t value) {
  impl_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::add_unsigned(const char* key, std::uint64_t value) {
  impl_->json[key] = value;
  return *this;
}

JsonObject& JsonObject::add_null(const char* key) {
  impl_->json[key] = nullptr;
  return *this;
}

std::string JsonObject::text() const {
  return impl_->json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace neap::app
