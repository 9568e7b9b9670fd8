#include "kernels/cache/rotated_store_cuda.h"

#include "kernels/cache/rotated_store.h"
#include "kernels/cache/store_launch.h"
#include "kernels/position/rope_launch.h"

namespace ingot {
namespace {

INGOT_DEVICE_MODULE(rotated_store_cuda);
INGOT_DEVICE_FUNCTION_OF(rotated_store_cuda, rotated_store_heads);

static_assert(most_rotated_pairs == FrequencyList::most);

void run_rotated_store(const RotatedStorePaged::Arguments& a, Context& context) {
  if (a.first.size(0) == 0) return;
  const auto [first, second] = a.calls();
  const JointStorePaged::Arguments store = a.store();
  RotatedStoreHeads heads = {.rope = rope_heads_of(first),
                             .second = heads_of(second),
                             .keys = store_rows_of(store.of_keys()),
                             .values = store_rows_of(store.of_values()),
                             .query_blocks = 0,
                             .key_blocks = 0,
                             .values_per_block = 0};
  LaunchShape shape = shape_of(heads.rope.heads, a.first.size(0));
  heads.query_blocks = shape.blocks_y;
  heads.key_blocks = shape_of(heads.second, a.second.size(0)).blocks_y;
  heads.values_per_block = heads.second.heads_per_block;
  const auto value_heads = static_cast<std::uint32_t>(a.values.size(1));
  shape.blocks_y += heads.key_blocks + (value_heads + heads.values_per_block - 1) / heads.values_per_block;
  if (shape.blocks_y == 0) return;
  for_each_list(a, [&](const FrequencyList& list) {
    heads.rope.list = list;
    context.queue->launch(rotated_store_heads_function, shape, heads);
  });
}

bool accepts_rotated_store(const RotatedStorePaged::Arguments& a) {
  constexpr std::int64_t most_heads = 1 << 17;  // of each: together they are one axis of blocks
  return a.rotary_dimensions / 2 <= most_rotated_pairs && fits_device(a.first.shape()) &&
         a.first.size(1) <= most_heads && a.second.size(1) <= most_heads && a.values.size(1) <= most_heads &&
         fits_cache(a.k_pages, a.block_table, a.second.shape()) &&
         fits_cache(a.v_pages, a.block_table, a.values.shape());
}

}  // namespace

constinit const Variant<RotatedStorePaged> rotated_store_cuda = {.name = "cuda",
                                                                 .needs = {Feature::sm_80},
                                                                 .run = run_rotated_store,
                                                                 .accepts = accepts_rotated_store,
                                                                 .device_function = &rotated_store_heads_function};

}  // namespace ingot
