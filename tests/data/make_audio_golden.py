#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Small recordings of every kind, and what numpy and scipy make of them: tests/data/golden/audio.

Made with numpy 1.24, scipy 1.10 and libFLAC 1.4.2 of Debian 12. expected.npz holds
  samples/FILE             the mean of the channels, full scale -1 to 1
  features/SETTINGS        log-mel features of tone16.wav, [frames, n_mels]
  resampled/FROM-TO        a clip of 8000 Hz at another rate, by scipy.signal.resample_poly
The features are written straight from the formulas in docs/audio.md.
"""
import ctypes
import os
import struct

import numpy as np
import scipy.signal

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "golden", "audio")
RATE = 8000


def tone(count, rate=RATE):
    """A rising tone with a knock in it, quiet at both ends; never at full scale."""
    t = np.arange(count) / rate
    x = 0.6 * np.sin(2 * np.pi * (300 + 900 * t) * t) * np.sin(np.pi * np.arange(count) / count)
    x[count // 3] += 0.25
    return x


def chunk(name, body):
    return name + struct.pack("<I", len(body)) + body + b"\0" * (len(body) % 2)


def wav(tag, bits, channels, data, rate=RATE, extensible=False, extra=b""):
    block = channels * bits // 8
    fmt = struct.pack("<HHIIHH", 0xfffe if extensible else tag, channels, rate, rate * block, block, bits)
    if extensible:
        fmt += struct.pack("<HHIH", 22, bits, 0, tag) + bytes.fromhex("000000001000800000aa00389b71")
    body = b"WAVE" + chunk(b"fmt ", fmt) + extra + chunk(b"data", data)
    return b"RIFF" + struct.pack("<I", len(body)) + body


def pcm(x, bits):
    full = 1 << (bits - 1)
    v = np.clip(np.round(x * full), -full, full - 1).astype(np.int64)
    if bits == 8:
        return v, (v + 128).astype(np.uint8).tobytes()
    if bits == 24:
        return v, b"".join(int(s).to_bytes(3, "little", signed=True) for s in v.ravel())
    return v, v.astype("<i%d" % (bits // 8)).tobytes()


def flac(path, v, bits, rate=RATE):
    """v is int64, (count, channels)."""
    lib = ctypes.CDLL("libFLAC.so.12")
    lib.FLAC__stream_encoder_new.restype = ctypes.c_void_p
    encoder = ctypes.c_void_p(lib.FLAC__stream_encoder_new())
    lib.FLAC__stream_encoder_set_channels(encoder, v.shape[1])
    lib.FLAC__stream_encoder_set_bits_per_sample(encoder, bits)
    lib.FLAC__stream_encoder_set_sample_rate(encoder, rate)
    lib.FLAC__stream_encoder_set_total_samples_estimate(encoder, ctypes.c_uint64(len(v)))
    assert lib.FLAC__stream_encoder_init_file(encoder, path.encode(), None, None) == 0
    data = np.ascontiguousarray(v, dtype=np.int32)
    assert lib.FLAC__stream_encoder_process_interleaved(
        encoder, data.ctypes.data_as(ctypes.c_void_p), ctypes.c_uint32(len(v)))
    assert lib.FLAC__stream_encoder_finish(encoder)
    lib.FLAC__stream_encoder_delete(encoder)


# --- log-mel features -----------------------------------------------------------------------------

DEFAULTS = dict(sample_rate=RATE, preemphasis=0.97, win_length=200, hop_length=80, window="hamming",
                n_fft=512, n_mels=64, mel_scale="htk", mel_norm="none", f_min=0.0, f_max=RATE / 2,
                log_floor=1e-10, normalize="utterance", frames=160, fit="repeat")


def to_mel(hz, scale):
    hz = np.asarray(hz, dtype=float)
    if scale == "htk":
        return 2595 * np.log10(1 + hz / 700)
    return np.where(hz < 1000, hz * 3 / 200, 15 + 27 * np.log(np.maximum(hz, 1) / 1000) / np.log(6.4))


def to_hz(mel, scale):
    mel = np.asarray(mel, dtype=float)
    if scale == "htk":
        return 700 * (10 ** (mel / 2595) - 1)
    return np.where(mel < 15, mel * 200 / 3, 1000 * np.exp((mel - 15) * np.log(6.4) / 27))


def mel_filters(s):
    """(n_mels, n_fft / 2 + 1)"""
    ends = to_mel([s["f_min"], s["f_max"]], s["mel_scale"])
    edge = to_hz(np.linspace(ends[0], ends[1], s["n_mels"] + 2), s["mel_scale"])
    hz = np.arange(s["n_fft"] // 2 + 1) * s["sample_rate"] / s["n_fft"]
    up = (hz - edge[:-2, None]) / (edge[1:-1] - edge[:-2])[:, None]
    down = (edge[2:, None] - hz) / (edge[2:] - edge[1:-1])[:, None]
    filters = np.maximum(0, np.minimum(up, down))
    if s["mel_norm"] == "slaney":
        filters *= (2 / (edge[2:] - edge[:-2]))[:, None]
    return filters


def features(x, **changes):
    s = {**DEFAULTS, **changes}
    x = np.append(x[0], x[1:] - s["preemphasis"] * x[:-1])
    win, hop = s["win_length"], s["hop_length"]
    if len(x) < win:
        x = np.append(x, np.zeros(win - len(x)))
    count = 1 + (len(x) - win) // hop
    window = {"hamming": np.hamming, "hann": np.hanning, "rectangular": np.ones}[s["window"]](win)
    rows = np.stack([x[i * hop:i * hop + win] * window for i in range(count)])
    power = np.abs(np.fft.rfft(rows, s["n_fft"])) ** 2 / s["n_fft"]
    f = np.log(np.maximum(power @ mel_filters(s).T, s["log_floor"]))
    axis = {"utterance": None, "bin": 0, "frame": 1}.get(s["normalize"], "none")
    if axis != "none":
        mean, deviation = f.mean(axis, keepdims=True), f.std(axis, keepdims=True)
        f = np.where(deviation < 1e-5, 0, (f - mean) / np.maximum(deviation, 1e-5))
    if count >= s["frames"]:
        skip = (count - s["frames"]) // 2
        return f[skip:skip + s["frames"]]
    if s["fit"] == "repeat":
        return f[np.arange(s["frames"]) % count]
    blank = 0 if s["normalize"] != "none" else np.log(s["log_floor"])
    return np.concatenate([f, np.full((s["frames"] - count, s["n_mels"]), blank)])


CASES = {  # as for --audio
    "frames=20": dict(frames=20),
    "frames=8": dict(frames=8),
    "frames=20,normalize=bin": dict(frames=20, normalize="bin"),
    "frames=20,normalize=frame": dict(frames=20, normalize="frame"),
    "frames=20,normalize=none": dict(frames=20, normalize="none"),
    "frames=25,normalize=none,fit=pad": dict(frames=25, normalize="none", fit="pad"),
    "frames=25,fit=pad": dict(frames=25, fit="pad"),
    "frames=20,n_mels=40,mel_scale=slaney,mel_norm=slaney,f_min=50,f_max=3800,window=hann":
        dict(frames=20, n_mels=40, mel_scale="slaney", mel_norm="slaney", f_min=50., f_max=3800.,
             window="hann"),
    "frames=10,n_fft=1024,win_length=640,hop_length=160,preemphasis=0,window=rectangular":
        dict(frames=10, n_fft=1024, win_length=640, hop_length=160, preemphasis=0., window="rectangular"),
    "frames=3,win_length=2000,hop_length=10,n_fft=2048": # longer than the clip
        dict(frames=3, win_length=2000, hop_length=10, n_fft=2048),
    "frames=12,log_floor=1e-3,normalize=none": dict(frames=12, log_floor=1e-3, normalize="none"),
}


# --- another sample rate --------------------------------------------------------------------------

def resample(x, start, to):
    common = np.gcd(start, to)
    up, down = to // common, start // common
    larger = max(up, down)
    half = 32 * larger
    n = np.arange(-half, half + 1)
    h = np.sinc(0.945 * n / larger) * np.kaiser(2 * half + 1, 8.6)
    return scipy.signal.resample_poly(x, up, down, window=h / h.sum())


def check_scales():
    """Values that librosa's documentation prints for its hz_to_mel() and mel_to_hz()."""
    assert np.allclose(to_mel([60, 110, 220, 440], "slaney"), [0.9, 1.65, 3.3, 6.6])
    assert np.allclose(to_hz([1, 2, 3, 4, 5], "slaney"), [66.667, 133.333, 200, 266.667, 333.333])
    assert np.allclose(to_mel(1000, "htk"), 999.9856) and np.allclose(to_mel(6400, "slaney"), 42)


