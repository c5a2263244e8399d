//! The program that runs Verilator's model over the vectors, `tb/harness.cpp`.

use super::plain_name;
use crate::ports::{Element, Ports};
use std::fmt::Write;

/// The part before the ports.
const HEAD: &str = r#"// Feeds the rows of x.bin to Verilator's model of the network and compares its answers with those of y.bin.
// Arguments: X.BIN Y.BIN
#include "Vnet.h"
#include "verilated.h"
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

namespace {

struct Element {
    uint32_t offset, width;
    bool is_signed;
    const char* name;
};

"#;

/// The part behind the ports.
const BODY: &str = r#"
struct Vectors {
    uint32_t rows, elements, bytes;
    std::vector<unsigned char> data;

    explicit Vectors(const char* name) {
        std::ifstream file(name, std::ios::binary);
        data.assign(std::istreambuf_iterator<char>(file), {});
        if (data.size() < 16 || std::memcmp(data.data(), "MASEVEC1", 8) != 0) {
            std::printf("FAILED %s cannot be read\n", name);
            std::exit(2);
        }
        rows = number(8, 4);
        elements = number(12, 2);
        bytes = number(14, 2);
        if ((bytes != 4 && bytes != 8) || data.size() != 16 + uint64_t(rows) * elements * bytes) {
            std::printf("FAILED %s is not as long as its header says\n", name);
            std::exit(2);
        }
    }

    uint64_t number(uint64_t at, uint32_t count) const {
        uint64_t value = 0;
        for (uint32_t k = count; k-- > 0;) value = value << 8 | data[at + k];
        return value;
    }

    int64_t code(uint32_t row, uint32_t element) const {
        const uint64_t value = number(16 + (uint64_t(row) * elements + element) * bytes, bytes);
        return bytes == 4 ? int64_t(int32_t(value)) : int64_t(value);
    }
};

void put(uint32_t* words, const Element& e, int64_t code) {
    for (uint32_t done = 0; done < e.width;) {
        const uint32_t at = e.offset + done, bit = at % 32;
        const uint32_t count = e.width - done < 32 - bit ? e.width - done : 32 - bit;
        const uint32_t mask = count == 32 ? ~0u : (1u << count) - 1;
        words[at / 32] |= (uint32_t(code >> done) & mask) << bit;
        done += count;
    }
}

int64_t get(const uint32_t* words, const Element& e) {
    uint64_t code = 0;
    for (uint32_t done = 0; done < e.width;) {
        const uint32_t at = e.offset + done, bit = at % 32;
        const uint32_t count = e.width - done < 32 - bit ? e.width - done : 32 - bit;
        const uint32_t mask = count == 32 ? ~0u : (1u << count) - 1;
        code |= uint64_t((words[at / 32] >> bit) & mask) << done;
        done += count;
    }
    if (e.is_signed && e.width < 64 && (code >> (e.width - 1) & 1)) code |= ~uint64_t(0) << e.width;
    return int64_t(code);
}

void feed(Vnet& net, const Vectors& vectors, uint32_t row) {
    uint32_t words[X_WORDS] = {};
    for (uint32_t k = 0; k < vectors.elements; ++k) put(words, INPUTS[k], vectors.code(row, k));
    SET_X
}

bool is_equal(const Vnet& net, const Vectors& vectors, uint32_t row, bool is_silent) {
    uint32_t words[Y_WORDS];
    GET_Y
    for (uint32_t k = 0; k < vectors.elements; ++k) {
        const int64_t expected = vectors.code(row, k), got = get(words, OUTPUTS[k]);
        if (expected == got) continue;
        if (!is_silent)
            std::printf("DIFFERS row %u element %s expected %lld got %lld\n", row, OUTPUTS[k].name, (long long)expected, (long long)got);
        return false;
    }
    return true;
}

}  // namespace

int main(int count, char** arguments) {
    if (count != 3) return 2;
    const Vectors x(arguments[1]), y(arguments[2]);
    if (x.rows != y.rows || x.elements != std::size(INPUTS) || y.elements != std::size(OUTPUTS)) {
        std::printf("FAILED the vectors are not those of this network\n");
        return 2;
    }
    VerilatedContext context;
    Vnet net(&context);
    uint32_t differing = 0;
    for (uint64_t step = 0; step < uint64_t(x.rows) + BEHIND; ++step) {
        if (step < x.rows) feed(net, x, uint32_t(step));
        net.clk = 0;
        net.eval();
CLOCK        if (step < BEHIND) continue;
        if (!is_equal(net, y, uint32_t(step - BEHIND), differing > 0)) ++differing;
    }
    net.final();
    std::printf("DONE rows %u differing %u\n", x.rows, differing);
    return 0;
}
"#;

/// A program that checks Verilator's model against the vectors and prints what differs.
pub fn harness(ports: &Ports) -> String {
    let (x, y) = (ports.input_bits().max(1), ports.output_bits().max(1));
    let behind = format!("{}u", ports.latency.saturating_sub(1));
    let clock = match ports.latency {
        0 => "",
        _ => "        net.clk = 1;\n        net.eval();\n",
    };
    let body = BODY
        .replace("X_WORDS", &x.div_ceil(32).to_string())
        .replace("Y_WORDS", &y.div_ceil(32).to_string())
        .replace("SET_X", &set("net.x", x))
        .replace("GET_Y", &get("net.y", y))
        .replace("BEHIND", &behind)
        .replace("CLOCK", clock);
    HEAD.to_owned() + &table("INPUTS", &ports.inputs) + &table("OUTPUTS", &ports.outputs) + &body
}

fn table(name: &str, elements: &[Element]) -> String {
    let mut text = format!("constexpr Element {name}[] = {{\n");
    for element in elements {
        let Element {
            offset,
            width,
            signed,
            ..
        } = element;
        let name = plain_name(element);
        let _ = writeln!(text, "    {{{offset}, {width}, {signed}, \"{name}\"}},");
    }
    text + "};\n"
}

/// A port from words; up to 64 bits it is one number.
fn set(port: &str, bits: u32) -> String {
    match bits {
        ..=32 => format!("{port} = words[0];"),
        33..=64 => format!("{port} = uint64_t(words[1]) << 32 | words[0];"),
        _ => format!(
            "for (uint32_t k = 0; k < {}; ++k) {port}[k] = words[k];",
            bits.div_ceil(32)
        ),
    }
}

fn get(port: &str, bits: u32) -> String {
    match bits {
        ..=32 => format!("words[0] = {port};"),
        33..=64 => format!("words[0] = uint32_t({port});\n    words[1] = uint32_t({port} >> 32);"),
        _ => format!(
            "for (uint32_t k = 0; k < {}; ++k) words[k] = {port}[k];",
            bits.div_ceil(32)
        ),
    }
}
