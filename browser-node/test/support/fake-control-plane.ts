import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { unpackCapture } from '@adsweep/shared/lease/capture-with-files.ts';
import type { CrawlJob, JobMember } from '@adsweep/shared/lease/crawl-job.ts';
import { JOB_LIMITS } from '@adsweep/shared/lease/job-limits.ts';
import type { Lease } from '@adsweep/shared/lease/messages.ts';
import { Conditions } from './conditions.ts';

/** `scanId` '': the call was about the whole lease. */
export type ReceivedCall = { call: string; leaseId: string; scanId: string; body: unknown; credential: string };

/** A page scan from Germany on a desktop. */
export const MEMBER: JobMember = {
  scan_id: 'scan-1',
  attempt: 0,
  target: { kind: 'url', value: 'http://shop.example/' },
  targeting: { country_code: 'DE', proxy_type: 'residential', region: '', city: '', isp: '' },
  emulator_id: 'windows_chrome',
  referrer: null,
};

/** A job that has such a scan as its only member, unless it names others. */
export type GivenJob = Partial<JobMember> & Partial<CrawlJob>;

export const jobOf = ({ isolation, limits, members, kind, ...member }: GivenJob = {}): CrawlJob => ({
  job_id: member.job_id ?? 'job-1',
  kind: kind ?? 'page',
  isolation: isolation ?? 'shared',
  limits: limits ?? JOB_LIMITS.page,
  exit_session: 'session-1',
  members: members ?? [{ ...MEMBER, ...member }],
});

/** A fake node API: leases the jobs that tests give it and records the calls of nodes. */
export class FakeControlPlane extends Conditions {
  readonly said: ReceivedCall[] = [];
  /** The response to renewals from now on. */
  renewal: 'renewed' | 'lost' | 'cancelled' = 'renewed';
  /** What it says of one lease instead. */
  readonly renewals: Record<string, 'lost'> = {};
  /** Whether nodes are to drain. */
  drain = false;
  /** Whether it is of a version that took files only before their capture. */
  isOlder = false;
  /** Keeps back what is given, so that one acquire gets several jobs. */
  hold = false;
  /** How many acquires wait for a job. */
  acquiring = 0;
  /** Statuses to answer the next calls of a kind with, in place of doing them. 0: the connection is cut. */
  readonly refusals: Record<string, number[]> = {};
  readonly #waiting: Lease[] = [];
  readonly #server: Server;
  #leases = 0;

  constructor() {
    super();
    this.#server = createServer((request, response) => void this.#answer(request, response));
  }

  static async start(): Promise<FakeControlPlane> {
    const fake = new FakeControlPlane();
    await new Promise<void>((resolve) => fake.#server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Puts a job where the next acquire finds it; gives its lease's id. */
  give(job: GivenJob = {}): string {
    this.#leases += 1;
    const lease_id = `lease-${this.#leases}`;
    this.#waiting.push({ lease_id, token: `token-${this.#leases}`, expires_in_ms: 10_000, job: jobOf(job) });
    this.changed();
    return lease_id;
  }

  count(call: string): number {
    return this.said.filter((said) => said.call === call).length;
  }

  /** The first call of a kind, as soon as it was made. */
  async received(call: string): Promise<ReceivedCall> {
    await this.until(() => this.count(call) > 0);
    return this.said.find((said) => said.call === call) as ReceivedCall;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, , , kind = '', id = '', ...rest] = (request.url ?? '').split('/');
    const [scanId = '', verb = '', name = ''] = rest[0] === 'scans' ? rest.slice(1) : ['', ...rest];
    const isWhole = verb === 'complete-with-files';
    const call = kind === 'nodes' ? 'report' : id === 'acquire' ? 'acquire' : isWhole ? 'complete' : verb;
    const sent = await bodyOf(request);
    if (isWhole && this.isOlder) return send(response, 404, { detail: 'no', code: 'not_found' });
    const body = isWhole ? unpackCapture(sent)!.json : sent;
    const refusal = this.refusals[call]?.shift();
    if (refusal === 0) return void request.socket.destroy();
    const credential = request.headers.authorization?.replace('Bearer ', '') ?? '';
    this.said.push({ call: refusal ? `refused ${call}` : call, leaseId: id, scanId, body: jsonOf(body), credential });
    this.changed();
    if (refusal) return send(response, refusal, { detail: 'no', code: 'refused' });
    if (call === 'report') return send(response, 200, { credential: 'node-credential', drain: this.drain });
    if (call === 'acquire') return this.#acquire(request, response, (jsonOf(body) as { max: number }).max);
    if (call === 'renew')
      return send(response, 200, { outcome: this.renewals[id] ?? this.renewal, expires_in_ms: 10_000 });
    if (call === 'artifacts') return send(response, 200, { name, sha256: sha256(body), bytes: body.length });
    response.writeHead(204).end();
  }

  async #acquire(request: IncomingMessage, response: ServerResponse, max: number): Promise<void> {
    let gone = false;
    request.socket.once('close', () => {
      gone = true;
      this.changed();
    });
    this.acquiring += 1;
    await this.until(() => gone || this.drain || (!this.hold && this.#waiting.length > 0), 60_000);
    this.acquiring -= 1;
    this.changed();
    if (this.drain) send(response, 200, { leases: [], drain: true });
    else if (!gone) send(response, 200, { leases: this.#waiting.splice(0, max) });
  }
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

function jsonOf(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString());
  } catch {
    return null;
  }
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}
