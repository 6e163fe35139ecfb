import { readBody } from './read-body.ts';

/** The server sends a comment every 15 seconds: a stream that is silent for longer than this is broken. */
const SILENCE_MAX_MS = 40_000;

/**
 * The JSON data of each event of an event stream (WHATWG HTML, section 9.2), until it ends. Rejects if it breaks or falls silent, or with the signal's
 * reason.
 */
export async function* readEvents<Event>(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  signal?: AbortSignal,
): AsyncGenerator<Event, void, void> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of readBody(stream, { signal, silenceMaxMs: SILENCE_MAX_MS })) {
    const blocks = `${rest}${decoder.decode(bytes, { stream: true })}`.replaceAll('\r\n', '\n').split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const data = block.split('\n').filter((line) => line.startsWith('data:'));
      if (data.length > 0) yield JSON.parse(data.map((line) => line.slice('data:'.length)).join('\n')) as Event;
    }
  }
}
