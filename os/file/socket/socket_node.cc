#include "os/file/socket/socket_node.h"

#include "os/file/attributes.h"
#include "os/file/socket/local_end.h"

namespace ingot::os {
namespace {

class SocketNode final : public Node {
 public:
  SocketNode(Reference<Volume> volume, std::uint32_t permissions, LocalEnd& end)
      : Node(std::move(volume), FileKind::socket), end_(end) {
    attributes_.with([&](Attributes& it) { it = Attributes::fresh(permissions, this->volume().now()); });
  }
  ~SocketNode() { volume().give_back_node(); }

  LocalEnd* as_local_end() override { return end_.get(); }
  FileStatus status() override {
    FileStatus status = basic_status(0);
    attributes_.with([&](Attributes& it) { it.show_in(status); });
    status.links = names();
    return status;
  }
  // It is reached by connect alone.
  Answer<Reference<FileDescription>> open(std::uint32_t) override { return Errno::enxio; }
  Answer<void> set_permissions(std::uint32_t permissions) override {
    attributes_.with([&](Attributes& it) { it.permissions = permissions & 07777; });
    return {};
  }
  Answer<void> set_owner(std::optional<std::uint32_t> user, std::optional<std::uint32_t> group) override {
    attributes_.with([&](Attributes& it) { it.set_owner(user, group); });
    return {};
  }
  Answer<void> set_times(std::optional<Nanoseconds> accessed, std::optional<Nanoseconds> modified) override {
    const Nanoseconds now = volume().now();
    attributes_.with([&](Attributes& it) { it.set_times(accessed, modified, now); });
    return {};
  }

 private:
  Reference<LocalEnd> end_;
  LockedAttributes attributes_{LockRank::file_pages};
};

}  // namespace

Answer<Reference<Node>> make_socket_node(const Reference<Volume>& volume, std::uint32_t permissions, LocalEnd& end) {
  TRY(volume->take_node());
  Result<Reference<SocketNode>> made = make_reference<SocketNode>(volume->heap(), volume, permissions, end);
  if (made.ok()) return Reference<Node>(std::move(made).value());
  volume->give_back_node();
  return made.error();
}

}  // namespace ingot::os
