// The memory that an accelerator shares with one client, a process or a booted machine: control words and rings.
//
// Its first half is the client's part. The second half is for the owner of the client's memory: the kernel in a
// machine, which shows a program the first half alone; a Linux process is its own. Only the owner says what memory the
// worker sees, so a program cannot show it another's.
//
// Every word has one writer. So a client may be a machine whose emulator makes no access atomic towards others, and
// neither side can spoil what the other one keeps count of. What the other side writes is believed nowhere: an index
// that cannot be is an error, a packet is copied before it is looked at, an address is looked up.
//
//   offset   writer   what
//   0x00000  broker   Identity, before anybody sees the memory
//   0x00040  broker   BrokerWords
//   0x00080  worker   WorkerWords
//   0x01000  client   Doorbell: a page of its own, so that a kernel can take it away while the worker sleeps
//   0x02000  client   ClientWords
//   0x03000  worker   faults
//   0x10000  client   commands: packets of the shape of AQL's (packet.h)
//   0x20000  worker   answers
//   0x40000  owner    OwnerWords
//   0x41000  worker   MemoryWords
//   0x42000  owner    memory packets (memory_packet.h)
//   0x43000  broker   BrokerWords once more, where no program of a machine writes
//   0x44000  worker   answers to them
//
// Its size is a power of two, because a PCI device shows it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/atomic.h"

namespace ingot::accelerator {

inline constexpr std::uint64_t magic = 0x4343'4154'4f47'4e49;  // "INGOTACC"
inline constexpr std::uint32_t protocol_version = 2;

inline constexpr std::size_t client_bytes = std::size_t{256} << 10;  // what a program of a machine may see
inline constexpr std::size_t shared_bytes = std::size_t{512} << 10;
inline constexpr std::uint64_t command_count = 1024;
inline constexpr std::uint64_t answer_count = 256;
inline constexpr std::uint64_t fault_count = 64;
inline constexpr std::uint64_t memory_count = 64;
inline constexpr std::uint64_t memory_answer_count = 64;

// Addresses of clients: below it, sums of two of them and of sizes cannot overflow.
inline constexpr std::uint64_t end_of_addresses = std::uint64_t{1} << 56;

struct Identity {
  std::uint64_t magic = 0;
  std::uint32_t version = 0;
  std::uint32_t contracts = 0;         // how many the worker knows
  std::uint64_t contracts_digest = 0;  // of all of them; equal where both sides know the same
  std::uint32_t threads = 0;           // that the worker computes with
  std::uint32_t reserved = 0;
  std::uint64_t features = 0;  // of the processor that it computes with, as FeatureSet has them
};

// Both bells are rung when it changes.
struct BrokerWords {
  Atomic<std::uint32_t> worker_is_gone;  // 1: the worker was reaped, and nobody reaches the client's memory any more
};

enum class WorkerState : std::uint32_t {
  starting,
  ready,
  faulted,  // it touched memory that is nobody's, and ended: the last fault tells
  misled,   // the client's words cannot be, so it ended
  ended,    // as the client left
  unable,   // it could not begin: its only answer tells why
};

// Words that one side writes often and the other one watches lie two lines of cache apart from those that it writes for
// other reasons: processors fetch lines in pairs.
inline constexpr std::size_t line_pair = 128;

struct WorkerWords {
  alignas(line_pair) Atomic<std::uint64_t> answer_write;  // watched by a client that waits
  Atomic<std::uint64_t> fault_write;
  Atomic<WorkerState> state;
  alignas(line_pair) Atomic<std::uint64_t> command_read;  // packets before this one may be overwritten
  Atomic<std::uint32_t> sleeps;
  alignas(line_pair) Atomic<std::uint64_t> heartbeat;  // grows ten times a second while the process lives
  // What was done since the client came, whatever it computes now.
  Atomic<std::uint64_t> packets;
  Atomic<std::uint64_t> dispatches;  // those of lists included
  Atomic<std::uint64_t> lists;
  Atomic<std::uint64_t> refusals;
  Atomic<std::uint64_t> mapped_bytes;       // at present
  Atomic<std::uint64_t> most_mapped_bytes;  // at a time
  Atomic<std::uint64_t> busy_nanoseconds;
};

struct Doorbell {
  alignas(line_pair) Atomic<std::uint64_t> command_write;  // watched by a worker that waits
};

// What a client promises of its accesses to this memory (wake.h).
enum class Promise : std::uint32_t {
  nothing = 0,
  fences = 1,  // between a store and the load behind it there is a fence
};

struct ClientWords {
  alignas(line_pair) Atomic<std::uint64_t> answer_read;
  Atomic<std::uint64_t> fault_read;
  alignas(line_pair) Atomic<std::uint32_t> sleeps;
  Atomic<Promise> promise;
};

// Who owns the memory rings the worker for every packet: they are few.
struct OwnerWords {
  alignas(line_pair) Atomic<std::uint64_t> memory_write;
  alignas(line_pair) Atomic<std::uint64_t> answer_read;
};

// The worker rings for every answer to the owner, too.
struct MemoryWords {
  alignas(line_pair) Atomic<std::uint64_t> answer_write;
  Atomic<std::uint64_t> memory_read;
  // As in WorkerWords, where a program of a machine could write them.
  Atomic<WorkerState> state;
  Atomic<std::uint64_t> heartbeat;
};

enum class AnswerStatus : std::uint32_t { done, failed };

// The first line says all of one that is done; the text is of a failure.
struct Answer {
  static constexpr std::size_t text_capacity = 448;

