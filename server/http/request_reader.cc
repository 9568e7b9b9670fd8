// Beast reads; what it is lenient about is checked before its eyes.
#include "server/http/request_reader.h"

#include <algorithm>
#include <utility>

// Beast 1.81 asserts that a last chunk never arrives in pieces ("0\r\n", then "\r"), reads it well all the same, and
// a client must not be able to end the server.
#define BOOST_DISABLE_ASSERTS
#include <boost/beast/http/basic_parser.hpp>

namespace ingot::http {
namespace {

namespace beast = boost::beast;

// A line of a chunk's size with its extensions, or all trailers: longer ones are nobody's.
constexpr std::size_t chunk_line_bytes = 4096;
// Bytes about the chunks, beside those in them: this many, and as many for each byte of the body.
constexpr std::size_t framing_bytes = 64 << 10;
constexpr std::size_t framing_bytes_a_byte = 16;

bool is_control(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return (byte < ' ' && byte != '\t') || byte == 0x7f;
}

// Whether the beginning of a chunk's line, which Beast reads once it is complete, can still become one.
bool can_be_chunk_line(std::string_view text, bool had_chunk) {
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (at == 0 || text[at - 1] != '\r') return false;
  }
  if (had_chunk) {  // whose end stands before this one
    if (text.substr(0, 2) != std::string_view("\r\n").substr(0, text.size())) return false;
    text.remove_prefix(std::min<std::size_t>(text.size(), 2));
  }
  const std::size_t digits = std::min(text.find_first_not_of("0123456789abcdefABCDEF"), text.size());
  if (digits == text.size()) return true;
  if (digits == 0 || (text[digits] != '\r' && text[digits] != ';')) return false;
  // Only the last chunk's line is complete without being read: trailers follow it, up to an empty line. Another one has
  // a quotation without an end.
  if (text.find("\r\n") == std::string_view::npos) return true;
  return text.substr(0, digits).find_first_not_of('0') == std::string_view::npos &&
         text.find("\r\n\r\n") == std::string_view::npos;
}

class Parser final : public beast::http::basic_parser<true> {
 public:
  Request request;
  bool is_in_head = true;
  bool had_chunk = false;

 private:
  using Error = beast::error_code;
  using Text = beast::string_view;

  static std::string copy(Text text) { return {text.data(), text.size()}; }

  void on_request_impl(beast::http::verb, Text, Text, int, Error&) override {}
  void on_response_impl(int, Text, int, Error&) override {}
  void on_field_impl(beast::http::field, Text name, Text value, Error&) override {
    // Trailers are dropped: nothing that comes after the body may change what was asked.
    if (is_in_head) request.headers.push_back({copy(name), copy(value)});
  }
  void on_header_impl(Error&) override { is_in_head = false; }
  void on_body_init_impl(const boost::optional<std::uint64_t>&, Error&) override {}
  std::size_t on_body_impl(Text piece, Error&) override {
    request.body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_chunk_header_impl(std::uint64_t, Text extensions, Error& error) override {
    had_chunk = true;
    // Beast lets a quotation hold line ends and other controls.
    const bool has_controls = std::any_of(extensions.begin(), extensions.end(), is_control);
    if (has_controls || (!extensions.empty() && extensions[0] != ';')) error = beast::http::error::bad_chunk_extension;
  }
  std::size_t on_chunk_body_impl(std::uint64_t, Text piece, Error&) override {
    request.body.append(piece.data(), piece.size());
    return piece.size();
  }
  void on_finish_impl(Error&) override {}
};

}  // namespace

class RequestReader::Parts {
 public:
  explicit Parts(const Limits& limits) : limits_(limits), check_(limits, parser_.request) {
    parser_.header_limit(static_cast<std::uint32_t>(limits.head_bytes + 1));
    parser_.body_limit(limits.body_bytes);
    parser_.eager(true);
  }

  std::size_t feed(std::string_view bytes) {
    std::size_t used = 0;
    if (state == State::head) used = feed_head(bytes);
    if (state == State::body && used < bytes.size()) used += feed_body(bytes.substr(used));
    return used;
  }

  State state = State::head;
  Refusal refusal;
  bool wishes_to_continue = false;
  bool keeps_alive = false;

  bool is_blank() const { return state == State::head && held_.size() == head_begin_; }
  bool is_version_1_0() const { return check_.is_version_1_0(); }
  Request& request() { return parser_.request; }
  std::size_t held_bytes() const {
    const std::vector<Header>& headers = parser_.request.headers;
    const std::size_t head = state == State::head ? held_.size() : line_begin_ + headers.size() * sizeof(Header);
    return sizeof(*this) + head + parser_.request.body.size() + rest_.size();
  }

 private:
  void refuse(Refusal why) {
    state = State::refused;
    refusal = std::move(why);
  }

