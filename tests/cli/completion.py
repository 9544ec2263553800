#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""completion.py PLEXOR BASH ZSH FISH - what shells offer where TAB is pressed.

The scripts are those of the build. Every case is asked of every shell that is installed; a shell
that is not there is skipped. Speaks TAP.
"""
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

PLEXOR, SCRIPTS = os.path.abspath(sys.argv[1]), dict(zip(("bash", "zsh", "fish"), sys.argv[2:5]))

# what is typed before TAB; words that are offered; words that are not
CASES = [
    ("plexor ", ["info", "eval", "onnx-test"], ["--data"]),
    ("plexor ev", ["eval"], ["info"]),
    ("plexor eval --da", ["--data"], ["--limit"]),
    ("plexor eval ", ["net.onnx", "sub/"], ["table.csv"]),
    ("plexor eval net.onnx --data ", ["fashion-mnist", "digits", "table.csv"], ["FOLDER"]),
    ("plexor eval net.onnx --data di", ["digits"], ["fashion-mnist"]),
    ("plexor eval net.onnx --limit ", [], ["table.csv", "net.onnx"]),
    ("plexor select net.onnx --by g", ["gini"], ["nss"]),
    ("plexor cover net.onnx --criteria nc,km", ["nc,kmnc"], ["nc,nc"]),
    ("plexor cover net.onnx --criteria=nc,km", ["nc,kmnc"], ["nc,nc"]),
    ("plexor clever net.onnx --norm l", ["l1", "l2", "linf"], ["net.onnx"]),
    ("plexor attack net.onnx --method p", ["pgd"], ["fgsm"]),
    ("plexor fuzz net.onnx -o ", ["sub/"], ["table.csv"]),
    ("plexor train --arch lenet", ["lenet1", "lenet5"], ["resnet20"]),
    ("plexor mutate --set ns", ["nss", "nsgen"], ["rotation"]),
    ("plexor list cri", ["criteria"], ["ops"]),
    ("plexor list ga", ["gates"], ["ops"]),
    ("plexor check net.onnx --fail-under ", ["accuracy", "faults"], ["net.onnx"]),
    ("plexor help cov", ["cover"], ["eval"]),
    ("plexor study ns", ["nss"], ["table.csv"]),
    ("plexor status ", ["sub/"], ["table.csv"]),
]


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=True,
                          timeout=60).stdout


class Bash:
    """Words are broken as readline does it: '=' is a word of its own."""

    def offers(self, line):
        words = re.findall(r"[^\s=]+|=", line) + ([""] if line[-1] in " " else [])
        script = (f"source {SCRIPTS['bash']}\nCOMP_WORDS=({' '.join(repr(w) for w in words)})\n"
                  "COMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_plexor\n"
                  "for w in \"${COMPREPLY[@]}\"; do [[ -d $w ]] && w=$w/; echo \"$w\"; done\n")
        return run(["bash", "--norc", "-c", script]).split("\n")


class Fish:
    def offers(self, line):
        said = run(["fish", "--no-config", "-c",
                    f"source {SCRIPTS['fish']}; complete -C '{line}'"])
        return [re.sub(r"^--\w+=", "", row.split("\t")[0]) for row in said.splitlines()]


class Zsh:
    """A shell on a terminal of its own; what is offered is what compadd is given that fits."""

    SETUP = """
