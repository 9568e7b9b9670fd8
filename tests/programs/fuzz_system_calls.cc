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
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

#include "base/system_call_numbers.h"
#include "tests/programs/fuzz_registers.h"

// Two MiB in a section that no segment loads: with them the program's own file is large enough to be consumed.
asm(R"(
  .pushsection .ballast, "", @progbits
  .fill 2 << 20, 1, 0x5a
  .popsection
)");

namespace {

using Word = unsigned long;

class Random {
 public:
  explicit Random(Word seed) : state_(seed * 0x9e3779b97f4a7c15u + 1) {}
  Word next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1du;
  }
  Word below(Word end) { return (next() >> 11) % end; }
  bool one_in(Word count) { return below(count) == 0; }

 private:
  Word state_;
};

// Memory that calls may write to, with nothing behind it; and addresses that mappings may change.
constexpr Word data_bytes = 64 << 10, guard_bytes = 64 << 20, area_bytes = 16 << 20, page_bytes = 4096;
char* data = nullptr;
char* area = nullptr;
char* read_only = nullptr;

constexpr std::string_view paths[] = {"/tmp/a",
                                      "/tmp/b",
                                      "/tmp/d/e",
                                      "/tmp",
                                      "/",
                                      "..",
                                      "/dev/null",
                                      "/dev/zero",
                                      "/dev/full",
                                      "/proc/self/maps",
                                      "/proc/self/fd",
                                      "/proc/meminfo",
                                      "/proc/self/exe",
                                      "/bin/fuzz_system_calls",
                                      "/sys",
                                      "/etc/passwd",
                                      "/tmp/../tmp/c/.",
                                      "/proc/self/cwd",
                                      "//",
                                      "/dev/random",
                                      "/tmp/link"};

Word some_address(Random& random) {
  switch (random.below(12)) {
    case 0: return 0;
    case 1: return random.below(page_bytes);
    case 2: return 0xffff'8000'0000'0000u + random.below(1ul << 40);  // the kernel's
    case 3: return 0xffff'ffff'ffff'ffffu - random.below(64);
    case 4: return 0x8000'0000'0000u + random.below(1ul << 50);  // nobody's
    case 5: return 0x7fff'ffff'f000u - random.below(16);
    case 6: return reinterpret_cast<Word>(read_only) + random.below(page_bytes);
    case 7: return reinterpret_cast<Word>(data) + data_bytes - random.below(64);  // across the end
    default: return reinterpret_cast<Word>(data) + random.below(data_bytes / 8) * (random.one_in(4) ? 1 : 8);
  }
}

Word some_size(Random& random) {
  constexpr Word sizes[] = {0,   1,    7,    8,    12,    16,      24,        100,      128,
                            144, 4095, 4096, 8192, 65536, 1 << 20, 1ul << 31, 1ul << 47};
  return random.one_in(16) ? -random.below(4096) - 1 : sizes[random.below(std::size(sizes))];
}

// 0 to 2 are ours.
Word some_descriptor(Random& random) {
  if (random.one_in(12)) return random.one_in(2) ? -100ul : random.next() | 64;
  return 3 + random.below(40);
}

Word some_number(Random& random) {
  switch (random.below(7)) {
    case 0: return random.below(8);
    case 1: return random.below(256);
    case 2: return -random.below(16);
    case 3: return 1ul << random.below(64);
    case 4: return random.next() & random.next();
    case 5: return random.next();
    default: return some_size(random);
  }
}

Word some_word(Random& random) {
  switch (random.below(8)) {
    case 0:
    case 1:
    case 2: return some_address(random);
    case 3: return some_descriptor(random);
    case 4: return some_size(random);
    default: return some_number(random);
  }
}

// What calls read: words as above, and paths.
void fill_data(Random& random) {
  for (int count = 0; count < 8; ++count) {
    Word* word = reinterpret_cast<Word*>(data) + random.below(data_bytes / 8);
    *word = some_word(random);
    const std::string_view path = paths[random.below(std::size(paths))];
    char* place = data + random.below(data_bytes / 64 - 1) * 64;
    std::memcpy(place, path.data(), path.size());
    place[path.size()] = random.one_in(16) ? '/' : '\0';
  }
}

// What a thread mapped last: else nothing would ever be protected, advised or unmapped as it was mapped.
struct Part {
  Word begin = 0, bytes = 0;
};
thread_local Part last_mapped;

Word some_part_of_area(Random& random, Word& bytes) {
  if (last_mapped.bytes != 0 && random.one_in(2)) {
    const Word offset = random.below(last_mapped.bytes / page_bytes) * page_bytes;
    bytes = random.one_in(2) ? last_mapped.bytes - offset : page_bytes;
    return last_mapped.begin + offset;
  }
  const Word offset = random.below(area_bytes / page_bytes) * page_bytes;
  bytes =
      random.one_in(8) ? -random.below(1 << 20) : (1 + random.below((area_bytes - offset) / page_bytes)) * page_bytes;
  if (random.one_in(8)) bytes -= 1;
  return reinterpret_cast<Word>(area) + offset + (random.one_in(16) ? 1 : 0);
}

enum class Ends : unsigned char { no, the_thread };

struct Call {
  Word number = 0;
  Word arguments[6] = {};
  Ends ends = Ends::no;
};

