"""Seven kernels written by hand in the style of the specification's part 24: the yardstick for emitted ones.

Each has a main loop over whole vectors under one hoisted full mask and one masked chunk for the rest. Masks, broadcasts
and everything else that does not change stay outside the loops, so the counts in counts.json are what a careful author
needs per iteration. Products and sums stay separate operations, because the roundings of vmula are not documented.
"""

from ptodsl import pto, scalar


@pto.jit(name="axpy", target="a5", mode="explicit", kernel_kind="vector")
def axpy(x_gm: pto.ptr(pto.f32, "gm"), y_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), a: pto.f32,
         n: pto.i32):
    # o = a * x + y
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    y = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(32768, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(y_gm, y, 0, n * 4, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(64, size=64)
    va = pto.vmi.vbrc(a, size=64)
    whole = n // 64 * 64
    with pto.for_(0, whole, step=64) as i:
        p = pto.vmi.vmul(pto.vmi.vload(x, i, size=64), va, full)
        pto.vmi.vstore(pto.vmi.vadd(p, pto.vmi.vload(y, i, size=64), full), o, i, full)
    tail = pto.vmi.create_mask(n - whole, size=64)
    q = pto.vmi.vmul(pto.vmi.vload(x, whole, size=64), va, full)
    pto.vmi.vstore(pto.vmi.vadd(q, pto.vmi.vload(y, whole, size=64), full), o, whole, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n * 4, nburst=(1, 0, 0))


@pto.jit(name="blur3", target="a5", mode="explicit", kernel_kind="vector")
def blur3(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), n: pto.i32):
    # o[i] = (x[i] + x[i+1] + x[i+2]) / 3: the DMA makes three aligned copies
    t0 = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    t1 = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    t2 = pto.castptr(pto.const(32768, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(49152, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x_gm, t0, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(pto.addptr(x_gm, 1), t1, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(pto.addptr(x_gm, 2), t2, 0, n * 4, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(64, size=64)
    three = pto.vmi.vbrc(pto.f32(3.0), size=64)
    whole = n // 64 * 64
    with pto.for_(0, whole, step=64) as i:
        s = pto.vmi.vadd(pto.vmi.vload(t0, i, size=64), pto.vmi.vload(t1, i, size=64), full)
        s = pto.vmi.vadd(s, pto.vmi.vload(t2, i, size=64), full)
        pto.vmi.vstore(pto.vmi.vdiv(s, three, full), o, i, full)
    tail = pto.vmi.create_mask(n - whole, size=64)
    r = pto.vmi.vadd(pto.vmi.vload(t0, whole, size=64), pto.vmi.vload(t1, whole, size=64), full)
    r = pto.vmi.vadd(r, pto.vmi.vload(t2, whole, size=64), full)
    pto.vmi.vstore(pto.vmi.vdiv(r, three, full), o, whole, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n * 4, nburst=(1, 0, 0))


@pto.jit(name="softmax_row", target="a5", mode="explicit", kernel_kind="vector")
def softmax_row(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), rows: pto.i32, n: pto.i32):
    # o[r] = exp(x[r] - max x[r]) / sum of them; one tile of rows in UB, in place
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pitch = n // 64 * 64 + 64
    pto.mte_gm_ub(x_gm, x, 0, n * 4, nburst=(rows, n * 4, pitch * 4))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(64, size=64)
    low = pto.vmi.vbrc(pto.f32(float("-inf")), size=64)
    zero = pto.vmi.vbrc(pto.f32(0.0), size=64)
    whole = n // 64 * 64
    tail = pto.vmi.create_mask(n - whole, size=64)
    with pto.for_(0, rows, step=1) as r:
        row = pto.addptr(x, r * scalar.index_cast(pitch))
        most = pto.for_(0, whole, step=64).carry(acc=low)
        with most:
            most.update(acc=pto.vmi.vmax(most.acc, pto.vmi.vload(row, most.iv, size=64), full))
        top = pto.vmi.vmax(most.final("acc"), pto.vmi.vsel(tail, pto.vmi.vload(row, whole, size=64), low), full)
        top = pto.vmi.vbrc(pto.vmi.vcmax(top, full), size=64)
        total = pto.for_(0, whole, step=64).carry(acc=zero)
        with total:
            e = pto.vmi.vexp(pto.vmi.vsub(pto.vmi.vload(row, total.iv, size=64), top, full), full)
            pto.vmi.vstore(e, row, total.iv, full)
            total.update(acc=pto.vmi.vadd(total.acc, e, full))
        last = pto.vmi.vexp(pto.vmi.vsub(pto.vmi.vload(row, whole, size=64), top, full), full)
        pto.vmi.vstore(last, row, whole, tail)
        s = pto.vmi.vadd(total.final("acc"), pto.vmi.vsel(tail, last, zero), full)
        s = pto.vmi.vbrc(pto.vmi.vcadd(s, full, reassoc=True), size=64)
        pto.mem_bar(pto.BarrierType.VST_VLD)
        with pto.for_(0, whole, step=64) as i:
            pto.vmi.vstore(pto.vmi.vdiv(pto.vmi.vload(row, i, size=64), s, full), row, i, full)
        pto.vmi.vstore(pto.vmi.vdiv(pto.vmi.vload(row, whole, size=64), s, full), row, whole, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(x, o_gm, n * 4, nburst=(rows, pitch * 4, n * 4))


@pto.jit(name="layer_norm", target="a5", mode="explicit", kernel_kind="vector")
def layer_norm(x_gm: pto.ptr(pto.f32, "gm"), g_gm: pto.ptr(pto.f32, "gm"), b_gm: pto.ptr(pto.f32, "gm"),
               o_gm: pto.ptr(pto.f32, "gm"), rows: pto.i32, n: pto.i32, inverse: pto.f32, epsilon: pto.f32):
    # o = (x - mean) / sqrt(variance + epsilon) * g + b, per row; `inverse` is 1 / n
    gain = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    bias = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    x = pto.castptr(pto.const(32768, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pitch = n // 64 * 64 + 64
    pto.mte_gm_ub(g_gm, gain, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(b_gm, bias, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(x_gm, x, 0, n * 4, nburst=(rows, n * 4, pitch * 4))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(64, size=64)
    zero = pto.vmi.vbrc(pto.f32(0.0), size=64)
    one = pto.vmi.vbrc(pto.f32(1.0), size=64)
    per = pto.vmi.vbrc(inverse, size=64)
    small = pto.vmi.vbrc(epsilon, size=64)
    whole = n // 64 * 64
    tail = pto.vmi.create_mask(n - whole, size=64)
    with pto.for_(0, rows, step=1) as r:
        row = pto.addptr(x, r * scalar.index_cast(pitch))
        total = pto.for_(0, whole, step=64).carry(acc=zero)
        with total:
            total.update(acc=pto.vmi.vadd(total.acc, pto.vmi.vload(row, total.iv, size=64), full))
        s = pto.vmi.vadd(total.final("acc"), pto.vmi.vsel(tail, pto.vmi.vload(row, whole, size=64), zero), full)
        mean = pto.vmi.vmul(pto.vmi.vbrc(pto.vmi.vcadd(s, full, reassoc=True), size=64), per, full)
        spread = pto.for_(0, whole, step=64).carry(acc=zero)
        with spread:
            d = pto.vmi.vsub(pto.vmi.vload(row, spread.iv, size=64), mean, full)
            spread.update(acc=pto.vmi.vadd(spread.acc, pto.vmi.vmul(d, d, full), full))
        d1 = pto.vmi.vsel(tail, pto.vmi.vsub(pto.vmi.vload(row, whole, size=64), mean, full), zero)
        q = pto.vmi.vadd(spread.final("acc"), pto.vmi.vmul(d1, d1, full), full)
        variance = pto.vmi.vmul(pto.vmi.vbrc(pto.vmi.vcadd(q, full, reassoc=True), size=64), per, full)
        scale = pto.vmi.vdiv(one, pto.vmi.vsqrt(pto.vmi.vadd(variance, small, full), full), full)
        with pto.for_(0, whole, step=64) as i:
            c = pto.vmi.vmul(pto.vmi.vsub(pto.vmi.vload(row, i, size=64), mean, full), scale, full)
            c = pto.vmi.vmul(c, pto.vmi.vload(gain, i, size=64), full)
            pto.vmi.vstore(pto.vmi.vadd(c, pto.vmi.vload(bias, i, size=64), full), row, i, full)
        c1 = pto.vmi.vmul(pto.vmi.vsub(pto.vmi.vload(row, whole, size=64), mean, full), scale, full)
        c1 = pto.vmi.vmul(c1, pto.vmi.vload(gain, whole, size=64), full)
        pto.vmi.vstore(pto.vmi.vadd(c1, pto.vmi.vload(bias, whole, size=64), full), row, whole, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(x, o_gm, n * 4, nburst=(rows, pitch * 4, n * 4))


@pto.jit(name="to_u8", target="a5", mode="explicit", kernel_kind="vector")
def to_u8(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.ui8, "gm"), n: pto.i32):
    # o = saturating uint8 of x rounded to nearest even
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(65536, dtype=pto.i64), pto.ptr(pto.ui8, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, n * 4, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(256, size=256)
    whole = n // 256 * 256
    with pto.for_(0, whole, step=256) as i:
        k = pto.vmi.vcvt(pto.vmi.vload(x, i, size=256), pto.si32, rounding="R", saturate="SAT")
        pto.vmi.vstore(pto.vmi.vcvt(k, pto.ui8, saturate="SAT"), o, i, full)
    tail = pto.vmi.create_mask(n - whole, size=256)
    k1 = pto.vmi.vcvt(pto.vmi.vload(x, whole, size=256), pto.si32, rounding="R", saturate="SAT")
    pto.vmi.vstore(pto.vmi.vcvt(k1, pto.ui8, saturate="SAT"), o, whole, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n, nburst=(1, 0, 0))


@pto.jit(name="table_lookup", target="a5", mode="explicit", kernel_kind="vector")
def table_lookup(i_gm: pto.ptr(pto.i32, "gm"), t_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), n: pto.i32,
                 tn: pto.i32):
    # o = t[i]
    ix = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.i32, "ub"))
    tab = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(32768, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(i_gm, ix, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(t_gm, tab, 0, tn * 4, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(64, size=64)
    whole = n // 64 * 64
    with pto.for_(0, whole, step=64) as i:
        pto.vmi.vstore(pto.vmi.vgather(tab, pto.vmi.vload(ix, i, size=64), full), o, i, full)
    tail = pto.vmi.create_mask(n - whole, size=64)
    pto.vmi.vstore(pto.vmi.vgather(tab, pto.vmi.vload(ix, whole, size=64), tail), o, whole, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n * 4, nburst=(1, 0, 0))


@pto.jit(name="fp4_scale", target="a5", mode="explicit", kernel_kind="vector")
def fp4_scale(x_gm: pto.ptr(pto.f4e2m1x2, "gm"), o_gm: pto.ptr(pto.f32, "gm"), s: pto.f32, pairs: pto.i32):
    # o = s * x, two packed e2m1 values per byte
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f4e2m1x2, "ub"))
    o = pto.castptr(pto.const(65536, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, pairs, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(128, size=128)
    vs = pto.vmi.vbrc(s, size=128)
    whole = pairs // 64 * 64
    with pto.for_(0, whole, step=64) as i:
        w = pto.vmi.vinterpret_cast(pto.vmi.vcvt(pto.vmi.vload(x, i, size=64), pto.vmi.bf16x2), pto.bf16)
        pto.vmi.vstore(pto.vmi.vmul(pto.vmi.vcvt(w, pto.f32), vs, full), o, i * 2, full)
    tail = pto.vmi.create_mask((pairs - whole) * 2, size=128)
    w1 = pto.vmi.vinterpret_cast(pto.vmi.vcvt(pto.vmi.vload(x, whole, size=64), pto.vmi.bf16x2), pto.bf16)
    pto.vmi.vstore(pto.vmi.vmul(pto.vmi.vcvt(w1, pto.f32), vs, full), o, whole * 2, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, pairs * 8, nburst=(1, 0, 0))
