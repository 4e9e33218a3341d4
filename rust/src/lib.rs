//! Places buffers, which have a size and a lifetime, in one arena: the placement search of
//! Stowage, a C library, which the build script compiles from one file.
//!
//! ```
//! use stowage_sys::{solve, Buffer, Options, Outcome};
//!
//! // live at steps 0 and 1, 1 and 2, 2 and 3
//! let buffers = [Buffer::new(4096, 0..2), Buffer::new(1024, 1..3), Buffer::new(512, 2..4)];
//! let placement = solve(&buffers, &Options::default())?;
//! assert_eq!(placement.height, 5120);
//! assert_eq!(placement.outcome, Outcome::Optimal); // no placement is lower
//! assert_eq!(placement.offsets.len(), 3);
//! # Ok::<(), stowage_sys::Error>(())
//! ```
//!
//! The same buffers and options give the same placement on every machine. "Does not fit" is an
//! outcome, not an error: see [`Options::capacity`].

mod ffi;

use std::any::Any;
use std::ffi::CStr;
use std::ops::Range;
use std::os::raw::c_void;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};

/// Bytes that are live for some steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// In bytes, above 0.
    pub size: u64,
    /// Bytes after it that no other live buffer may use.
    pub guard: u64,
    /// The steps at which it is live; not empty.
    pub lifetime: Range<u64>,
    /// Of the offset: a power of two.
    pub alignment: u64,
    /// The offset that it must have, if any.
    pub fixed_offset: Option<u64>,
}

impl Buffer {
    /// No guard, alignment 1, anywhere.
    pub fn new(size: u64, lifetime: Range<u64>) -> Self {
        Buffer {
            size,
            guard: 0,
            lifetime,
            alignment: 1,
            fixed_offset: None,
        }
    }

    pub fn aligned(self, alignment: u64) -> Self {
        Buffer { alignment, ..self }
    }

    pub fn at(self, offset: u64) -> Self {
        Buffer {
            fixed_offset: Some(offset),
            ..self
        }
    }
}

/// What to search for, and for how long.
#[derive(Clone, Debug)]
pub struct Options {
    /// `None`: the lowest height. Otherwise any placement of at most this many bytes.
    pub capacity: Option<u64>,
    /// The budget: attempts to give a buffer an offset. 0: only a first placement.
    pub nodes: u64,
}

impl Default for Options {
    /// The lowest height, 400000 nodes.
    fn default() -> Self {
        Options {
            capacity: None,
            nodes: 400_000,
        }
    }
}

/// What a search found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Proven: no placement is lower. Within the capacity, if any.
    Optimal,
    /// Within the capacity, if any; a lower one may exist.
    Feasible,
    /// Proven: no placement is within the capacity.
    Infeasible,
    /// Found none within the capacity, and no proof that there is none.
    GaveUp,
}

/// Offsets, and what is known about them. Above the capacity if the outcome is
/// [`Outcome::Infeasible`] or [`Outcome::GaveUp`].
#[derive(Clone, Debug)]
pub struct Placement {
    /// One per buffer, in bytes.
    pub offsets: Vec<u64>,
    /// The size of the arena.
    pub height: u64,
    /// Proven: no placement is lower.
    pub bound: u64,
    /// Search nodes spent.
    pub nodes: u64,
    pub outcome: Outcome,
    /// Whether the callback of [`solve_with`] ended the search.
    pub stopped: bool,
}

/// The state of a running search.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Height of the best placement so far; `None` before the first.
    pub best: Option<u64>,
    /// Proven so far: no placement is lower.
    pub bound: u64,
    /// Search nodes spent so far.
    pub nodes: u64,
}

/// Why a call failed: a line of text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    message: String,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Error {}

/// The version of the C library.
pub fn version() -> &'static str {
    // SAFETY: a static string of ASCII characters.
    unsafe { CStr::from_ptr(ffi::stow_version()) }
        .to_str()
        .unwrap_or("")
}

/// Places `buffers`. Fails if a field of one is not as described there, if two at fixed offsets
/// overlap, if sizes do not fit in 63 bits, or without memory.
pub fn solve(buffers: &[Buffer], options: &Options) -> Result<Placement, Error> {
    run(buffers, options, None)
}

/// The same, with a callback at every better placement and every few milliseconds. It returns
/// whether to go on; the result is the best placement so far.
pub fn solve_with(
    buffers: &[Buffer],
    options: &Options,
    mut on_progress: impl FnMut(Progress) -> bool,
) -> Result<Placement, Error> {
    run(buffers, options, Some(&mut on_progress))
}

/// Proves that `offsets` and `height` are a correct placement of `buffers`, by code that shares
/// nothing with the search. The error names the first fault.
pub fn check(buffers: &[Buffer], offsets: &[u64], height: u64) -> Result<(), Error> {
    let problem = Problem::new(buffers)?;
    let mut diag = Diag::new();
    // SAFETY: the problem lives, and `offsets` has as many elements as it says.
    let status = unsafe {
        ffi::stow_placement_check(
            problem.0,
            offsets.as_ptr(),
            offsets.len(),
            height,
            ffi::stow_allocator_default(),
            &mut diag.0,
            std::ptr::null_mut(),
        )
    };
    diag.result(status)
}

// -------------------------------------------------------------------------------------------------

struct Diag(ffi::Diag);

