// Calls the kernel as no program would: random calls with random and nearly right arguments, from several threads. It
// is careful with itself alone: what it does not hand out are its own memory, its standard files, and its end.
// fuzz.py boots it with many seeds; here, once.
//
// program-test: arguments 1 3
// program-test: processors 2
// program-test: cast --tmpfs 4M --consume /bin/fuzz_system_calls
// program-test: seconds 100
// program-test: expect fuzz: seed 1,
// program-test: log exit 0
// program-test: never panic
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <ucontext.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>

#include "tests/programs/fuzz/calls.h"
#include "tests/programs/fuzz/registers.h"

// Two MiB in a section that no segment loads: with them the program's own file is large enough to be consumed.
asm(R"(
  .pushsection .ballast, "", @progbits
  .fill 2 << 20, 1, 0x5a
  .popsection
)");

namespace {

using namespace fuzz;

thread_local Random* spoiling = nullptr;

// Where the program can go on all the same: no single steps, no checks of alignment, no other direction.
void spoil_frame(int, siginfo_t*, void* place) {
  constexpr Word harmless_flags = ~0x40500ul, header_place = 464, header_bytes = 112, state_bytes = 832;
  auto& registers = static_cast<ucontext_t*>(place)->uc_mcontext;
  registers.gregs[REG_EFL] = static_cast<greg_t>(spoiling->next() & harmless_flags);
  registers.gregs[REG_CSGSFS] = static_cast<greg_t>(spoiling->next());
  auto* const state = reinterpret_cast<unsigned char*>(registers.fpregs);
  for (int count = 0; count < 8; ++count) {
    const Word offset =
        spoiling->one_in(2) ? spoiling->below(state_bytes) : header_place + spoiling->below(header_bytes);
    state[offset] = static_cast<unsigned char>(spoiling->next());
  }
}

void change_registers(Random& random, pid_t thread) {
  constexpr Word of_a_thread = 0x10f00, further = 0x80000 | 0x100000 | 0x200000 | 0x1000000;
  spoiling = &random;
  switch (random.below(3)) {
    case 0:
      return begin_and_end_thread({of_a_thread | (random.next() & further), some_word(random), some_address(random),
                                   some_address(random), some_word(random)});
    case 1: return change_storage(some_word(random));
    default: return return_from_handler_of(SIGUSR2, thread);
  }
}

struct Worker {
  std::atomic<Word> calls = 0;
  std::atomic<Word> number = 0;  // of the call it is in
  std::atomic<bool> ended = false;
  std::atomic<pid_t> thread = 0;
  Word last_seen = 0;
};

std::atomic<bool> stop = false;

void work(Worker& self, Word seed) {
  Random random(seed);
  self.thread = static_cast<pid_t>(syscall(SYS_gettid));
  while (!stop) {
    if (random.one_in(4)) fill_data(random);
    const Call call = some_call(random);
    self.number = call.number;
    if (call.ends == Ends::the_thread) self.ended = true;
    call_kernel(call);
    if (random.one_in(16)) change_registers(random, self.thread);
    ++self.calls;
  }
  self.ended = true;
}

void open_files() {
  int pair[2];
  for (int i = 0; i < 3; ++i) static_cast<void>(pipe2(pair, O_NONBLOCK));
  static_cast<void>(pipe(pair));
  for (const std::string_view path : paths) static_cast<void>(open(path.data(), O_RDWR | O_CREAT, 0600));
  for (const std::string_view path : paths) static_cast<void>(open(path.data(), O_RDONLY));
  syscall(SYS_eventfd2, 0, 0);
  syscall(SYS_timerfd_create, CLOCK_MONOTONIC, 0);
  for (Word& epoll : epolls) epoll = static_cast<Word>(syscall(SYS_epoll_create1, 0));
  syscall(SYS_memfd_create, "m", 0);
  syscall(SYS_mq_open, "q", O_RDWR | O_CREAT | O_NONBLOCK, 0600, nullptr);
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
    static_cast<void>(socketpair(AF_UNIX, type, 0, pair));
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET}) {
    sockaddr_un name{AF_UNIX, "\0a"};
    const int number = socket(AF_UNIX, type | SOCK_NONBLOCK, 0);
    static_cast<void>(bind(number, reinterpret_cast<sockaddr*>(&name), sizeof name.sun_family + 2));
    static_cast<void>(listen(number, 2));
    static_cast<void>(
        connect(socket(AF_UNIX, type, 0), reinterpret_cast<sockaddr*>(&name), sizeof name.sun_family + 2));
  }
}

