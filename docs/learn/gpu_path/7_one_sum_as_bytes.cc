// One vector sum, elementwise.add, as the bytes that an accelerator takes: docs/learn/gpu-path.md quotes what this
// prints, and says who reads them.
//
//   learn_7_one_sum_as_bytes                        the bytes, and what a worker makes of them
//   learn_7_one_sum_as_bytes accelerator:SOCKET     and through one that listens there (ingot accelerator)
#include <sys/wait.h>

#include <algorithm>
#include <bit>
#include <csignal>
#include <cstring>
#include <numeric>
#include <string>

#include "base/accelerator/packet.h"
#include "docs/learn/gpu_path/only_calls.h"
#include "docs/learn/lesson.h"
#include "kernels/contract/call_arguments.h"
#include "kernels/contract/table.h"
#include "kernels/elementwise/binary.h"
#include "machine/accelerator/accelerator_device.h"
#include "machine/machine.h"
#include "machine/workers.h"

using namespace ingot;
using accelerator::Access;
using accelerator::ArgumentHeader;
using accelerator::ArgumentRecord;
using accelerator::Packet;

namespace {

constexpr std::int64_t count = 1000;
constexpr std::size_t tensor_bytes = count * sizeof(float);
// Where all of it lies in the memory that a client shows.
constexpr std::size_t a_at = 0x0000, b_at = 0x1000, y_at = 0x2000, block_at = 0x3000, shown_bytes = 0x4000;
// Addresses that nobody follows, so that the bytes are the same each time.
constexpr std::uint64_t invented = 0x1000'0000;

const Operation& add = describe_operation<Add>();

// The call whose tensors lie from there on.
Result<std::unique_ptr<Invocation>> call_at_address(std::uint64_t base) {
  std::unique_ptr<Invocation> call = add.empty();
  const std::pair<const char*, std::size_t> places[] = {{"a", a_at}, {"b", b_at}, {"y", y_at}};
  for (const auto& [field, at] : places) {
    const AnyView view(std::bit_cast<std::byte*>(static_cast<std::uintptr_t>(base + at)), DType::f32, Shape{count});
    TRY(call->set_tensor(add.field_index(field), view));
  }
  return call;
}

// The same as bytes. Nothing follows its addresses.
Result<std::vector<std::byte>> block_at_address(std::uint64_t base) {
  std::vector<std::byte> block(call_bytes(add));
  const std::unique_ptr<Invocation> call = TRY(call_at_address(base));
  TRY(encode_call(add, *call, block));
  return block;
}

void print_line(std::size_t offset, std::size_t size, const char* name, std::uint64_t value, const char* what = "") {
  std::printf("%6zu %5zu  %-16s %#18llx%s%s\n", offset, size, name, static_cast<unsigned long long>(value),
              *what == '\0' ? "" : "  ", what);
}

void print_contract() {
  std::printf("contract %s: %s\n", std::string(add.name).c_str(), std::string(add.equation).c_str());
  for (const FieldInformation& field : add.fields) {
    std::printf("  %s %s\n", std::string(name_of(field.role)).c_str(), std::string(field.name).c_str());
  }
  std::printf("  digest %#llx\n", static_cast<unsigned long long>(contract_digest(add)));
}

void print_block(const std::vector<std::byte>& block) {
  const unsigned long long begin_of_block = invented + block_at;
  std::printf("\nblock of arguments, %zu bytes at %#llx\n", block.size(), begin_of_block);
  ArgumentHeader header;
  std::memcpy(&header, block.data(), sizeof header);
  print_line(offsetof(ArgumentHeader, bytes), 4, "bytes", header.bytes, "of the whole block");
  print_line(offsetof(ArgumentHeader, fields), 4, "fields", header.fields, "a record each follows");
  print_line(offsetof(ArgumentHeader, reserved), 8, "reserved", header.reserved);
  const accelerator::ArgumentBlock read = accelerator::ArgumentBlock::over(block).value();
  for (std::size_t field = 0; field < read.fields(); ++field) {
    const ArgumentRecord record = read.record(field);
    const std::size_t begin = accelerator::block_bytes_of(field);
    const std::string name(add.fields[field].name);
    const auto line = [&](std::size_t offset, std::size_t size, const char* part, std::uint64_t value,
                          const char* what) {
      print_line(begin + offset, size, (name + "." + part).c_str(), value, what);
    };
    line(offsetof(ArgumentRecord, kind), 1, "kind", static_cast<std::uint64_t>(record.kind), "a tensor");
    line(offsetof(ArgumentRecord, dtype), 1, "dtype", record.dtype, "f32");
    line(offsetof(ArgumentRecord, rank), 1, "rank", record.rank, "");
    line(offsetof(ArgumentRecord, value), 8, "value", record.value, "where its first element lies");
    line(offsetof(ArgumentRecord, sizes), 8, "sizes[0]", static_cast<std::uint64_t>(record.sizes[0]), "elements");
    line(offsetof(ArgumentRecord, byte_strides), 8, "byte_strides[0]",
         static_cast<std::uint64_t>(record.byte_strides[0]), "from one to the next");
  }
  std::printf("   all other bytes are 0\n");
}

void print_packet(const Packet& packet) {
  std::printf("\npacket, 64 bytes into slot 0 of the command ring, at %#zx of the shared memory\n",
              accelerator::at::commands);
  print_line(offsetof(Packet, header), 2, "header", packet.header, "dispatch 2, barrier bit 8, system fences 9 to 12");
  print_line(offsetof(Packet, setup), 2, "setup", packet.setup, "one dimension");
  for (std::size_t axis = 0; axis < 3; ++axis) {
    print_line(offsetof(Packet, workgroup) + 2 * axis, 2, "workgroup", packet.workgroup[axis]);
  }
  print_line(offsetof(Packet, reserved0), 2, "reserved", packet.reserved0);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    print_line(offsetof(Packet, grid) + 4 * axis, 4, "grid", packet.grid[axis]);
  }
  print_line(offsetof(Packet, private_bytes), 4, "private_bytes", packet.private_bytes);
  print_line(offsetof(Packet, group_bytes), 4, "group_bytes", packet.group_bytes);
  print_line(offsetof(Packet, kernel_object), 8, "kernel_object", packet.kernel_object, "the contract's digest");
  print_line(offsetof(Packet, arguments), 8, "arguments", packet.arguments, "where the block lies");
  print_line(offsetof(Packet, reserved1), 8, "reserved", packet.reserved1);
  print_line(offsetof(Packet, completion), 8, "completion", packet.completion, "comes back in the answer");
  std::printf("then 8 bytes, the number of packets that were ever written: 1 at %#zx\n", accelerator::at::doorbell);
}

