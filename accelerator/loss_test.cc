// What comes of a worker, a broker or a client that goes: an error within a second, and nothing that hangs.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <fstream>
#include <thread>

#include "accelerator/broker_fixture.h"
#include "accelerator/confinement.h"
#include "accelerator/fault_report.h"

namespace ingot {
namespace {

using accelerator::SharedWords;
using Clock = std::chrono::steady_clock;

// Whether a call fails, and within a second.
void expect_loss(AcceleratorClient& client) {
  const Clock::time_point began = Clock::now();
  while (client.call(accelerator::barrier_packet(0)).ok()) {
    ASSERT_LT(Clock::now() - began, std::chrono::seconds(1));
  }
  EXPECT_LT(Clock::now() - began, std::chrono::seconds(1));
  const auto again = client.call(accelerator::barrier_packet(0));
  ASSERT_FALSE(again.ok());
  EXPECT_NE(again.error().text().find("the accelerator's worker"), std::string_view::npos) << again.error().text();
}

TEST(AcceleratorLoss, OfTheWorkerIsAnErrorAndTheNextOneServes) {
  RunningBroker broker;
  for (int round = 0; round < 10; ++round) {
    const auto client = AcceleratorClient::connect(broker.path()).value();
    ASSERT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
    const std::vector<pid_t> workers = children_of(broker.process());
    ASSERT_FALSE(workers.empty());
    for (const pid_t worker : workers) ::kill(worker, SIGKILL);
    expect_loss(*client);
  }
  EXPECT_EQ(broker.end(SIGTERM), 0);
}

TEST(AcceleratorLoss, OfTheBrokerEndsWorkersAndIsAnError) {
  RunningBroker broker;
  const auto client = AcceleratorClient::connect(broker.path()).value();
  ASSERT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
  EXPECT_EQ(broker.end(SIGKILL), SIGKILL);
  expect_loss(*client);
  EXPECT_FALSE(AcceleratorClient::connect(broker.path()).ok());
}

TEST(AcceleratorLoss, WhileAnAnswerIsWaitedForIsAnErrorToo) {
  RunningBroker broker;
  const auto client = AcceleratorClient::connect(broker.path()).value();
  ASSERT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
  const std::vector<pid_t> workers = children_of(broker.process());
  ASSERT_EQ(workers.size(), 1u);
  ::kill(workers[0], SIGSTOP);  // it takes nothing any more
  std::thread killer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    ::kill(workers[0], SIGKILL);
  });
  const Clock::time_point began = Clock::now();
  EXPECT_FALSE(client->call(accelerator::barrier_packet(0)).ok());
  EXPECT_LT(Clock::now() - began, std::chrono::milliseconds(1200));
  killer.join();
}

