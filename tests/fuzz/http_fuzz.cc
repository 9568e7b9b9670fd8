// Any bytes in any pieces are requests or a refusal: the same as in one piece, never more of them than were sent, and
// what is refused says why.
#include <cstdlib>
#include <string>
#include <vector>

#include "server/http/request_reader.h"
#include "tests/fuzz/byte_source.h"

using namespace ingot;
using namespace ingot::http;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

Limits small_limits() {
  Limits limits;
  limits.head_bytes = 512;
  limits.target_bytes = 64;
  limits.body_bytes = 256;
  return limits;
}

struct Reading {
  std::vector<Request> requests;
  int status = 0;
};

// Small limits, so that short inputs reach them.
Reading read(std::string_view text, std::string_view sizes) {
  static const Limits limits = small_limits();
  Reading reading;
  std::size_t turn = 0;
  while (!text.empty()) {
    RequestReader reader(limits);
    while (!text.empty() &&
           (reader.state() == RequestReader::State::head || reader.state() == RequestReader::State::body)) {
      const std::size_t size =
          sizes.empty() ? text.size() : 1 + static_cast<unsigned char>(sizes[turn++ % sizes.size()]) % 16;
      const std::string piece(text.substr(0, size));  // a block of its own, so that a look beyond it is seen
      const std::size_t used = reader.feed(piece);
      require(used <= piece.size());
      require(used == piece.size() || reader.state() == RequestReader::State::complete ||
              reader.state() == RequestReader::State::refused);
      text.remove_prefix(used);
      (void)reader.take_wish_to_continue();
    }
    if (reader.state() == RequestReader::State::refused) {
      reading.status = reader.refusal().status;
      require(reading.status >= 400 && reading.status < 600 && !reader.refusal().reason.empty());
      return reading;
    }
    if (reader.state() != RequestReader::State::complete) return reading;
    reading.requests.push_back(reader.take_request());
    const Request& request = reading.requests.back();
    require(request.body.size() <= limits.body_bytes && !request.method.empty() && !request.path.empty());
    for (const Header& header : request.headers) {
      require(!header.name.empty() && (header.name + header.value).find_first_of("\r\n") == std::string::npos);
      require(header.value.find('\0') == std::string::npos);
    }
  }
  return reading;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ByteSource source(data, size);
  std::string sizes;
  for (int count = 0; count < 4; ++count) sizes += static_cast<char>(source.take<std::uint8_t>());
  const std::string text(reinterpret_cast<const char*>(source.rest()), source.rest_size());
  const Reading whole = read(text, {});
  const Reading pieces = read(text, sizes);
  require(whole.requests.size() == pieces.requests.size());
  // In pieces a bound may be met before another fault is seen: refused is refused.
  require((whole.status == 0) == (pieces.status == 0));
  for (std::size_t index = 0; index < whole.requests.size(); ++index) {
    const Request &one = whole.requests[index], &other = pieces.requests[index];
    require(one.method == other.method && one.path == other.path && one.query == other.query && one.body == other.body);
    require(one.headers.size() == other.headers.size());
  }
  return 0;
}
