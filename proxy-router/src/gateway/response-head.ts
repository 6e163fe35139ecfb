import type { Socket } from 'node:net';
import { GATEWAY_OUTCOME_HEADER } from '@adsweep/shared/targeting/gateway-status.ts';
import { RELAYED_HEADER } from '../tickets/ticket.ts';
import { NOT_FORWARDED } from './forwarded-headers.ts';
import type { UpstreamConnection } from './upstream-connection.ts';

/** Chromium reads no more of a response's headers (`kMaxHeaderBufSize`). */
const HEAD_BYTES_MAX = 256 * 1024;
/** No server sends so many interim answers (1xx), and reading millions of them would occupy the router. */
const INTERIM_MAX = 100;
/** Chromium skips so many bytes before a status line. */
const SLOP_BYTES = 4;
const HTTP = 'HTTP';
const LF = 10;
const CR = 13;

/** The status of a response and its head as the target sent it, in Latin-1. */
export type ResponseHead = { status: number; text: string };

/**
 * Reads the head of the response on a connection, and then leaves the rest of it unread; responses before the final one
 * (1xx) are skipped, except for 101. Rejects where the target closes before that, or its answer is not HTTP, has a head
 * that is too large or begins with too many of those.
 */
export function readResponseHead(
  { socket }: Pick<UpstreamConnection, 'socket'>,
  onBytes: () => void,
): Promise<ResponseHead> {
  return new Promise((resolve, reject) => {
    let parser = new HeadParser();
    let interim = 0;
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
        interim += 1;
        if (interim > INTERIM_MAX) return settle(() => reject(new Error('the target sends interim answers alone')));
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

  /**
   * Adds bytes; returns the offset in them after the head, undefined: it goes on; null: it is not HTTP, or too large.
   */
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
 * The head of a response for the browser: as the target sent it, since a browser reads lines that Node.js would refuse,
 * but for headers that are only for us. What `Connection` lists is forwarded: browsers heed it too. Carriage returns
 * end lines, as in Chromium. Of two lengths, the chunked encoding counts (RFC 9112 6.3). A head may have a hundred
 * thousand lines, so none is looked at alone. Pure.
 */
export function forwardedHead({ status, text }: ResponseHead): string {
  const lines = withLineEnds(text);
  // After a 101, both sides speak the protocol that these headers name.
  if (status === 101) return `${lines.replace(OURS, '')}\r\n\r\n`;
  const kept = lines.replace(CHUNKED.test(lines) ? DROPPED_IF_CHUNKED : DROPPED, '');
  return `${kept}\r\nConnection: close\r\n\r\n`;
}

/** Headers with one of these names, and the lines that continue them: those that begin with a space. */
const headersNamed = (...names: string[]): RegExp =>
  new RegExp(
    String.raw`\r\n(?![ \t])${SPACES}(?:${names.join('|')})${SPACES}(?=:|\r|$)[^\r]*(?:\r\n[ \t][^\r]*)*`,
    'gi',
  );
const SPACES = String.raw`[^\S\r\n]*`;

const CHUNKED = new RegExp(String.raw`\r\n${SPACES}transfer-encoding${SPACES}(?:[:\r]|$)`, 'i');
const OURS = headersNamed(GATEWAY_OUTCOME_HEADER, RELAYED_HEADER);
const DROPPED = headersNamed(...NOT_FORWARDED);
const DROPPED_IF_CHUNKED = headersNamed(...NOT_FORWARDED, 'content-length');

/**
 * The lines of a text that are not empty, with the same end between all of them. Byte by byte: many lines would be as
 * many strings.
 */
function withLineEnds(text: string): string {
  const bytes = Buffer.from(text, 'latin1');
  const written = Buffer.allocUnsafe(bytes.length * 2);
  let length = 0;
  let isAfterEnd = false;
  for (const byte of bytes) {
    if (byte === CR || byte === LF) {
      isAfterEnd = length > 0;
      continue;
    }
    if (isAfterEnd) {
      written[length++] = CR;
      written[length++] = LF;
      isAfterEnd = false;
    }
    written[length++] = byte;
  }
  return written.toString('latin1', 0, length);
}

/** Writes text in Latin-1, as it was read. */
export const writeHead = (client: Pick<Socket, 'write'>, text: string): boolean => client.write(text, 'latin1');
