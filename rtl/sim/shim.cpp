// SPDX-License-Identifier: MIT OR Apache-2.0
// The C face of a Verilated design. One file for all of them: `cargo xtask rtl` compiles it once per top
// with FIELDSPAR_TOP = V<module> and FIELDSPAR_PORTS = a file of lines PORT(name, bits) that it takes
// from the generated header. crates/fpga/src/rtl/library.rs is the other side.

#include FIELDSPAR_HEADER
#include "verilated.h"
#ifdef FIELDSPAR_TRACE
#include "verilated_vcd_c.h"
#endif

#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {

struct Simulation {
    VerilatedContext context;
    std::unique_ptr<FIELDSPAR_TOP> top;
#ifdef FIELDSPAR_TRACE
    std::unique_ptr<VerilatedVcdC> trace;
#endif

    void eval(int clk) {
        context.timeInc(1);
        top->clk = static_cast<CData>(clk);
        top->eval();
#ifdef FIELDSPAR_TRACE
        if (trace) trace->dump(context.time());
#endif
    }
};

template <typename T> void* address(T& port) { return &port; }

}  // namespace

// Grows with every change of this interface.
EXPORT uint32_t fieldspar_rtl_abi() { return 1; }

// A new instance, or null. Seed 0 starts all registers and memories at zero, another at random values
// that follow from it.
EXPORT void* fieldspar_rtl_open(uint32_t seed) {
    try {
        std::unique_ptr<Simulation> sim(new Simulation);
        sim->context.randReset(seed == 0 ? 0 : 2);
        sim->context.randSeed(static_cast<int>(seed & 0x7fffffff));
#ifdef FIELDSPAR_TRACE
        sim->context.traceEverOn(true);
#endif
        // Constructors of values draw from the thread's context.
        Verilated::threadContextp(&sim->context);
        sim->top.reset(new FIELDSPAR_TOP(&sim->context, "top"));
        sim->eval(0);
        return sim.release();
    } catch (const std::exception&) {
        return nullptr;
    }
}

EXPORT void fieldspar_rtl_close(void* handle) {
    auto* sim = static_cast<Simulation*>(handle);
    if (!sim) return;
#ifdef FIELDSPAR_TRACE
    if (sim->trace) sim->trace->close();
#endif
    sim->top->final();
    delete sim;
}

// The words of the port `name` and its width in bits: 8, 16, 32 or 64 bits wide in memory, or from 65
// bits on an array of 32-bit words, lowest first. Null if there is no such port.
EXPORT void* fieldspar_rtl_port(void* handle, const char* name, uint32_t* bits) {
    auto* sim = static_cast<Simulation*>(handle);
#define PORT(port, width)                  \
    if (std::strcmp(name, #port) == 0) {   \
        *bits = width;                     \
        return address(sim->top->port);    \
    }
#include FIELDSPAR_PORTS
#undef PORT
    return nullptr;
}

// The clock is low: what follows from the inputs without a register is now right.
EXPORT void fieldspar_rtl_settle(void* handle) { static_cast<Simulation*>(handle)->eval(0); }

// The clock rises.
EXPORT void fieldspar_rtl_edge(void* handle) { static_cast<Simulation*>(handle)->eval(1); }

// Writes a VCD file from now on. 0, or 1 in a build without traces.
EXPORT int32_t fieldspar_rtl_trace(void* handle, const char* path) {
#ifdef FIELDSPAR_TRACE
    auto* sim = static_cast<Simulation*>(handle);
    sim->trace.reset(new VerilatedVcdC);
    sim->top->trace(sim->trace.get(), 99);
    sim->trace->open(path);
    return sim->trace->isOpen() ? 0 : 2;
#else
    (void)handle;
    (void)path;
    return 1;
#endif
}
