// What a broker tells a client first: QEMU's protocol between an ivshmem server and its peers, version 0
// (docs/specs/ivshmem-spec of QEMU). Words of 64 bits, some with a descriptor:
//
//   0                 the protocol's version
//   1                 the client's number
//   -1 + memory       the shared memory (base/accelerator/layout.h)
//   0  + an eventfd   the worker's number: what rings it
//   1  + an eventfd   the client's number: what rings for an answer
//   1  + an eventfd   and what rings for a fault
//
// So a virtual machine's ivshmem device connects to a broker as a process does. Behind the greeting a client may hand
// over memories, a byte with a descriptor each; nothing else is said on the socket, whose end says that the other side
// is gone.
#pragma once

#include <chrono>

#include "machine/descriptor.h"

namespace ingot {

inline constexpr std::int64_t greeting_version = 0;
inline constexpr std::int64_t worker_number = 0;
inline constexpr std::int64_t client_number = 1;

inline constexpr std::chrono::milliseconds greeting_limit{5000};

struct Greeting {
  Descriptor memory;
  Descriptor worker_bell;  // rung by the client
  Descriptor answer_bell;
  Descriptor fault_bell;
};

// Fails where the socket has no room at once: a new one has.
Result<void> send_greeting(int socket, const Greeting& greeting);
// Fails where another one comes than this, none within the limit, or the broker leaves.
Result<Greeting> receive_greeting(int socket, std::chrono::milliseconds limit);

// The shared memory of a greeting that stays for somebody else to receive: an emulator says nothing of versions.
Result<Descriptor> peek_greeting(int socket, std::chrono::milliseconds limit);

Result<void> hand_over(int socket, int memory);
// The next memory that was handed over; does not wait for one.
Result<Descriptor> take_over(int socket);

// Whether the other side is gone.
bool is_left(int socket);

}  // namespace ingot