TEST(AcceleratorLoss, OfTheClientEndsItsWorker) {
  RunningBroker broker;
  {
    const auto client = AcceleratorClient::connect(broker.path()).value();
  }
  const Clock::time_point began = Clock::now();
  while (!children_of(broker.process()).empty()) {
    ASSERT_LT(Clock::now() - began, std::chrono::seconds(5));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

// A worker is a fork of a broker that has the rings of all clients mapped, to tell them of their workers' ends.
TEST(AcceleratorBroker, GivesAWorkerTheRingsOfItsOwnClientAlone) {
  RunningBroker broker;
  std::vector<std::unique_ptr<AcceleratorClient>> clients;
  for (int client = 0; client < 3; ++client) {
    clients.push_back(AcceleratorClient::connect(broker.path()).value());
    ASSERT_TRUE(clients.back()->call(accelerator::barrier_packet(0)).ok());
  }
  const std::vector<pid_t> workers = children_of(broker.process());
  ASSERT_EQ(workers.size(), clients.size());
  for (const pid_t worker : workers) {
    std::ifstream maps("/proc/" + std::to_string(worker) + "/maps");
    int rings = 0;
    for (std::string line; std::getline(maps, line);) rings += line.find("ingot accelerator rings") != line.npos;
    EXPECT_EQ(rings, 1);
  }
}

TEST(AcceleratorBroker, ServesAsManyAsItMay) {
  RunningBroker broker(1);
  auto client = AcceleratorClient::connect(broker.path()).value();
  EXPECT_FALSE(AcceleratorClient::connect(broker.path()).ok());
  EXPECT_TRUE(client->call(accelerator::barrier_packet(0)).ok());
}

// Who connects for somebody else looks at the greeting, and leaves it to him.
TEST(AcceleratorBroker, GreetsOnceAlsoWhereSomebodyLookedBefore) {
  RunningBroker broker(1);
  const std::chrono::seconds limit(5);
  const Descriptor socket = connect_to_path(broker.path()).value();
  for (int look = 0; look < 2; ++look) {
    Result<Descriptor> seen = peek_greeting(socket.get(), limit);
    ASSERT_TRUE(seen.ok()) << seen.error().text();
    const auto memory = SharedMemory::of(std::move(seen).value(), Bytes(accelerator::shared_bytes)).value();
    EXPECT_EQ(SharedWords(memory.data()).identity().version, accelerator::protocol_version);
  }
  const Result<Greeting> greeting = receive_greeting(socket.get(), limit);
  ASSERT_TRUE(greeting.ok()) << greeting.error().text();
  const Descriptor second = connect_to_path(broker.path()).value();
  const Result<Descriptor> refused = peek_greeting(second.get(), limit);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().text().find("as many clients as it may"), std::string_view::npos);
}

TEST(AcceleratorClient, LooksForNoGreetingWhereThereIsNone) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
  const Descriptor here(ends[0]), there(ends[1]);
  ASSERT_EQ(::write(there.get(), "HTTP/1.1", 8), 8);
  Result<Descriptor> seen = peek_greeting(here.get(), std::chrono::milliseconds(50));
  ASSERT_FALSE(seen.ok());
  EXPECT_NE(seen.error().text().find("found none in time"), std::string_view::npos) << seen.error().text();
  ASSERT_EQ(::write(there.get(), " 400 no, and a line", 19), 19);
  seen = peek_greeting(here.get(), std::chrono::milliseconds(50));
  ASSERT_FALSE(seen.ok());
  EXPECT_EQ(seen.error().code(), ErrorCode::corrupt);
}

TEST(AcceleratorBroker, RefusesAPathThatAnotherOneListensAt) {
  RunningBroker broker;
  BrokerOptions options;
  options.path = broker.path();
  const auto second = Broker::create(std::move(options));
  ASSERT_FALSE(second.ok());
  EXPECT_NE(second.error().text().find("found a server that answers"), std::string_view::npos) << second.error().text();
}

TEST(AcceleratorClient, RefusesWhatIsNoAccelerator) {
  const std::string path = testing::TempDir() + "no_accelerator." + std::to_string(::getpid());
  const auto listener = listen_at_path(path, 4);
  ASSERT_TRUE(listener.ok());
  std::thread other([&] {
    int socket = -1;
    while ((socket = ::accept(listener.value().socket.get(), nullptr, nullptr)) < 0) std::this_thread::yield();
    const std::array<char, 16> words = {"HTTP/1.1 400 no"};
    [[maybe_unused]] const ssize_t sent = ::write(socket, words.data(), words.size());
    ::close(socket);
  });
  const auto client = AcceleratorClient::connect(path);
  other.join();
  ASSERT_FALSE(client.ok());
  EXPECT_NE(client.error().text().find("an accelerator's greeting"), std::string_view::npos) << client.error().text();
}

