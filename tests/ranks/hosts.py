#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""hosts.py PLEXOR - ranks on three hosts, which are network namespaces of this machine

Each has an address of its own behind a bridge, and processes of one reach another over TCP alone.
What they compute is what one process computes; a host whose link is cut in the middle ends the
command, and what was committed is gone on with on the other two. Needs root, ip and Open MPI's
mpirun. Speaks TAP.
"""
import difflib
import json
import os
import re
import shutil
import subprocess
import sys
import time

from common import ENV, NET, PLEXOR, call, run_cases, same, steady, tables

SPACE, SUBNET, HOSTS = f"plexor{os.getpid()}", "10.213.77", (1, 2, 3)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)


def inside(host):
    return ["ip", "netns", "exec", f"{SPACE}-{host}"]


def build():
    """A bridge in a space of its own, so that nothing of this machine's network is touched."""
    ip("netns", "add", SPACE)
    ip("-n", SPACE, "link", "add", "bridge", "type", "bridge")
    ip("-n", SPACE, "link", "set", "bridge", "up")
    for host in HOSTS:
        ip("netns", "add", f"{SPACE}-{host}")
        ip("-n", SPACE, "link", "add", f"port{host}", "type", "veth", "peer", "name", "eth0", "netns", f"{SPACE}-{host}")
        ip("-n", SPACE, "link", "set", f"port{host}", "master", "bridge", "up")
        ip("-n", f"{SPACE}-{host}", "address", "add", f"{SUBNET}.{host}/24", "dev", "eth0")
        ip("-n", f"{SPACE}-{host}", "link", "set", "lo", "up")
        ip("-n", f"{SPACE}-{host}", "link", "set", "eth0", "up")


def tear_down():
    for name in [f"{SPACE}-{host}" for host in HOSTS] + [SPACE]:
        subprocess.run(["ip", "netns", "delete", name], capture_output=True, check=False)


def mpirun(folder, hosts):
    """mpirun on the first host, which starts what runs on the others by a script instead of ssh."""
    agent = os.path.join(folder, "agent")
    if not os.path.exists(agent):
        with open(agent, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nhost=$1\nshift\nexec ip netns exec {SPACE}-${{host##*.}} /bin/sh -c "$*"\n')
        os.chmod(agent, 0o755)
    return [*inside(hosts[0]), "mpirun", "--host", ",".join(f"{SUBNET}.{host}" for host in hosts), "-n", str(len(hosts)), "--bind-to", "none",
            "--mca", "plm_rsh_agent", agent, "--mca", "btl", "tcp,self", "--mca", "btl_tcp_if_include", f"{SUBNET}.0/24",
            "--mca", "oob_tcp_if_include", f"{SUBNET}.0/24"]


def same_results(folder):
    for words in (["eval", NET, "--data", "digits", "--limit", "2000"],
                  ["cover", NET, "--data", "digits", "--limit", "2000", "--criteria", "nc,kmnc,nlc", "--train", "digits"],
                  ["attack", NET, "--data", "digits", "--limit", "200", "--method", "pgd"],
                  ["train", "--arch", "lenet1", "--data", "digits", "--train-limit", "320", "--test-limit", "100", "--epochs", "1",
                   "-o", folder + "/net.onnx"],
                  ["fuzz", NET, "--data", "digits", "--limit", "200", "--seeds", "40", "--turns", "100", "--fresh", "-o", folder + "/run.campaign"]):
        alone, all_three = call([PLEXOR, *words, "--json", "-q"]), call([*mpirun(folder, HOSTS), PLEXOR, *words, "--json", "-q"])
        assert alone.returncode == 0 == all_three.returncode, (alone.stderr, all_three.stderr)
        lines = [json.dumps(steady(done.stdout), indent=1).splitlines() for done in (alone, all_three)]
        assert lines[0] == lines[1], [words, *difflib.unified_diff(*lines, lineterm="", n=0)]


def lost_host(folder):
    def words(to):
        return [PLEXOR, "attack", NET, "--data", "digits", "--limit", "1500", "--method", "pgd", "--steps", "60", "--batch", "16", "-j", "1", "-q",
                "-o", to]
    whole, to = folder + "/whole.campaign", folder + "/cut.campaign"
    assert call(words(whole)).returncode == 0
    run = subprocess.Popen([*mpirun(folder, HOSTS), *words(to)], env=ENV, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    for _ in range(1200):
        time.sleep(0.05)
        status = call([PLEXOR, "status", to, "--json"])
        if run.poll() is not None or re.search('"inputs_done": [1-9]', status.stdout):
            break
    assert run.poll() is None, run.communicate()
    ip("-n", SPACE, "link", "set", f"port{HOSTS[2]}", "down")
    # What is on the other side of the cut notices nothing: its host is as good as off.
    subprocess.run("ip netns pids %s-%d | xargs -r kill -9" % (SPACE, HOSTS[2]), shell=True, check=False)
    try:
        _, said = run.communicate(timeout=120)
    finally:
        run.kill()
        ip("-n", SPACE, "link", "set", f"port{HOSTS[2]}", "up")
    assert run.returncode != 0, said
    print("# " + " ".join(said.split())[:300])
    resumed = call([*mpirun(folder, HOSTS[:2]), *words(to), "--resume"])
    assert resumed.returncode == 0, resumed.stderr
    same(tables(whole), tables(to))


def main():
    cases = [same_results, lost_host]
    missing = [name for name in ("ip", "mpirun") if not shutil.which(name)]
    if missing or os.geteuid():
        print("1..0 # SKIP " + (f"{missing[0]} is not installed" if missing else "network namespaces need root"))
        return 0
    try:
        build()
    except subprocess.CalledProcessError as error:
        tear_down()
        print("1..0 # SKIP no network namespaces here: " + error.stderr.strip().replace("\n", " "))
        return 0
    try:
        return run_cases(cases, "plexor-hosts-")
    finally:
        tear_down()


sys.exit(main())
