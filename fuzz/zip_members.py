# SPDX-License-Identifier: Apache-2.0
"""Archives in the form that zip_members.h takes."""
import struct
import zipfile


def put(path, members):
    with open(path, "wb") as file:
        for member, data in members:
            file.write(struct.pack("<BI", len(member), len(data)) + member.encode() + data)


def convert(path, archive_path):
    with zipfile.ZipFile(archive_path) as archive:
        put(path, [(i.filename, archive.read(i)) for i in archive.infolist()])
