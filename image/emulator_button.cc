#include "image/emulator_button.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

namespace ingot::image {

Result<EmulatorButton> EmulatorButton::create() {
  EmulatorButton button;
  constexpr int beyond = 100;  // all numbers that the emulator's could be put over
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0) {
    for (int end = 0; end < 2; ++end) {
      button.ends_[end] = ::fcntl(ends[end], F_DUPFD_CLOEXEC, beyond);
      ::close(ends[end]);
    }
    if (button.ends_[0] >= 0 && button.ends_[1] >= 0) return button;
  }
  return Error::of(ErrorCode::input_output, "expected to create a pair of sockets, found: ", std::strerror(errno));
}

EmulatorButton::EmulatorButton(EmulatorButton&& other) noexcept
    : ends_{std::exchange(other.ends_[0], -1), std::exchange(other.ends_[1], -1)} {}

EmulatorButton::~EmulatorButton() {
  for (const int end : ends_) {
    if (end >= 0) ::close(end);
  }
}

// QEMU's protocol wants the first command before any other; what it answers says nothing about the guest.
void EmulatorButton::press() const {
  constexpr std::string_view commands = R"({"execute":"qmp_capabilities"}{"execute":"system_powerdown"})";
  [[maybe_unused]] const ssize_t sent = ::send(ends_[0], commands.data(), commands.size(), MSG_NOSIGNAL);
}

std::vector<std::string> button_words(int descriptor) {
  return {"-chardev", "socket,id=button,fd=" + std::to_string(descriptor), "-mon", "chardev=button,mode=control"};
}

}  // namespace ingot::image