  std::size_t feed_head(std::string_view bytes) {
    const std::size_t before = held_.size();
    held_.append(bytes.substr(0, limits_.head_bytes + 1 - before));
    while (state == State::head) {
      const std::size_t end = held_.find_first_of("\r\n", scanned_);
      if (end == std::string::npos) {
        scanned_ = held_.size();
        break;
      }
      if (held_[end] == '\n') {
        refuse({400, "expected CR LF at the end of each line, found a bare LF"});
      } else if (end + 1 == held_.size()) {
        scanned_ = end;
        break;
      } else if (held_[end + 1] != '\n') {
        refuse({400, "expected CR LF at the end of each line, found a bare CR"});
      } else {
        scanned_ = end + 2;
        take_line(end);
      }
    }
    if (state == State::head) check_unfinished();
    const std::size_t head_end = state == State::head ? held_.size() : scanned_;
    return std::max(head_end, before) - before;
  }

  void take_line(std::size_t end) {
    const std::string_view line(held_.data() + line_begin_, end - line_begin_);
    line_begin_ = end + 2;
    if (!line.empty()) {
      if (std::optional<Refusal> why = check_.take_line(line)) refuse(std::move(*why));
    } else if (check_.has_request_line()) {
      end_head();
    } else {
      head_begin_ = line_begin_;
    }
  }

  void check_unfinished() {
    const std::string_view part = std::string_view(held_).substr(line_begin_);
    if (part == "\r") return check_size();  // of an empty line, perhaps
    if (std::optional<Refusal> why = check_.take_part(part)) return refuse(std::move(*why));
    check_size();
  }

  void check_size() {
    if (held_.size() <= limits_.head_bytes) return;
    refuse({431, "expected a head of at most " + std::to_string(limits_.head_bytes) + " bytes, found more"});
  }

  void end_head() {
    if (line_begin_ > limits_.head_bytes) return check_size();
    beast::error_code error;
    parser_.put(boost::asio::buffer(held_.data() + head_begin_, line_begin_ - head_begin_), error);
    // Behind that, so that whoever refuses it knows its headers.
    if (std::optional<Refusal> why = check_.end()) return refuse(std::move(*why));
    // The end of a head without a body completes it; Beast would read a body's first bytes next.
    if (error && error != beast::http::error::need_more)
      return refuse({400, "a head that HTTP forbids: " + error.message()});
    held_ = {};  // what it said stands in the request now
    keeps_alive = parser_.keep_alive();
    state = parser_.is_done() ? State::complete : State::body;
    wishes_to_continue = state == State::body && check_.expects_continue();
  }

  std::size_t feed_body(std::string_view bytes) {
    wishes_to_continue = false;
    const std::size_t kept = rest_.size();
    std::string_view next = bytes;
    if (kept != 0) next = rest_.append(bytes);
    beast::error_code error;
    const std::size_t used = parser_.put(boost::asio::buffer(next.data(), next.size()), error);
    body_wire_bytes_ += used;
    if (error == beast::http::error::body_limit) {
      refuse({413, "expected a body of at most " + std::to_string(limits_.body_bytes) + " bytes, found more"});
    } else if (error && error != beast::http::error::need_more) {
      refuse({400, "expected chunks as HTTP has them: " + error.message()});
    } else if (parser_.is_done()) {
      state = State::complete;
      rest_ = {};
      return used - kept;
    } else {
      rest_ = std::string(next.substr(used));
      check_framing();
    }
    return bytes.size();
  }

  void check_framing() {
    if (!can_be_chunk_line(rest_, parser_.had_chunk) && check_.is_chunked()) {
      refuse({400, "expected a chunk's size in hexadecimal digits, and CR LF at the end of its line"});
    } else if (rest_.size() > chunk_line_bytes) {
      refuse(
          {400, "expected a chunk's size line or trailers of at most " + std::to_string(chunk_line_bytes) + " bytes"});
    } else if (check_.is_chunked() &&
               body_wire_bytes_ > framing_bytes + (framing_bytes_a_byte + 1) * parser_.request.body.size()) {
      refuse({400, "expected chunks that hold more than they cost"});
    }
  }

  const Limits& limits_;
  Parser parser_;
  HeadCheck check_;
  std::string held_;            // the head as far as it came
  std::size_t head_begin_ = 0;  // behind empty lines
  std::size_t line_begin_ = 0;  // of the line that is not complete
  std::size_t scanned_ = 0;     // no end of a line before this that was not seen
  std::string rest_;            // of the body, what Beast can only read with more behind it
  std::size_t body_wire_bytes_ = 0;
};

RequestReader::RequestReader(const Limits& limits) : parts_(std::make_unique<Parts>(limits)) {}
RequestReader::~RequestReader() = default;
std::size_t RequestReader::feed(std::string_view bytes) { return parts_->feed(bytes); }
RequestReader::State RequestReader::state() const { return parts_->state; }
bool RequestReader::is_blank() const { return parts_->is_blank(); }
bool RequestReader::take_wish_to_continue() { return std::exchange(parts_->wishes_to_continue, false); }
const Refusal& RequestReader::refusal() const { return parts_->refusal; }
bool RequestReader::is_version_1_0() const { return parts_->is_version_1_0(); }
bool RequestReader::keeps_alive() const { return parts_->keeps_alive; }
Request& RequestReader::request() { return parts_->request(); }
std::size_t RequestReader::held_bytes() const { return parts_->held_bytes(); }
Request RequestReader::take_request() { return std::move(parts_->request()); }

}  // namespace ingot::http