// False: not this one, which would be the end of us, or of what we say.
bool is_harmless(Call& call, Random& random) {
  Word* const words = call.arguments;
  const bool is_standard_file = static_cast<unsigned>(words[0]) < 3;  // of a register, calls read the lower half
  switch (call.number) {
    case SYS_exit: call.ends = Ends::the_thread; return random.one_in(50);
    case SYS_exit_group:
    case SYS_execve:
    case SYS_execveat:
    case SYS_rt_sigreturn:
    case SYS_vhangup:
    case SYS_reboot: return false;
    case SYS_clone:
    case SYS_clone3: words[0] &= ~0x10000ul; return call.number == SYS_clone;  // without CLONE_THREAD
    case SYS_arch_prctl: return static_cast<unsigned>(words[0]) != 0x1002;     // ARCH_SET_FS
    case SYS_brk: words[0] = random.one_in(2) ? 0 : -random.below(1 << 20); return true;
    case SYS_munmap:
    case SYS_mprotect:
    case SYS_madvise:
    case SYS_mlock:
    case SYS_munlock:
    case SYS_msync: words[0] = some_part_of_area(random, words[1]); return true;
    case SYS_mremap:
      words[0] = some_part_of_area(random, words[1]);
      words[2] %= area_bytes * 2;
      words[3] &= 1;
      return true;
    case SYS_mmap:
      if (random.one_in(2)) {  // of a file, or of zeroes, where others are
        words[2] &= 7;
        words[3] = MAP_FIXED | (1 + random.below(2)) | (random.one_in(4) ? MAP_ANONYMOUS : 0);
        words[4] = some_descriptor(random);
        words[5] = random.one_in(4) ? some_number(random) & ~(page_bytes - 1) : random.below(16) * page_bytes;
      }
      if ((words[3] & 0x100010) != 0) {
        words[0] = some_part_of_area(random, words[1]);
        last_mapped = {words[0] & ~(page_bytes - 1), words[1] <= area_bytes ? words[1] & ~(page_bytes - 1) : 0};
        return true;
      }
      if (random.one_in(2)) words[3] = 0x22 | (words[3] & 0x24000), words[2] &= 7, words[1] = 1 + random.below(1 << 20);
      return true;
    case SYS_setrlimit:
    case SYS_prlimit64: {
      const auto resource = static_cast<unsigned>(words[call.number == SYS_setrlimit ? 0 : 1]);
      return resource != RLIMIT_CPU && resource != RLIMIT_AS;
    }
    case SYS_kill:
    case SYS_tkill: words[1] = random.one_in(2) ? 0 : SIGUSR1; return true;
    case SYS_tgkill:
    case SYS_rt_tgsigqueueinfo: words[2] = random.one_in(2) ? 0 : SIGUSR1; return true;
    case SYS_rt_sigqueueinfo: words[1] = SIGUSR1; return true;
    case SYS_rt_sigaction: words[1] = random.one_in(2) ? 0 : 0xffff'8000'0000'0000u; return true;
    case SYS_timer_create: words[1] = random.one_in(2) ? 0 : 0xffff'8000'0000'0000u; return true;
    case SYS_dup2:
    case SYS_dup3: return !is_standard_file && static_cast<unsigned>(words[1]) > 2;
    case SYS_dup:
    case SYS_close:
    case SYS_close_range:
    case SYS_write:
    case SYS_writev:
    case SYS_pwrite64:
    case SYS_pwritev:
    case SYS_pwritev2:
    case SYS_fcntl:
    case SYS_ioctl:
    case SYS_sendfile:
    case SYS_splice: return !is_standard_file;
    default: return true;
  }
}

Call some_call(Random& random) {
  static constexpr std::size_t known = std::size(ingot::implemented_system_calls);
  for (;;) {
    Call call;
    if (random.one_in(8)) {
      call.number = random.one_in(8) ? some_number(random) : random.below(480);
    } else {
      call.number = *ingot::system_call_number(ingot::implemented_system_calls[random.below(known)]);
    }
    for (Word& word : call.arguments) word = some_word(random);
    if (random.one_in(2)) call.arguments[0] = some_descriptor(random);
    if (is_harmless(call, random)) return call;
  }
}

Word call_kernel(const Call& call) {
  Word answer = call.number;
  register Word fourth asm("r10") = call.arguments[3];
  register Word fifth asm("r8") = call.arguments[4];
  register Word sixth asm("r9") = call.arguments[5];
  asm volatile("syscall"
               : "+a"(answer)
               : "D"(call.arguments[0]), "S"(call.arguments[1]), "d"(call.arguments[2]), "r"(fourth), "r"(fifth),
                 "r"(sixth)
               : "rcx", "r11", "memory");
  return answer;
}

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
      return fuzz::begin_and_end_thread({of_a_thread | (random.next() & further), some_word(random),
                                         some_address(random), some_address(random), some_word(random)});
    case 1: return fuzz::change_storage(some_word(random));
    default: return fuzz::return_from_handler_of(SIGUSR2, thread);
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
  syscall(SYS_epoll_create1, 0);
  syscall(SYS_memfd_create, "m", 0);
  syscall(SYS_mq_open, "q", O_RDWR | O_CREAT | O_NONBLOCK, 0600, nullptr);
  for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
    static_cast<void>(socketpair(AF_UNIX, type, 0, pair));
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
