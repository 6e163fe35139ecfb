import type { Socket } from 'node:net';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { RELAYED_HEADER } from '../tickets/ticket.ts';
import { NOT_FORWARDED } from './forwarded-headers.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** Chromium reads no more of a response's headers (`kMaxHeaderBufSize`). */
const HEAD_BYTES_MAX = 256 * 1024;
/** Chromium skips so many bytes before a status line. */
const SLOP_BYTES = 4;
const HTTP = 'HTTP';
const LF = 10;
const CR = 13;

/** The status of a response and its head as the target sent it, in Latin-1. */
export type ResponseHead = { status: number; text: string };

/**
 * Reads the head of the response on a connection, and then leaves the rest of it unread; responses before the final one (1xx) are skipped,
 * except for 101. Rejects where the target closes before that, or its answer is not HTTP or has a head that is too large.
 */
export function readResponseHead(
  { socket }: Pick<UpstreamConnection, 'socket'>,
  onBytes: () => void,
): Promise<ResponseHead> {
  return new Promise((resolve, reject) => {
    let parser = new HeadParser();
    const settle = (then: () => void) => {
      socket.off('data', onData).off('close', onClose).pause();
      then();
    };
    const onClose = () => settle(() => reject(new Error('the target closed before its answer')));
    const onData = (data: Buffer) => {
      onBytes();
      for (let chunk = data; chunk.length > 0; ) {
        const end = parser.add(chunk);
        if (end === null) return settle(() => reject(new Error('the answer is not HTTP')));
        if (end === undefined) return;
        chunk = chunk.subarray(end);
        const head = parser.head();
        if (head === null) return settle(() => reject(new Error('the answer is not HTTP')));
        if (head.status >= 200 || head.status === 101)
          return settle(() => {
            if (chunk.length > 0) socket.unshift(chunk);
            resolve(head);
          });
        parser = new HeadParser();
      }
    };
    socket.on('data', onData).on('close', onClose).resume();
  });
}

/** Finds the end of a head as Chromium does, also of one whose lines end without a carriage return. */
class HeadParser {
  readonly #chunks: Buffer[] = [];
  #size = 0;
  #skipped = 0;
  /** Whether the last byte ended a line, but for a carriage return. */
  #isAfterLine = false;

  /** Adds bytes; returns the offset in them after the head, undefined: it goes on; null: it is not HTTP, or too large. */
  add(chunk: Buffer): number | null | undefined {
    const start = this.#size === 0 ? this.#skipSlop(chunk) : 0;
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === LF && this.#isAfterLine) {
        this.#chunks.push(chunk.subarray(start, at + 1));
        return at + 1;
      }
      this.#isAfterLine = byte === LF || (byte === CR && this.#isAfterLine);
    }
    this.#size += chunk.length - start;
    this.#chunks.push(chunk.subarray(start));
    return this.#size > HEAD_BYTES_MAX || !this.#mayBeHttp() ? null : undefined;
  }

  #skipSlop(chunk: Buffer): number {
    let start = 0;
    while (this.#skipped < SLOP_BYTES && (chunk[start] === LF || chunk[start] === CR)) {
      start += 1;
      this.#skipped += 1;
    }
    return start;
  }

  /** Whether the first bytes are those of a status line: nothing else needs to be waited for. */
  #mayBeHttp(): boolean {
    const [first = Buffer.alloc(0)] = this.#chunks;
    const begin = first.toString('latin1', 0, HTTP.length).toUpperCase();
    return HTTP.startsWith(begin);
  }

  /** The head once its end was found; null: it is not HTTP. */
  head(): ResponseHead | null {
    const text = Buffer.concat(this.#chunks).toString('latin1');
    const status = Number(/^HTTP[^ \t\r\n]*[ \t]+(\d{3})(?!\d)/i.exec(text)?.[1]);
    return status >= 100 ? { status, text } : null;
  }
}

/**
 * The head of a response for the browser: as the target sent it, since a browser reads lines that Node.js would refuse, but for headers that
 * are only for us. What `Connection` lists is forwarded: browsers heed it too. Carriage returns end lines, as in Chromium. Of two lengths,
 * the chunked encoding counts (RFC 9112 6.3). Pure.
 */
export function forwardedHead({ status, text }: ResponseHead): string {
  const [statusLine, ...lines] = text.split(/[\r\n]+/).filter((line) => line !== '');
  const isChunked = lines.some((line) => nameOf(line) === 'transfer-encoding');
  const kept = [statusLine];
  let isKept = true;
  for (const line of lines) {
    // A line that begins with a space continues the one before.
    if (!/^[ \t]/.test(line)) isKept = !isDropped(nameOf(line), status, isChunked);
    if (isKept) kept.push(line);
  }
  if (status !== 101) kept.push('Connection: close');
  return `${kept.join('\r\n')}\r\n\r\n`;
}

function isDropped(name: string, status: number, isChunked: boolean): boolean {
  // After a 101, both sides speak the protocol that these headers name.
  if (status === 101) return name === GATEWAY_OUTCOME_HEADER || name === RELAYED_HEADER;
  return NOT_FORWARDED.has(name) || (isChunked && name === 'content-length');
}

const nameOf = (line: string): string => (line.split(':', 1)[0] as string).trim().toLowerCase();

/** Writes text in Latin-1, as it was read. */
export const writeHead = (client: Pick<Socket, 'write'>, text: string): boolean => client.write(text, 'latin1');