void fill(std::byte* shown) {
  auto* const a = reinterpret_cast<float*>(shown + a_at);
  auto* const b = reinterpret_cast<float*>(shown + b_at);
  std::iota(a, a + count, 0.0F);
  std::fill(b, b + count, 0.5F);
  std::memset(shown + y_at, 0xff, tensor_bytes);  // NaN
}

bool is_summed(const std::byte* shown) {
  const auto* const y = reinterpret_cast<const float*>(shown + y_at);
  for (std::int64_t i = 0; i < count; ++i) {
    if (y[i] != static_cast<float>(i) + 0.5F) return false;
  }
  return true;
}

// This machine's rows of the contract.
class Rows {
 public:
  static Result<Rows> create() {
    const std::array operations = {&add};
    return Rows(TRY(KernelTable::select(operations, Machine::detect().features)), TRY(Workers::create({.threads = 1})));
  }
  int choose(const Invocation& call) const { return table_.choose(add, call); }
  void run(const Invocation& call) {
    Context context{*workers_, {}};
    call.run(choose(call), context);
  }

 private:
  Rows(KernelTable table, std::unique_ptr<Workers> workers) : table_(std::move(table)), workers_(std::move(workers)) {}
  KernelTable table_;
  std::unique_ptr<Workers> workers_;
};

// How a process of its own ends that may make these system calls alone.
template <class Work>
int status_with_calls(std::span<const long> calls, const Work& work) {
  std::fflush(stdout);
  const pid_t child = ::fork();
  if (child == 0) {
    if (!only_calls(calls).ok()) ::_exit(2);
    ::_exit(work() ? 0 : 1);
  }
  int status = 0;
  return child > 0 && ::waitpid(child, &status, 0) == child ? status : -1;
}