  std::uint64_t tag = 0;      // the packet's; 0 of one that failed and had none
  std::uint64_t command = 0;  // which packet: counted from 0
  AnswerStatus status = AnswerStatus::done;
  std::uint32_t code = 0;  // of a failure: an ErrorCode
  // By the worker's clock, in nanoseconds.
  std::uint64_t began = 0;
  std::uint64_t ended = 0;
  std::uint32_t text_length = 0;
  std::uint32_t reserved0 = 0;
  std::array<std::uint64_t, 2> reserved1{};
  std::array<char, text_capacity> text{};
};

// What became of a memory packet.
struct MemoryAnswer {
  static constexpr std::size_t text_capacity = 448;

  std::uint64_t tag = 0;  // the packet's
  AnswerStatus status = AnswerStatus::done;
  std::uint32_t code = 0;   // of a failure: an ErrorCode
  std::uint64_t value = 0;  // of one that is done: see MemoryCode
  std::uint32_t text_length = 0;
  std::uint32_t reserved0 = 0;
  std::array<std::uint64_t, 4> reserved1{};
  std::array<char, text_capacity> text{};
};

enum class FaultKind : std::uint32_t { absent = 1, protection = 2, bus = 3, arithmetic = 4, instruction = 5 };

struct Fault {
  std::uint64_t address = 0;  // the client's where it lies in one of its ranges, else the worker's
  std::uint64_t command = 0;  // the packet that was worked on
  FaultKind kind = FaultKind::absent;
  std::uint32_t is_clients = 0;  // whether `address` is one of the client's
  std::array<std::uint64_t, 5> reserved{};
};

// An entry of a ring, as words: copied once, then looked at.
template <class Entry>
struct Slot {
  static_assert(sizeof(Entry) % 64 == 0);
  std::array<Atomic<std::uint64_t>, sizeof(Entry) / 8> words;

  static constexpr std::size_t words_of_line = 8;

