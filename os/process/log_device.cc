#include "os/process/log_device.h"

#include <algorithm>

namespace ingot::os {

namespace {

class OpenLog final : public FileDescription {
 public:
  OpenLog(Node& node, Log& log, std::uint32_t flags) : FileDescription(flags), node_(node), log_(log) {}
  Answer<FileStatus> status() override { return node_->status(); }
  Node* node() override { return node_.get(); }

 private:
  // What does not fit on a line begins the next.
  Answer<std::size_t> write_bytes(Transfer& from) override {
    std::size_t done = 0;
    while (from.left() != 0) {
      char letters[200];
      const std::span piece(letters, std::min<std::uint64_t>(sizeof letters, from.left()));
      const Answer<std::size_t> taken = from.take(std::as_writable_bytes(piece));
      if (!taken.ok() && done == 0) return taken.error();
      if (!taken.ok() || taken.value() == 0) break;
      done += taken.value();
      std::string_view text(letters, taken.value());
      while (!text.empty()) {
        const std::string_view line = text.substr(0, text.find('\n'));
        log_.information("program: ", line);
        text.remove_prefix(std::min(line.size() + 1, text.size()));
      }
    }
    return done;
  }

  Reference<Node> node_;
  Log& log_;
};

}  // namespace

Answer<Reference<FileDescription>> LogDevice::open(Node& node, std::uint32_t flags) {
  if ((flags & open_flag::access_mask) != open_flag::write_only) return Errno::eacces;  // nothing is told back
  return Reference<FileDescription>(TRY(make_reference<OpenLog>(heap_, node, log_, flags)));
}

}  // namespace ingot::os