// What a child does until it ends; its status.
template <class Act>
int status_of(const Act& act) {
  const pid_t child = ::fork();
  if (child == 0) {
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST(Confinement, EndsWhoAsksForMore) {
  const auto confined = [](auto act) {
    return status_of([&] {
      if (!confine({1, 2}).ok()) ::_exit(77);
      act();
    });
  };
  EXPECT_EQ(confined([] {}), 0);
  EXPECT_EQ(WTERMSIG(confined([] { ::open("/dev/null", O_RDONLY); })), SIGSYS);
  EXPECT_EQ(WTERMSIG(confined([] { ::socket(AF_UNIX, SOCK_STREAM, 0); })), SIGSYS);
  EXPECT_EQ(WTERMSIG(confined([] { ::execl("/bin/true", "true", nullptr); })), SIGSYS);
  EXPECT_EQ(WTERMSIG(confined([] { ::write(5, "", 1); })), SIGSYS);
  EXPECT_EQ(WTERMSIG(confined([] { ::fork(); })), SIGSYS);
  // Of no bytes: on a whole page it would be a defect of the machine's memory, where an administrator asks.
  EXPECT_EQ(WTERMSIG(confined([] { ::madvise(nullptr, 0, MADV_HWPOISON); })), SIGSYS);
  EXPECT_EQ(confined([] { ::madvise(nullptr, 0, MADV_HUGEPAGE); }), 0);
  EXPECT_EQ(WTERMSIG(confined([] { ::mprotect(nullptr, 0, PROT_READ | PROT_EXEC); })), SIGSYS);
  EXPECT_EQ(WTERMSIG(confined([] { ::kill(::getppid(), 0); })), SIGSYS);
}

TEST(Confinement, KeepsOnlyWhatItIsTold) {
  const int kept = ::open("/dev/null", O_RDONLY);
  const int other = ::open("/dev/null", O_RDONLY);
  const int status = status_of([&] {
    if (!keep_only(std::array{kept}).ok()) ::_exit(77);
    ::_exit(::fcntl(kept, F_GETFD) == 0 && ::fcntl(other, F_GETFD) == -1 ? 0 : 1);
  });
  EXPECT_EQ(status, 0);
  ::close(kept);
  ::close(other);
}

TEST(FaultReport, TellsWhereTheClientsMemoryEnds) {
  const SharedMemory rings = SharedMemory::create(Bytes(accelerator::shared_bytes), "test").value();
  const SharedMemory shown = SharedMemory::create(Bytes(4096), "test").value();
  const SharedWords shared(rings.data());
  constexpr std::uint64_t address = 0x10000;
  const auto touch = [&](std::ptrdiff_t offset) {
    return status_of([&] {
      static ClientMemory memory;
      const FilePiece whole = {0, 4096};
      if (!memory.map(shown.descriptor(), {&whole, 1}, address, false).ok()) ::_exit(77);
      FaultReport::begin(shared, memory, 2);
      FaultReport::at_packet(5);
      std::byte* const data = memory.find(address, 1, accelerator::Access::read).value();
      *const_cast<volatile std::byte*>(data + offset) = std::byte{1};
    });
  };
  EXPECT_EQ(WEXITSTATUS(touch(100)), 1);  // it may be read
  accelerator::Fault fault = shared.slot<accelerator::Fault>(accelerator::at::faults, 0).load();
  EXPECT_EQ(fault.address, address + 100);
  EXPECT_EQ(fault.is_clients, 1u);
  EXPECT_EQ(fault.kind, accelerator::FaultKind::protection);
  EXPECT_EQ(fault.command, 5u);
  EXPECT_EQ(shared.worker().state.load(MemoryOrder::acquire), accelerator::WorkerState::faulted);
  EXPECT_EQ(shared.memory().state.load(MemoryOrder::acquire), accelerator::WorkerState::faulted);
  EXPECT_EQ(WEXITSTATUS(touch(4096)), 1);
  fault = shared.slot<accelerator::Fault>(accelerator::at::faults, 0).load();
  EXPECT_EQ(fault.is_clients, 0u);
}

}  // namespace
}  // namespace ingot
