#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""slurm.py PLEXOR - ranks that srun starts, in a Slurm of this machine alone

munged, slurmctld and one slurmd are started with files of their own in an empty folder, and stopped
afterwards. Needs root and Debian's slurm-wlm and munge. Speaks TAP.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from common import ENV, NET, PLEXOR, call, run_cases, same, steady, tables

CONF = """ClusterName=plexor
SlurmctldHost={host}
SlurmctldPort={control}
SlurmdPort={daemon}
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
ReturnToService=2
SelectType=select/linear
NodeName={host} CPUs={cpus} State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
"""


def free_port():
    with socket.socket() as listener:
        listener.bind(("", 0))
        return listener.getsockname()[1]


class Slurm:
    def __init__(self, folder):
        self.folder, self.running = folder, []
        host = socket.gethostname().split(".")[0]
        for name in "state", "spool":
            os.mkdir(f"{folder}/{name}")
        with open(f"{folder}/slurm.conf", "w", encoding="utf-8") as file:
            file.write(CONF.format(folder=folder, host=host, control=free_port(), daemon=free_port(), cpus=os.cpu_count()))
        self.env = dict(ENV, SLURM_CONF=f"{folder}/slurm.conf")
        with open(f"{folder}/munge.key", "wb") as file:
            file.write(os.urandom(128))
        os.chmod(f"{folder}/munge.key", 0o400)
        self.start("munged", "--foreground", "--force", f"--key-file={folder}/munge.key", f"--socket={folder}/munge.socket",
                   f"--pid-file={folder}/munged.pid", f"--seed-file={folder}/munged.seed", f"--log-file={folder}/munged.log")
        self.start("slurmctld", "-D", "-f", f"{folder}/slurm.conf")
        self.start("slurmd", "-D", "-f", f"{folder}/slurm.conf")
        for _ in range(200):
            time.sleep(0.1)
            if subprocess.run(["sinfo", "-h", "-o", "%t"], env=self.env, capture_output=True, text=True, check=False).stdout.strip() == "idle":
                return
        raise AssertionError("Slurm does not come up: " + self.logs())

    def start(self, *words):
        self.running.append(subprocess.Popen(words, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        time.sleep(0.3)

    def logs(self):
        texts = []
        for name in "munged.log", "slurmctld.log", "slurmd.log":
            path = f"{self.folder}/{name}"
            if os.path.exists(path):
                with open(path, encoding="utf-8", errors="replace") as file:
                    texts.append(name + ": " + file.read()[-600:])
        return "\n".join(texts)

    def stop(self):
        for process in reversed(self.running):
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()


def srun(slurm, *words, ranks=2):
    return subprocess.run(["srun", "--mpi=pmix", "-N1", f"-n{ranks}", "--overcommit", *words], env=slurm.env, capture_output=True, text=True,
                          check=False, timeout=300)


def main():
    missing = [name for name in ("munged", "slurmctld", "slurmd", "srun") if not shutil.which(name)]
    if missing or os.geteuid():
        print("1..0 # SKIP " + (f"{missing[0]} is not installed (packages slurm-wlm, munge)" if missing else "slurmd needs root"))
        return 0
    base = tempfile.mkdtemp(prefix="plexor-slurm-")
    slurm = None

    def same_results(_):
        for words in (["eval", NET, "--data", "digits", "--limit", "2000"],
                      ["cover", NET, "--data", "digits", "--limit", "2000", "--criteria", "nc,kmnc,nlc", "--train", "digits"]):
            alone, both = call([PLEXOR, *words, "--json", "-q"]), srun(slurm, PLEXOR, *words, "--json", "-q")
            assert alone.returncode == 0 == both.returncode, (alone.stderr, both.stderr, slurm.logs())
            assert steady(alone.stdout) == steady(both.stdout), (words, both.stdout[:400])
            assert json.loads(both.stdout), "two ranks printed"

    def same_campaign(folder):
        words = [PLEXOR, "attack", NET, "--data", "digits", "--limit", "300", "--method", "pgd", "-q", "-o"]
        one, other = folder + "/one.campaign", folder + "/other.campaign"
        assert call([*words, one]).returncode == 0
        done = srun(slurm, *words, other, ranks=3)
        assert done.returncode == 0, done.stderr
        same(tables(one), tables(other))

    def other_words(_):
        done = srun(slurm, "sh", "-c", f'exec "{PLEXOR}" eval "{NET}" --data digits --limit 2$SLURM_PROCID -q')
        assert done.returncode == 2 or "exit code 2" in done.stderr, (done.returncode, done.stderr)
        assert "differs in the words of the command" in done.stderr, done.stderr

    try:
        slurm = Slurm(base)
        return run_cases([same_results, same_campaign, other_words], "plexor-srun-")
    finally:
        if slurm:
            slurm.stop()
        shutil.rmtree(base, ignore_errors=True)


sys.exit(main())
