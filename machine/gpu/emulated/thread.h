// What the words of device sources (kernels/device) mean on an emulated device: who the thread is that runs, and where
// threads meet. Nothing else of the emulation is seen by a device source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ingot::emulated {

// Where threads wait for each other. All that wait for one another must have come for the same reason.
enum class Meeting : std::uint8_t { none, block_barrier, warp_barrier, shuffle, vote, matrix_product, matrix_load };

// What a lane brings to a meeting of its warp, and what it finds there afterwards.
struct alignas(16) LaneSlot {
  std::byte bytes[64];
};

class BlockPlayer;

struct Position {
  std::uint32_t thread = 0;
  std::uint32_t threads = 0;
  std::uint32_t block[3] = {};
  std::uint32_t blocks[3] = {};
  std::byte* dynamic_shared = nullptr;
  std::size_t parameter_bytes = 0;
  BlockPlayer* player = nullptr;
};

// Of the thread that a thread of the host plays at present. It is asked for everywhere in a source, by functions that
// have no argument to find it by: on a device it is in registers of its own.
extern constinit thread_local Position position;

// Until all threads of the block are here.
void meet_block();

// Until all lanes of the warp are here. Each brings a slot; the last one joins the 32 of them (null: there is nothing
// to do) before any goes on. The slots stay as they are until the warp's next meeting but one.
using JoinLanes = void (*)(LaneSlot* lanes);
LaneSlot* own_lane_slot();
LaneSlot* meet_warp(Meeting meeting, JoinLanes join);

// Asynchronous copies of the thread that runs: groups are counted as the device counts them. Zeros follow what is read.
void copy_later(void* to, const void* from, std::size_t read_bytes, std::size_t written_bytes);
void close_copy_group();
void await_copies(std::size_t groups_left_open);

// The launch has failed: the block ends here, and the queue keeps what was wrong.
[[noreturn]] void fail(std::string_view expected, std::uint64_t found);

// The first thing that a device function does.
inline void enter_function(std::size_t parameter_bytes, std::uint32_t threads) {
  if (position.parameter_bytes != parameter_bytes) [[unlikely]] {
    fail("expected parameters of as many bytes as the function's, found", position.parameter_bytes);
  }
  if (position.threads > threads) [[unlikely]] {
    fail("expected no more threads than the function is built for, found", position.threads);
  }
}

}  // namespace ingot::emulated
