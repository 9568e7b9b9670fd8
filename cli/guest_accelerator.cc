#include "cli/guest_accelerator.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <csignal>

#include "accelerator/broker.h"
#include "cli/terminal.h"
#include "kernels/all_operations.h"
#include "machine/accelerator/client.h"
#include "machine/accelerator/greeting.h"
#include "machine/limits.h"
#include "machine/machine.h"
#include "machine/unix_socket.h"

namespace ingot {
namespace {

constexpr char is_ready = '+';

// All numbers lie beyond those that the emulator gets them under.
Result<Descriptor> beyond_the_emulators(int descriptor) {
  Descriptor moved(::fcntl(descriptor, F_DUPFD_CLOEXEC, 100));
  if (!moved.is_open()) return refused("copy a descriptor");
  return moved;
}

// In a process of its own; what it says first is that it is ready, or why it is not.
int serve(const std::string& path, Descriptor ready) {
  BrokerOptions options;
  options.path = path;
  options.task = {all_operations(), Machine::detect().features, usable_cpu_count()};
  options.tell = [](const ClientNews& news) {
    const bool is_told = news.end == client_left || news.end == broker_was_ended;
    if (news.kind == ClientNews::Kind::left && !is_told) {
      print_warning("the accelerator's worker has ended: " + news.end);
    }
  };
  Result<Broker> broker = Broker::create(std::move(options));
  const std::string_view word = broker.ok() ? std::string_view(&is_ready, 1) : broker.error().text();
  const ssize_t told = ::write(ready.get(), word.data(), word.size());
  ready = Descriptor();
  return broker.ok() && told > 0 && broker.value().run().ok() ? 0 : 1;
}

// The emulator would wait for ever for the greeting of somebody who is none, and say nothing of versions.
Result<Descriptor> connect(const std::string& socket) {
  const auto made = [&]() -> Result<Descriptor> {
    Descriptor connected = TRY(connect_to_path(socket));
    Descriptor words = TRY(peek_greeting(connected.get(), greeting_limit));
    const SharedMemory shared = TRY(SharedMemory::of(std::move(words), Bytes(accelerator::shared_bytes)));
    TRY(AcceleratorClient::check(accelerator::SharedWords(shared.data()).identity(), socket));
    return connected;
  };
  Result<Descriptor> connected = made();
  if (!connected.ok()) return connected.error().within("--device");
  return connected;
}

[[noreturn]] void become_broker(const std::string& path, Descriptor ready, pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it was gone before we asked
  ::setpgid(0, 0);                        // a terminal's Ctrl-C is the machine's, or presses its button
  const Descriptor nowhere(::open("/dev/null", O_RDWR | O_CLOEXEC));
  ::dup2(nowhere.get(), STDIN_FILENO);
  ::dup2(nowhere.get(), STDOUT_FILENO);
  ::_exit(serve(path, std::move(ready)));
}

}  // namespace

GuestAccelerator::~GuestAccelerator() {
  if (broker_ <= 0) return;
  ::kill(broker_, SIGTERM);
  while (::waitpid(broker_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

Result<void> GuestAccelerator::start_broker() {
  folder_.emplace(TRY(image::TemporaryFolder::create()));
  socket_ = folder_->path() + "/accelerator";
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return refused("create a pipe");
  const Descriptor reading(ends[0]);
  Descriptor writing(ends[1]);
  const pid_t parent = ::getpid();
  broker_ = ::fork();
  if (broker_ < 0) return refused("start an accelerator");
  if (broker_ == 0) become_broker(socket_, std::move(writing), parent);
  writing = Descriptor();
  std::array<char, 1024> word{};
  ssize_t count = -1;
  do {
    count = ::read(reading.get(), word.data(), word.size());
  } while (count < 0 && errno == EINTR);
  if (count > 0 && word[0] == is_ready) return {};
  return Error::of(ErrorCode::input_output, "expected an accelerator to begin, found: ",
                   count > 0 ? std::string_view(word.data(), static_cast<std::size_t>(count)) : "its end");
}

Result<image::AcceleratorEnds> GuestAccelerator::begin(std::uint64_t memory_bytes) {
  if (socket_.empty()) TRY(start_broker());
  const Descriptor connected = TRY(connect(socket_));
  memory_ = TRY(SharedMemory::create(Bytes(memory_bytes), "ingot machine"));
  memorys_end_ = TRY(beyond_the_emulators(memory_.descriptor()));
  // First of all that is said: the emulator reads the greeting, and never knows.
  TRY(hand_over(connected.get(), memory_.descriptor()));
  connection_ = TRY(beyond_the_emulators(connected.get()));
  return image::AcceleratorEnds{connection_.get(), memorys_end_.get()};
}

}  // namespace ingot