bool is_done(int status) { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

// The contract without a queue: a function of this process, on its own memory.
Result<void> call_it(Rows& rows) {
  std::printf("\nthe contract, called\n");
  alignas(4096) static std::byte memory[shown_bytes];
  fill(memory);
  const std::unique_ptr<Invocation> call = TRY(call_at_address(reinterpret_cast<std::uintptr_t>(memory)));
  fact(call->check().ok(), "the contract's constraints hold");
  fact(rows.choose(*call) >= 0 && call->scratch_bytes(rows.choose(*call), 1) == 0, "a row of this machine takes it");
  rows.run(*call);  // the first time a row may ask for the sizes of caches
  fact(is_summed(memory), "y is a + b, each sum rounded once");
  const long the_end[] = {SYS_exit_group};
  const auto again = [&] {
    fill(memory);
    rows.run(*call);
    return is_summed(memory);
  };
  fact(is_done(status_with_calls(the_end, again)),
       "a process that may make no system call but its end computes it, too");
  const int status = status_with_calls(the_end, [] { return ::getppid() != 0; });
  fact(WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS, "one that makes another is ended by the system");
  return {};
}

// What a worker does with the bytes (accelerator/executor.cc), on memory that is shown at invented addresses.
void be_worker(const Packet& packet, const std::vector<std::byte>& block, Rows& rows) {
  std::printf("\nthe worker's side\n");
  alignas(4096) static std::byte home[shown_bytes];
  fill(home);
  std::memcpy(home + block_at, block.data(), block.size());

  const Result<accelerator::Command> command = accelerator::decode(packet);
  fact(command.ok() && command.value().kind == accelerator::CommandKind::dispatch,
       "the packet is a dispatch, every bit understood");
  fact(command.value().contract == contract_digest(add), "its digest is that of a contract that both sides have");

  accelerator::ClientRanges<1> ranges;
  const accelerator::ClientRange range = {invented, shown_bytes, reinterpret_cast<std::uintptr_t>(home), true};
  fact(ranges.add(range).ok(), "the client has shown 16 KiB, to be written");
  const FindBytes find = [&](std::uint64_t begin, std::uint64_t bytes, Access access) -> Result<std::byte*> {
    return std::bit_cast<std::byte*>(static_cast<std::uintptr_t>(TRY(ranges.find(begin, bytes, access))));
  };
  const Result<std::byte*> arguments = find(command.value().address, call_bytes(add), Access::read);
  fact(arguments.ok(), "the block lies in it");
  const auto call = decode_call(add, std::span(arguments.value(), call_bytes(add)), find);
  fact(call.ok() && call.value()->check().ok(), "so does all that its tensors reach, and the constraints hold");
  fact(call.value()->tensor(add.field_index("y")).data() == home + y_at, "y is an address of the worker's own by now");
  rows.run(*call.value());
  fact(is_summed(home), "y is a + b");

  // The same bytes from clients that have shown less.
  const auto refusal = [&](const accelerator::ClientRange& shown, const char* what) {
    ranges = {};
    const bool is_shown = ranges.add(shown).ok();
    const auto refused = decode_call(add, block, find);
    fact(is_shown && !refused.ok(), what);
    std::printf("       %.*s\n", static_cast<int>(refused.error().text().size()), refused.error().text().data());
  };
  refusal({invented, shown_bytes, range.home, false}, "of a client that has shown them to be read it is refused:");
  refusal({invented, y_at, range.home, true}, "of a client that has shown no y it is refused:");
}

// All that giving a packet and waiting for its answer may need: to ring who sleeps, to sleep and be rung, heap, a
// clock.
constexpr long needed_calls[] = {
    SYS_write, SYS_read, SYS_ppoll, SYS_brk, SYS_clock_gettime, SYS_exit_group,
#if defined(__x86_64__)
    SYS_poll,
#endif
};

Result<void> go_through(const std::string& path) {
  std::printf("\nthrough an accelerator\n");
  const auto device = TRY(AcceleratorDevice::open(path));
  const DeviceMemory memory = TRY(device->allocate(shown_bytes));
  const auto queue = TRY(device->make_accelerator_queue());
  fill(memory.data());

  const auto base = reinterpret_cast<std::uintptr_t>(memory.data());
  const std::span<std::byte> arguments = queue->arguments(call_bytes(add));
  std::ranges::copy(TRY(block_at_address(base)), arguments.begin());
  std::vector<std::byte> same(arguments.begin(), arguments.end());
  for (std::size_t field = 0; field < add.fields.size(); ++field) {
    std::byte* const value = same.data() + accelerator::block_bytes_of(field) + offsetof(ArgumentRecord, value);
    std::uint64_t address = 0;
    std::memcpy(&address, value, sizeof address);
    address = address - base + invented;
    std::memcpy(value, &address, sizeof address);
  }
  fact(same == TRY(block_at_address(invented)), "its block is the one above, but for three addresses");

  // Memory and rings are shared with it.
  const int status = status_with_calls(needed_calls, [&] {
    queue->dispatch(contract_digest(add), arguments);
    return queue->wait().ok();
  });
  fact(is_done(status), "a process that may call write, read, poll and no ioctl gave it, and had its answer");
  fact(is_summed(memory.data()), "y is a + b, in this process's own memory: nothing was copied");
  return {};
}

Result<void> show(const std::optional<std::string>& path) {
  Rows rows = TRY(Rows::create());
  print_contract();
  TRY(call_it(rows));
  const std::vector<std::byte> block = TRY(block_at_address(invented));
  const Packet packet = accelerator::dispatch_packet(contract_digest(add), invented + block_at, 1);
  print_block(block);
  print_packet(packet);
  be_worker(packet, block, rows);
  if (path.has_value()) return go_through(*path);
  std::printf("\nno accelerator was named: with accelerator:SOCKET, where one listens, the same bytes go through it\n");
  return {};
}

}  // namespace

int main(int argument_count, char** arguments) {
  const std::string named = argument_count > 1 ? arguments[1] : "";
  const std::optional<std::string> path = accelerator_path(named);
  if (!named.empty() && (!path.has_value() || path->empty())) {
    std::fprintf(stderr, "expected accelerator:SOCKET, found %s\n", named.c_str());
    return 2;
  }
  const Result<void> shown = show(path);
  if (shown.ok()) return 0;
  std::fprintf(stderr, "%.*s\n", static_cast<int>(shown.error().text().size()), shown.error().text().data());
  return 1;
}
