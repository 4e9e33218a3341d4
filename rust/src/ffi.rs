//! The part of `stowage-solve.h` that the safe layer calls; the header has the contracts. Structs
//! begin with their size, and the library refuses a size that it does not know.
use std::os::raw::{c_char, c_int, c_void};

pub const ANYWHERE: u64 = u64::MAX;
pub const SMALLEST: u64 = u64::MAX;
pub const OK: c_int = 0;

#[repr(C)]
pub struct Problem(u8);
#[repr(C)]
pub struct Placement(u8);

#[repr(C)]
#[derive(Clone, Copy)]
pub struct Allocator {
    pub reallocate:
        Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize, usize, usize) -> *mut c_void>,
    pub user: *mut c_void,
}

#[repr(C)]
pub struct Diag {
    pub struct_size: usize,
    pub status: c_int,
    pub line: u32,
    pub column: u32,
    pub node: u32,
    pub value: u32,
    pub message: [c_char; 1024],
    pub split_symbol: [c_char; 128],
    pub split_at: i64,
}

#[repr(C)]
pub struct Buffer {
    pub struct_size: usize,
    pub size: u64,
    pub guard: u64,
    pub begin: u64,
    pub end: u64,
    pub alignment: u64,
    pub fixed_offset: u64,
    pub pool: u32,
}

#[repr(C)]
pub struct Progress {
    pub phase: *const c_char,
    pub best: u64,
    pub bound: u64,
    pub nodes: u64,
}

#[repr(C)]
pub struct Splitter {
    pub split: *const c_void, // NULL: the caller's thread does all work
    pub pool: *mut c_void,
}

#[repr(C)]
pub struct PlaceOptions {
    pub struct_size: usize,
    pub reuse: bool,
    pub capacity: u64,
    pub nodes: u64,
    pub on_progress: Option<unsafe extern "C" fn(*mut c_void, *const Progress) -> bool>,
    pub user: *mut c_void,
    pub patience: u64,
    pub splitter: Splitter,
    pub workers: u32,
    pub start: *const u64,
}

#[repr(C)]
pub struct PlacementInfo {
    pub struct_size: usize,
    pub count: usize,
    pub height: u64,
    pub bound: u64,
    pub nodes: u64,
    pub outcome: c_int,
    pub stopped: bool,
}

extern "C" {
    pub fn stow_allocator_default() -> Allocator;
    pub fn stow_diag_defaults(diag: *mut Diag);
    pub fn stow_version() -> *const c_char;
    pub fn stow_problem_create(
        allocator: Allocator,
        diag: *mut Diag,
        out_problem: *mut *mut Problem,
    ) -> c_int;
    pub fn stow_problem_destroy(problem: *mut Problem);
    pub fn stow_problem_add(
        problem: *mut Problem,
        desc: *const Buffer,
        diag: *mut Diag,
        out_buffer: *mut usize,
    ) -> c_int;
    pub fn stow_place_options_defaults(options: *mut PlaceOptions);
    pub fn stow_place_auto(
        problem: *const Problem,
        options: *const PlaceOptions,
        allocator: Allocator,
        diag: *mut Diag,
        out_placement: *mut *mut Placement,
    ) -> c_int;
    pub fn stow_placement_destroy(placement: *mut Placement);
    pub fn stow_placement_offset(placement: *const Placement, buffer: usize) -> u64;
    pub fn stow_placement_describe(
        placement: *const Placement,
        out_info: *mut PlacementInfo,
    ) -> c_int;
    pub fn stow_placement_check(
        problem: *const Problem,
        offsets: *const u64,
        count: usize,
        height: u64,
        allocator: Allocator,
        diag: *mut Diag,
        out_violation: *mut c_void,
    ) -> c_int;
}