impl Diag {
    fn new() -> Self {
        let mut diag = Diag(ffi::Diag {
            struct_size: std::mem::size_of::<ffi::Diag>(),
            status: 0,
            line: 0,
            column: 0,
            node: 0,
            value: 0,
            message: [0; 1024],
            split_symbol: [0; 128],
            split_at: 0,
        });
        // SAFETY: it has the size that it states.
        unsafe { ffi::stow_diag_defaults(&mut diag.0) };
        diag
    }

    fn result(&self, status: std::os::raw::c_int) -> Result<(), Error> {
        if status == ffi::OK {
            return Ok(());
        }
        // SAFETY: messages end in a NUL.
        let message = unsafe { CStr::from_ptr(self.0.message.as_ptr()) };
        Err(Error {
            message: message.to_string_lossy().into_owned(),
        })
    }
}

struct Problem(*mut ffi::Problem);

impl Problem {
    fn new(buffers: &[Buffer]) -> Result<Self, Error> {
        let mut diag = Diag::new();
        let mut problem = Problem(std::ptr::null_mut());
        // SAFETY: pointers are to live values; the problem is destroyed by `drop`.
        unsafe {
            let heap = ffi::stow_allocator_default();
            let status = ffi::stow_problem_create(heap, &mut diag.0, &mut problem.0);
            diag.result(status)?;
            for buffer in buffers {
                let desc = describe(buffer);
                let mut number = 0;
                let status = ffi::stow_problem_add(problem.0, &desc, &mut diag.0, &mut number);
                diag.result(status)?;
            }
        }
        Ok(problem)
    }
}

impl Drop for Problem {
    fn drop(&mut self) {
        // SAFETY: ours, or NULL.
        unsafe { ffi::stow_problem_destroy(self.0) }
    }
}

fn describe(buffer: &Buffer) -> ffi::Buffer {
    ffi::Buffer {
        struct_size: std::mem::size_of::<ffi::Buffer>(),
        size: buffer.size,
        guard: buffer.guard,
        begin: buffer.lifetime.start,
        end: buffer.lifetime.end,
        alignment: buffer.alignment,
        fixed_offset: buffer.fixed_offset.unwrap_or(ffi::ANYWHERE),
        pool: 0,
    }
}

/// What the C callback gets. A panic must not cross C code, so it waits here.
struct Watch<'a> {
    on_progress: &'a mut dyn FnMut(Progress) -> bool,
    panic: Option<Box<dyn Any + Send>>,
}

unsafe extern "C" fn report(user: *mut c_void, progress: *const ffi::Progress) -> bool {
    // SAFETY: `run` passes a Watch that lives during the search; the library passes a progress.
    let (watch, progress) = unsafe { (&mut *user.cast::<Watch>(), &*progress) };
    if watch.panic.is_some() {
        return false;
    }
    let state = Progress {
        best: (progress.best != u64::MAX).then_some(progress.best),
        bound: progress.bound,
        nodes: progress.nodes,
    };
    catch_unwind(AssertUnwindSafe(|| (watch.on_progress)(state))).unwrap_or_else(|panic| {
        watch.panic = Some(panic);
        false
    })
}

fn place_options(options: &Options) -> ffi::PlaceOptions {
    // SAFETY: zeros are valid for every field, and the library writes them all.
    let mut raw: ffi::PlaceOptions = unsafe { std::mem::zeroed() };
    raw.struct_size = std::mem::size_of::<ffi::PlaceOptions>();
    unsafe { ffi::stow_place_options_defaults(&mut raw) };
    raw.capacity = options.capacity.unwrap_or(ffi::SMALLEST);
    raw.nodes = options.nodes;
    raw
}

fn run(
    buffers: &[Buffer],
    options: &Options,
    on_progress: Option<&mut dyn FnMut(Progress) -> bool>,
) -> Result<Placement, Error> {
    let problem = Problem::new(buffers)?;
    let mut diag = Diag::new();
    let mut raw = place_options(options);
    let mut watch = on_progress.map(|on_progress| Watch {
        on_progress,
        panic: None,
    });
    if let Some(watch) = watch.as_mut() {
        raw.on_progress = Some(report);
        raw.user = (watch as *mut Watch).cast();
    }
    let mut placement = std::ptr::null_mut();
    // SAFETY: all of these outlive the call.
    let status = unsafe {
        let heap = ffi::stow_allocator_default();
        ffi::stow_place_auto(problem.0, &raw, heap, &mut diag.0, &mut placement)
    };
    let found = diag
        .result(status)
        .and_then(|()| read(placement, buffers.len()));
    // SAFETY: ours, or NULL; what was read is a copy.
    unsafe { ffi::stow_placement_destroy(placement) };
    match watch.and_then(|watch| watch.panic) {
        Some(panic) => resume_unwind(panic),
        None => found,
    }
}

fn read(placement: *const ffi::Placement, count: usize) -> Result<Placement, Error> {
    // SAFETY: zeros are valid for every field; the placement has an offset for each buffer.
    unsafe {
        let mut info: ffi::PlacementInfo = std::mem::zeroed();
        info.struct_size = std::mem::size_of::<ffi::PlacementInfo>();
        Diag::new().result(ffi::stow_placement_describe(placement, &mut info))?;
        Ok(Placement {
            offsets: (0..count)
                .map(|i| ffi::stow_placement_offset(placement, i))
                .collect(),
            height: info.height,
            bound: info.bound,
            nodes: info.nodes,
            outcome: match info.outcome {
                0 => Outcome::Optimal,
                1 => Outcome::Feasible,
                2 => Outcome::Infeasible,
                _ => Outcome::GaveUp,
            },
            stopped: info.stopped,
        })
    }
}
