"""WGSL that many kernels need: each piece is written into a module that asks for it."""

FAULT = """fn fault(said: u32) {
    atomicMax(&faults[0], said);
}"""
# Threads that meet at a barrier must agree on the way there: the first says, the others compare.
AGREE = """var<workgroup> said: u32;
fn agree(lin: i32, mine: bool, line: u32) -> bool {
    if (lin == 0) { said = select(0u, 1u, mine); }
    let all = workgroupUniformLoad(&said) != 0u;
    if (all != mine) { fault(line); }
    return all;
}"""
ANY_OF = """var<workgroup> wanting: atomic<u32>;
var<workgroup> wanted: u32;
fn any_of(lin: i32, mine: bool) -> bool {
    if (lin == 0) { atomicStore(&wanting, 0u); }
    workgroupBarrier();
    if (mine) { atomicStore(&wanting, 1u); }
    workgroupBarrier();
    if (lin == 0) { wanted = atomicLoad(&wanting); }
    return workgroupUniformLoad(&wanted) != 0u;
}"""
# Warps exchange through workgroup memory, whatever the device's own subgroups are.
EXCHANGE = """var<workgroup> exchange: array<u32, ROOM>;
fn votes_of(lin: i32, value: bool) -> u32 {
    exchange[lin] = select(0u, 1u, value);
    workgroupBarrier();
    var votes = 0u;
    for (var n = 0u; n < 32u; n++) { votes |= exchange[(lin & ~31) + i32(n)] << n; }
    workgroupBarrier();
    return votes;
}
fn whole(lin: i32) -> u32 {
    return 0xffffffffu >> u32(max(0, (lin & ~31) + 32 - LANES));
}"""
TOGETHER = """fn together(lin: i32, mine: bool, line: u32) {
    let votes = votes_of(lin, mine);
    if (mine && votes != whole(lin)) { fault(line); }
}"""
SHUFFLE = """fn shuffle_KIND(lin: i32, value: KIND, source: i32) -> KIND {
    exchange[lin] = bitcast<u32>(value);
    workgroupBarrier();
    let got = bitcast<KIND>(exchange[(lin & ~31) + (source & 31)]);
    workgroupBarrier();
    return got;
}"""
SOURCES = {  # of a shuffle: the lane it reads
    "shfl_sync": "STEP",
    "shfl_xor_sync": "((lin & 31) ^ STEP)",
    "shfl_up_sync": "select((lin & 31) - STEP, lin & 31, (lin & 31) < STEP)",
    "shfl_down_sync": "select((lin & 31) + STEP, lin & 31, (lin & 31) + STEP > 31)",
}
VOTES = {
    "ballot_sync": "votes_of(lin, MINE)",
    "any_sync": "(votes_of(lin, MINE) != 0u)",
    "all_sync": "(votes_of(lin, MINE) == whole(lin))",
}
FLOAT_ATOMIC = """fn NAME(at: i32, v: f32) -> f32 {
    var old = atomicLoad(&ROOT[at]);
    loop {
        let a = bitcast<f32>(old);
        let done = atomicCompareExchangeWeak(&ROOT[at], old, bitcast<u32>(CHANGE));
        if (done.exchanged) { break; }
        old = done.old_value;
    }
    return bitcast<f32>(old);
}"""
FLOAT_CHANGES = {
    "add": "a + v", "sub": "a - v", "max": "max(a, v)", "min": "min(a, v)", "exch": "v",
}  # fmt: skip
ATOMICS = {
    "add": "Add", "sub": "Sub", "max": "Max", "min": "Min", "exch": "Exchange", "and_": "And",
    "or_": "Or", "xor": "Xor",
}  # fmt: skip
SWAP = """fn NAME(at: i32, old: KIND, new_value: KIND) -> KIND {
    loop {
        let done = atomicCompareExchangeWeak(&ROOT[at], old, new_value);
        if (done.exchanged || done.old_value != old) { return done.old_value; }
    }
    return old;
}"""
FLOORED = {
    "/": "fn div_i32(a: i32, b: i32) -> i32 { let q = a / b; "
    "return select(q, q - 1, a % b != 0 && (a < 0) != (b < 0)); }",
    "%": "fn mod_i32(a: i32, b: i32) -> i32 { let r = a % b; "
    "return select(r, r + b, r != 0 && (r < 0) != (b < 0)); }",
}
# Where WGSL has no such function, or one that fails for large numbers or small ones.
MATHS = {
    "log1p": "fn math_log1p(x: f32) -> f32 { let u = 1.0 + x; let d = u - 1.0; "
    "if (d == 0.0) { return x; } return log(u) * (x / d); }",
    "expm1": "fn math_expm1(x: f32) -> f32 { if (abs(x) < 0.25) { return x * (1.0 + x * (0.5 + "
    "x * (0.16666667 + x * (0.041666668 + x * (0.008333334 + x * 0.0013888889))))); } "
    "return exp(x) - 1.0; }",
    "tanh": "fn math_tanh(x: f32) -> f32 { if (abs(x) < 0.125) { let s = x * x; return x * (1.0 + "
    "s * (-0.33333334 + s * (0.13333334 - s * 0.053968254))); } return tanh(clamp(x, -15.0, 15.0));"
    " }",
    "isnan": "fn math_isnan(x: f32) -> bool { "
    "return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u; }",
    "isinf": "fn math_isinf(x: f32) -> bool { "
    "return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u; }",
}
MAIN = """
@compute @workgroup_size(LANES)
fn main(@builtin(workgroup_id) wid: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let flat = wid.x + wid.y * 65535u;
    if (flat >= u32(P.blocks)) { return; }
    let number = i32(flat / PARTSu);
    let first = i32(flat % PARTSu) * LANES;
    let lin = first + i32(local);
    let tid = vec3<i32>(lin % SIZE_X, lin / SIZE_X % SIZE_Y, lin / (SIZE_X * SIZE_Y));
    let bid = vec3<i32>(number % P.grid_x, number / P.grid_x % P.grid_y,
                        number / P.grid_x / P.grid_y);
    KERNEL;
}"""
