//! The instruction set that the kernels use, decided once at run time, and the macro that compiles a function for each.

use std::sync::atomic::{AtomicU8, Ordering};

/// An instruction-set level, worse ones first in order. Kernels are compiled for each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Isa {
    /// 512-bit vectors: AVX-512 F, DQ, BW and VL, with AVX2 and FMA.
    Avx512 = 3,
    /// 256-bit vectors: AVX2 and FMA.
    Avx2 = 2,
    /// The compiler's base target.
    Portable = 1,
}

impl Isa {
    /// The levels, best first.
    pub const ALL: [Self; 3] = [Self::Avx512, Self::Avx2, Self::Portable];

    /// The name that `MASE_ISA` takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Avx512 => "avx512",
            Self::Avx2 => "avx2",
            Self::Portable => "portable",
        }
    }

    /// The level of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|isa| isa.name() == name)
    }
}

/// 0 while undecided, else an [`Isa`] as `u8`.
static LEVEL: AtomicU8 = AtomicU8::new(0);

/// The level in use: the best the CPU has, lowered by `MASE_ISA=avx512|avx2|portable` or by [`force`]. Other values of
/// the variable change nothing here; a program that wants to refuse them asks [`Isa::from_name`].
#[inline]
pub fn isa() -> Isa {
    match LEVEL.load(Ordering::Relaxed) {
        3 => Isa::Avx512,
        2 => Isa::Avx2,
        1 => Isa::Portable,
        _ => decide(),
    }
}

/// Sets the level for tests and comparisons, never above what the CPU has. `None` returns to the default.
/// Returns the level now in use.
pub fn force(wanted: Option<Isa>) -> Isa {
    let Some(wanted) = wanted else {
        return decide();
    };
    let chosen = wanted.min(detect());
    LEVEL.store(chosen as u8, Ordering::Relaxed);
    chosen
}

/// True when the AVX-512 level is in use and the CPU has the VNNI dot products as well.
pub(crate) fn has_vnni() -> bool {
    #[cfg(target_arch = "x86_64")]
    return isa() == Isa::Avx512 && is_x86_feature_detected!("avx512vnni");
    #[cfg(not(target_arch = "x86_64"))]
    false
}

#[cold]
fn decide() -> Isa {
    let best = detect();
    let asked = std::env::var("MASE_ISA")
        .ok()
        .and_then(|name| Isa::from_name(&name));
    let chosen = asked.map_or(best, |asked| asked.min(best));
    LEVEL.store(chosen as u8, Ordering::Relaxed);
    chosen
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Isa {
    let avx2 = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
    let avx512 = is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512vl");
    match (avx2, avx512) {
        (true, true) => Isa::Avx512,
        (true, false) => Isa::Avx2,
        _ => Isa::Portable,
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn detect() -> Isa {
    Isa::Portable
}

/// Compiles ordinary safe functions once per instruction set and calls the one [`isa`] names.
///
/// The body is inlined into each version, so plain loops are vectorised for it. Write `a * b + c`, never `mul_add`:
/// without FMA that is a library call. No version contracts it, so a body gives the same bits at every level.
/// Generic parameters are written as `impl Trait` arguments.
macro_rules! versions {
    ($(
        $(#[$meta:meta])*
        $vis:vis fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    )*) => {$(
        $(#[$meta])*
        $vis fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            fn body($($arg: $ty),*) $(-> $ret)? $body

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
            fn avx512($($arg: $ty),*) $(-> $ret)? {
                body($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            fn avx2($($arg: $ty),*) $(-> $ret)? {
                body($($arg),*)
            }

            match $crate::isa::isa() {
                // SAFETY: `isa` names a level only where the CPU has its features.
                #[cfg(target_arch = "x86_64")]
                $crate::Isa::Avx512 => unsafe { avx512($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                $crate::Isa::Avx2 => unsafe { avx2($($arg),*) },
                _ => body($($arg),*),
            }
        }
    )*};
}

/// Like [`versions!`] for `unsafe` bodies written against [`crate::simd::Vector`]: in the body the named type parameter
/// is the vector type of the level. The body may rely on its caller for the validity of pointers, and on the macro for
/// the CPU's features.
macro_rules! vector_versions {
    ($(
        $(#[$meta:meta])*
        $vis:vis unsafe fn $name:ident<$v:ident>($($arg:ident: $ty:ty),* $(,)?) $(-> $ret:ty)? $body:block
    )*) => {$(
        $(#[$meta])*
        $vis unsafe fn $name($($arg: $ty),*) $(-> $ret)? {
            #[inline(always)]
            unsafe fn body<$v: $crate::simd::Vector>($($arg: $ty),*) $(-> $ret)? {
                // SAFETY: the caller of the outer function vouches for the pointers, the match below for the features.
                unsafe { $body }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl,avx2,fma")]
            unsafe fn avx512($($arg: $ty),*) $(-> $ret)? {
                // SAFETY: as in the body.
                unsafe { body::<$crate::simd::F32x16>($($arg),*) }
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            unsafe fn avx2($($arg: $ty),*) $(-> $ret)? {
                // SAFETY: as in the body.
                unsafe { body::<$crate::simd::F32x8>($($arg),*) }
            }

            // SAFETY: `isa` names a level only where the CPU has its features; pointers are the caller's promise.
            unsafe {
                match $crate::isa::isa() {
                    #[cfg(target_arch = "x86_64")]
                    $crate::Isa::Avx512 => avx512($($arg),*),
                    #[cfg(target_arch = "x86_64")]
                    $crate::Isa::Avx2 => avx2($($arg),*),
                    _ => body::<$crate::simd::F32x4>($($arg),*),
                }
            }
        }
    )*};
}

pub(crate) use {vector_versions, versions};

#[cfg(test)]
pub(crate) mod testing {
    use super::{Isa, force};
    use std::sync::Mutex;

    static LOCK: Mutex<()> = Mutex::new(());

    /// Runs a check at every level the CPU has, one test at a time.
    pub(crate) fn on_every_isa(check: impl Fn(Isa)) {
        let _guard = LOCK
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        for isa in Isa::ALL {
            if force(Some(isa)) == isa {
                check(isa);
            }
        }
        force(None);
    }
}

#[cfg(test)]
mod tests {
    use super::testing::on_every_isa;
    use super::{Isa, isa};

    #[test]
    fn forced_levels_are_in_use() {
        on_every_isa(|level| assert_eq!(isa(), level));
    }

    #[test]
    fn names_are_read_back() {
        assert!(
            Isa::ALL
                .into_iter()
                .all(|isa| Isa::from_name(isa.name()) == Some(isa))
        );
        assert_eq!(Isa::from_name("sse9"), None);
    }

    #[test]
    fn force_never_exceeds_the_cpu() {
        on_every_isa(|_| {
            let best = super::detect();
            assert_eq!(super::force(Some(Isa::Avx512)), best);
        });
    }
}