// Allocations may fail now and then, and before there is anything to lose they are tried again.
template <class Attempt>
void insist(Attempt&& attempt) {
  for (int count = 0; count < 10; ++count) {
    if (attempt()) return;
  }
  std::exit(2);
}

char* reserve(Word bytes, Word address = 0) {
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (address != 0 ? MAP_FIXED_NOREPLACE : 0);
  void* place = nullptr;
  insist(
      [&] { return (place = mmap(reinterpret_cast<void*>(address), bytes, PROT_NONE, flags, -1, 0)) != MAP_FAILED; });
  return static_cast<char*>(place);
}

void pass_over(int) {}

// The kernel copies a frame before it believes it, and says SIGSEGV where no memory is left for that: rt_sigreturn is
// tried again. What else faults is not ours: it comes again, and ends us.
void return_again(int signal, siginfo_t* information, void* frame) {
  constexpr unsigned short system_call = 0x050f;
  greg_t* const registers = static_cast<ucontext_t*>(frame)->uc_mcontext.gregs;
  unsigned short instruction = 0;
  if (information->si_code == SI_KERNEL) {
    std::memcpy(&instruction, reinterpret_cast<const void*>(registers[REG_RIP] - 2), sizeof instruction);
  }
  if (instruction != system_call) {
    std::signal(signal, SIG_DFL);
    return;
  }
  registers[REG_RIP] -= 2;
  registers[REG_RAX] = SYS_rt_sigreturn;
}

}  // namespace

// usage: fuzz_system_calls SEED SECONDS [THREADS]
int main(int count, char** words) {
  const Word seed = count > 1 ? std::strtoul(words[1], nullptr, 10) : 1;
  const Word seconds = count > 2 ? std::strtoul(words[2], nullptr, 10) : 3;
  const Word threads = count > 3 ? std::strtoul(words[3], nullptr, 10) : 4;
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  std::printf("fuzz: seed %lu, %lu s, %lu threads\n", seed, seconds, threads);
  for (int signal = 1; signal <= 64; ++signal) {
    if (signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGTRAP) continue;
    struct sigaction action = {};
    action.sa_handler = pass_over;
    sigaction(signal, &action, nullptr);
  }
  struct sigaction spoils = {};
  spoils.sa_sigaction = spoil_frame;
  spoils.sa_flags = SA_SIGINFO;
  sigaction(SIGUSR2, &spoils, nullptr);
  struct sigaction returns = {};
  returns.sa_sigaction = return_again;
  returns.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &returns, nullptr);
  data = reserve(data_bytes + guard_bytes);
  read_only = reserve(page_bytes + guard_bytes);
  // Far from where the kernel puts stacks: holes that one thread makes here must not become another's.
  area = reserve(area_bytes + guard_bytes, 0x2000'0000'0000);
  insist([] { return mprotect(data, data_bytes, PROT_READ | PROT_WRITE) == 0; });
  insist([] { return mprotect(read_only, page_bytes, PROT_READ) == 0; });
  open_files();
  // Workers that wait for good are left behind: the end of the program is to end them, too.
  constexpr std::size_t most_workers = 48;
  std::vector<Worker> workers(most_workers);
  std::size_t begun = 0, missed = 0;
  const auto begin_one = [&] {
    if (begun == most_workers) return false;
    Worker& worker = workers[begun++];
    try {
      std::thread(work, std::ref(worker), seed * 1000 + begun).detach();
    } catch (const std::exception&) {
      worker.ended = true;
      ++missed;
    }
    return true;
  };
  while (begun < threads) begin_one();
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  while (std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    Word active = 0;
    for (std::size_t i = 0; i < begun; ++i) {
      Worker& worker = workers[i];
      const Word calls = worker.calls;
      if (!worker.ended && calls == worker.last_seen && worker.thread != 0) {
        syscall(SYS_tgkill, getpid(), worker.thread.load(), SIGUSR1);
      } else if (!worker.ended) {
        ++active;
      }
      worker.last_seen = calls;
    }
    while (active < threads && begin_one()) ++active;
  }
  stop = true;
  Word calls = 0, waiting = 0;
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  for (std::size_t i = 0; i < begun; ++i) {
    calls += workers[i].calls;
    if (workers[i].ended) continue;
    ++waiting;
    std::printf("fuzz: thread %d is in call %lu\n", workers[i].thread.load(), workers[i].number.load());
  }
  std::printf("fuzz: seed %lu, %lu calls by %zu threads, %lu of them wait still, %zu were refused\n", seed, calls,
              begun, waiting, missed);
  _exit(0);
}
