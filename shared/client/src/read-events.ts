/** The server sends a comment every 15 seconds: a stream that is silent for longer than this is broken. */
const SILENCE_MAX_MS = 40_000;

/** The JSON data of each event of an event stream (WHATWG HTML, section 9.2), until it ends. Rejects if it breaks or falls silent. */
export async function* readEvents<Event>(stream: ReadableStream<Uint8Array>): AsyncGenerator<Event, void, void> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await beforeSilence(reader.read());
      if (done) return;
      const blocks = `${rest}${decoder.decode(value, { stream: true })}`.replaceAll('\r\n', '\n').split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const data = block.split('\n').filter((line) => line.startsWith('data:'));
        if (data.length > 0) yield JSON.parse(data.map((line) => line.slice('data:'.length)).join('\n')) as Event;
      }
    }
  } finally {
    // Without this the connection would stay open when the reader of the events stops early.
    await reader.cancel().catch(() => {});
  }
}

async function beforeSilence<T>(read: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new DOMException('The event stream fell silent', 'TimeoutError')), SILENCE_MAX_MS);
  });
  return Promise.race([read, silence]).finally(() => clearTimeout(timer));
}
