import type { Hold, MeasuredService } from './measured-services.ts';
import { barChart, machine, median, saveResult } from './report.ts';

/** Requests must not block an event loop for longer. */
const HOLD_MAX_MS = 50;
const GROWTH_MAX_BYTES = 200 * 1024 * 1024;
const ANSWER_BYTES_MAX = 16 * 1024 * 1024;
export const ROUNDS = 3;
export const AT_ONCE = 8;
/** One round of so many requests at the same time. */
export const TOGETHER = { rounds: 1, atOnce: AT_ONCE };
/** An event stream stays open; everything else is to be answered within this time. */
const ANSWER_MS = 20_000;
const BREACHES_LISTED = 60;

export type Request = {
  service: () => MeasuredService;
  surface: string;
  method: string;
  url: string;
  key: string;
  body?: string | Buffer<ArrayBuffer>;
  headers?: Record<string, string>;
};
/** `status` 0: there was no answer. */
type Answered = { status: number; bytes: number; seconds: number };
type Held = { surface: string; operation: string; what: string } & Answered & Hold;

type Sent = Pick<Request, 'method' | 'url' | 'key' | 'body' | 'headers'>;
async function send({ method, url, key, body, headers: others }: Sent): Promise<Answered> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...others };
  const began = performance.now();
  const seconds = () => (performance.now() - began) / 1_000;
  try {
    const signal = AbortSignal.timeout(ANSWER_MS);
    const answer = await fetch(url, {
      method,
      headers,
      signal,
      redirect: 'manual',
      ...(body === undefined ? {} : { body }),
    });
    const { byteLength } = await answer.arrayBuffer();
    return { status: answer.status, bytes: byteLength, seconds: seconds() };
  } catch {
    // No answer in time, or a connection that the service closed while the body was sent.
    return { status: 0, bytes: 0, seconds: seconds() };
  }
}

function breachesOf({ cpu, growth, bytes, status }: Held): string[] {
  return [
    ...(cpu > HOLD_MAX_MS ? ['hold'] : []),
    ...(growth > GROWTH_MAX_BYTES ? ['memory'] : []),
    ...(bytes > ANSWER_BYTES_MAX ? ['size'] : []),
    ...(status === 500 ? ['error'] : []),
  ];
}

const megabytes = (bytes: number): string => (bytes / 1024 / 1024).toFixed(1);
const row = (name: string, { what, status, cpu, clock, growth, bytes, seconds }: Held): string =>
  `| ${name} | ${what} | ${status} | ${cpu.toFixed(1)} | ${clock.toFixed(1)} | ${megabytes(growth)} | ${megabytes(bytes)} | ${seconds.toFixed(2)} |`;

const nameOf = ({ surface, operation }: Held): string => `${surface}: ${operation}`;

const HEAD = [
  '| Operation | Request | Status | CPU ms | Clock ms | MiB | Answer MiB | Seconds |',
  '|---|---|--:|--:|--:|--:|--:|--:|',
];

/** How long requests held an event loop, and which of them did so above a limit. */
export class HoldTable {
  readonly #held: Held[] = [];

  /** Measures some rounds of a request, `atOnce` of them at the same time; each round builds a new one. */
  async measure(
    operation: string,
    what: string,
    prepare: () => Promise<Request> | Request,
    { rounds = ROUNDS, atOnce = 1 } = {},
  ): Promise<void> {
    const holds: Hold[] = [];
    let answered: Answered = { status: 0, bytes: 0, seconds: 0 };
    let surface = '';
    for (let round = 0; round < rounds; round++) {
      const request = await prepare();
      surface = request.surface;
      holds.push(
        await request.service().longestHold(async () => {
          const all = await Promise.all(Array.from({ length: atOnce }, () => send(request)));
          answered = all.reduce((one, other) => (other.seconds > one.seconds ? other : one));
        }),
      );
      // What is far from the limit, or was slow once, is not measured again.
      if (holds[0]!.cpu < HOLD_MAX_MS / 2 || answered.seconds > 2) break;
    }
    const middle = (of: keyof Hold) => median(holds.map((hold) => hold[of]));
    this.note({
      ...{ surface, operation, what },
      ...answered,
      clock: middle('clock'),
      cpu: middle('cpu'),
      growth: middle('growth'),
    });
  }

  /** Adds what was measured, and prints it if it is above a limit. */
  note(one: Held): void {
    this.#held.push(one);
    const breaches = breachesOf(one);
    if (breaches.length > 0) console.log(row(`${breaches.join(', ')}: ${one.operation}`, one));
  }

  /** Saves the result of an organization with so many common scans. Returns how many requests were above a limit. */
  save(scans: number): number {
    const worst = [...Map.groupBy(this.#held, nameOf)]
      .map(([name, all]) => [name, all.reduce((a, b) => (b.cpu > a.cpu ? b : a))] as const)
      .toSorted(([, one], [, other]) => other.cpu - one.cpu);
    const breaches = this.#held
      .filter((one) => breachesOf(one).length > 0)
      .toSorted((one, other) => other.cpu - one.cpu);
    const longest = Math.max(...this.#held.map(({ cpu }) => cpu));
    saveResult('event-loop', [
      '# The longest hold of an event loop',
      `Every operation of the route table with its worst bodies and queries, of an organization that keeps the most that it may and ${scans.toLocaleString('en')} common scans; reads also ${AT_ONCE} at once. How long the service's event loop was held in one piece, in ms of its thread's CPU and by the clock (which other work on the machine stretches), medians of ${ROUNDS} rounds, and by how much its memory grew. ${this.#held.length} requests; the longest hold: ${longest.toFixed(0)} ms, ${longest <= HOLD_MAX_MS ? 'within' : 'above'} the limit of ${HOLD_MAX_MS} ms. Above a limit (${HOLD_MAX_MS} ms, ${megabytes(GROWTH_MAX_BYTES)} MiB of memory, ${megabytes(ANSWER_BYTES_MAX)} MiB of an answer) or answered with 500: ${breaches.length}.`,
      ...(breaches.length > 0
        ? [
            [
              '## Above a limit',
              '',
              ...HEAD,
              ...breaches
                .slice(0, BREACHES_LISTED)
                .map((one) => row(`${nameOf(one)} (${breachesOf(one).join(', ')})`, one)),
            ].join('\n'),
          ]
        : []),
      ['## The worst request of each operation', '', ...HEAD, ...worst.map(([name, one]) => row(name, one))].join('\n'),
      barChart(
        'Longest hold, CPU ms',
        worst.map(([name, { cpu }]) => [name, cpu]),
      ),
      `Machine: ${machine()}.`,
    ]);
    return breaches.length;
  }
}
