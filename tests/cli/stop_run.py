#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command until its campaign has so many inputs, then sends it a signal.

    stop_run.py SIGNAL CAMPAIGN INPUTS COMMAND...    prints how it ended and whether the campaign has some inputs
"""
import os
import signal
import sqlite3
import subprocess
import sys
import time


def done(folder):
    path = os.path.join(folder, "campaign.db")
    if not os.path.exists(path):
        return 0
    try:
        with sqlite3.connect("file:" + path + "?mode=ro", uri=True, timeout=1) as db:
            row = db.execute("SELECT value FROM run WHERE key = 'inputs_done'").fetchone()
        return int(row[0]) if row else 0
    except sqlite3.Error:  # it is being made
        return 0


def main():
    name, folder, inputs, command = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4:]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None and done(folder) < inputs:
            time.sleep(0.01)
        if process.poll() is None:
            process.send_signal(signal.Signals["SIG" + name])
        status = process.wait()
    print("ended with", status if status >= 0 else signal.Signals(-status).name, flush=True)


main()
