//! The safe layer: every field reaches the library and comes back.
use stowage_sys::{check, solve, solve_with, Buffer, Options, Outcome};

/// The buffers of examples/buffers.csv, on which a greedy pass wastes a quarter of the arena.
fn buffers() -> Vec<Buffer> {
    [
        (32768, 0..2),
        (32768, 1..4),
        (24576, 2..6),
        (4096, 3..8),
        (32768, 5..9),
        (16384, 7..11),
        (3072, 1..12),
        (16384, 8..13),
        (6144, 4..10),
        (32768, 11..15),
        (3072, 12..17),
        (32768, 14..19),
        (16384, 16..20),
        (6144, 10..18),
        (6144, 0..20),
    ]
    .into_iter()
    .map(|(size, lifetime)| Buffer::new(size, lifetime))
    .collect()
}

/// A xorshift generator: random problems that are the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}

fn overlap(buffers: &[Buffer], offsets: &[u64]) -> bool {
    let pairs = (0..buffers.len()).flat_map(|i| (0..i).map(move |k| (i, k)));
    pairs.into_iter().any(|(i, k)| {
        let (a, b) = (&buffers[i], &buffers[k]);
        a.lifetime.start < b.lifetime.end
            && b.lifetime.start < a.lifetime.end
            && offsets[i] < offsets[k] + b.size + b.guard
            && offsets[k] < offsets[i] + a.size + a.guard
    })
}

#[test]
fn finds_the_optimum() {
    let placement = solve(&buffers(), &Options::default()).unwrap();
    assert_eq!((placement.height, placement.bound), (80896, 80896));
    assert_eq!(placement.outcome, Outcome::Optimal);
    assert!(!placement.stopped);
    check(&buffers(), &placement.offsets, placement.height).unwrap();
}

#[test]
fn random_placements_are_correct() {
    let mut random = Random(88172645463325252);
    for _ in 0..200 {
        let buffers: Vec<Buffer> = (0..random.below(20))
            .map(|_| {
                let begin = random.below(10);
                let lifetime = begin..begin + 1 + random.below(5);
                let mut buffer =
                    Buffer::new(1 + random.below(100), lifetime).aligned(1 << random.below(4));
                buffer.guard = random.below(3);
                buffer
            })
            .collect();
        let placement = solve(
            &buffers,
            &Options {
                nodes: 1000,
                ..Options::default()
            },
        )
        .unwrap();
        check(&buffers, &placement.offsets, placement.height).unwrap();
        assert!(!overlap(&buffers, &placement.offsets));
        assert!(placement.bound <= placement.height);
        for (buffer, offset) in buffers.iter().zip(&placement.offsets) {
            assert_eq!(offset % buffer.alignment, 0);
            assert!(offset + buffer.size + buffer.guard <= placement.height);
        }
    }
}

#[test]
fn nothing_needs_nothing() {
    let placement = solve(&[], &Options::default()).unwrap();
    assert_eq!((placement.height, placement.offsets.len()), (0, 0));
}

#[test]
fn fixed_offsets_are_kept() {
    let buffers = [Buffer::new(64, 0..2).at(128), Buffer::new(64, 0..2)];
    let placement = solve(&buffers, &Options::default()).unwrap();
    assert_eq!((placement.offsets[0], placement.height), (128, 192));
}

#[test]
fn a_capacity_is_an_outcome() {
    let fits = |capacity| {
        let options = Options {
            capacity: Some(capacity),
            ..Options::default()
        };
        solve(&buffers(), &options).unwrap().outcome
    };
    assert!(matches!(fits(80896), Outcome::Optimal | Outcome::Feasible));
    assert_eq!(fits(80895), Outcome::Infeasible);
}

#[test]
fn errors_say_what_is_wrong() {
    let error = solve(&[Buffer::new(64, 0..2).aligned(3)], &Options::default()).unwrap_err();
    assert!(error.to_string().contains("power of two"), "{error}");
    let twice = [Buffer::new(64, 0..2).at(0), Buffer::new(64, 1..3).at(32)];
    assert!(solve(&twice, &Options::default()).is_err());
    let wrong = check(&buffers(), &[0; 15], 80896).unwrap_err();
    assert!(wrong.to_string().contains("overlap"), "{wrong}");
}

/// More than a search completes before its first report.
fn hard() -> Vec<Buffer> {
    let mut random = Random(1);
    let mut make = |_| {
        let begin = random.below(300);
        Buffer::new(1 + random.below(1000), begin..begin + 1 + random.below(60))
    };
    (0..400).map(&mut make).collect()
}

#[test]
fn a_search_can_be_stopped() {
    let mut calls = 0;
    let options = Options {
        nodes: u64::MAX,
        ..Options::default()
    };
    let placement = solve_with(&hard(), &options, |progress| {
        calls += 1;
        progress.best.is_none()
    })
    .unwrap();
    assert!(calls > 0 && placement.stopped);
    check(&hard(), &placement.offsets, placement.height).unwrap();
}

#[test]
#[should_panic(expected = "from the callback")]
fn panics_pass_through() {
    let _ = solve_with(&hard(), &Options::default(), |_| {
        panic!("from the callback")
    });
}

#[test]
fn the_version_is_that_of_the_crate() {
    assert_eq!(stowage_sys::version(), env!("CARGO_PKG_VERSION"));
}
