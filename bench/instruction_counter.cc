// A plugin of QEMU's translator that counts every instruction a machine executes, by where it lies: bench/os_vs_linux
// and bench/os_network_vs_linux load it. Exact, also where a block ends early by a fault: each instruction adds to its
// block's counter by itself.
//
//   -plugin build/instruction_counter.so,report=FILE,begin=ADDRESS:BYTES,end=ADDRESS:BYTES
//   -plugin build/instruction_counter.so,report=FILE,begin=ADDRESS:BYTES,marks=SOCKET
//
// `begin` is the program's first instruction in ring 3 and `end` the one whose execution ends the count, and the
// emulator; both as an address and the code that lies there, since other code may pass the same address before. The
// report has a line "PHASE ADDRESS COUNT" for each translated block, PHASE being `boot` before ring 3 and `run` after.
//
// `marks` is a Unix socket where somebody listens. Each line that comes from there is a phase's name: what was executed
// since `begin` is reported under it, and the line sent back. The machine runs on meanwhile.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>

// The part of QEMU's plugin interface, version 1, that is used here. No package brings its header.
extern "C" {
using PluginIdentity = std::uint64_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
enum class PluginOperation : int { add = 0 };
enum class PluginRegisters : int { none = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(PluginIdentity, void (*)(PluginIdentity, qemu_plugin_tb*));
std::size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb*);
std::uint64_t qemu_plugin_tb_vaddr(const qemu_plugin_tb*);
qemu_plugin_insn* qemu_plugin_tb_get_insn(const qemu_plugin_tb*, std::size_t);
const void* qemu_plugin_insn_data(const qemu_plugin_insn*);
std::size_t qemu_plugin_insn_size(const qemu_plugin_insn*);
std::uint64_t qemu_plugin_insn_vaddr(const qemu_plugin_insn*);
void qemu_plugin_register_vcpu_insn_exec_inline(qemu_plugin_insn*, PluginOperation, void*, std::uint64_t);
void qemu_plugin_register_vcpu_insn_exec_cb(qemu_plugin_insn*, void (*)(unsigned, void*), PluginRegisters, void*);

extern const int qemu_plugin_version;
const int qemu_plugin_version = 1;
int qemu_plugin_install(PluginIdentity identity, const void* emulator, int count, char** arguments);
}

namespace {

struct Marker {
  std::uint64_t address = 0;
  std::string code;

  // ADDRESS:BYTES, both hexadecimal.
  bool parse(const std::string& text) {
    const std::size_t colon = text.find(':');
    if (colon == std::string::npos) return false;
    address = std::strtoull(text.c_str(), nullptr, 16);
    for (std::size_t at = colon + 1; at + 1 < text.size(); at += 2) {
      code.push_back(static_cast<char>(std::strtoul(text.substr(at, 2).c_str(), nullptr, 16)));
    }
    return !code.empty();
  }
  bool is(const qemu_plugin_insn* instruction) const {
    const std::size_t bytes = qemu_plugin_insn_size(instruction);
    return qemu_plugin_insn_vaddr(instruction) == address && bytes <= code.size() &&
           std::memcmp(qemu_plugin_insn_data(instruction), code.data(), bytes) == 0;
  }
};

// QEMU offers no argument to the function it calls at a translation, so what it counts is one object.
struct Count {
  std::string report, marks;
  Marker begin, end;
  std::FILE* file = nullptr;
  bool begun = false;
  std::mutex lock;  // of the file, and of which blocks there are
  // By the block's address; one for all translations of it. They do not move.
  std::unordered_map<std::uint64_t, std::unique_ptr<std::uint64_t>> blocks;

  void write(const char* phase) {
    const std::lock_guard guard(lock);
    for (const auto& [address, counter] : blocks) {
      if (*counter != 0) std::fprintf(file, "%s %lx %lu\n", phase, address, *counter);
    }
    std::fflush(file);
  }
  // By the processor's own thread alone: no other may change what it counts.
  void clear() {
    for (auto& [address, counter] : blocks) *counter = 0;
  }
};
Count& count() {
  static Count object;
  return object;
}

void program_begins(unsigned, void*) {
  if (count().begun) return;
  count().begun = true;
  count().write("boot");
  count().clear();
}

void program_ends(unsigned, void*) {
  count().write("run");
  std::fclose(count().file);
  _exit(0);  // the emulator's own end would run the machine on
}

void translate(PluginIdentity, qemu_plugin_tb* block) {
  Count& own = count();
  const std::lock_guard guard(own.lock);
  std::unique_ptr<std::uint64_t>& counter = own.blocks[qemu_plugin_tb_vaddr(block)];
  if (!counter) counter = std::make_unique<std::uint64_t>(0);
  for (std::size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    qemu_plugin_insn* instruction = qemu_plugin_tb_get_insn(block, i);
    for (const auto& [marker, call] : {std::pair(&own.begin, &program_begins), std::pair(&own.end, &program_ends)}) {
      if (marker->is(instruction)) {
        qemu_plugin_register_vcpu_insn_exec_cb(instruction, call, PluginRegisters::none, nullptr);
      }
    }
    qemu_plugin_register_vcpu_insn_exec_inline(instruction, PluginOperation::add, counter.get(), 1);
  }
}

// -1: nobody listens there.
int connect_to(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const int connection = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return connection;
  close(connection);
  return -1;
}

void answer_marks(int connection) {
  std::string line;
  for (char letter = 0; read(connection, &letter, 1) == 1;) {
    line.push_back(letter);
    if (letter != '\n') continue;
    count().write(line.substr(0, line.size() - 1).c_str());
    if (write(connection, line.data(), line.size()) < 0) break;
    line.clear();
  }
  close(connection);
}

}  // namespace

int qemu_plugin_install(PluginIdentity identity, const void*, int argument_count, char** arguments) {
  Count& own = count();
  bool understood = true;
  for (int i = 0; i < argument_count; ++i) {
    const std::string_view argument = arguments[i];
    if (argument.starts_with("report=")) {
      own.report = argument.substr(7);
    } else if (argument.starts_with("begin=")) {
      understood &= own.begin.parse(std::string(argument.substr(6)));
    } else if (argument.starts_with("end=")) {
      understood &= own.end.parse(std::string(argument.substr(4)));
    } else if (argument.starts_with("marks=")) {
      own.marks = argument.substr(6);
    } else {
      understood = false;
    }
  }
  own.file = own.report.empty() ? nullptr : std::fopen(own.report.c_str(), "w");
  const int connection = own.marks.empty() ? -1 : connect_to(own.marks);
  if (!understood || own.file == nullptr || own.end.code.empty() == (connection < 0)) {
    std::fputs("instruction_counter: expected report=FILE,begin=ADDRESS:BYTES and end=ADDRESS:BYTES or marks=SOCKET\n",
               stderr);
    return 1;
  }
  if (connection >= 0) std::thread(answer_marks, connection).detach();
  qemu_plugin_register_vcpu_tb_trans_cb(identity, translate);
  return 0;
}
