const SAMPLE_RATE = 8_000;
const NOTE_SECONDS = 0.18;
const MELODY_HZ = [523.25, 659.25, 783.99, 1046.5, 783.99, 1046.5];

/** A second of 8-bit mono music: a RIFF WAVE file with PCM samples. */
export function jingle(): Buffer {
  const samples = Buffer.concat(MELODY_HZ.map(note));
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16); // bytes of the format block
  header.writeUInt16LE(1, 20); // PCM
  header.writeUInt16LE(1, 22); // one channel
  header.writeUInt32LE(SAMPLE_RATE, 24);
  header.writeUInt32LE(SAMPLE_RATE, 28); // bytes per second
  header.writeUInt16LE(1, 32); // bytes per frame
  header.writeUInt16LE(8, 34); // bits per sample
  header.write('data', 36);
  header.writeUInt32LE(samples.length, 40);
  return Buffer.concat([header, samples]);
}

function note(hertz: number): Buffer {
  const length = Math.round(SAMPLE_RATE * NOTE_SECONDS);
  const at = (index: number) => {
    const fade = 1 - index / length;
    return Math.round(128 + 90 * fade * Math.sin((2 * Math.PI * hertz * index) / SAMPLE_RATE));
  };
  return Buffer.from(Array.from({ length }, (_, index) => at(index)));
}
