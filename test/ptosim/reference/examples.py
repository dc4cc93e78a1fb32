from ptodsl import pto, scalar


@pto.jit(name="scale_add", target="a5", mode="explicit", kernel_kind="vector")
def scale_add(x_gm: pto.ptr(pto.f32, "gm"), y_gm: pto.ptr(pto.f32, "gm"),
              o_gm: pto.ptr(pto.f32, "gm"), alpha: pto.f32, n: pto.i32):
    # o = alpha * x + y; full chunks, then one masked chunk
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    y = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(32768, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(y_gm, y, 0, n * 4, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(128, size=128)
    va = pto.vmi.vbrc(alpha, size=128)
    with pto.for_(0, n // 128, step=1) as q:
        a = pto.vmi.vload(x, q * 128, size=128)
        b = pto.vmi.vload(y, q * 128, size=128)
        pto.vmi.vstore(pto.vmi.vadd(pto.vmi.vmul(a, va, full), b, full), o, q * 128, full)
    base = n // 128 * 128
    tail = pto.vmi.create_mask(n - base, size=128)
    a1 = pto.vmi.vload(x, base, size=128)
    b1 = pto.vmi.vload(y, base, size=128)
    pto.vmi.vstore(pto.vmi.vadd(pto.vmi.vmul(a1, va, full), b1, full), o, base, tail)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n * 4, nburst=(1, 0, 0))


@pto.jit(name="row_sum", target="a5", mode="explicit", kernel_kind="vector")
def row_sum(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), rows: pto.i32):
    # rows x 200 in GM, UB pitch 256 elements; accumulate lane-wise, reduce once per row
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(65536, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, 800, nburst=(rows, 800, 1024))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(64, size=64)
    zero = pto.vmi.vbrc(pto.f32(0.0), size=64)
    with pto.for_(0, rows, step=1) as r:
        loop = pto.for_(0, 4, step=1).carry(acc=zero, rem=pto.const(200, dtype=pto.i32))
        with loop:
            m = pto.vmi.create_mask(loop.rem, size=64)
            v = pto.vmi.vload(x, r * 256 + loop.iv * 64, size=64)
            v = pto.vmi.vsel(m, v, zero)
            loop.update(acc=pto.vmi.vadd(loop.acc, v, full), rem=loop.rem - 64)
        s = pto.vmi.vcadd(loop.final("acc"), full, reassoc=True)
        pto.vmi.vstore(s, o, r)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, rows * 4, nburst=(1, 0, 0))


@pto.jit(name="to_u8", target="a5", mode="explicit", kernel_kind="vector")
def to_u8(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.ui8, "gm"), n: pto.i32):
    # o = saturating uint8 of x rounded to nearest even
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(65536, dtype=pto.i64), pto.ptr(pto.ui8, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, n * 4, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    loop = pto.for_(0, n, step=256).carry(rem=n)
    with loop:
        m = pto.vmi.create_mask(loop.rem, size=256)
        v = pto.vmi.vload(x, loop.iv, size=256)
        i = pto.vmi.vcvt(v, pto.si32, rounding="R", saturate="SAT")
        pto.vmi.vstore(pto.vmi.vcvt(i, pto.ui8, saturate="SAT"), o, loop.iv, m)
        loop.update(rem=loop.rem - 256)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n, nburst=(1, 0, 0))


@pto.jit(name="ramp_select", target="a5", mode="explicit", kernel_kind="vector")
def ramp_select(o_gm: pto.ptr(pto.f32, "gm"), n: pto.i32, cut: pto.si32):
    # o[i] = i < cut ? float(i) : -1
    o = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    full = pto.vmi.create_mask(64, size=64)
    neg = pto.vmi.vbrc(pto.f32(-1.0), size=64)
    with pto.for_(0, n, step=64) as i:
        lane = pto.vmi.vinterpret_cast(pto.vmi.vci(i, size=64), pto.si32)
        c = pto.vmi.vcmps(lane, cut, full, "lt")
        pto.vmi.vstore(pto.vmi.vsel(c, pto.vmi.vcvt(lane, pto.f32), neg), o, i)
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
    third = pto.vmi.vbrc(pto.f32(1.0 / 3.0), size=64)
    loop = pto.for_(0, n, step=64).carry(rem=n)
    with loop:
        i = loop.iv
        m = pto.vmi.create_mask(loop.rem, size=64)
        s = pto.vmi.vadd(pto.vmi.vload(t0, i, size=64), pto.vmi.vload(t1, i, size=64), full)
        s = pto.vmi.vadd(s, pto.vmi.vload(t2, i, size=64), full)
        pto.vmi.vstore(pto.vmi.vmul(s, third, full), o, i, m)
        loop.update(rem=loop.rem - 64)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n * 4, nburst=(1, 0, 0))


