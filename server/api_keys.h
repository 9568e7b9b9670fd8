// ApiKeys: who may ask. A file holds a key a line; a request carries one as "Authorization: Bearer KEY", as OpenAI's
// clients do, or as "X-Api-Key: KEY", as Anthropic's do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "server/http/message.h"

namespace ingot {

class ApiKeys {
 public:
  // Nobody needs one.
  ApiKeys() = default;
  // Lines that begin with # are comments, empty ones nothing. Fails where others than its owner may read the file,
  // where it holds no key, or one that no header could carry.
  static Result<ApiKeys> read(const std::string& path);

  bool are_needed() const { return !keys_.empty(); }
  // Which key it carries, counted from 0. Takes as long for one that is nearly right as for any other of its length.
  std::optional<std::size_t> find(const http::Request& request) const;
  // Whether it carries one, known or not.
  static bool has_any(const http::Request& request);

 private:
  std::optional<std::size_t> find_key(std::string_view given) const;

  std::vector<std::string> keys_;
};

}  // namespace ingot
