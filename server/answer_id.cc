#include "server/answer_id.h"

#include "machine/any_number.h"

namespace ingot {

std::string answer_id(std::string_view kind) {
  std::string id(kind);
  const std::uint64_t number = any_number();
  for (int shift = 60; shift >= 0; shift -= 4) id += "0123456789abcdef"[number >> shift & 15];
  return id;
}

}  // namespace ingot