def main():
    os.makedirs(HERE, exist_ok=True)
    check_scales()
    expected = {}

    def put(name, data, samples):
        with open(os.path.join(HERE, name), "wb") as file:
            file.write(data)
        expected["samples/" + name] = samples.astype(np.float32)

    x = tone(300)
    both = np.stack([x, x[::-1] * 0.5], 1)
    for bits in 8, 16, 24, 32:
        v, data = pcm(x, bits)
        put("pcm%d.wav" % bits, wav(1, bits, 1, data), v / (1 << (bits - 1)))
    v, data = pcm(both, 16)
    put("stereo.wav", wav(1, 16, 2, data), v.mean(1) / 32768)
    put("float.wav", wav(3, 32, 1, x.astype("<f4").tobytes()), x.astype(np.float32))
    put("double.wav", wav(3, 64, 1, x.astype("<f8").tobytes()), x)
    v, data = pcm(x[:299], 24)
    put("extensible.wav", wav(1, 24, 1, data, extensible=True), v / (1 << 23))
    put("extensible-float.wav", wav(3, 32, 2, both.astype("<f4").tobytes(), extensible=True),
        both.astype(np.float32).astype(float).mean(1))
    v, data = pcm(x, 16)
    put("chunks.wav", wav(1, 16, 1, data, extra=chunk(b"LIST", b"INFOodd") + chunk(b"fact", b"\0" * 4)),
        v / 32768)
    stream = bytearray(wav(1, 16, 1, data))
    stream[40:44] = stream[4:8] = b"\xff" * 4  # written into a pipe
    put("pipe.wav", bytes(stream), v / 32768)
    flac(os.path.join(HERE, "mono16.flac"), v[:, None], 16)
    expected["samples/mono16.flac"] = (v / 32768).astype(np.float32)
    v, _ = pcm(both, 24)
    flac(os.path.join(HERE, "stereo24.flac"), v, 24)
    expected["samples/stereo24.flac"] = (v.mean(1) / (1 << 23)).astype(np.float32)

    v, data = pcm(tone(1500), 16)
    put("tone16.wav", wav(1, 16, 1, data), v / 32768)
    for text, changes in CASES.items():
        expected["features/" + text] = features(v / 32768, **changes).astype(np.float32)
    for to in 16000, 11025, 4000, 7999:
        expected["resampled/8000-%d" % to] = resample(v / 32768, 8000, to).astype(np.float32)
    np.savez_compressed(os.path.join(HERE, "expected.npz"), **expected)


if __name__ == "__main__":
    main()
