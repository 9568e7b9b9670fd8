// ApiKeys: who may ask. A file holds a key a line; a request carries one as "Authorization: Bearer KEY".
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace ingot {

class ApiKeys {
 public:
  // Nobody needs one.
  ApiKeys() = default;
  // Lines that begin with # are comments, empty ones nothing. Fails where others than its owner may read the file,
  // where it holds no key, or one that no header could carry.
  static Result<ApiKeys> read(const std::string& path);

  bool are_needed() const { return !keys_.empty(); }
  // Which key the header's value is, counted from 0. Takes as long for one that is nearly right as for any other of its
  // length.
  std::optional<std::size_t> find(std::string_view authorization) const;

 private:
  std::vector<std::string> keys_;
};

}  // namespace ingot
