"""WAV files of any form become frames of 16 kHz, and speech becomes a WAV file."""

from __future__ import annotations

import wave
from pathlib import Path

import numpy as np
import pytest

from lila_app.errors import StorageError, UsageError
from lila_app.voice.wav import Writing, check, frames

SINE = np.sin(2 * np.pi * 440 * np.arange(16_000) / 16_000)


def _file(path: Path, rate: int, channels: int, width: int, data: bytes) -> Path:
    with wave.open(str(path), "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(width)
        file.setframerate(rate)
        file.writeframes(data)
    return path


@pytest.mark.parametrize(("width", "tolerance"), [(1, 300), (2, 1), (3, 1), (4, 1)])
def test_samples_of_8_to_32_bits_are_read(tmp_path: Path, width: int, tolerance: int) -> None:
    sine = np.round(SINE * 0.5 * 2 ** (8 * width - 1)).astype(np.int64)
    if width == 1:
        data = (sine + 128).astype(np.uint8).tobytes()
    else:
        data = b"".join(int(each).to_bytes(width, "little", signed=True) for each in sine)
    read = np.concatenate(list(frames(_file(tmp_path / "a.wav", 16_000, 1, width, data))))
    assert np.abs(read[:16_000] - SINE * 0.5 * 32_768).max() <= tolerance


def test_channels_are_mixed(tmp_path: Path) -> None:
    both = np.stack((np.full(1_024, 1_000), np.full(1_024, 3_000)), axis=1).astype("<i2")
    found = list(frames(_file(tmp_path / "a.wav", 16_000, 2, 2, both.tobytes())))
    assert [len(frame) for frame in found] == [512, 512]
    assert all((frame == 2_000).all() for frame in found)


@pytest.mark.parametrize("rate", [8_000, 22_050, 44_100, 48_000])
def test_any_rate_becomes_16_khz(tmp_path: Path, rate: int) -> None:
    times = np.arange(2 * rate) / rate
    tone = (10_000 * np.sin(2 * np.pi * 1_000 * times)).astype("<i2")
    read = np.concatenate(list(frames(_file(tmp_path / "a.wav", rate, 1, 2, tone.tobytes()))))
    assert abs(len(read) - 32_000) <= 512
    spectrum = np.abs(np.fft.rfft(read[8_000:24_000].astype(float)))
    assert spectrum.argmax() == 1_000


def test_the_last_frame_is_filled_up_with_silence(tmp_path: Path) -> None:
    data = np.full(600, 5, "<i2").tobytes()
    first, last = frames(_file(tmp_path / "a.wav", 16_000, 1, 2, data))
    assert (first == 5).all()
    assert (last[:88] == 5).all() and not last[88:].any()


def test_a_file_cut_off_within_a_sample_is_read_up_to_there(tmp_path: Path) -> None:
    path = _file(tmp_path / "a.wav", 16_000, 1, 2, np.full(1_024, 5, "<i2").tobytes())
    path.write_bytes(path.read_bytes()[:-3])
    assert np.concatenate(list(frames(path)))[:1_022].tolist() == [5] * 1_022


@pytest.mark.parametrize("content", [b"", b"not a wav at all", b"RIFF\0\0\0\0WAVE"])
def test_what_is_no_wav_is_refused_by_name(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.wav"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=r"a\.wav is no WAV file") as refused:
        check(path)
    assert "ffmpeg" in refused.value.hint
    with pytest.raises(UsageError):
        next(frames(path))


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        check(tmp_path / "none.wav")
    with pytest.raises(UsageError, match="cannot be read"):
        check(tmp_path)


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    tone = (10_000 * SINE).astype(np.int16)
    with Writing(tmp_path / "out.wav", 16_000) as out:
        out.write(tone[:5_000])
        out.write(tone[5_000:])
    assert np.array_equal(np.concatenate(list(frames(tmp_path / "out.wav")))[:16_000], tone)


def test_where_nothing_can_be_written_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match=r"none"):
        Writing(tmp_path / "none" / "out.wav", 16_000)
