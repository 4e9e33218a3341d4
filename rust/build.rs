//! Compiles `stowage-solve.c`: the one in `csrc/` of a packaged crate; in the repository, where that
//! folder is not, one that `scripts/amalgamate.sh` writes.
use std::path::{Path, PathBuf};
use std::process::Command;

fn amalgamate(root: &Path) -> PathBuf {
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").unwrap()).join("csrc");
    for part in ["include", "scripts/amalgamate.py", "src/base", "src/place"] {
        println!("cargo:rerun-if-changed={}", root.join(part).display());
    }
    let status = Command::new("sh")
        .arg(root.join("scripts/amalgamate.sh"))
        .arg(&folder)
        .stdout(std::process::Stdio::null())
        .status()
        .expect("cannot run sh");
    assert!(status.success(), "scripts/amalgamate.sh failed");
    folder
}

fn main() {
    let here = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap());
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=csrc");
    let packaged = here.join("csrc");
    let folder = if packaged.join("stowage-solve.c").exists() {
        packaged
    } else {
        amalgamate(&here.join(".."))
    };
    cc::Build::new()
        .file(folder.join("stowage-solve.c"))
        .flag_if_supported("-std=c11")
        .opt_level(2) // searches take many times longer without
        .compile("stowage-solve");
}