  // An entry of several lines is only as long as its first one says: what lies behind is zero then.
  Entry load() const {
    std::array<std::uint64_t, sizeof(Entry) / 8> copied{};
    for (std::size_t i = 0; i < words_of_line; ++i) copied[i] = words[i].load(MemoryOrder::relaxed);
    if (!is_long(__builtin_bit_cast(Entry, copied))) return __builtin_bit_cast(Entry, copied);
    for (std::size_t i = words_of_line; i < copied.size(); ++i) copied[i] = words[i].load(MemoryOrder::relaxed);
    return __builtin_bit_cast(Entry, copied);
  }
  void store(const Entry& entry) {
    const auto copied = __builtin_bit_cast(std::array<std::uint64_t, sizeof(Entry) / 8>, entry);
    const std::size_t count = is_long(entry) ? copied.size() : words_of_line;
    for (std::size_t i = 0; i < count; ++i) words[i].store(copied[i], MemoryOrder::relaxed);
  }

 private:
  static constexpr bool is_long(const Entry& entry) {
    if constexpr (requires { entry.text_length; }) {
      return entry.text_length > 0;
    } else {
      return false;
    }
  }
};

static_assert(sizeof(Answer) == 512 && sizeof(MemoryAnswer) == 512 && sizeof(Fault) == 64);
static_assert(sizeof(Slot<Answer>) == 512 && sizeof(Slot<MemoryAnswer>) == 512 && sizeof(Slot<Fault>) == 64);

// Where a piece of the memory lies.
namespace at {
inline constexpr std::size_t identity = 0;
inline constexpr std::size_t broker = 0x40;
inline constexpr std::size_t worker = 0x80;
inline constexpr std::size_t doorbell = 0x1000;
inline constexpr std::size_t client = 0x2000;
inline constexpr std::size_t faults = 0x3000;
inline constexpr std::size_t commands = 0x10000;
inline constexpr std::size_t answers = 0x20000;
inline constexpr std::size_t owner = 0x40000;
inline constexpr std::size_t memory = 0x41000;
inline constexpr std::size_t memory_packets = 0x42000;
inline constexpr std::size_t owners_broker = 0x43000;
inline constexpr std::size_t memory_answers = 0x44000;
}  // namespace at
static_assert(sizeof(Identity) <= at::broker && at::broker + sizeof(BrokerWords) <= at::worker);
static_assert(at::worker + sizeof(WorkerWords) <= at::doorbell);
static_assert(at::faults + fault_count * sizeof(Fault) <= at::commands);
static_assert(at::commands + command_count * 64 <= at::answers);
static_assert(at::answers + answer_count * sizeof(Answer) <= client_bytes && client_bytes == at::owner);
static_assert(at::owner + sizeof(OwnerWords) <= at::memory && at::memory + sizeof(MemoryWords) <= at::memory_packets);
static_assert(at::memory_packets + memory_count * 64 <= at::owners_broker);
static_assert(at::memory_answers + memory_answer_count * sizeof(MemoryAnswer) <= shared_bytes);

// A view of the memory, by either side.
class SharedWords {
 public:
  // Precondition: `base` are shared_bytes of zeroes at first, aligned to a page; or the client's part of them, where
  // nobody asks for the owner's.
  explicit SharedWords(std::byte* base) : base_(base) {}

  Identity& identity() const { return piece<Identity>(at::identity); }
  WorkerWords& worker() const { return piece<WorkerWords>(at::worker); }
  Doorbell& doorbell() const { return piece<Doorbell>(at::doorbell); }
  ClientWords& client() const { return piece<ClientWords>(at::client); }
  BrokerWords& broker() const { return piece<BrokerWords>(at::broker); }
  OwnerWords& owner() const { return piece<OwnerWords>(at::owner); }
  MemoryWords& memory() const { return piece<MemoryWords>(at::memory); }
  BrokerWords& owners_broker() const { return piece<BrokerWords>(at::owners_broker); }
  template <class Entry>
  Slot<Entry>& slot(std::size_t ring, std::uint64_t index) const {
    return piece<Slot<Entry>>(ring + static_cast<std::size_t>(index) * sizeof(Entry));
  }

 private:
  template <class Piece>
  Piece& piece(std::size_t offset) const {
    return *reinterpret_cast<Piece*>(base_ + offset);
  }
  std::byte* base_;
};

}  // namespace ingot::accelerator
