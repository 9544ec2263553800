#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 at random moments of a running `plexor fuzz`, then --resume, again and again.

    PLEXOR_KILLS=200 tests/cli/fuzz_kill.py build/plexor [MODEL DATA [OPTION...]]

After each kill the database must pass PRAGMA integrity_check, hold every input that was there
before, unchanged, and all that the run had counted; at the end every input must replay from its
chain bit for bit and to its stored prediction, and the content must be that of a run of as many
turns that nobody disturbed. Prints TAP.
"""

import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
KILLS = int(os.environ.get("PLEXOR_KILLS", "6"))
SEED = int(os.environ.get("PLEXOR_KILL_SEED", str(time.time_ns())))


def columns(db, table):
    rows = db.execute(f"PRAGMA table_info({table})")
    return [r[1] for r in rows if not r[1].endswith(("_s", "_at"))]


def look(folder):
    """Integrity, a hash per input, and the executions and rows that were counted."""
    db = sqlite3.connect(os.path.join(folder, "campaign.db"))
    try:
        sound = [r[0] for r in db.execute("PRAGMA integrity_check")]
        assert sound == ["ok"], f"integrity_check: {sound}"
        assert not db.execute("PRAGMA foreign_key_check").fetchall(), "foreign keys"
        if not db.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
            return {}, 0
        names = ",".join(columns(db, "input"))
        inputs = {r[0]: hashlib.sha256(repr(r).encode()).digest()
                  for r in db.execute(f"SELECT {names} FROM input ORDER BY id")}
        assert list(inputs) == list(range(1, len(inputs) + 1)), "ids have gaps"
        run = dict(db.execute("SELECT key, value FROM run"))
        return inputs, int(run.get("turns", 0))
    finally:
        db.close()


def content(folder):
    db = sqlite3.connect(os.path.join(folder, "campaign.db"))
    digest = hashlib.sha256()
    for table in "input", "coverage", "neuron", "state":
        names = columns(db, table)
        for row in db.execute(f"SELECT {','.join(names)} FROM {table} ORDER BY {names[0]}, {names[1]}"):
            digest.update(repr(row).encode())
    db.close()
    return digest.hexdigest()


def main():
    plexor = os.path.abspath(sys.argv[1])
    model = sys.argv[2] if len(sys.argv) > 2 else os.path.join(HERE, "models", "digits.onnx")
    data = sys.argv[3] if len(sys.argv) > 3 else "digits"
    more = sys.argv[4:] or ["--guide", "kmnc", "--seeds", "50", "--limit", "300"]
    work = tempfile.mkdtemp(prefix="plexor-kill-")
    chance = random.Random(SEED)
    print("1..3", flush=True)
    print(f"# {KILLS} kills, PLEXOR_KILL_SEED={SEED}", flush=True)

    def command(folder, *options):
        return [plexor, "fuzz", model, "--data", data, "-o", os.path.join(work, folder), "-q",
                *more, *options]

    killed = os.path.join(work, "killed")
    before, turns, done = {}, 0, 0
    while done < KILLS:
        resume = ["--resume"] if os.path.exists(os.path.join(killed, "campaign.db")) else []
        if not resume:
            shutil.rmtree(killed, ignore_errors=True)
        threads = str(chance.choice([1, 2, 3]))
        child = subprocess.Popen(command("killed", *resume, "-j", threads),
                                 stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(chance.choice([0.02, 0.1, 0.3, 0.6, 1.2]) * (0.5 + chance.random()))
        child.kill()
        said = child.stderr.read().decode()
        status = child.wait()
        assert status == -9, f"ended by itself with {status}: {said}"
        done += 1
        if not os.path.exists(os.path.join(killed, "campaign.db")):
            continue
        now, turns = look(killed)
        for i, digest in before.items():
            assert now.get(i) == digest, f"kill {done}: input {i} was committed and is gone or changed"
        before = now
    print(f"ok 1 - {done} kills, {len(before)} inputs after {turns} turns, none lost", flush=True)

    # One more stretch, so that it ends at a turn of our choosing.
    turns += 20
    resume = ["--resume"] if before or os.path.exists(os.path.join(killed, "campaign.db")) else []
    subprocess.run(command("killed", *resume, "--turns", str(turns)), check=True,
                   stdout=subprocess.DEVNULL)
    replayed = subprocess.run([plexor, "replay", killed, "--all", "--model", model],
                              capture_output=True, text=True)
    good = replayed.returncode == 0
    print("ok" if good else "not ok", "2 - every input replays, to its stored prediction")
    if not good:
        print("#", replayed.stdout.replace("\n", "\n# "), replayed.stderr)
    subprocess.run(command("whole", "--turns", str(turns)), check=True, stdout=subprocess.DEVNULL)
    same = content(killed) == content(os.path.join(work, "whole"))
    print("ok" if same else "not ok", "3 - the content is that of an undisturbed run", flush=True)
    if good and same:
        shutil.rmtree(work)
    else:
        print(f"# left in {work}")
    return 0 if good and same else 1


if __name__ == "__main__":
    try:
        sys.exit(main())
    except AssertionError as e:
        print(f"not ok - {e}")
        sys.exit(1)
