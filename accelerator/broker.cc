#include "accelerator/broker.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <csignal>

#include "accelerator/rehearsal.h"
#include "kernels/contract/call_arguments.h"
#include "machine/accelerator/answer_error.h"

namespace ingot {
namespace {

constexpr int backlog = 64;

Result<Descriptor> make_bell() {
  Descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell.is_open()) return refused("make an eventfd");
  return bell;
}

Result<Descriptor> copy_of(int descriptor) {
  Descriptor copy(::fcntl(descriptor, F_DUPFD_CLOEXEC, 0));
  if (!copy.is_open()) return refused("copy a descriptor");
  return copy;
}

std::string end_of(int status, const SharedMemory& rings) {
  using accelerator::WorkerState;
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGSYS) return std::string(asked_for_more);
    return "signal " + std::to_string(WTERMSIG(status));
  }
  if (WEXITSTATUS(status) == 0) return std::string(client_left);
  const accelerator::SharedWords words(rings.data());
  switch (words.worker().state.load(MemoryOrder::acquire)) {
    case WorkerState::faulted: return "a packet touched memory that is nobody's";
    case WorkerState::misled: return "the client's rings were broken";
    case WorkerState::unable:  // or a client that says so in its place
      return "the worker could not begin: " +
             harmless_text(words.slot<accelerator::Answer>(accelerator::at::answers, 0).load());
    default: return "exit code " + std::to_string(WEXITSTATUS(status));
  }
}

}  // namespace

Result<Broker> Broker::create(BrokerOptions options) {
  auto signals = std::make_unique<BrokerSignals>();
  if (signals->descriptor() < 0) return refused("wait for signals");
  TRY(rehearse(options.task));
  const mode_t before = ::umask(0177);  // a socket for this user alone
  Result<UnixListener> listener = listen_at_path(options.path, backlog);
  ::umask(before);
  if (!listener.ok()) return listener.error();
  const std::uint64_t digest = contracts_digest(options.task.operations);
  return Broker(std::move(options), std::move(signals), std::move(listener).value(), digest);
}

Result<void> Broker::run(SideWork* beside) {
  std::vector<pollfd> waits;
  while (true) {
    waits = {{signals_->descriptor(), POLLIN, 0}, {listener_.socket.get(), POLLIN, 0}};
    const std::size_t own = waits.size();
    if (beside != nullptr) beside->add_waits(waits);
    TRY(wait(waits, beside));
    if ((waits[0].revents & POLLIN) != 0) {
      const bool is_end = signals_->take();
      reap();
      if (is_end) break;
    }
    if ((waits[1].revents & POLLIN) != 0) greet();
    if (beside != nullptr) beside->turn(std::span(waits).subspan(own));
  }
  for (const auto& [worker, client] : clients_) ::kill(worker, SIGKILL);
  while (!clients_.empty()) {
    int status = 0;
    const pid_t ended = ::waitpid(-1, &status, 0);
    if (ended < 0 && errno != EINTR) break;
    if (ended > 0) bury(ended, std::string(broker_was_ended));
  }
  return {};
}

Result<void> Broker::wait(std::vector<pollfd>& waits, const SideWork* beside) {
  int milliseconds = -1;
  if (const auto next = beside == nullptr ? std::nullopt : beside->next_turn()) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*next - Clock::now()).count();
    milliseconds = static_cast<int>(std::clamp<std::int64_t>(left, 0, 60'000));
  }
  if (::poll(waits.data(), waits.size(), milliseconds) < 0 && errno != EINTR) return refused("wait for clients");
  return {};
}

void Broker::greet() {
  const Result<void> accepted = accept();
  if (accepted.ok()) return;
  ++refused_;
  tell({.kind = ClientNews::Kind::refused, .end = std::string(accepted.error().text())});
}

