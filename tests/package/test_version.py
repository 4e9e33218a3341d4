"""One version everywhere: <stowage/base.h> has it, and headers, CMake, command, manual page, Python
package, npm package, Rust crate, changelog and pages agree. Usage: test_version.py STOWAGE SOURCE_DIR
"""

import pathlib
import re
import subprocess
import sys

source = pathlib.Path(sys.argv[2])
failures = 0


def expect(where, found, version):
    global failures
    if found != version:
        failures += 1
        print(f"FAIL: {where}: {found}, not {version}")


def find(path, pattern):
    """What the groups of |pattern| match in a file, with dots between them."""
    match = re.search(pattern, (source / path).read_text(encoding="utf-8"), re.MULTILINE)
    return ".".join(match.groups()) if match else "nothing"


def main():
    header = "include/stowage/base.h"
    version = find(header, r'^#define STOW_VERSION_STRING "([^"]+)"')
    numbers = [find(header, rf"^#define STOW_VERSION_{part} (\d+)$") for part in ("MAJOR", "MINOR", "PATCH")]
    minor = ".".join(numbers[:2])
    expect(f"{header}, its numbers", ".".join(numbers), version)
    expect("CMakeLists.txt", find("CMakeLists.txt", r"^project\(stowage VERSION ([\d.]+) "), version)
    expect("docs/man/stowage.1", find("docs/man/stowage.1", r"^This is the manual of Stowage ([\d.]+)\.$"), version)
    expect("rust/Cargo.toml", find("rust/Cargo.toml", r'^version = "([^"]+)"'), version)
    expect("CHANGELOG.md", find("CHANGELOG.md", r"^## ([\d.]+)"), version)
    expect("the command", subprocess.run([sys.argv[1], "--version"], stdout=subprocess.PIPE, check=True,
                                         text=True).stdout.strip(), f"stowage {version}")

    # These read it from another file when they are built.
    expect("python/pyproject.toml, what it reads",
           find("python/pyproject.toml", r'^input = "\.\./([^"]+)"'), header)
    pattern = find("python/pyproject.toml", r"^regex = '''(.+)'''$")
    expect("python/pyproject.toml, what it finds there", find(header, pattern), version)
    expect("browser/package/package.json", find("browser/package/package.json", r'"version": "([^"]+)"'), "@VERSION@")

    for page, pattern, expected in (
        ("docs/c-api.md", r"`libstowage\.so\.([\d.]+)`", minor),
        ("docs/c-api.md", r"`STOWAGE_([\d.]+)`", minor),
        ("docs/c-api.md", r"`STOWAGE_PRIVATE_([\d.]+)`", version),
        ("docs/guide/promises.md", r"`libstowage\.so\.([\d.]+)`", minor),
    ):
        expect(page, find(page, pattern), expected)
    print(f"version {version}: {failures} disagree")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