PS1= PS2= RPS1=
fpath=(FOLDER $fpath)
autoload -Uz compinit
compinit -u -D
compadd() {
    if [[ ${@[1,(i)(-|--)]} == *-(O|A|D)* ]]; then
        builtin compadd "$@"
        return
    fi
    local -a found
    builtin compadd -O found "$@"
    (( $#found )) && print -rl -- ${^found} >>FOLDER/offered
    builtin compadd "$@"
}
ended() { print -r -- END >>FOLDER/offered }
compprefuncs=() comppostfuncs=(ended)
tried() { compprefuncs=() comppostfuncs=(ended); zle complete-word; zle kill-buffer }
zle -N tried
bindkey '^I' tried
print ready >FOLDER/offered
"""

    def __init__(self):
        self.folder = tempfile.mkdtemp(prefix="plexor-zsh-")
        shutil.copy(SCRIPTS["zsh"], os.path.join(self.folder, "_plexor"))
        setup = os.path.join(self.folder, "setup")
        with open(setup, "w", encoding="utf-8") as file:
            file.write(self.SETUP.replace("FOLDER", self.folder))
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvpe("zsh", ["zsh", "-f", "-i"], dict(os.environ, TERM="xterm"))
        self.send(f"source {setup}\r", "ready")

    def send(self, text, until):
        """What was written to the file, when it says that all is there."""
        offered = os.path.join(self.folder, "offered")
        os.write(self.terminal, text.encode())
        end = time.monotonic() + 60
        while time.monotonic() < end:
            if select.select([self.terminal], [], [], 0.02)[0]:
                os.read(self.terminal, 65536) # what is on the screen does not matter
            elif os.path.exists(offered):
                with open(offered, encoding="utf-8") as file:
                    lines = file.read().splitlines()
                if until in lines:
                    os.remove(offered)
                    return lines
        raise RuntimeError("zsh does not answer")

    def offers(self, line):
        # of what is joined by commas, zsh is given the last; a folder has its slash on the line
        done = re.search(r"[^\s=]*,", line)
        words = {(done[0] if done else "") + word for word in self.send(line + "\t", "END")}
        return words | {word + "/" for word in words if os.path.isdir(word)}

    def close(self):
        os.write(self.terminal, b"\x15exit\r")
        os.close(self.terminal)
        os.waitpid(self.pid, 0)
        shutil.rmtree(self.folder)


def check_all(offers):
    faults = []
    for line, wanted, unwanted in CASES:
        offered = offers(line)
        missing = [w for w in wanted if w not in offered]
        extra = [w for w in unwanted if w in offered]
        if missing or extra:
            faults.append(f"'{line}': missing {missing}, not wanted {extra}; offered "
                          f"{' '.join(offered)[:200]}")
    return faults


def check_options(shell):
    """Every long option of every command is in the script."""
    with open(SCRIPTS[shell], encoding="utf-8") as file:
        script = file.read()
    faults = []
    for command in re.findall(r"^  ([a-z-]+) ", run([PLEXOR, "help"]), re.M):
        for name in re.findall(r"^  (?:-.,|   ) --([a-z0-9-]+)", run([PLEXOR, command, "--help"]), re.M):
            if not re.search(rf"(--|-l ){name}\b", script):
                faults.append(f"{shell}: no --{name} of {command}")
    return faults


def main():
    shells = {"bash": Bash, "zsh": Zsh, "fish": Fish}
    print(f"1..{2 * len(shells)}")
    number, failed = 0, False
    paths = {shell: os.path.abspath(path) for shell, path in SCRIPTS.items()}
    SCRIPTS.update(paths)

    def tell(title, faults):
        nonlocal number, failed
        number += 1
        failed = failed or bool(faults)
        print(f"{'not ' if faults else ''}ok {number} - {title}", flush=True)
        for fault in faults[:40]:
            print(f"# {fault}")

    with tempfile.TemporaryDirectory(prefix="plexor-tab-") as folder:
        os.chdir(folder)
        os.mkdir("sub")
        for name in ("net.onnx", "table.csv"):
            open(name, "w", encoding="utf-8").close()
        for shell, kind in shells.items():
            tell(f"{shell}: every option", check_options(shell))
            if not shutil.which(shell):
                number += 1
                print(f"ok {number} - {shell}: what TAB offers # SKIP {shell} is not installed")
                continue
            asked = kind()
            tell(f"{shell}: what TAB offers", check_all(asked.offers))
            if shell == "zsh":
                asked.close()
        os.chdir("/")
    sys.exit(1 if failed else 0)


main()