@pto.jit(name="table_lookup", target="a5", mode="explicit", kernel_kind="vector")
def table_lookup(i_gm: pto.ptr(pto.i32, "gm"), t_gm: pto.ptr(pto.f32, "gm"),
                 o_gm: pto.ptr(pto.f32, "gm"), n: pto.i32, tn: pto.i32):
    ix = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.i32, "ub"))
    tab = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(32768, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(i_gm, ix, 0, n * 4, nburst=(1, 0, 0))
    pto.mte_gm_ub(t_gm, tab, 0, tn * 4, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    loop = pto.for_(0, n, step=64).carry(rem=n)
    with loop:
        m = pto.vmi.create_mask(loop.rem, size=64)
        k = pto.vmi.vload(ix, loop.iv, size=64)
        pto.vmi.vstore(pto.vmi.vgather(tab, k, m), o, loop.iv, m)
        loop.update(rem=loop.rem - 64)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, n * 4, nburst=(1, 0, 0))


@pto.jit(name="stream_exp", target="a5", mode="explicit", kernel_kind="vector")
def stream_exp(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm"), tiles: pto.i32):
    # double buffering: tile t uses half t % 2; one event per half and direction
    x0 = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o0 = pto.castptr(pto.const(65536, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    for h in pto.static_range(2):
        pto.set_flag("V", "MTE2", event_id=h)      # both input halves are free
        pto.set_flag("MTE3", "V", event_id=h)      # both output halves are free
    with pto.for_(0, tiles, step=1) as t:
        half = t % 2
        x = pto.addptr(x0, half * 4096)
        o = pto.addptr(o0, half * 4096)
        pto.wait_flag("V", "MTE2", event_id=half)
        pto.mte_gm_ub(pto.addptr(x_gm, t * 4096), x, 0, 16384, nburst=(1, 0, 0))
        pto.set_flag("MTE2", "V", event_id=half)
        pto.wait_flag("MTE2", "V", event_id=half)
        pto.wait_flag("MTE3", "V", event_id=half)
        with pto.for_(0, 4096, step=64) as i:
            pto.vmi.vstore(pto.vmi.vexp(pto.vmi.vload(x, i, size=64)), o, i)
        pto.set_flag("V", "MTE2", event_id=half)
        pto.set_flag("V", "MTE3", event_id=half)
        pto.wait_flag("V", "MTE3", event_id=half)
        pto.mte_ub_gm(o, pto.addptr(o_gm, t * 4096), 16384, nburst=(1, 0, 0))
        pto.set_flag("MTE3", "V", event_id=half)
    for h in pto.static_range(2):
        pto.wait_flag("V", "MTE2", event_id=h)
        pto.wait_flag("MTE3", "V", event_id=h)


@pto.jit(name="two_pass", target="a5", mode="explicit", kernel_kind="vector")
def two_pass(x_gm: pto.ptr(pto.f32, "gm"), o_gm: pto.ptr(pto.f32, "gm")):
    # second loop reads what the first wrote: mem_bar between them
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    t = pto.castptr(pto.const(16384, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(32768, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, 4096, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    with pto.for_(0, 1024, step=64) as i:
        pto.vmi.vstore(pto.vmi.vabs(pto.vmi.vload(x, i, size=64)), t, i)
    pto.mem_bar(pto.BarrierType.VST_VLD)
    with pto.for_(0, 1024, step=64) as j:
        pto.vmi.vstore(pto.vmi.vsqrt(pto.vmi.vload(t, 960 - j, size=64)), o, j)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, 4096, nburst=(1, 0, 0))


@pto.jit(name="matmul_rows", target="a5", mode="explicit", kernel_kind="vector")
def matmul_rows(a_gm: pto.ptr(pto.f32, "gm"), b_gm: pto.ptr(pto.f32, "gm"),
                o_gm: pto.ptr(pto.f32, "gm"), m: pto.i32):
    # o[m][128] = a[m][32] * b[32][128]; the left operand comes by broadcast loads
    a = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    b = pto.castptr(pto.const(65536, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    o = pto.castptr(pto.const(131072, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(a_gm, a, 0, 128, nburst=(m, 128, 128))
    pto.mte_gm_ub(b_gm, b, 0, 512, nburst=(32, 512, 512))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    full = pto.vmi.create_mask(128, size=128)
    zero = pto.vmi.vbrc(pto.f32(0.0), size=128)
    with pto.for_(0, m, step=1) as i:
        loop = pto.for_(0, 32, step=1).carry(acc=zero)
        with loop:
            x = pto.vmi.vload(a, i * 32 + loop.iv, size=128, dist_mode="brc")
            y = pto.vmi.vload(b, loop.iv * 128, size=128)
            loop.update(acc=pto.vmi.vmula(loop.acc, x, y, full))
        pto.vmi.vstore(loop.final("acc"), o, i * 128)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, 512, nburst=(m, 512, 512))


@pto.jit(name="fp4_scale", target="a5", mode="explicit", kernel_kind="vector")
def fp4_scale(x_gm: pto.ptr(pto.f4e2m1x2, "gm"), o_gm: pto.ptr(pto.f32, "gm"),
              s: pto.f32, pairs: pto.i32):
    x = pto.castptr(pto.const(0, dtype=pto.i64), pto.ptr(pto.f4e2m1x2, "ub"))
    o = pto.castptr(pto.const(65536, dtype=pto.i64), pto.ptr(pto.f32, "ub"))
    pto.mte_gm_ub(x_gm, x, 0, pairs, nburst=(1, 0, 0))
    pto.set_flag("MTE2", "V", event_id=0)
    pto.wait_flag("MTE2", "V", event_id=0)
    vs = pto.vmi.vbrc(s, size=128)
    loop = pto.for_(0, pairs, step=64).carry(rem=pairs * 2)
    with loop:
        m = pto.vmi.create_mask(loop.rem, size=128)
        q = pto.vmi.vload(x, loop.iv, size=64)
        w = pto.vmi.vinterpret_cast(pto.vmi.vcvt(q, pto.vmi.bf16x2), pto.bf16)
        pto.vmi.vstore(pto.vmi.vmul(pto.vmi.vcvt(w, pto.f32), vs), o, loop.iv * 2, m)
        loop.update(rem=loop.rem - 128)
    pto.set_flag("V", "MTE3", event_id=0)
    pto.wait_flag("V", "MTE3", event_id=0)
    pto.mte_ub_gm(o, o_gm, pairs * 8, nburst=(1, 0, 0))
