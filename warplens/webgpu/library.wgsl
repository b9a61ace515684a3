// What kernels may need that WGSL does not have: a module takes the functions that it calls, each
// with the variables right above it. LANES threads make a workgroup, ROOM holds whole warps of them.

fn fault(said: u32) {
    atomicMax(&faults[0], said);
}

// Threads that meet at a barrier must agree on the way there: the first says, the others compare.

var<workgroup> said: u32;
fn agree(lin: i32, mine: bool, line: u32) -> bool {
    if (lin == 0) { said = u32(mine); }
    let all = workgroupUniformLoad(&said) != 0u;
    if (all != mine) { fault(line); }
    return all;
}

// Warps exchange through workgroup memory, whatever the device's own subgroups are.

var<workgroup> exchange: array<u32, ROOM>;
fn swapped(lin: i32, value: u32) {
    workgroupBarrier();
    exchange[lin] = value;
    workgroupBarrier();
}

fn votes_of(lin: i32, value: bool) -> u32 {
    swapped(lin, u32(value));
    var votes = 0u;
    for (var n = 0u; n < 32u; n++) { votes |= exchange[(lin & ~31) + i32(n)] << n; }
    return votes;
}

fn whole(lin: i32) -> u32 {
    return 0xffffffffu >> u32(max(0, (lin & ~31) + 32 - LANES));
}

fn shuffle(lin: i32, value: u32, source: i32) -> u32 {
    swapped(lin, value);
    return exchange[(lin & ~31) + (source & 31)];
}

// Of counting and of integers

var<private> turns: i32;
fn turned() -> i32 {
    turns += 1;
    return turns;
}

fn ending(k: i32, stop: i32, step: i32) -> bool {
    if (step > 0) { return u32(stop - k) <= u32(step); }
    return u32(k - stop) <= u32(-step);
}

fn div_i32(a: i32, b: i32) -> i32 {
    let q = a / b;
    return select(q, q - 1, a % b != 0 && (a < 0) != (b < 0));
}

fn mod_i32(a: i32, b: i32) -> i32 {
    let r = a % b;
    return select(r, r + b, r != 0 && (r < 0) != (b < 0));
}

// Mathematics that WGSL has not, or that fails there for large numbers or small ones

fn math_log1p(x: f32) -> f32 {
    let u = 1.0 + x;
    let d = u - 1.0;
    if (d == 0.0) { return x; }
    return log(u) * (x / d);
}

fn math_expm1(x: f32) -> f32 {
    if (abs(x) >= 0.25) { return exp(x) - 1.0; }
    return x * (1.0 + x * (0.5 + x * (0.16666667 + x * (0.041666668 + x * (0.008333334
        + x * 0.0013888889)))));
}

fn math_tanh(x: f32) -> f32 {
    if (abs(x) >= 0.125) { return tanh(clamp(x, -15.0, 15.0)); }
    let s = x * x;
    return x * (1.0 + s * (-0.33333334 + s * (0.13333334 - s * 0.053968254)));
}

fn math_isnan(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}

fn math_isinf(x: f32) -> bool {
    return (bitcast<u32>(x) & 0x7fffffffu) == 0x7f800000u;
}

// The kernel's threads: as many workgroups as WebGPU launches along two axes, or a few more

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
}