Result<void> Broker::accept() {
  Descriptor socket(::accept4(listener_.socket.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!socket.is_open()) {
    if (errno == EAGAIN || errno == ECONNABORTED || errno == EINTR) return {};  // it has left already
    const Error error = refused("accept a client");
    ::poll(nullptr, 0, 100);  // without descriptors it would be asked again at once, and for ever
    return error;
  }
  if (clients_.size() >= options_.most_clients) {
    return Error::of(ErrorCode::out_of_memory, "expected at most ", options_.most_clients,
                     " clients at a time, found one more");
  }
  return start_worker(std::move(socket));
}

Result<void> Broker::start_worker(Descriptor socket) {
  SharedMemory rings = TRY(SharedMemory::create(Bytes(accelerator::shared_bytes), "ingot accelerator rings"));
  accelerator::Identity& identity = accelerator::SharedWords(rings.data()).identity();
  identity = {.magic = accelerator::magic,
              .version = accelerator::protocol_version,
              .contracts = static_cast<std::uint32_t>(options_.task.operations.size()),
              .contracts_digest = digest_,
              .threads = static_cast<std::uint32_t>(options_.task.threads),
              .features = options_.task.features.bits()};
  Greeting greeting;
  greeting.memory = TRY(copy_of(rings.descriptor()));
  greeting.worker_bell = TRY(make_bell());
  greeting.answer_bell = TRY(make_bell());
  greeting.fault_bell = TRY(make_bell());
  const Clock::time_point came = Clock::now();  // before its worker counts
  const pid_t broker = ::getpid();
  const pid_t worker = ::fork();
  if (worker < 0) return refused("start a worker");
  if (worker == 0) {
    clients_.clear();  // others' rings, which a fork maps as well
    run_worker({std::move(rings), std::move(socket), std::move(greeting.worker_bell), std::move(greeting.answer_bell),
                std::move(greeting.fault_bell), broker},
               options_.task);
  }
  const std::uint64_t number = ++last_number_;
  tell({.kind = ClientNews::Kind::came, .client = number, .worker = worker});
  // Where the client has left already, its worker finds out, too.
  static_cast<void>(send_greeting(socket.get(), greeting).ok());
  clients_[worker] = {number, std::move(rings), std::move(greeting.answer_bell), std::move(greeting.fault_bell), came};
  return {};
}

ClientFigures Broker::Client::figures(pid_t worker) {
  const auto since_it_came = Clock::now() - came;
  const accelerator::SharedWords shared(rings.data());
  return {number, worker, since_it_came, counts.look(shared.worker(), since_it_came)};
}

BrokerFigures Broker::figures() {
  BrokerFigures all;
  all.came = last_number_;
  all.refused = refused_;
  all.total = ended_;
  for (auto& [worker, client] : clients_) {
    all.clients.push_back(client.figures(worker));
    add(all.total, all.clients.back().counts);
  }
  std::ranges::sort(all.clients, {}, &ClientFigures::client);
  return all;
}

// Who was reaped touches nothing any more. A machine's kernel waits for this before it uses pages again that the worker
// may have written.
void Broker::tell_end(const Client& client) {
  const accelerator::SharedWords shared(client.rings.data());
  for (accelerator::BrokerWords* words : {&shared.owners_broker(), &shared.broker()}) {
    words->worker_is_gone.store(1, MemoryOrder::release);
  }
  for (const Descriptor* bell : {&client.answer_bell, &client.fault_bell}) {
    const std::uint64_t once = 1;
    [[maybe_unused]] const ssize_t count = ::write(bell->get(), &once, sizeof once);
  }
}

void Broker::bury(pid_t ended, std::string reason) {
  const auto found = clients_.find(ended);
  if (found == clients_.end()) return;
  Client& client = found->second;
  tell_end(client);
  ClientCounts counts = client.figures(ended).counts;
  tell({.kind = ClientNews::Kind::left,
        .client = client.number,
        .worker = ended,
        .counts = counts,
        .end = std::move(reason)});
  counts.mapped_bytes = 0;  // by now
  add(ended_, counts);
  clients_.erase(found);
}

void Broker::reap() {
  int status = 0;
  while (true) {
    const pid_t ended = ::waitpid(-1, &status, WNOHANG);
    if (ended <= 0) return;
    const auto found = clients_.find(ended);
    if (found != clients_.end()) bury(ended, end_of(status, found->second.rings));
  }
}

}  // namespace ingot
