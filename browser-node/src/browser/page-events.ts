/** This much of a message tells which event it is. */
export const HEAD_BYTES = 120;

const MESSAGE_BYTES_MAX = 64 * 1024 * 1024;
const CONSOLE_BYTES_MAX = 4 * 1024 * 1024;
const REFUSAL_BYTES_MAX = 16_384;
const STRING_LENGTH_MAX = 16_384;

// Chromium writes `method` first, and the type of a console call first among its parameters.
const UNREAD =
  /^\{"method":"(Runtime\.exceptionThrown|Log\.entryAdded(?!","params":\{"entry":\{"source":"javascript","level":"error","text":"Unsafe attempt to initiate)|Network\.(webSocketFrame|eventSource)\w+|Runtime\.consoleAPICalled","params":\{"type":"(?!debug"))/;
const TRAFFIC = /^\{"method":"Network\./;
const REFUSAL = /^\{"method":"Log\.entryAdded"/;
const CONSOLE = /^\{"method":"Runtime\.consoleAPICalled"/;

/**
 * The most bytes that a message may have, and what becomes of a larger one; `overflow` ends the browser. `isTraffic`: it tells what the
 * network brought, which a page's script cannot make at will.
 */
export type MessageLimit = { bytes: number; beyond: 'drop' | 'overflow'; isTraffic?: boolean };

/**
 * The limit of a message that begins with `head`. Events that a page can send without end and that no capture reads are not kept at
 * all: errors, frames of sockets, what is logged, but that a frame may not lead its page away, and all console lines but `debug`, by which the
 * page scripts report. Pure.
 */
export function limitOf(head: string): MessageLimit {
  if (UNREAD.test(head)) return { bytes: 0, beyond: 'drop', isTraffic: TRAFFIC.test(head) };
  if (REFUSAL.test(head)) return { bytes: REFUSAL_BYTES_MAX, beyond: 'drop' };
  if (CONSOLE.test(head)) return { bytes: CONSOLE_BYTES_MAX, beyond: 'drop' };
  return { bytes: MESSAGE_BYTES_MAX, beyond: 'overflow' };
}

/** Part of an answer that somebody asked to get as it comes: who did counts its bytes, and nobody else keeps it. */
export const isCopiedAnswer = ({ method }: { method?: string }): boolean => method === 'Network.dataReceived';

/**
 * Cuts every string in an event to 16,384 characters, in place. Playwright keeps the last 200 console lines of each page and thousands
 * of requests: with addresses of 2 MB each they would fill the memory.
 */
export function trimStrings(event: object): void {
  const fields = event as Record<string, unknown>;
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === 'string' && value.length > STRING_LENGTH_MAX) fields[name] = copyOf(value);
    else if (typeof value === 'object' && value !== null) trimStrings(value);
  }
}

/** A string of its own: a mere slice would keep the whole of the original in memory. */
const copyOf = (text: string): string => Buffer.from(text.slice(0, STRING_LENGTH_MAX), 'utf16le').toString('utf16le');
