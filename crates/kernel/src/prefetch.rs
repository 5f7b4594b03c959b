//! Asking for memory ahead of time: the only module of the kernel with `unsafe`.
//!
//! To look at a value ahead of time makes the processor wait for it in the end; to ask for it does not. The
//! standard library can ask only through the processor's own instruction, which takes an address.
#![allow(unsafe_code)]

/// Ask for the cache line of a value that is needed soon.
#[inline(always)]
pub(crate) fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a reference is an address, and asking for it changes nothing but caches.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(value).cast()) }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = value;
}
