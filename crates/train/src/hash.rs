//! A hash of all weights, to compare runs by one number.

use engine::State;

/// FNV-1a over the names and the bits of all parameters and buffers, in execution order.
pub fn weights_hash(state: &State) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |byte: u8| hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    for (name, values) in state.iter() {
        name.bytes().for_each(&mut add);
        for value in values {
            value.to_bits().to_le_bytes().into_iter().for_each(&mut add);
        }
    }
    hash
}
